/* Simplify: takes a graph; gives one without nodes that nothing needs, without equal nodes and without
 * views that change nothing. Never changes a result's bits. Requires nothing. Cost: O(graph).
 *
 * What stays in any case: outputs and the loss under their names, nodes with an effect, updates, and
 * inputs, which a caller feeds by name. A param, state or constant that nobody reads goes. */
#include "graph/passes/passes.h"

typedef struct simplifier {
    ebb_rewriter rw;
    ebb_id *same;   /* [old values] the old value that stands for it: itself unless merged away */
    bool *gone;     /* [old nodes] merged away */
    bool *live;     /* [old values] somebody needs it */
    ebb_id *slots;  /* nodes by their hash */
    size_t n_slots; /* a power of two */
} simplifier;

static bool has_effect(const ebb_node *node) {
    return node->op->effect == EBB_STATEFUL || node->op->effect == EBB_ORDERED || node->op->n_update > 0;
}

/* A result is asked for by name. */
static bool is_asked(const ebb_graph *graph, const ebb_node *node) {
    for (uint32_t i = 0; i < node->n_out; i++) {
        if (graph->values[node->out[i]].role == EBB_ROLE_OUTPUT || node->out[i] == graph->loss) return true;
    }
    return false;
}

/* ---- equal nodes ------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n) {
    return hash * UINT64_C(0x9e3779b97f4a7c15) ^ ebb_name_hash(bytes, n);
}

static uint64_t node_hash(const simplifier *s, const ebb_node *node) {
    uint64_t hash = mix(node->phase, &node->op->code, sizeof node->op->code);
    for (uint32_t i = 0; i < node->n_in; i++) hash = mix(hash, &s->same[node->in[i]], sizeof(ebb_id));
    for (uint32_t i = 0; i < node->op->n_attrs; i++) {
        const ebb_attr *a = &node->attr[i];
        const bool text = node->op->attrs[i].kind == EBB_ATTR_TEXT;
        hash = mix(hash, text ? (const void *)a->text : a, text ? strlen(a->text) : sizeof *a);
    }
    return hash ^ hash >> 32;
}

static bool node_equal(const simplifier *s, const ebb_node *a, const ebb_node *b) {
    if (a->op != b->op || a->phase != b->phase || a->n_in != b->n_in) return false;
    for (uint32_t i = 0; i < a->n_in; i++) {
        if (s->same[a->in[i]] != s->same[b->in[i]]) return false;
    }
    for (uint32_t i = 0; i < a->op->n_attrs; i++) {
        if (!ebb_attr_equal(&a->op->attrs[i], &a->attr[i], &b->attr[i])) return false;
    }
    return true;
}

/* The earlier node that is equal, or EBB_NONE: then n is the one that later ones find. */
static ebb_id earlier(simplifier *s, ebb_id n) {
    const ebb_node *nodes = s->rw.old->nodes;
    size_t at = (size_t)node_hash(s, &nodes[n]) & (s->n_slots - 1);
    for (; s->slots[at] != EBB_NONE; at = (at + 1) & (s->n_slots - 1)) {
        if (node_equal(s, &nodes[s->slots[at]], &nodes[n])) return s->slots[at];
    }
    s->slots[at] = n;
    return EBB_NONE;
}

/* ---- the three sweeps ------------------------------------------------------------------------ */

static void merge(simplifier *s) {
    const ebb_graph *old = s->rw.old;
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        bool asked = is_asked(old, node);
        if (node->op->effect != EBB_PURE || has_effect(node)) continue;
        bool identity = node->op->view &&
                        ebb_type_equal(&old->values[node->in[0]].type, &old->values[node->out[0]].type);
        if (identity && !asked && node->n_out == 1) {
            s->same[node->out[0]] = s->same[node->in[0]];
            s->gone[n] = true;
            continue;
        }
        ebb_id first = earlier(s, n);
        if (first == EBB_NONE || asked) continue;
        for (uint32_t i = 0; i < node->n_out; i++) s->same[node->out[i]] = old->nodes[first].out[i];
        s->gone[n] = true;
    }
}

static void live_find(simplifier *s) {
    const ebb_graph *old = s->rw.old;
    for (ebb_id n = old->n_nodes; n-- > 0;) {
        const ebb_node *node = &old->nodes[n];
        bool needed = has_effect(node) || is_asked(old, node);
        for (uint32_t i = 0; i < node->n_out; i++) needed = needed || s->live[node->out[i]];
        if (s->gone[n] || !needed) continue;
        for (uint32_t i = 0; i < node->n_out; i++) s->live[node->out[i]] = true;
        for (uint32_t i = 0; i < node->n_in; i++) s->live[s->same[node->in[i]]] = true;
    }
}

static void rebuild(simplifier *s) {
    const ebb_graph *old = s->rw.old;
    for (ebb_id id = 0; id < old->n_values && !ebb_rw_failed(&s->rw); id++) {
        const ebb_value *v = &old->values[id];
        if (s->same[id] != id) {
            s->rw.map[id] = s->rw.map[s->same[id]];
        } else if (v->producer == EBB_NONE) {
            if (s->live[id] || v->role == EBB_ROLE_INPUT) ebb_rw_copy_given(&s->rw, id);
        } else if (v->result == 0 && s->live[id]) {
            ebb_rw_copy_node(&s->rw, &old->nodes[v->producer]);
        }
    }
}

static void simplify(simplifier *s) {
    const ebb_graph *old = s->rw.old;
    for (s->n_slots = 64; s->n_slots < 2 * (size_t)old->n_nodes;) s->n_slots *= 2;
    s->same = ebb_rw_scratch(&s->rw, old->n_values, sizeof *s->same);
    s->live = ebb_rw_scratch(&s->rw, old->n_values, sizeof *s->live);
    s->gone = ebb_rw_scratch(&s->rw, old->n_nodes, sizeof *s->gone);
    s->slots = ebb_rw_scratch(&s->rw, s->n_slots, sizeof *s->slots);
    if (ebb_rw_failed(&s->rw)) return;
    for (ebb_id id = 0; id < old->n_values; id++) s->same[id] = id;
    for (size_t i = 0; i < s->n_slots; i++) s->slots[i] = EBB_NONE;
    merge(s);
    live_find(s);
    rebuild(s);
}

ebb_status ebb_simplify(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    simplifier s = {.n_slots = 0};
    ebb_status status = ebb_rw_init(&s.rw, env, graph);
    if (!status) {
        simplify(&s);
        status = ebb_rw_seal(&s.rw, out);
    }
    ebb_rw_deinit(&s.rw);
    return status;
}
