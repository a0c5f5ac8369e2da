/* Graphs at random, and schedules of them that run some ops again. */
#include "graphs.h"

#define MAX_OPERANDS 4

typedef struct drawing {
    ebb_env *env;
    ebb_rng rng;
    ebb_pdraft draft;
    /* of the values so far */
    EBB_ARRAY(ebb_id) root;   /* whose bytes a view shows; itself otherwise */
    EBB_ARRAY(bool) replaced; /* a root that an update took */
} drawing;

static bool chance(drawing *d, uint32_t percent) {
    return ebb_rng_below(&d->rng, 100) < percent;
}

static uint32_t below(drawing *d, uint32_t n) {
    return ebb_rng_below(&d->rng, n);
}

static ebb_id add_value(drawing *d, ebb_role role, int64_t bytes, ebb_id root) {
    ebb_id v = (ebb_id)d->draft.values.n;
    cr_assert(EBB_PUSH(d->env, &d->draft.values, ((ebb_pvalue){.bytes = bytes, .role = role})));
    cr_assert(EBB_PUSH(d->env, &d->root, root == EBB_NONE ? v : root) &&
              EBB_PUSH(d->env, &d->replaced, false));
    return v;
}

static int64_t draw_bytes(drawing *d) {
    static const int64_t sizes[] = {1, 3, 7, 33, 33, 33, 64, 64, 65, 100, 129};
    return sizes[below(d, EBB_COUNT(sizes))];
}

static bool readable(const drawing *d, ebb_id v) {
    return !d->replaced.at[d->root.at[v]];
}

/* Recent values more often, so that chains and deaths happen. */
static ebb_id draw_operand(drawing *d) {
    uint32_t n = (uint32_t)d->draft.values.n;
    for (;;) {
        ebb_id v = chance(d, 70) && n > 8 ? n - 1 - below(d, 8) : below(d, n);
        if (readable(d, v)) return v;
    }
}

static ebb_id *draw_inputs(drawing *d, uint32_t n) {
    ebb_id *in = EBB_NEW(&d->draft.arena, ebb_id, n);
    cr_assert(in != NULL);
    for (uint32_t i = 0; i < n; i++) in[i] = i > 0 && chance(d, 10) ? in[i - 1] : draw_operand(d);
    return in;
}

static const ebb_pair *draw_pairs(drawing *d, uint32_t n_in, uint32_t n_out, uint32_t *n) {
    *n = n_in == 0 || n_out == 0 ? 0 : below(d, 4);
    ebb_pair *pairs = EBB_NEW(&d->draft.arena, ebb_pair, *n);
    cr_assert(pairs != NULL);
    for (uint32_t i = 0; i < *n; i++) pairs[i] = (ebb_pair){below(d, n_out), below(d, n_in)};
    return pairs;
}

/* Output o of the op: a view, an update, or bytes of its own. */
static ebb_id draw_output(drawing *d, ebb_pop *op, uint32_t o, ebb_view *views, ebb_pair *updates,
                          ebb_id updated) {
    ebb_id base = op->n_in > 0 ? op->in[below(d, op->n_in)] : EBB_NONE;
    uint32_t position = 0;
    while (base != EBB_NONE && op->in[position] != base) position++;
    const ebb_pvalue *from = base == EBB_NONE ? NULL : &d->draft.values.at[base];
    ebb_role role = chance(d, 50) ? EBB_ROLE_ACTIVATION : EBB_ROLE_GRADIENT;
    if (o == 0 && updated != EBB_NONE) {
        while (op->in[position] != updated) position = (position + 1) % op->n_in;
        updates[op->n_update++] = (ebb_pair){0, position};
        return add_value(d, d->draft.values.at[updated].role, d->draft.values.at[updated].bytes, EBB_NONE);
    }
    if (from != NULL && chance(d, 20) && (updated == EBB_NONE || d->root.at[base] != updated)) {
        int64_t offset = from->bytes > 0 && chance(d, 60) ? below(d, (uint32_t)from->bytes) : 0;
        int64_t bytes =
            chance(d, 50) ? from->bytes - offset : 1 + below(d, (uint32_t)(from->bytes - offset + 1));
        views[op->n_views++] = (ebb_view){o, position, offset};
        return add_value(d, role, ebb_min_i64(bytes, from->bytes - offset), d->root.at[base]);
    }
    if (chance(d, 15)) role = EBB_ROLE_OUTPUT;
    int64_t bytes = from != NULL && chance(d, 60) ? from->bytes : chance(d, 8) ? 0 : draw_bytes(d);
    return add_value(d, role, bytes, EBB_NONE);
}

static void draw_outputs(drawing *d, ebb_pop *op) {
    ebb_id *out = EBB_NEW(&d->draft.arena, ebb_id, op->n_out), updated = EBB_NONE;
    ebb_view *views = EBB_NEW(&d->draft.arena, ebb_view, op->n_out);
    ebb_pair *updates = EBB_NEW(&d->draft.arena, ebb_pair, 1);
    cr_assert(out != NULL && views != NULL && updates != NULL);
    for (uint32_t i = 0; i < op->n_in && op->n_out > 0; i++) {
        ebb_role role = d->draft.values.at[op->in[i]].role;
        if ((role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE) && chance(d, 25)) updated = op->in[i];
    }
    for (uint32_t o = 0; o < op->n_out; o++) out[o] = draw_output(d, op, o, views, updates, updated);
    if (updated != EBB_NONE) d->replaced.at[updated] = true;
    op->out = out;
    op->views = views;
    op->update = updates;
}

static void draw_alternatives(drawing *d, ebb_pop *op) {
    ebb_alternative *alternatives = EBB_NEW(&d->draft.arena, ebb_alternative, 2);
    cr_assert(alternatives != NULL);
    op->n_alternatives = chance(d, 70) ? 0 : 1 + below(d, 2);
    op->alternatives = alternatives;
    for (uint32_t i = 0; i < op->n_alternatives; i++) {
        ebb_alternative *a = &alternatives[i];
        a->name = "other";
        a->time_ns = below(d, 1000);
        a->scratch_bytes = below(d, 100);
        a->has_in_place = true;
        a->has_inputs = op->n_views == 0 && op->n_update == 0 && chance(d, 50);
        a->n_in = a->has_inputs ? below(d, MAX_OPERANDS + 1) : 0;
        if (a->has_inputs) a->in = draw_inputs(d, a->n_in);
        a->in_place = draw_pairs(d, a->has_inputs ? a->n_in : op->n_in, op->n_out, &a->n_in_place);
    }
}

static void draw_op(drawing *d) {
    uint32_t i = (uint32_t)d->draft.ops.n;
    ebb_pop op = {
        .kind = "op", .phase = EBB_FORWARD, .recomputable = chance(d, 80), .ordered = chance(d, 5)};
    op.n_in = chance(d, 5) ? 0 : 1 + below(d, MAX_OPERANDS);
    op.n_out = chance(d, 10) ? 0 : 1 + below(d, 3);
    op.in = draw_inputs(d, op.n_in);
    draw_alternatives(d, &op); /* before the outputs: it reads what is there */
    draw_outputs(d, &op);
    for (uint32_t a = 0; a < op.n_alternatives && (op.n_views > 0 || op.n_update > 0); a++)
        if (op.alternatives[a].has_inputs) op.n_alternatives = 0; /* what views stand on must stay */
    op.in_place = draw_pairs(d, op.n_in, op.n_out, &op.n_in_place);
    op.time_ns = below(d, 1000);
    op.scratch_bytes = chance(d, 30) ? draw_bytes(d) : 0;
    if (i > 0 && chance(d, 10)) {
        ebb_id earlier = below(d, i);
        op.after = ebb_arena_copy(&d->draft.arena, &earlier, 1, sizeof earlier);
        op.n_after = 1;
    }
    cr_assert(EBB_PUSH(d->env, &d->draft.ops, op));
}

static ebb_pgraph *draw_base(drawing *d, uint32_t n_ops) {
    static const ebb_role given[] = {EBB_ROLE_INPUT, EBB_ROLE_PARAM, EBB_ROLE_STATE, EBB_ROLE_CONSTANT,
                                     EBB_ROLE_INPUT};
    ebb_pgraph *graph = NULL;
    ebb_pdraft_init(&d->draft, d->env);
    d->draft.name = "drawn";
    d->draft.fixed_bytes = below(d, 100);
    for (uint32_t i = 0; i < EBB_COUNT(given); i++)
        for (uint32_t n = i == 0 ? 1 + below(d, 3) : below(d, 3); n > 0; n--)
            (void)add_value(d, given[i], chance(d, 5) ? 0 : draw_bytes(d), EBB_NONE);
    while (d->draft.ops.n < n_ops) draw_op(d);
    TEST_OK(d->env, ebb_pdraft_seal(&d->draft, "drawn", &graph));
    return graph;
}

/* ---- schedules ------------------------------------------------------------------------------- */

typedef struct scheduling {
    drawing *d;
    const ebb_pgraph *graph;
    ebb_id *latest;              /* [n_values] the life that the next reader reads */
    const uint32_t *alternative; /* [n_ops] */
} scheduling;

static void add_life(scheduling *s, ebb_id v) {
    ebb_pdraft *draft = &s->d->draft;
    ebb_pvalue life = {.bytes = s->graph->values[v].bytes, .role = s->graph->values[v].role};
    s->latest[v] = (ebb_id)draft->values.n;
    cr_assert(EBB_PUSH(s->d->env, &draft->values, life) && EBB_PUSH(s->d->env, &draft->value_origin, v));
}

static void add_run(scheduling *s, ebb_id i) {
    const ebb_pop *op = &s->graph->ops[i];
    ebb_pop_way way = ebb_pop_under(op, s->alternative[i]);
    ebb_pop run = {.kind = "op",
                   .phase = op->phase,
                   .n_in = way.n_in,
                   .n_out = op->n_out,
                   .time_ns = way.time_ns,
                   .scratch_bytes = way.scratch_bytes,
                   .recomputable = op->recomputable,
                   .origin = i};
    ebb_arena *arena = &s->d->draft.arena;
    ebb_id *in = EBB_NEW(arena, ebb_id, way.n_in), *out = EBB_NEW(arena, ebb_id, op->n_out);
    run.in_place = ebb_arena_copy(arena, way.in_place, way.n_in_place, sizeof(ebb_pair));
    run.update = ebb_arena_copy(arena, op->update, op->n_update, sizeof(ebb_pair));
    run.views = ebb_arena_copy(arena, op->views, op->n_views, sizeof(ebb_view));
    cr_assert(in != NULL && out != NULL && run.in_place != NULL && run.update != NULL && run.views != NULL);
    run.n_in_place = way.n_in_place;
    run.n_update = op->n_update;
    run.n_views = op->n_views;
    for (uint32_t k = 0; k < way.n_in; k++) in[k] = s->latest[way.in[k]];
    for (uint32_t k = 0; k < op->n_out; k++) {
        add_life(s, op->out[k]);
        out[k] = s->latest[op->out[k]];
    }
    for (uint32_t k = 0; k < op->n_update; k++) s->d->replaced.at[op->in[op->update[k].in]] = true;
    run.in = in;
    run.out = out;
    cr_assert(EBB_PUSH(s->d->env, &s->d->draft.ops, run));
}

static bool can_run_again(const scheduling *s, ebb_id i) {
    const ebb_pop *op = &s->graph->ops[i];
    ebb_pop_way way = ebb_pop_under(op, s->alternative[i]);
    if (!ebb_pop_repeatable(op)) return false;
    for (uint32_t k = 0; k < way.n_in; k++)
        if (!readable(s->d, way.in[k])) return false;
    return true;
}

static ebb_pgraph *draw_schedule(drawing *d, const ebb_pgraph *graph, const uint32_t *alternative) {
    ebb_arena arena;
    ebb_arena_init(&arena, d->env);
    scheduling s = {.d = d,
                    .graph = graph,
                    .latest = EBB_NEW(&arena, ebb_id, graph->n_values),
                    .alternative = alternative};
    cr_assert(s.latest != NULL);
    ebb_pdraft_init(&d->draft, d->env);
    memset(d->replaced.at, 0, d->replaced.n * sizeof *d->replaced.at);
    for (ebb_id v = 0; v < graph->n_values; v++)
        if (graph->values[v].producer == EBB_NONE) add_life(&s, v);
    for (ebb_id i = 0; i < graph->n_ops; i++) {
        add_run(&s, i);
        for (uint32_t n = below(d, 3); n > 0; n--) {
            ebb_id again = below(d, i + 1);
            if (can_run_again(&s, again)) add_run(&s, again);
        }
    }
    ebb_pgraph *scheduled = NULL;
    TEST_OK(d->env, ebb_pdraft_seal(&d->draft, "drawn schedule", &scheduled));
    ebb_arena_deinit(&arena);
    return scheduled;
}

drawn_graph draw_graph(ebb_env *env, uint64_t seed, uint32_t n_ops) {
    drawing d = {.env = env};
    drawn_graph out;
    ebb_rng_init(&d.rng, seed, n_ops);
    out.graph = draw_base(&d, n_ops);
    out.alternative = EBB_NEW(&out.graph->arena, uint32_t, n_ops);
    cr_assert(out.alternative != NULL);
    for (uint32_t i = 0; i < n_ops; i++) {
        uint32_t n = out.graph->ops[i].n_alternatives, choice = below(&d, n + 1);
        out.alternative[i] = choice == n ? EBB_NONE : choice;
    }
    out.scheduled = draw_schedule(&d, out.graph, out.alternative);
    EBB_ARRAY_FREE(env, &d.root);
    EBB_ARRAY_FREE(env, &d.replaced);
    return out;
}

void drawn_graph_end(drawn_graph *drawn) {
    ebb_pgraph_destroy(drawn->graph);
    ebb_pgraph_destroy(drawn->scheduled);
    memset(drawn, 0, sizeof *drawn);
}
