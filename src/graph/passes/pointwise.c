/* Pointwise: takes any graph; gives one in which chains of pointwise ops are one op, `fused`, whose inner
 * values are never stored. No bit of a result changes. Requires: nothing; last of the passes, for it hides
 * ops from the others. Cost: O(graph), times the readers of a value.
 *
 * What p makes, t, vanishes into its readers y, each of which then computes it again from what p read,
 * where no schedule needs more bytes for that, however it recomputes (docs/decisions/0048). With N(n): what
 * n reads, but for params, states and constants, which are there all the time:
 *
 *     sink    N(p) has nothing that N(y) has not, or one value in the elements of t: it is held instead of
 *             t, and y may lie over it instead of t. Of several readers each one takes p in, if p is cheap.
 *     hoist   y, the only reader, is of t's elements, and N(y) has nothing but t that N(p) has not: y is
 *             computed where t was, and held instead of it.
 *
 * A number (`fill`) is made inside of whoever is fused. Results of a group are one: all else that is asked
 * for is stored, so that whatever was recomputed by itself still is. */
#include "graph/passes/groups.h"

enum { CHEAP_FLOPS = 4 /* of an element: less than storing it and reading it again */ };

static const ebb_type *type_of(const ebb_grouper *f, ebb_id value) {
    return &f->old->values[value].type;
}

static int64_t element_bytes(const ebb_grouper *f, ebb_id value) {
    return ebb_dtype_bytes(type_of(f, value)->dtype);
}

/* What is there all the time. */
static bool is_persistent(const ebb_grouper *f, ebb_id value) {
    const ebb_value *v = &f->old->values[f->root[value]];
    return v->producer == EBB_NONE && v->role != EBB_ROLE_INPUT;
}

bool ebb_group_reads(const ebb_grouper *f, ebb_id n, ebb_id value) {
    const ebb_group *g = f->groups[n];
    const ebb_node *node = &f->old->nodes[n];
    const ebb_id *in = g ? g->in : node->in;
    for (uint32_t i = 0; i < (g ? g->n_in : node->n_in); i++) {
        if (in[i] == value) return !f->gone[n];
    }
    return false;
}

/* Does the group hold the bytes of this value while it runs? */
static bool holds(const ebb_grouper *f, const ebb_group *g, ebb_id value) {
    if (is_persistent(f, value)) return true;
    for (uint32_t i = 0; i < g->n_in; i++) {
        if (f->root[g->in[i]] == f->root[value]) return true;
    }
    return false;
}

bool ebb_group_is_number(const ebb_grouper *f, const ebb_group *g, uint32_t i) {
    const ebb_id value = g->in[i], maker = f->old->values[value].producer;
    if (maker == EBB_NONE || f->old->nodes[maker].n_in > 0 || !f->old->nodes[maker].op->pointwise)
        return false;
    for (uint32_t k = 0; k < g->n_members; k++) {
        const ebb_node *node = &f->old->nodes[g->member[k]];
        for (uint32_t j = 0; j < node->n_in; j++) {
            if (node->in[j] == value && !strstr(node->op->rule, "[~]")) return false;
        }
    }
    return true;
}

/* ---- may it vanish? -------------------------------------------------------------------------- */

/* The members, operands and steps of both; false: too many. The result is in *out. */
static bool joined(const ebb_group *p, const ebb_group *y, ebb_id t, ebb_group *out) {
    *out = (ebb_group){.at = y->at};
    uint32_t i = 0, k = 0;
    while (i < p->n_members || k < y->n_members) {
        const bool first = k == y->n_members || (i < p->n_members && p->member[i] <= y->member[k]);
        const ebb_id next = first ? p->member[i] : y->member[k];
        if (out->n_members == EBB_FUSED_STEPS) return false;
        out->member[out->n_members++] = next;
        i += i < p->n_members && p->member[i] == next;
        k += k < y->n_members && y->member[k] == next;
    }
    for (uint32_t j = 0; j < p->n_in + y->n_in; j++) {
        const ebb_group *of = j < p->n_in ? p : y;
        const uint32_t at = j < p->n_in ? j : j - p->n_in;
        bool known = of == y && of->in[at] == t;
        for (uint32_t o = 0; o < out->n_in && !known; o++)
            known = out->in[o] == of->in[at] && out->channel[o] == of->channel[at];
        if (known) continue;
        if (out->n_in == EBB_FUSED_OPERANDS) return false;
        out->in[out->n_in] = of->in[at];
        out->channel[out->n_in++] = of->channel[at];
    }
    return true;
}

/* Room for numbers that are made inside, and t an operand that is not laid along the channels. */
static bool can_join(const ebb_grouper *f, ebb_id p, ebb_id y, ebb_group *out) {
    const ebb_group *from = f->groups[p], *to = f->groups[y];
    const ebb_id t = f->old->nodes[p].out[0];
    if (!to || !ebb_type_same_shape(type_of(f, t), type_of(f, f->old->nodes[y].out[0]))) return false;
    for (uint32_t i = 0; i < to->n_in; i++) {
        if (to->in[i] == t && to->channel[i]) return false;
    }
    if (!joined(from, to, t, out)) return false;
    uint32_t n_steps = out->n_members;
    for (uint32_t i = 0; i < out->n_in; i++) n_steps += ebb_group_is_number(f, out, i);
    return n_steps <= EBB_FUSED_STEPS;
}

static bool may_sink(const ebb_grouper *f, ebb_id p, ebb_id y) {
    const ebb_group *from = f->groups[p], *to = f->groups[y];
    const ebb_id t = f->old->nodes[p].out[0];
    uint32_t n_new = 0;
    for (uint32_t i = 0; i < from->n_in; i++) {
        const ebb_id u = from->in[i], updater = f->updater[f->root[u]];
        if (updater != EBB_NONE && updater < to->at) return false;
        if (holds(f, to, u) || ebb_group_is_number(f, from, i)) continue;
        n_new++;
        if (!ebb_type_same_shape(type_of(f, u), type_of(f, t)) ||
            element_bytes(f, u) != element_bytes(f, t))
            return false;
    }
    return n_new <= 1;
}

static bool may_hoist(const ebb_grouper *f, ebb_id p, ebb_id y) {
    const ebb_group *from = f->groups[p], *to = f->groups[y];
    const ebb_id t = f->old->nodes[p].out[0];
    if (f->old->nodes[p].phase != f->old->nodes[y].phase) return false;
    if (element_bytes(f, f->old->nodes[y].out[0]) != element_bytes(f, t)) return false;
    for (uint32_t i = 0; i < to->n_in; i++) {
        const ebb_id maker = f->old->values[to->in[i]].producer;
        if (to->in[i] == t || ebb_group_is_number(f, to, i)) continue;
        if (!holds(f, from, to->in[i]) || (maker != EBB_NONE && maker >= from->at)) return false;
    }
    return true;
}

static bool is_cheap(const ebb_grouper *f, const ebb_group *g) {
    for (uint32_t k = 0; k < g->n_members; k++) {
        if (f->old->nodes[g->member[k]].op->flops > CHEAP_FLOPS) return false;
    }
    return true;
}

static bool is_asked(const ebb_grouper *f, ebb_id value) {
    return f->old->values[value].role == EBB_ROLE_OUTPUT || value == f->old->loss;
}

/* ---- it vanishes ----------------------------------------------------------------------------- */

static void link_add(ebb_grouper *f, ebb_id value, ebb_id node) {
    const ebb_group_reader one = {node, f->readers[value]};
    f->readers[value] = (uint32_t)f->links.n;
    if (!EBB_PUSH(f->rw.env, &f->links, one))
        ebb_builder_fail(f->rw.builder, EBB_NO_MEMORY, "no memory for the readers of %zu operands",
                         f->links.n);
}

static void take_in(ebb_grouper *f, ebb_id y, const ebb_group *made) {
    *f->groups[y] = *made;
    for (uint32_t i = 0; i < made->n_in; i++) link_add(f, made->in[i], y);
}

/* p's result into all of its readers, or nothing. */
static void vanish(ebb_grouper *f, ebb_id p) {
    const ebb_id t = f->old->nodes[p].out[0];
    ebb_id last = EBB_NONE;
    uint32_t n = 0;
    bool sinks = true;
    ebb_group made;
    if (is_asked(f, t)) return;
    for (uint32_t l = f->readers[t]; l != EBB_NONE; l = f->links.at[l].next) {
        const ebb_id y = f->links.at[l].node;
        if (f->seen[y] == p + 1 || !ebb_group_reads(f, y, t)) continue;
        f->seen[y] = p + 1;
        last = y;
        n++;
        if (!can_join(f, p, y, &made)) return;
        sinks = sinks && may_sink(f, p, y);
    }
    if (n == 0 || (n > 1 && (!sinks || !is_cheap(f, f->groups[p])))) return;
    const bool hoists = n == 1 && !sinks && may_hoist(f, p, last);
    if (!sinks && !hoists) return;
    for (uint32_t l = f->readers[t]; l != EBB_NONE; l = f->links.at[l].next) {
        const ebb_id y = f->links.at[l].node;
        if (!ebb_group_reads(f, y, t) || !can_join(f, p, y, &made)) continue;
        if (hoists) {
            f->emit[f->groups[y]->at] = EBB_NONE;
            made.at = f->groups[p]->at;
        }
        take_in(f, y, &made);
        if (hoists) f->emit[made.at] = y;
    }
    f->gone[p] = true;
    if (!hoists) f->emit[f->groups[p]->at] = EBB_NONE;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_pointwise(const ebb_grouper *f, const ebb_node *node) {
    bool good = node->op->pointwise && node->n_in > 0;
    for (uint32_t i = 0; i < node->n_in && good; i++)
        good = ebb_dtypes[type_of(f, node->in[i])->dtype].kind != EBB_DTYPE_NARROW;
    return good && ebb_dtypes[type_of(f, node->out[0])->dtype].kind != EBB_DTYPE_NARROW;
}

static void find(ebb_grouper *f) {
    const ebb_graph *old = f->old;
    for (ebb_id v = 0; v < old->n_values; v++) {
        const ebb_id maker = old->values[v].producer;
        f->root[v] = maker != EBB_NONE && old->nodes[maker].op->view ? f->root[old->nodes[maker].in[0]] : v;
        f->updater[v] = f->readers[v] = EBB_NONE;
    }
    for (ebb_id n = 0; n < old->n_nodes && !ebb_rw_failed(&f->rw); n++) {
        const ebb_node *node = &old->nodes[n];
        f->emit[n] = f->sum[n] = EBB_NONE;
        for (uint32_t u = 0; u < node->op->n_update; u++)
            f->updater[f->root[node->in[node->op->update[u].in]]] = n;
        for (uint32_t i = 0; i < node->n_in; i++) link_add(f, node->in[i], n);
        if (!is_pointwise(f, node) || !(f->groups[n] = ebb_rw_scratch(&f->rw, 1, sizeof(ebb_group))))
            continue;
        ebb_group self = {.n_members = 0, .at = n}, one = {.n_members = 1, .member = {n}, .at = n};
        for (uint32_t i = 0; i < node->n_in; i++) {
            one.in[one.n_in] = node->in[i];
            one.channel[one.n_in++] = node->op->by_channel >> i & 1;
        }
        (void)joined(&one, &self, EBB_NONE, f->groups[n]); /* an operand that is read twice is one */
        f->emit[n] = n;
    }
}

static void fuse(ebb_grouper *f) {
    const ebb_graph *old = f->old;
    f->root = ebb_rw_scratch(&f->rw, old->n_values, sizeof *f->root);
    f->updater = ebb_rw_scratch(&f->rw, old->n_values, sizeof *f->updater);
    f->readers = ebb_rw_scratch(&f->rw, old->n_values, sizeof *f->readers);
    f->groups = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->groups);
    f->gone = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->gone);
    f->seen = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->seen);
    f->emit = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->emit);
    f->sum = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->sum);
    f->is_summed = ebb_rw_scratch(&f->rw, old->n_nodes, sizeof *f->is_summed);
    if (ebb_rw_failed(&f->rw)) return;
    find(f);
    for (ebb_id n = 0; n < old->n_nodes && !ebb_rw_failed(&f->rw); n++) {
        if (f->groups[n]) vanish(f, n);
    }
    if (!ebb_rw_failed(&f->rw)) ebb_groups_emit(f);
}

ebb_status ebb_fuse_pointwise(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    ebb_grouper f = {.old = graph};
    ebb_status status = ebb_rw_init(&f.rw, env, graph);
    if (!status) {
        fuse(&f);
        status = ebb_rw_seal(&f.rw, out);
    }
    EBB_ARRAY_FREE(env, &f.links);
    ebb_rw_deinit(&f.rw);
    return status;
}
