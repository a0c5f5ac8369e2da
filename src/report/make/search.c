/* search: how the plan was found, from ebb.search/1.
 *
 * takes: the log's document. gives: report.search. cost: O(n log n) in its points. */
#include "report/make/make.h"
#include "report/words/words.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct reader {
    ebb_report_maker *m;
    const char *path;
    char place[320];
    ebb_report_search *out;
    bool genetic, every, cuts, orders;  /* ran in one of the searches */
    EBB_ARRAY(ebb_report_round) rounds; /* of the env, copied into the report at the end */
    EBB_ARRAY(ebb_report_point) points;
} reader;

static ebb_status number(reader *x, const ebb_json *json, const char *key, int64_t *out) {
    return ebb_json_i64(x->m->env, json, x->place, key, 0, INT64_MAX, NULL, out);
}

/* The log names the plan by its figures: another plan's log is refused. */
static ebb_status same_plan(reader *x, const ebb_json *json) {
    const ebb_report *r = x->m->report;
    const ebb_json *plan = NULL;
    const char *graph = NULL;
    int64_t steps = 0, arena = 0, total = 0, time = 0;
    bool found = false;
    ebb_status status = ebb_json_text(x->m->env, json, x->path, "graph", NULL, &graph);
    if (status == EBB_OK) status = ebb_json_object(x->m->env, json, x->path, "plan", &found, &plan);
    if (status == EBB_OK && !found)
        return ebb_fail(x->m->env, EBB_BAD_INPUT, "%s: the search found no plan: give the log of this plan",
                        x->path);
    (void)snprintf(x->place, sizeof x->place, "%.256s: plan", x->path);
    if (status == EBB_OK) status = number(x, plan, "n_steps", &steps);
    if (status == EBB_OK) status = number(x, plan, "arena_bytes", &arena);
    if (status == EBB_OK) status = number(x, plan, "total_bytes", &total);
    if (status == EBB_OK) status = number(x, plan, "time_ns", &time);
    if (status != EBB_OK) return status;
    if (strcmp(graph, x->m->plan->graph->name) == 0 && steps == r->n_steps && arena == r->arena_bytes &&
        total == r->total_bytes && time == r->time_ns)
        return EBB_OK;
    return ebb_fail(x->m->env, EBB_BAD_INPUT,
                    "%s: the search of a plan with %lld bytes and %lld ns, but this one has %lld and %lld: "
                    "give the log of this very plan",
                    x->path, (long long)total, (long long)time, (long long)r->total_bytes,
                    (long long)r->time_ns);
}

static ebb_status read_asked(reader *x, const ebb_json *json) {
    ebb_report_search *out = x->out;
    const ebb_json *config = NULL;
    const char *mode = NULL;
    (void)snprintf(x->place, sizeof x->place, "%.256s", x->path);
    ebb_status status = ebb_json_text(x->m->env, json, x->place, "mode", NULL, &mode);
    if (status == EBB_OK) status = ebb_json_u64(x->m->env, json, x->place, "seed", &out->seed);
    if (status == EBB_OK) status = ebb_json_object(x->m->env, json, x->place, "config", NULL, &config);
    (void)snprintf(x->place, sizeof x->place, "%.256s: config", x->path);
    if (status == EBB_OK) status = number(x, config, "thresh_nr_try", &out->thresh_nr_try);
    if (status == EBB_OK) status = number(x, config, "genetic_nr_iter", &out->genetic_nr_iter);
    if (status == EBB_OK) status = number(x, config, "genetic_pool_size", &out->genetic_pool_size);
    if (status == EBB_OK) status = number(x, config, "lb_memory_bytes", &out->lb_memory_bytes);
    if (status == EBB_OK && !(out->mode = ebb_report_name(&x->m->report->arena, mode)))
        return EBB_NO_MEMORY;
    return status;
}

static ebb_status read_dims(reader *x, const ebb_json *json) {
    const ebb_json *dims = NULL;
    size_t n = 0;
    ebb_text text;
    ebb_status status = ebb_json_array(x->m->env, json, x->path, "dims", NULL, &dims, &n);
    ebb_text_init(&text, x->m->env);
    for (size_t i = 0; i < n && status == EBB_OK; i++) {
        const char *name = NULL;
        int64_t size = 0;
        (void)snprintf(x->place, sizeof x->place, "%.256s: dims[%zu]", x->path, i);
        status = ebb_json_text(x->m->env, ebb_json_at(dims, i), x->place, "name", NULL, &name);
        if (status == EBB_OK) status = number(x, ebb_json_at(dims, i), "size", &size);
        if (status == EBB_OK) ebb_text_add(&text, "%s%s=%lld", i > 0 ? ", " : "", name, (long long)size);
    }
    if (status == EBB_OK) status = ebb_text_status(&text);
    if (status == EBB_OK && !(x->out->dims = ebb_report_name(&x->m->report->arena, text.at ? text.at : "")))
        status = EBB_NO_MEMORY;
    ebb_text_deinit(&text);
    return status;
}

static ebb_status read_round(reader *x, const ebb_json *json, uint32_t search, uint32_t at,
                             int64_t before) {
    ebb_report_round round = {.search = search, .round = at};
    ebb_status status = number(x, json, "n_scored", &round.n_scored);
    if (status == EBB_OK) status = number(x, json, "peak_bytes", &round.peak_bytes);
    if (status == EBB_OK) status = number(x, json, "time_ns", &round.time_ns);
    if (status == EBB_OK) status = ebb_json_bool(x->m->env, json, x->place, "fits", NULL, &round.fits);
    if (status != EBB_OK) return status;
    if (!ebb_add_i64(round.n_scored, before, &round.n_scored))
        return ebb_fail(x->m->env, EBB_BAD_INPUT, "%s: n_scored: the sum is no 64-bit integer", x->place);
    return EBB_PUSH(x->m->env, &x->rounds, round) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status read_point(reader *x, const ebb_json *points, size_t i) {
    const ebb_json *pair = ebb_json_at(points, i);
    ebb_report_point point = {0, 0};
    ebb_status status = ebb_json_at_i64(x->m->env, pair, x->place, 0, 0, INT64_MAX, &point.peak_bytes);
    if (status == EBB_OK)
        status = ebb_json_at_i64(x->m->env, pair, x->place, 1, 0, INT64_MAX, &point.time_ns);
    if (status != EBB_OK) return status;
    return EBB_PUSH(x->m->env, &x->points, point) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status read_lists(reader *x, const ebb_json *json, uint32_t k, int64_t before) {
    const ebb_json *rounds = NULL, *points = NULL;
    size_t n_rounds = 0, n_points = 0;
    ebb_env *env = x->m->env;
    ebb_status status = ebb_json_array(env, json, x->place, "rounds", NULL, &rounds, &n_rounds);
    if (status == EBB_OK) status = ebb_json_array(env, json, x->place, "points", NULL, &points, &n_points);
    for (uint32_t i = 0; i < n_rounds && status == EBB_OK; i++) {
        (void)snprintf(x->place, sizeof x->place, "%.256s: searches[%u].rounds[%u]", x->path, k, i);
        status = read_round(x, ebb_json_at(rounds, i), k, i, before);
    }
    for (size_t i = 0; i < n_points && status == EBB_OK; i++) {
        (void)snprintf(x->place, sizeof x->place, "%.256s: searches[%u].points[%zu]", x->path, k, i);
        status = read_point(x, points, i);
    }
    return status;
}

static ebb_status read_search(reader *x, const ebb_json *json, uint32_t k) {
    ebb_report_search *out = x->out;
    int64_t before = out->n_scored, scored = 0, left_out = 0;
    bool limited = false;
    const char *how = NULL;
    (void)snprintf(x->place, sizeof x->place, "%.256s: searches[%u]", x->path, k);
    ebb_status status = ebb_json_text(x->m->env, json, x->place, "how", NULL, &how);
    if (status == EBB_OK) status = number(x, json, "n_scored", &scored);
    if (status == EBB_OK) status = number(x, json, "n_left_out", &left_out);
    if (status == EBB_OK)
        status = ebb_json_i64(x->m->env, json, x->place, "limit_bytes", -1, INT64_MAX, &limited,
                              &out->limit_bytes);
    if (status != EBB_OK) return status;
    x->genetic = x->genetic || strcmp(how, "genetic") == 0;
    x->every = x->every || strcmp(how, "every") == 0;
    x->cuts = x->cuts || strcmp(how, "cuts") == 0;
    x->orders = x->orders || strcmp(how, "orders") == 0;
    if (!ebb_add_i64(before, scored, &out->n_scored) ||
        !ebb_add_i64(out->n_left_out, left_out, &out->n_left_out))
        return ebb_fail(x->m->env, EBB_BAD_INPUT, "%s: the sum of candidates is no 64-bit integer",
                        x->place);
    return read_lists(x, json, k, before);
}

static int less_first(const void *a, const void *b) {
    const ebb_report_point *x = a, *y = b;
    if (x->peak_bytes != y->peak_bytes) return x->peak_bytes < y->peak_bytes ? -1 : 1;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Sorted and each once; then what is faster than all that need no more is the front. */
static ebb_status keep_lists(reader *x) {
    ebb_report_search *out = x->out;
    ebb_arena *arena = &x->m->report->arena;
    if (x->points.n > 0) qsort(x->points.at, x->points.n, sizeof *x->points.at, less_first);
    ebb_report_point *points = EBB_NEW(arena, ebb_report_point, x->points.n);
    ebb_report_point *front = EBB_NEW(arena, ebb_report_point, x->points.n);
    ebb_report_round *rounds = EBB_NEW(arena, ebb_report_round, x->rounds.n);
    if (!points || !front || !rounds) return EBB_NO_MEMORY;
    for (size_t i = 0; i < x->points.n; i++) {
        ebb_report_point point = x->points.at[i];
        if (i > 0 && less_first(&x->points.at[i - 1], &point) == 0) continue;
        points[out->n_points++] = point;
        if (out->n_front == 0 || point.time_ns < front[out->n_front - 1].time_ns)
            front[out->n_front++] = point;
    }
    for (size_t i = 0; i < x->rounds.n; i++) rounds[out->n_rounds++] = x->rounds.at[i];
    out->points = points;
    out->front = front;
    out->rounds = rounds;
    return EBB_OK;
}

/* Said outright: which search ran, or that none did. */
static const char *tell(const reader *x) {
    const ebb_report_search *out = x->out;
    if (out->n_searches == 0)
        return strcmp(out->mode, "budget") == 0 ? "none: it fits without recomputation"
                                                : "none in this mode";
    if (x->cuts)
        return out->genetic_nr_iter > 0 ? "thresholds, then the genetic search"
                                        : "genetic search off: thresholds only";
    if (x->genetic && out->genetic_nr_iter > 0)
        return x->orders ? "genetic search on, other orders of ops too" : "genetic search on";
    if (x->genetic)
        return x->orders ? "genetic search on, generations by effort, other orders of ops too"
                         : "genetic search on, generations by effort";
    if (!x->every) return "genetic search off: a seed is the answer";
    return x->orders ? "genetic search off: every candidate was tried or ruled out, other orders of ops too"
                     : "genetic search off: every candidate was tried or ruled out";
}

static ebb_status read_log(reader *x, const ebb_json *json) {
    const ebb_json *searches = NULL;
    size_t n = 0;
    ebb_status status = same_plan(x, json);
    if (status == EBB_OK) status = read_asked(x, json);
    if (status == EBB_OK) status = read_dims(x, json);
    if (status == EBB_OK)
        status = ebb_json_array(x->m->env, json, x->path, "searches", NULL, &searches, &n);
    for (uint32_t i = 0; i < n && status == EBB_OK; i++)
        status = read_search(x, ebb_json_at(searches, i), i);
    if (status == EBB_OK) status = keep_lists(x);
    if (status != EBB_OK) return status;
    x->out->n_searches = (uint32_t)n;
    x->out->about = tell(x);
    x->out->present = true;
    return EBB_OK;
}

ebb_status ebb_report_searched(ebb_report_maker *m, const char *path) {
    ebb_json *json = NULL;
    reader x = {.m = m, .path = path, .out = &m->report->search};
    x.out->limit_bytes = -1;
    ebb_status status = ebb_report_source(m, path, "ebb.search/1", &json);
    if (status != EBB_OK) return status;
    status = read_log(&x, json);
    EBB_ARRAY_FREE(m->env, &x.rounds);
    EBB_ARRAY_FREE(m->env, &x.points);
    ebb_json_free(json);
    return status;
}
