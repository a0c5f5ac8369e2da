/* Takes a draft, gives a sealed planning graph. Requires nothing: every rule of ebb.graph/1 is checked
 * (check.c). Cost: O(values + edges). */
#include "graph/planning/seal.h"

#include <stdio.h>

/* Names that the maker left out. */
static const char *name_or(ebb_arena *arena, const char *name, const char *stem, uint32_t id) {
    if (name) return name;
    char text[32];
    (void)snprintf(text, sizeof text, "%s%u", stem, id);
    return ebb_arena_text(arena, text);
}

/* Alternatives are copied only when one of them has no name. */
static bool name_alternatives(ebb_arena *arena, ebb_pop *op) {
    uint32_t n_named = 0;
    for (uint32_t k = 0; k < op->n_alternatives; k++)
        if (op->alternatives[k].name) n_named++;
    if (n_named == op->n_alternatives) return true;
    ebb_alternative *copy = ebb_arena_copy(arena, op->alternatives, op->n_alternatives, sizeof *copy);
    op->alternatives = copy;
    for (uint32_t k = 0; copy && k < op->n_alternatives; k++)
        if (!(copy[k].name = name_or(arena, copy[k].name, "alternative", k))) return false;
    return copy;
}

/* Moves the draft's tables into its arena and fills what makers may leave out. */
static ebb_status settle(ebb_sealer *s, ebb_pdraft *draft) {
    ebb_arena *arena = &draft->arena;
    if (draft->values.n >= EBB_NONE || draft->ops.n >= EBB_NONE)
        return ebb_fail(s->env, EBB_BAD_INPUT, "%.160s: %zu values and %zu ops are more than ids can name",
                        s->where, draft->values.n, draft->ops.n);
    s->n_values = (uint32_t)draft->values.n;
    s->n_ops = (uint32_t)draft->ops.n;
    s->values = ebb_arena_copy(arena, draft->values.at, s->n_values, sizeof *s->values);
    s->ops = ebb_arena_copy(arena, draft->ops.at, s->n_ops, sizeof *s->ops);
    if (!s->values || !s->ops) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < s->n_values; v++)
        if (!(s->values[v].name = name_or(arena, s->values[v].name, "v", v))) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        ebb_pop *op = &s->ops[i];
        op->name = name_or(arena, op->name, "op", i);
        if (!op->kind) op->kind = "op";
        if (draft->value_origin.n == 0) op->origin = i;
        if (!op->name || !name_alternatives(arena, op)) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

static ebb_status make_graph(const ebb_sealer *s, ebb_pdraft *draft, ebb_pgraph **out) {
    ebb_pgraph *graph = EBB_NEW(&draft->arena, ebb_pgraph, 1);
    ebb_id *origin = EBB_NEW(&draft->arena, ebb_id, s->n_values);
    if (!graph || !origin) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < s->n_values; v++)
        origin[v] = draft->value_origin.n > 0 ? draft->value_origin.at[v] : v;
    *graph = (ebb_pgraph){.arena = draft->arena,
                          .name = draft->name ? draft->name : "",
                          .fixed_bytes = draft->fixed_bytes,
                          .costs = draft->costs,
                          .values = s->values,
                          .n_values = s->n_values,
                          .ops = s->ops,
                          .n_ops = s->n_ops,
                          .value_origin = origin};
    ebb_arena_init(&draft->arena, s->env); /* it is the graph's now */
    *out = graph;
    return EBB_OK;
}

ebb_status ebb_pdraft_seal(ebb_pdraft *draft, const char *where, ebb_pgraph **out) {
    *out = NULL;
    ebb_sealer s = {.env = draft->arena.env, .where = where ? where : "graph"};
    ebb_arena scratch;
    ebb_arena_init(&scratch, s.env);
    ebb_status status = settle(&s, draft);
    if (status == EBB_OK) status = ebb_seal_check(&s, &scratch, draft);
    if (status == EBB_OK) status = make_graph(&s, draft, out);
    ebb_arena_deinit(&scratch);
    ebb_pdraft_deinit(draft);
    return status;
}
