/* Nodes of the new graph, and what they are called. */
#include "graph/emit/emit.h"

void *ebb_rw_scratch(ebb_rewriter *rw, size_t n, size_t size) {
    void *at = ebb_arena_alloc(&rw->scratch, n, size);
    if (!at)
        ebb_builder_fail(rw->builder, EBB_NO_MEMORY, "no memory for %zu elements of %zu bytes", n, size);
    return at;
}

const char *ebb_rw_join(ebb_rewriter *rw, const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    char *joined = ebb_rw_scratch(rw, n + m + 1, 1);
    if (!joined) return NULL;
    memcpy(joined, name, n);
    memcpy(joined + n, suffix, m + 1);
    return joined;
}

ebb_builder *ebb_rw_builder(ebb_rewriter *rw) {
    return rw->builder;
}

ebb_id ebb_rw_value(ebb_rewriter *rw, ebb_id old) {
    return rw->map[old];
}

const ebb_id *ebb_rw_emit(ebb_rewriter *rw, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                          const ebb_attr *attr) {
    if (op->composite) {
        ebb_builder_fail(rw->builder, EBB_INTERNAL, "a rule of %s emits %s, which is composite",
                         rw->node->op->name, op->name);
    }
    const ebb_id *out =
        ebb_builder_node(rw->builder, op, in, n_in, attr, NULL, rw->phase, rw->node->seed_key);
    const char *stem = rw->old->values[rw->node->out[0]].name;
    for (uint32_t i = 0; i < op->n_out; i++) ebb_builder_stem(rw->builder, out[i], stem);
    return out;
}

ebb_id ebb_rw_alias(ebb_rewriter *rw, ebb_id value, const char *name) {
    const ebb_type *type = ebb_builder_type(rw->builder, value);
    ebb_attr shape = {.i = {0}};
    for (uint32_t i = 0; i < type->rank; i++) shape.i[i] = type->dim[i];
    return ebb_builder_node(rw->builder, rw->reshape, &value, 1, &shape, &name, rw->phase, 0)[0];
}
