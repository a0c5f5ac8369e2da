/* Takes a planning graph and a list of steps; gives the scheduled graph, one op per step, one value per
 * life. Requires steps that respect the graph's rules (EBB_INTERNAL otherwise). Breaks nothing. O(steps +
 * edges). */
#include "sublinear/sublinear.h"

typedef struct rewriter {
    ebb_env *env;
    const ebb_pgraph *graph;
    ebb_pdraft draft;
    ebb_id *latest;     /* per value of graph: its life in the draft, or EBB_NONE */
    const ebb_id *root; /* per value of graph: whose bytes it is */
    uint32_t *n_lives;  /* per value */
    uint32_t *n_runs;   /* per op */
    ebb_id *first_run;  /* per op: its first step */
    bool *replaced;     /* per value of graph: an update took its bytes, and those of all its views */
    ebb_id ordered;     /* the ordered op that ran last, or EBB_NONE */
} rewriter;

static const char *life_name(rewriter *w, ebb_id value) {
    const char *name = w->graph->values[value].name;
    if (w->n_lives[value] == 0) return ebb_arena_text(&w->draft.arena, name);
    ebb_text text;
    ebb_text_init(&text, w->env);
    ebb_text_add(&text, "%s#%u", name, w->n_lives[value] + 1);
    const char *out = text.failed ? NULL : ebb_arena_text(&w->draft.arena, text.at);
    ebb_text_deinit(&text);
    return out;
}

static bool add_life(rewriter *w, ebb_id value) {
    ebb_pvalue v = w->graph->values[value];
    v.name = life_name(w, value);
    v.shape = NULL; /* for people, who read the graph that was planned */
    w->latest[value] = (ebb_id)w->draft.values.n;
    w->n_lives[value]++;
    return v.name && EBB_PUSH(w->env, &w->draft.values, v) &&
           EBB_PUSH(w->env, &w->draft.value_origin, value);
}

static ebb_status check_step(rewriter *w, uint32_t step, ebb_step_choice choice) {
    const ebb_pgraph *g = w->graph;
    if (choice.op >= g->n_ops)
        return ebb_fail(w->env, EBB_INTERNAL, "step %u: op %u is not one of %u", step, choice.op, g->n_ops);
    const ebb_pop *op = &g->ops[choice.op];
    if (choice.alternative != EBB_NONE && choice.alternative >= op->n_alternatives)
        return ebb_fail(w->env, EBB_INTERNAL, "step %u: op \"%s\" has %u alternatives, not %u", step,
                        op->name, op->n_alternatives, choice.alternative);
    if (!ebb_pop_repeatable(op) && w->n_runs[choice.op] > 0)
        return ebb_fail(w->env, EBB_INTERNAL, "step %u: op \"%s\" must run once", step, op->name);
    if (op->ordered && w->ordered != EBB_NONE && w->ordered > choice.op)
        return ebb_fail(w->env, EBB_INTERNAL, "step %u: op \"%s\" is ordered, but \"%s\" ran before it",
                        step, op->name, g->ops[w->ordered].name);
    for (uint32_t k = 0; k < op->n_after; k++)
        if (w->n_runs[op->after[k]] == 0)
            return ebb_fail(w->env, EBB_INTERNAL, "step %u: op \"%s\" must run after \"%s\"", step,
                            op->name, g->ops[op->after[k]].name);
    return EBB_OK;
}

static ebb_status add_step(rewriter *w, uint32_t step, ebb_step_choice choice) {
    const ebb_pgraph *g = w->graph;
    const ebb_pop *op = &g->ops[choice.op];
    ebb_pop_way way = ebb_pop_under(op, choice.alternative);
    ebb_arena *a = &w->draft.arena;
    ebb_id *in = EBB_NEW(a, ebb_id, way.n_in), *out = EBB_NEW(a, ebb_id, op->n_out), *after = NULL;
    if (!in || !out) return EBB_NO_MEMORY;
    for (uint32_t k = 0; k < way.n_in; k++) {
        in[k] = w->latest[way.in[k]];
        if (in[k] == EBB_NONE || w->replaced[w->root[way.in[k]]])
            return ebb_fail(w->env, EBB_INTERNAL, "step %u: op \"%s\" reads \"%s\", which is not there",
                            step, op->name, g->values[way.in[k]].name);
    }
    for (uint32_t k = 0; k < op->n_update; k++) w->replaced[way.in[op->update[k].in]] = true;
    if (op->ordered) w->ordered = choice.op;
    for (uint32_t k = 0; k < op->n_out; k++) {
        if (!add_life(w, op->out[k])) return EBB_NO_MEMORY;
        out[k] = w->latest[op->out[k]];
    }
    if (op->n_after > 0 && w->n_runs[choice.op] == 0) {
        after = EBB_NEW(a, ebb_id, op->n_after);
        if (!after) return EBB_NO_MEMORY;
        for (uint32_t k = 0; k < op->n_after; k++) after[k] = w->first_run[op->after[k]];
    }
    ebb_pop to = {.name = ebb_arena_text(a, op->name),
                  .kind = ebb_arena_text(a, op->kind),
                  .phase = op->phase,
                  .in = in,
                  .out = out,
                  .n_in = way.n_in,
                  .n_out = op->n_out,
                  .time_ns = way.time_ns,
                  .scratch_bytes = way.scratch_bytes,
                  .recomputable = op->recomputable,
                  .ordered = op->ordered,
                  .after = after,
                  .n_after = after ? op->n_after : 0,
                  .n_in_place = way.n_in_place,
                  .n_update = op->n_update,
                  .n_views = op->n_views,
                  .origin = choice.op};
    to.in_place = ebb_arena_copy(a, way.in_place, way.n_in_place, sizeof(ebb_pair));
    to.update = ebb_arena_copy(a, op->update, op->n_update, sizeof(ebb_pair));
    to.views = ebb_arena_copy(a, op->views, op->n_views, sizeof(ebb_view));
    if (!to.name || !to.kind || !to.in_place || !to.update || !to.views) return EBB_NO_MEMORY;
    if (w->n_runs[choice.op]++ == 0) w->first_run[choice.op] = step;
    return EBB_PUSH(w->env, &w->draft.ops, to) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status rewrite_all(rewriter *w, ebb_arena *scratch, const ebb_step_choice *steps,
                              uint32_t n_steps) {
    const ebb_pgraph *g = w->graph;
    w->latest = EBB_NEW(scratch, ebb_id, g->n_values);
    w->n_lives = EBB_NEW(scratch, uint32_t, g->n_values);
    w->n_runs = EBB_NEW(scratch, uint32_t, g->n_ops);
    w->first_run = EBB_NEW(scratch, ebb_id, g->n_ops);
    w->root = ebb_pgraph_roots(scratch, g);
    w->replaced = EBB_NEW(scratch, bool, g->n_values);
    if (!w->root || !w->latest || !w->n_lives || !w->n_runs || !w->first_run || !w->replaced)
        return EBB_NO_MEMORY;
    w->draft.fixed_bytes = g->fixed_bytes;
    if (!(w->draft.name = ebb_arena_text(&w->draft.arena, g->name))) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < g->n_values; v++) {
        w->latest[v] = EBB_NONE;
        if (g->values[v].producer == EBB_NONE && !add_life(w, v)) return EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; i < n_steps; i++) {
        ebb_status status = check_step(w, i, steps[i]);
        if (status == EBB_OK) status = add_step(w, i, steps[i]);
        if (status != EBB_OK) return status;
    }
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (w->n_runs[i] == 0 && ebb_pgraph_must_run(g, &g->ops[i]))
            return ebb_fail(w->env, EBB_INTERNAL, "op \"%s\" never runs", g->ops[i].name);
    return EBB_OK;
}

ebb_status ebb_rewrite(ebb_env *env, const ebb_pgraph *graph, const ebb_step_choice *steps,
                       uint32_t n_steps, ebb_pgraph **out) {
    *out = NULL;
    rewriter w = {.env = env, .graph = graph, .ordered = EBB_NONE};
    ebb_arena scratch;
    ebb_arena_init(&scratch, env);
    ebb_pdraft_init(&w.draft, env);
    ebb_status status = rewrite_all(&w, &scratch, steps, n_steps);
    ebb_arena_deinit(&scratch);
    if (status != EBB_OK) {
        ebb_pdraft_deinit(&w.draft);
        return status;
    }
    return ebb_pdraft_seal(&w.draft, "schedule", out);
}
