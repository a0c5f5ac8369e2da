/* The search's log as a document, ebb.search/1: what was asked, and what the searches tried. */
#include "engine/study/study.h"

struct ebb_search_log {
    ebb_env *env;
    ebb_select_log tried;
    ebb_arena arena; /* of what follows */
    bool filled, found, out_of_memory;
    const char *graph;
    ebb_dim_binding *dims;
    uint32_t n_dims;
    ebb_memory_mode memory;
    ebb_sublinear_config config;
    uint64_t seed;
    ebb_plan_summary plan;
};

ebb_status ebb_search_log_create(ebb_env *env, ebb_search_log **out) {
    *out = ebb_calloc(env, 1, sizeof **out);
    if (!*out) return EBB_NO_MEMORY;
    (*out)->env = env;
    ebb_arena_init(&(*out)->arena, env);
    return EBB_OK;
}

static void empty(ebb_search_log *log) {
    ebb_env *env = log->env;
    ebb_select_log_deinit(env, &log->tried);
    ebb_arena_deinit(&log->arena);
    *log = (ebb_search_log){.env = env};
    ebb_arena_init(&log->arena, env);
}

void ebb_search_log_destroy(ebb_search_log *log) {
    if (!log) return;
    empty(log);
    ebb_arena_deinit(&log->arena);
    ebb_cfree(log->env, log, 1, sizeof *log);
}

ebb_select_log *ebb_search_log_begin(ebb_search_log *log) {
    empty(log);
    return &log->tried;
}

void ebb_search_log_end(ebb_search_log *log, const char *graph, const ebb_dim_binding *dims,
                        uint32_t n_dims, const ebb_options *options, const ebb_plan *plan) {
    log->found = plan != NULL;
    if (plan) ebb_plan_summarize(plan, &log->plan);
    log->graph = ebb_arena_text(&log->arena, graph);
    log->plan.graph_name = log->plan.backend = NULL; /* the plan's own */
    log->dims = EBB_NEW(&log->arena, ebb_dim_binding, n_dims);
    log->memory = options->memory;
    log->config = options->sublinear;
    log->seed = ebb_options_search_seed(options);
    log->filled = true;
    log->out_of_memory = !log->graph || !log->dims;
    for (uint32_t i = 0; !log->out_of_memory && i < n_dims; i++) {
        log->dims[i] = (ebb_dim_binding){ebb_arena_text(&log->arena, dims[i].name), dims[i].size};
        log->out_of_memory = !log->dims[i].name;
        log->n_dims++;
    }
}

static void print_plan(ebb_json_out *json, const ebb_plan_summary *plan) {
    ebb_json_begin(json, "plan", '{', false);
    ebb_json_put_i64(json, "n_steps", plan->n_steps);
    ebb_json_put_i64(json, "arena_bytes", plan->arena_bytes);
    ebb_json_put_i64(json, "total_bytes", plan->total_bytes);
    ebb_json_put_i64(json, "time_ns", plan->time_ns);
    ebb_json_end(json, '}');
}

static void print_asked(ebb_json_out *json, const ebb_search_log *log) {
    static const char *const modes[] = {[EBB_MEMORY_NONE] = "none",
                                        [EBB_MEMORY_IN_PLACE] = "in_place",
                                        [EBB_MEMORY_MEGENGINE] = "sublinear",
                                        [EBB_MEMORY_BUDGET] = "budget"};
    ebb_json_put_text(json, "graph", log->graph);
    ebb_json_put_text(json, "mode", modes[log->memory]);
    ebb_json_begin(json, "dims", '[', false);
    for (uint32_t i = 0; i < log->n_dims; i++) {
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "name", log->dims[i].name);
        ebb_json_put_i64(json, "size", log->dims[i].size);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
    ebb_json_put_u64(json, "seed", log->seed);
    ebb_json_begin(json, "config", '{', false);
    ebb_json_put_i64(json, "thresh_nr_try", log->config.thresh_nr_try);
    ebb_json_put_i64(json, "genetic_nr_iter", log->config.genetic_nr_iter);
    ebb_json_put_i64(json, "genetic_pool_size", log->config.genetic_pool_size);
    ebb_json_put_i64(json, "lb_memory_bytes", log->config.lb_memory_bytes);
    ebb_json_end(json, '}');
    if (log->found)
        print_plan(json, &log->plan);
    else
        ebb_json_put_null(json, "plan");
}

static void print_round(ebb_json_out *json, const ebb_log_round *round) {
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "n_scored", round->n_scored);
    ebb_json_put_i64(json, "peak_bytes", round->peak_bytes);
    ebb_json_put_i64(json, "time_ns", round->time_ns);
    ebb_json_put_bool(json, "fits", round->fits);
    ebb_json_end(json, '}');
}

static void print_search(ebb_json_out *json, const ebb_log_search *search, const ebb_log_round *rounds,
                         const ebb_log_point *points) {
    static const char *const methods[] = {[EBB_METHOD_NONE] = "none",
                                          [EBB_METHOD_BUDGET] = "budget",
                                          [EBB_METHOD_MEGENGINE] = "megengine",
                                          [EBB_METHOD_LEAST] = "least"};
    static const char *const hows[] = {[EBB_HOW_SEEDS] = "seeds",
                                       [EBB_HOW_GENETIC] = "genetic",
                                       [EBB_HOW_EVERY] = "every",
                                       [EBB_HOW_CUTS] = "cuts",
                                       [EBB_HOW_ORDERS] = "orders"};
    ebb_json_begin(json, NULL, '{', true);
    ebb_json_put_text(json, "method", methods[search->method]);
    ebb_json_put_text(json, "how", hows[search->how]);
    if (search->method == EBB_METHOD_BUDGET)
        ebb_json_put_i64(json, "limit_bytes", search->limit_bytes);
    else
        ebb_json_put_null(json, "limit_bytes");
    ebb_json_put_i64(json, "effort", search->effort);
    ebb_json_put_i64(json, "n_scored", search->n_scored);
    ebb_json_put_i64(json, "n_left_out", search->n_left_out);
    ebb_json_begin(json, "rounds", '[', true);
    for (uint32_t i = 0; rounds && i < search->n_rounds; i++) print_round(json, &rounds[i]);
    ebb_json_end(json, ']');
    ebb_json_begin(json, "points", '[', false);
    for (uint32_t i = 0; points && i < search->n_points; i++) {
        ebb_json_begin(json, NULL, '[', false);
        ebb_json_put_i64(json, NULL, points[i].peak_bytes);
        ebb_json_put_i64(json, NULL, points[i].time_ns);
        ebb_json_end(json, ']');
    }
    ebb_json_end(json, ']');
    ebb_json_end(json, '}');
}

ebb_status ebb_search_log_write(ebb_env *env, const ebb_search_log *log, const char *path) {
    if (!log->filled) return ebb_fail(env, EBB_USAGE, "the search's log has seen no search");
    if (log->out_of_memory) return ebb_fail(env, EBB_NO_MEMORY, "out of memory for the search's log");
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_json_begin(&json, NULL, '{', true);
    ebb_json_put_text(&json, "schema", "ebb.search/1");
    print_asked(&json, log);
    ebb_json_begin(&json, "searches", '[', true);
    const ebb_log_round *rounds = log->tried.rounds.at;
    const ebb_log_point *points = log->tried.points.at;
    for (size_t i = 0; i < log->tried.searches.n; i++) {
        const ebb_log_search *search = &log->tried.searches.at[i];
        print_search(&json, search, rounds, points);
        if (rounds) rounds += search->n_rounds;
        if (points) points += search->n_points;
    }
    ebb_json_end(&json, ']');
    ebb_json_end(&json, '}');
    ebb_text_add(&text, "\n");
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) status = ebb_file_write(env, path, text.at, text.n);
    ebb_text_deinit(&text);
    return status;
}
