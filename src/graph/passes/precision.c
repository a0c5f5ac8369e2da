/* Precision: takes a lowered graph in f32 and a dtype of 16 bits; gives one that runs in it where the ops'
 * facts allow it. Cost: O(graph). What stays in f32, and why: docs/decisions/0039-sixteen-bits.md. */
#include "graph/passes/passes.h"

typedef struct caster {
    ebb_dtype low;
    ebb_id *other; /* [old values] the value in the other precision, or EBB_NONE: not asked for yet */
} caster;

static ebb_dtype dtype_of(ebb_rewriter *rw, ebb_id id) {
    return ebb_builder_type(rw->builder, id)->dtype;
}

static ebb_id cast(ebb_rewriter *rw, ebb_id id, ebb_dtype to, const char *name, const char *stem,
                   ebb_phase phase) {
    const ebb_attr attr[] = {[EBB_CAST_TO] = {.i = {to}}};
    const ebb_id made = ebb_builder_node(rw->builder, &ebb_op_cast, &id, 1, attr, &name, phase, 0)[0];
    if (!name) ebb_builder_stem(rw->builder, made, stem);
    return made;
}

/* An old value as `to`: of the two precisions that it has. */
static ebb_id value_as(ebb_rewriter *rw, caster *c, ebb_id old, ebb_dtype to, ebb_phase phase) {
    const ebb_id id = rw->map[old];
    if (ebb_rw_failed(rw) || dtype_of(rw, id) == to) return id;
    if (c->other[old] == EBB_NONE) c->other[old] = cast(rw, id, to, NULL, rw->old->values[old].name, phase);
    return c->other[old];
}

/* Is it computed, and there in 16 bits? */
static bool is_low(ebb_rewriter *rw, const caster *c, ebb_id old) {
    if (rw->old->values[old].producer == EBB_NONE) return false;
    const ebb_id other = c->other[old];
    return dtype_of(rw, rw->map[old]) == c->low || (other != EBB_NONE && dtype_of(rw, other) == c->low);
}

/* The dtype of the node's real operands, but for those that its rule keeps wide. */
static ebb_dtype runs_in(ebb_rewriter *rw, const caster *c, const ebb_node *node) {
    bool low = node->op->low == EBB_RUNS_LOW, any = false;
    for (uint32_t i = 0; i < node->n_in; i++) {
        const ebb_dtype was = rw->old->values[node->in[i]].type.dtype;
        if (was == EBB_F64) return EBB_F32;
        if (was != EBB_F32 || ebb_op_wide(node->op, i)) continue;
        any = true;
        low = low || (node->op->low == EBB_RUNS_FOLLOWS && is_low(rw, c, node->in[i]));
    }
    return low && any ? c->low : EBB_F32;
}

/* A result in 16 bits that others ask for by its name and dtype: its cast takes the name. */
static bool is_asked_for(const ebb_graph *graph, ebb_id id) {
    return graph->values[id].role == EBB_ROLE_OUTPUT || graph->loss == id;
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    caster *c = ctx;
    const ebb_value *values = rw->old->values;
    const ebb_dtype dtype = runs_in(rw, c, node);
    ebb_id in[EBB_MAX_OPERANDS];
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) {
        const ebb_id old = node->in[i];
        const ebb_dtype to = ebb_op_wide(node->op, i) ? EBB_F32 : dtype;
        in[i] = values[old].type.dtype == EBB_F32 ? value_as(rw, c, old, to, node->phase) : rw->map[old];
    }
    for (uint32_t i = 0; i < node->n_out; i++)
        names[i] =
            dtype == c->low && is_asked_for(rw->old, node->out[i]) ? NULL : values[node->out[i]].name;
    const ebb_id *out = ebb_builder_node(rw->builder, node->op, in, node->n_in, node->attr, names,
                                         node->phase, node->seed_key);
    ebb_id made[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_out; i++) made[i] = out[i];
    for (uint32_t i = 0; i < node->n_out && !ebb_rw_failed(rw); i++) {
        const ebb_id old = node->out[i];
        rw->map[old] = made[i];
        if (names[i]) continue;
        if (dtype_of(rw, made[i]) == EBB_F32) { /* a loss of 16-bit logits */
            (void)ebb_builder_rename(rw->builder, made[i], values[old].name);
            continue;
        }
        ebb_builder_stem(rw->builder, made[i], values[old].name);
        c->other[old] = made[i];
        rw->map[old] = cast(rw, made[i], EBB_F32, values[old].name, NULL, node->phase);
    }
}

ebb_status ebb_lower_precision(ebb_env *env, const ebb_graph *graph, ebb_dtype low, ebb_graph **out) {
    *out = NULL;
    if (!ebb_dtype_low(low))
        return ebb_fail(env, EBB_USAGE, "precision %s: it must be f16 or bf16", ebb_dtype_name(low));
    ebb_rewriter rw;
    caster c = {.low = low};
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        c.other = ebb_rw_scratch(&rw, graph->n_values, sizeof *c.other);
        for (uint32_t v = 0; c.other && v < graph->n_values; v++) c.other[v] = EBB_NONE;
        ebb_rw_each(&rw, visit, &c);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
