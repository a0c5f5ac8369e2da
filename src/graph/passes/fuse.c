/* Fuse: takes a lowered graph without a backward; gives the same with batch norm's apply, an added skip
 * branch and the activation behind them as one op (ops/norm_act.c), so that grad makes their fused
 * gradients. No bit changes, of any result or gradient. Requires: lowered, not differentiated. Cost:
 * O(graph).
 *
 *     row      pattern                                    becomes
 *     act      relu|clip(bn_apply(x))                     bn_act
 *     add act  relu|clip(bn_apply(x) + skip)              bn_add relu|clip
 *     add      bn_apply(x) + skip                         bn_add
 *
 * A value inside a pattern vanishes, so nothing else may read it or ask for it. And nobody may read x,
 * gamma, beta or skip between the nodes of a pattern: their gradients would be summed in another order. */
#include "graph/passes/passes.h"

typedef struct fuser {
    ebb_rewriter rw;
    uint32_t *reads; /* [old values] by how many operands */
    bool *asked;     /* [old values] by name: an output, the loss, or wanted by the caller */
    ebb_id *into;    /* [old nodes] the node that it is fused into, or EBB_NONE */
    /* [old nodes] reads of what the node reads, counted up to and with it. */
    uint64_t *before;
    uint32_t *so_far; /* [old values] reads up to now */
} fuser;

/* What a root node becomes. */
typedef struct pattern {
    ebb_id apply, add, act; /* nodes; add or act may be EBB_NONE */
    uint32_t skip;          /* operand of add */
} pattern;

static const ebb_node *node_of(const fuser *f, ebb_id n) {
    return &f->rw.old->nodes[n];
}

static uint64_t reads_so_far(const fuser *f, const ebb_id *values, uint32_t n) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += f->so_far[values[i]];
    return sum;
}

static void count_node(fuser *f, ebb_id n) {
    const ebb_node *node = node_of(f, n);
    for (uint32_t i = 0; i < node->n_in; i++) f->so_far[node->in[i]]++;
    f->before[n] = reads_so_far(f, node->in, node->n_in);
}

/* The node of that op which makes the value for this one reader, or EBB_NONE. */
static ebb_id only_for(const fuser *f, ebb_id value, const ebb_op_info *op) {
    const ebb_id n = f->rw.old->values[value].producer;
    if (n == EBB_NONE || f->asked[value] || f->reads[value] != 1) return EBB_NONE;
    return node_of(f, n)->op == op && f->into[n] == EBB_NONE ? n : EBB_NONE;
}

/* Has nobody but `own` operands of the pattern itself read what node n reads since? */
static bool unread_since(const fuser *f, ebb_id n, uint32_t own) {
    const ebb_node *node = node_of(f, n);
    return reads_so_far(f, node->in, node->n_in) == f->before[n] + own;
}

/* An add with an apply of its own: which operand is it? */
static bool match_add(const fuser *f, ebb_id n, pattern *p) {
    const ebb_node *node = node_of(f, n);
    const ebb_value *values = f->rw.old->values;
    if (node->op != &ebb_op_add) return false;
    if (!ebb_type_equal(&values[node->in[0]].type, &values[node->in[1]].type))
        return false; /* one is broadcast */
    for (uint32_t i = 0; i < 2; i++) {
        const ebb_id apply = only_for(f, node->in[i], &ebb_op_bn_apply);
        if (apply == EBB_NONE) continue;
        const ebb_node *bn = node_of(f, apply);
        uint32_t own = 0; /* the skip may be the norm's own x */
        for (uint32_t k = 0; k < bn->n_in; k++) own += bn->in[k] == node->in[1 - i];
        if (!unread_since(f, apply, own)) continue;
        *p = (pattern){.apply = apply, .add = n, .act = EBB_NONE, .skip = 1 - i};
        return true;
    }
    return false;
}

static bool match_act(const fuser *f, ebb_id n, pattern *p) {
    const ebb_node *node = node_of(f, n);
    if (node->op != &ebb_op_relu && node->op != &ebb_op_clip) return false;
    const ebb_id apply = only_for(f, node->in[0], &ebb_op_bn_apply);
    if (apply == EBB_NONE || !unread_since(f, apply, 0)) return false;
    *p = (pattern){.apply = apply, .add = EBB_NONE, .act = n};
    return true;
}

/* The add was matched when it was come to, as a pattern of its own: the activation joins it. */
static bool match_add_act(const fuser *f, const pattern *patterns, ebb_id n, pattern *p) {
    const ebb_node *node = node_of(f, n);
    if (node->op != &ebb_op_relu && node->op != &ebb_op_clip) return false;
    const ebb_id add = only_for(f, node->in[0], &ebb_op_add);
    if (add == EBB_NONE || patterns[add].apply == EBB_NONE || !unread_since(f, add, 0)) return false;
    const ebb_node *bn = node_of(f, patterns[add].apply);
    const ebb_id skip = node_of(f, add)->in[patterns[add].skip];
    uint32_t own = 0;
    for (uint32_t k = 0; k < bn->n_in; k++) own += bn->in[k] == skip;
    if (!unread_since(f, patterns[add].apply, own)) return false;
    *p = patterns[add];
    p->act = n;
    return true;
}

static void match(fuser *f, pattern *patterns) {
    for (ebb_id n = 0; n < f->rw.old->n_nodes; n++) {
        pattern p;
        patterns[n].apply = EBB_NONE;
        count_node(f, n);
        const bool fits = node_of(f, n)->phase == EBB_FORWARD &&
                          (match_add(f, n, &p) || match_act(f, n, &p) || match_add_act(f, patterns, n, &p));
        if (!fits) continue;
        patterns[n] = p;
        f->into[p.apply] = n;
        if (p.add != EBB_NONE && p.add != n) {
            patterns[p.add].apply = EBB_NONE;
            f->into[p.add] = n;
        }
    }
}

static void emit(fuser *f, const pattern *p, ebb_id n) {
    const ebb_node *node = node_of(f, n), *bn = node_of(f, p->apply);
    const ebb_node *act = p->act == EBB_NONE ? NULL : node_of(f, p->act);
    const ebb_op_info *op = p->add == EBB_NONE ? &ebb_op_bn_act : &ebb_op_bn_add;
    ebb_id in[6];
    for (uint32_t i = 0; i < bn->n_in; i++) in[i] = f->rw.map[bn->in[i]];
    if (p->add != EBB_NONE) in[bn->n_in] = f->rw.map[node_of(f, p->add)->in[p->skip]];
    const bool clip = act && act->op == &ebb_op_clip;
    const ebb_attr zero = {.f = 0};
    const ebb_attr attr[] = {
        [EBB_BN_ACT_EPS] = bn->attr[EBB_BN_EPS],
        [EBB_BN_ACT_BATCH] = bn->attr[EBB_BN_BATCH],
        [EBB_BN_ACT_RELU] = {.i = {act && !clip}},
        [EBB_BN_ACT_CLIP] = {.i = {clip}},
        [EBB_BN_ACT_MIN] = clip ? act->attr[EBB_CLIP_MIN] : zero,
        [EBB_BN_ACT_MAX] = clip ? act->attr[EBB_CLIP_MAX] : zero,
    };
    const char *name = f->rw.old->values[node->out[0]].name;
    f->rw.map[node->out[0]] =
        ebb_builder_node(f->rw.builder, op, in, op->max_in, attr, &name, EBB_FORWARD, 0)[0];
}

typedef struct rebuild {
    fuser *f;
    const pattern *patterns;
} rebuild;

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    const rebuild *r = ctx;
    const ebb_id n = rw->old->values[node->out[0]].producer;
    if (r->f->into[n] != EBB_NONE) return;
    if (r->patterns[n].apply == EBB_NONE) {
        ebb_rw_copy_node(rw, node);
    } else {
        emit(r->f, &r->patterns[n], n);
    }
}

/* ---- what is asked for ---------------------------------------------------------------------------- */

/* The value itself, or its gradient, which vanishes with it. */
static bool named(fuser *f, const char *value, const char *const *names, uint32_t n_names) {
    const char *gradient = n_names ? ebb_rw_join(&f->rw, value, ".grad") : NULL;
    for (uint32_t i = 0; gradient && i < n_names; i++) {
        const char *name = names[i] + (names[i][0] == '%');
        if (ebb_glob(name, value) || ebb_glob(name, gradient)) return true;
    }
    return false;
}

static void asked_find(fuser *f, const char *const *names, uint32_t n_names) {
    const ebb_graph *old = f->rw.old;
    for (ebb_id v = 0; v < old->n_values && !ebb_rw_failed(&f->rw); v++) {
        f->asked[v] = old->values[v].role == EBB_ROLE_OUTPUT || v == old->loss;
        if (!f->asked[v] && old->values[v].producer != EBB_NONE)
            f->asked[v] = named(f, old->values[v].name, names, n_names);
    }
}

static void fuse(fuser *f, const char *const *names, uint32_t n_names) {
    const ebb_graph *old = f->rw.old;
    f->reads = ebb_rw_scratch(&f->rw, old->n_values, sizeof *f->reads);
    f->so_far = ebb_rw_scratch(&f->rw, old->n_values, sizeof *f->so_far);
    f->asked = ebb_rw_scratch(&f->rw, old->n_values, sizeof *f->asked);
    f->into = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->into);
    f->before = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->before);
    pattern *patterns = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *patterns);
    if (ebb_rw_failed(&f->rw)) return;
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        f->into[n] = EBB_NONE;
        for (uint32_t i = 0; i < old->nodes[n].n_in; i++) f->reads[old->nodes[n].in[i]]++;
    }
    asked_find(f, names, n_names);
    match(f, patterns);
    ebb_rw_each(&f->rw, visit, &(rebuild){f, patterns});
}

ebb_status ebb_fuse(ebb_env *env, const ebb_graph *graph, const char *const *names, uint32_t n_names,
                    ebb_graph **out) {
    *out = NULL;
    fuser f = {.reads = NULL};
    ebb_status status = ebb_rw_init(&f.rw, env, graph);
    if (!status) {
        fuse(&f, names, n_names);
        status = ebb_rw_seal(&f.rw, out);
    }
    ebb_rw_deinit(&f.rw);
    return status;
}
