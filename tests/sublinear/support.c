/* Envs, graphs by hand, and the long way to a candidate's figures. */
#include "support.h"

/* ---- envs ---- */

ebb_env *start_fault_env(scarce_memory *memory) {
    *memory = (scarce_memory){.fail_at = UINT64_MAX, .once = true};
    return scarce_env(memory);
}

ebb_env *start_env(void) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    return env;
}

void end_env(ebb_env *env) {
    cr_assert_eq(ebb_env_allocated_bytes(env), 0, "%zu bytes were left", ebb_env_allocated_bytes(env));
    ebb_env_destroy(env);
}

void want_status(const ebb_env *env, ebb_status status, ebb_status wanted) {
    cr_assert_eq(status, wanted, "got %s, want %s: %s", ebb_status_name(status), ebb_status_name(wanted),
                 ebb_env_error(env));
}

/* ---- graphs by hand ---- */

void sketch_begin(sketch *s, ebb_env *env) {
    s->env = env;
    ebb_pdraft_init(&s->draft, env);
    s->draft.name = "sketch";
}

ebb_id sketch_value(sketch *s, ebb_role role, int64_t bytes) {
    cr_assert(EBB_PUSH(s->env, &s->draft.values, ((ebb_pvalue){.bytes = bytes, .role = role})));
    return (ebb_id)s->draft.values.n - 1;
}

/* The list with one more element, in the draft's arena. */
static void *longer(sketch *s, const void *list, uint32_t n, const void *last, size_t size) {
    char *copy = ebb_arena_alloc(&s->draft.arena, (size_t)n + 1, size);
    cr_assert_not_null(copy);
    if (n > 0) memcpy(copy, list, n * size);
    memcpy(copy + n * size, last, size);
    return copy;
}

ebb_pop *sketch_sink(sketch *s, id_list in, int64_t time_ns) {
    ebb_pop op = {.kind = "op", .recomputable = true, .n_in = in.n, .time_ns = time_ns};
    op.in = ebb_arena_copy(&s->draft.arena, in.at, in.n, sizeof(ebb_id));
    cr_assert(op.in != NULL && EBB_PUSH(s->env, &s->draft.ops, op));
    return sketch_last(s);
}

ebb_pop *sketch_last(sketch *s) {
    cr_assert(s->draft.ops.n > 0);
    return &s->draft.ops.at[s->draft.ops.n - 1];
}

ebb_id sketch_op(sketch *s, id_list in, int64_t bytes, int64_t time_ns) {
    ebb_pop *op = sketch_sink(s, in, time_ns);
    ebb_id out = sketch_value(s, EBB_ROLE_ACTIVATION, bytes);
    op->out = ebb_arena_copy(&s->draft.arena, &out, 1, sizeof(ebb_id));
    op->n_out = 1;
    cr_assert_not_null(op->out);
    return out;
}

void sketch_in_place(sketch *s, uint32_t out, uint32_t in) {
    ebb_pop *op = sketch_last(s);
    op->in_place = longer(s, op->in_place, op->n_in_place++, &(ebb_pair){out, in}, sizeof(ebb_pair));
}

void sketch_view(sketch *s, uint32_t in, int64_t offset_bytes) {
    ebb_pop *op = sketch_last(s);
    op->views = longer(s, op->views, op->n_views++, &(ebb_view){0, in, offset_bytes}, sizeof(ebb_view));
}

ebb_id sketch_update(sketch *s, id_list in, ebb_id old) {
    ebb_id out = sketch_op(s, in, s->draft.values.at[old].bytes, 1);
    ebb_pop *op = sketch_last(s);
    s->draft.values.at[out].role = s->draft.values.at[old].role;
    op->in = longer(s, op->in, op->n_in, &old, sizeof old);
    op->update = longer(s, NULL, 0, &(ebb_pair){0, op->n_in}, sizeof(ebb_pair));
    op->n_update = 1;
    op->n_in++;
    return out;
}

ebb_pgraph *sketch_end(sketch *s) {
    ebb_pgraph *graph = NULL;
    want_status(s->env, ebb_pdraft_seal(&s->draft, "sketch", &graph), EBB_OK);
    return graph;
}

ebb_pgraph *draw_pgraph(ebb_env *env, uint64_t seed, const random_pgraph_options *options) {
    ebb_pgraph *graph = NULL;
    want_status(env, random_pgraph(env, seed, options, &graph), EBB_OK);
    return graph;
}

/* ---- candidates ---- */

bench bench_begin(ebb_env *env, const ebb_pgraph *graph, int64_t alignment) {
    bench b;
    want_status(env, ebb_space_create(env, graph, alignment, &b.space), EBB_OK);
    want_status(env, ebb_scorer_create(env, b.space, &b.scorer), EBB_OK);
    return b;
}

void bench_end(bench *b) {
    ebb_scorer_destroy(b->scorer);
    ebb_space_destroy(b->space);
}

uint32_t free_gene_count(const ebb_space *space) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < space->n_genes; k++) n += space->genes[k].n_states > 1;
    return n;
}

void draw_genes(const ebb_space *space, ebb_rng *rng, uint32_t percent, uint8_t *genes) {
    for (uint32_t k = 0; k < space->n_genes; k++) {
        bool change = ebb_rng_below(rng, 100) < percent;
        genes[k] = change ? (uint8_t)ebb_rng_below(rng, space->genes[k].n_states) : space->base_genes[k];
    }
}

bool next_genes(const ebb_space *space, uint8_t *genes) {
    for (uint32_t k = 0; k < space->n_genes; k++) {
        if (genes[k] + 1u < space->genes[k].n_states) {
            genes[k]++;
            return true;
        }
        genes[k] = 0;
    }
    return false;
}

ebb_plan *plan_steps(ebb_env *env, const ebb_pgraph *graph, const ebb_step_choice *steps, uint32_t n_steps,
                     const uint32_t *alternative, int64_t alignment) {
    ebb_pgraph *scheduled = NULL;
    ebb_plan *plan = NULL;
    want_status(env, ebb_rewrite(env, graph, steps, n_steps, &scheduled), EBB_OK);
    ebb_plan_request request = {.graph = graph,
                                .scheduled = scheduled,
                                .alternative = alternative,
                                .backend = "none",
                                .n_threads = 1,
                                .alignment = alignment,
                                .reuse = EBB_REUSE_IN_PLACE,
                                .n_workers = 1,
                                .budget_bytes = -1};
    want_status(env, ebb_plan_make(env, &request, &plan), EBB_OK);
    want_status(env, ebb_plan_audit(env, plan), EBB_OK);
    ebb_pgraph_destroy(scheduled);
    return plan;
}

void want_true_selection(ebb_env *env, const ebb_pgraph *graph, const ebb_selection *selection,
                         int64_t alignment) {
    ebb_plan *plan =
        plan_steps(env, graph, selection->steps, selection->n_steps, selection->alternative, alignment);
    cr_assert_eq(plan->max_live_bytes, selection->peak_bytes, "selected %lld bytes, planned %lld",
                 (long long)selection->peak_bytes, (long long)plan->max_live_bytes);
    cr_assert_eq(plan->time_ns, selection->time_ns);
    ebb_plan_destroy(plan);
}

ebb_select_request small_request(const ebb_pgraph *graph, ebb_method method, int64_t budget_bytes) {
    ebb_select_request request = {.graph = graph,
                                  .method = method,
                                  .alignment = 64,
                                  .peak_budget_bytes = budget_bytes,
                                  .effort = 3000,
                                  .seed = 7};
    ebb_sublinear_config_init(&request.config);
    request.config.num_worker = 1;
    return request;
}

ebb_select_request mge_request(const ebb_pgraph *graph, int64_t alignment) {
    ebb_select_request request = small_request(graph, EBB_METHOD_MEGENGINE, 0);
    request.alignment = alignment;
    return request;
}

ebb_selection *select_ok(ebb_env *env, const ebb_select_request *request) {
    ebb_selection *selection = NULL;
    want_status(env, ebb_select(env, request, &selection), EBB_OK);
    cr_assert_not_null(selection);
    return selection;
}

ebb_score base_score(ebb_env *env, const ebb_pgraph *graph, int64_t alignment) {
    bench b = bench_begin(env, graph, alignment);
    ebb_score score = ebb_score_genes(b.scorer, b.space->base_genes, 0);
    cr_assert(score.valid);
    bench_end(&b);
    return score;
}

uint32_t count_runs(const ebb_selection *selection, ebb_id op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < selection->n_steps; i++) n += selection->steps[i].op == op;
    return n;
}
