/* batches: what `ebb fit` answered and tried: sizes and their bytes for each mode.
 *
 * takes: ebb.fit/1 documents, one for each device. gives: report.batches and report.devices. cost: O(n log
 * n). A report has one plan, and a curve needs many: those that fit made anyway are taken, nothing is
 * planned. */
#include "report/make/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    ebb_report_maker *m;
    const char *path;
    char place[320];
    int64_t budget_bytes;
    EBB_ARRAY(ebb_report_batch) rows;
    EBB_ARRAY(int64_t) devices;
} reader;

static ebb_status read_mode(reader *x, const ebb_json *json, uint32_t *out) {
    const char *mode = NULL;
    ebb_status status = ebb_json_text(x->m->env, json, x->place, "mode", NULL, &mode);
    if (status != EBB_OK) return status;
    for (*out = 0; *out < EBB_N_BATCH_MODES; ++*out)
        if (strcmp(mode, ebb_batch_mode_name(*out)) == 0) return EBB_OK;
    return ebb_fail(x->m->env, EBB_BAD_INPUT,
                    "%s: mode is \"%.80s\" and must be none, in_place, sublinear or budget", x->place,
                    mode);
}

static ebb_status read_row(reader *x, const ebb_json *json, bool answer) {
    ebb_report_batch row = {.answer = answer, .budget_bytes = x->budget_bytes};
    const struct {
        const char *key;
        int64_t *out;
    } figures[] = {{"batch", &row.batch},
                   {"total_bytes", &row.total_bytes},
                   {"time_ns", &row.time_ns},
                   {"baseline_time_ns", &row.baseline_time_ns}};
    ebb_status status = read_mode(x, json, &row.mode);
    for (size_t i = 0; i < EBB_COUNT(figures) && status == EBB_OK; i++)
        status =
            ebb_json_i64(x->m->env, json, x->place, figures[i].key, 0, INT64_MAX, NULL, figures[i].out);
    if (status != EBB_OK || row.batch == 0) return status; /* 0: none fits */
    return EBB_PUSH(x->m->env, &x->rows, row) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status read_rows(reader *x, const ebb_json *json, const char *key, bool answer) {
    const ebb_json *rows = NULL;
    size_t n = 0;
    bool present = true;
    (void)snprintf(x->place, sizeof x->place, "%.256s", x->path);
    ebb_status status = ebb_json_array(x->m->env, json, x->place, key, answer ? NULL : &present, &rows, &n);
    if (status != EBB_OK || !present) return status;
    for (size_t i = 0; i < n && status == EBB_OK; i++) {
        (void)snprintf(x->place, sizeof x->place, "%.256s: %s[%zu]", x->path, key, i);
        status = read_row(x, ebb_json_at(rows, i), answer);
    }
    return status;
}

/* Sizes of another model's plans would be shown beside this one as if they were its own. What an answer
 * does not say (the format asks for none of it) is taken to be this plan's. */
static ebb_status same_graph(const reader *x, const ebb_json *json) {
    const ebb_plan *plan = x->m->plan;
    ebb_env *env = x->m->env;
    const char *graph = plan->graph->name, *backend = plan->backend;
    int64_t n_threads = plan->n_threads;
    bool present;
    ebb_status status = ebb_json_text(env, json, x->path, "graph", &present, &graph);
    if (status == EBB_OK) status = ebb_json_text(env, json, x->path, "backend", &present, &backend);
    if (status == EBB_OK)
        status = ebb_json_i64(env, json, x->path, "n_threads", 0, UINT32_MAX, &present, &n_threads);
    if (status != EBB_OK) return status;
    if (strcmp(graph, plan->graph->name) == 0 && strcmp(backend, plan->backend) == 0 &&
        n_threads == plan->n_threads)
        return EBB_OK;
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "%s: sizes of graph \"%.80s\" on %.40s with %lld threads, but the plan is of \"%.80s\" on "
        "%.40s with %u: give what `ebb fit` answered for this model",
        x->path, graph, backend, (long long)n_threads, plan->graph->name, plan->backend, plan->n_threads);
}

static ebb_status read_fit(reader *x) {
    ebb_json *json = NULL;
    ebb_status status = ebb_report_source(x->m, x->path, "ebb.fit/1", &json);
    if (status != EBB_OK) return status;
    status = same_graph(x, json);
    if (status == EBB_OK)
        status =
            ebb_json_i64(x->m->env, json, x->path, "budget_bytes", 1, INT64_MAX, NULL, &x->budget_bytes);
    if (status == EBB_OK && !EBB_PUSH(x->m->env, &x->devices, x->budget_bytes)) status = EBB_NO_MEMORY;
    if (status == EBB_OK) status = read_rows(x, json, "rows", true);
    if (status == EBB_OK) status = read_rows(x, json, "tried", false);
    ebb_json_free(json);
    return status;
}

static int in_order(const void *a, const void *b) {
    const ebb_report_batch *x = a, *y = b;
    if (x->mode != y->mode) return x->mode < y->mode ? -1 : 1;
    if (x->batch != y->batch) return x->batch < y->batch ? -1 : 1;
    if (x->budget_bytes != y->budget_bytes) return x->budget_bytes < y->budget_bytes ? -1 : 1;
    if (x->answer != y->answer) return x->answer ? -1 : 1;
    if (x->total_bytes != y->total_bytes) return x->total_bytes < y->total_bytes ? -1 : 1;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int smaller_first(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* A size that was tried may be the answer, too, or have been tried twice: it is one row. */
static ebb_status keep(reader *x) {
    ebb_report *r = x->m->report;
    ebb_report_batch *rows = EBB_NEW(&r->arena, ebb_report_batch, x->rows.n);
    int64_t *devices = EBB_NEW(&r->arena, int64_t, x->devices.n);
    if (!rows || !devices) return EBB_NO_MEMORY;
    if (x->rows.n > 0) qsort(x->rows.at, x->rows.n, sizeof *x->rows.at, in_order);
    if (x->devices.n > 0) qsort(x->devices.at, x->devices.n, sizeof *x->devices.at, smaller_first);
    for (size_t i = 0; i < x->rows.n; i++) {
        const ebb_report_batch *row = &x->rows.at[i];
        const ebb_report_batch *last = r->n_batches > 0 ? &rows[r->n_batches - 1] : NULL;
        if (last && last->mode == row->mode && last->batch == row->batch &&
            last->budget_bytes == row->budget_bytes)
            continue;
        rows[r->n_batches++] = *row;
    }
    for (size_t i = 0; i < x->devices.n; i++)
        if (i == 0 || x->devices.at[i] != x->devices.at[i - 1]) devices[r->n_devices++] = x->devices.at[i];
    r->batches = rows;
    r->devices = devices;
    return EBB_OK;
}

ebb_status ebb_report_fitted(ebb_report_maker *m, const char *const *paths, uint32_t n_paths) {
    reader x = {.m = m};
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < n_paths && status == EBB_OK; i++) {
        x.path = paths[i];
        status = read_fit(&x);
    }
    if (status == EBB_OK) status = keep(&x);
    EBB_ARRAY_FREE(m->env, &x.rows);
    EBB_ARRAY_FREE(m->env, &x.devices);
    return status;
}
