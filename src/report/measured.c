/* measured: what `ebb run --json` measured of the same plan. */
#include "report/model.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_FILE_BYTES     ((size_t)1 << 28)
#define EBB_REPORT_MOST_NS (INT64_MAX >> 32) /* of one step: sums over all steps fit */

static ebb_status same_plan(const ebb_report_maker *m, const ebb_json *json, const char *path) {
    const ebb_report *r = m->report;
    const char *text = NULL;
    int64_t planned = 0, threads = 0, block_bytes = r->arena_bytes + r->persistent_bytes;
    ebb_status status = ebb_json_text(m->env, json, path, "graph", NULL, &text);
    if (status != EBB_OK) return status;
    if (strcmp(text, m->plan->graph->name) != 0)
        return ebb_fail(m->env, EBB_BAD_INPUT,
                        "%s: measured on graph \"%.80s\", but the plan is of \"%.80s\"", path, text,
                        m->plan->graph->name);
    status = ebb_json_text(m->env, json, path, "backend", NULL, &text);
    if (status != EBB_OK) return status;
    if (strcmp(text, m->plan->backend) != 0)
        return ebb_fail(m->env, EBB_BAD_INPUT,
                        "%s: measured on backend \"%.80s\", but the plan is for \"%.80s\"", path, text,
                        m->plan->backend);
    status = ebb_json_i64(m->env, json, path, "n_threads", 0, UINT32_MAX, NULL, &threads);
    if (status == EBB_OK)
        status = ebb_json_i64(m->env, json, path, "planned_bytes", 0, INT64_MAX, NULL, &planned);
    if (status != EBB_OK) return status;
    if (threads == r->n_threads && planned == block_bytes) return EBB_OK;
    return ebb_fail(m->env, EBB_BAD_INPUT,
                    "%s: measured with %lld planned bytes and %lld threads, but this plan has %lld and %u: "
                    "give the run of "
                    "this very plan",
                    path, (long long)planned, (long long)threads, (long long)block_bytes, r->n_threads);
}

/* ---- the profile ----------------------------------------------------------------------------------- */

static ebb_status read_times(ebb_report_maker *m, const ebb_json *list, const char *path, size_t n) {
    const ebb_report *r = m->report;
    if (n != r->n_steps)
        return ebb_fail(m->env, EBB_BAD_INPUT,
                        "%s: profile of %zu steps, but this plan has %u: give the run of this very plan",
                        path, n, r->n_steps);
    ebb_status status = EBB_OK;
    for (size_t i = 0; i < n && status == EBB_OK; i++) {
        char where[256];
        int64_t op = 0;
        const ebb_json *step = ebb_json_at(list, i);
        (void)snprintf(where, sizeof where, "%.160s: profile[%zu]", path, i);
        status = ebb_json_i64(m->env, step, where, "op", 0, UINT32_MAX, NULL, &op);
        if (status == EBB_OK)
            status = ebb_json_i64(m->env, step, where, "median_ns", 0, EBB_REPORT_MOST_NS, NULL,
                                  &m->steps[i].measured_ns);
        if (status == EBB_OK && op != r->steps[i].op)
            status =
                ebb_fail(m->env, EBB_BAD_INPUT,
                         "%s: it ran op %lld where this plan runs op %u: give the run of this very plan",
                         where, (long long)op, r->steps[i].op);
    }
    return status;
}

static int by_kind(const void *a, const void *b) {
    return strcmp(((const ebb_report_kind *)a)->kind, ((const ebb_report_kind *)b)->kind);
}

static int by_time(const void *a, const void *b) {
    const ebb_report_kind *x = a, *y = b;
    if (x->measured_ns != y->measured_ns) return x->measured_ns < y->measured_ns ? 1 : -1;
    return by_kind(a, b);
}

/* Sums of the steps by kind: sorted, then those of one kind joined. */
static ebb_status sum_kinds(ebb_report_maker *m) {
    ebb_report *r = m->report;
    ebb_report_kind *kinds = EBB_NEW(&r->arena, ebb_report_kind, r->n_steps);
    uint32_t n = 0;
    if (!kinds) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < r->n_steps; s++)
        kinds[s] = (ebb_report_kind){r->steps[s].kind, 1, r->steps[s].recompute, r->steps[s].time_ns,
                                     r->steps[s].measured_ns};
    if (r->n_steps > 0) qsort(kinds, r->n_steps, sizeof *kinds, by_kind);
    for (uint32_t s = 0; s < r->n_steps; s++) {
        if (n > 0 && strcmp(kinds[n - 1].kind, kinds[s].kind) == 0) {
            kinds[n - 1].n_steps++;
            kinds[n - 1].n_again += kinds[s].n_again;
            kinds[n - 1].predicted_ns += kinds[s].predicted_ns;
            kinds[n - 1].measured_ns += kinds[s].measured_ns;
        } else {
            kinds[n++] = kinds[s];
        }
    }
    if (n > 0) qsort(kinds, n, sizeof *kinds, by_time);
    r->measured.kinds = kinds;
    r->measured.n_kinds = n;
    return EBB_OK;
}

/* A run without --profile has none, and one that was interrupted at once an empty one. */
static ebb_status read_profile(ebb_report_maker *m, const ebb_json *json, const char *path) {
    const ebb_json *list = NULL;
    bool present = false;
    size_t n = 0;
    ebb_status status = ebb_json_array(m->env, json, path, "profile", &present, &list, &n);
    if (status != EBB_OK || !present || n == 0) return status;
    status = read_times(m, list, path, n);
    return status == EBB_OK ? sum_kinds(m) : status;
}

/* ---- the run --------------------------------------------------------------------------------------- */

static ebb_status read_run(ebb_report_maker *m, const ebb_json *json, const char *path) {
    ebb_report_measured *out = &m->report->measured;
    const ebb_json *steps = NULL;
    const char *schema = NULL;
    size_t n = 0;
    ebb_status status = ebb_json_text(m->env, json, path, "schema", NULL, &schema);
    if (status != EBB_OK) return status;
    if (strcmp(schema, "ebb.run/1") != 0)
        return ebb_fail(m->env, EBB_BAD_INPUT, "%s: schema is \"%.80s\" and must be \"ebb.run/1\"", path,
                        schema);
    status = same_plan(m, json, path);
    if (status == EBB_OK) status = ebb_json_array(m->env, json, path, "steps", NULL, &steps, &n);
    const struct {
        const char *key;
        int64_t min, *out;
    } rows[] = {
        {"planned_bytes", 0, &out->planned_bytes},
        {"allocated_bytes", 0, &out->allocated_bytes},
        {"process_peak_bytes", -1, &out->process_peak_bytes},
        {"mean_step_ns", 0, &out->mean_step_ns},
        {"best_step_ns", 0, &out->best_step_ns},
    };
    for (size_t i = 0; i < EBB_COUNT(rows) && status == EBB_OK; i++)
        status = ebb_json_i64(m->env, json, path, rows[i].key, rows[i].min, INT64_MAX, NULL, rows[i].out);
    bool present;
    out->resident_bytes = -1;
    if (status == EBB_OK)
        status = ebb_json_i64(m->env, json, path, "resident_block_bytes", -1, INT64_MAX, &present,
                              &out->resident_bytes);
    if (status != EBB_OK) return status;
    if (n == 0) return ebb_fail(m->env, EBB_BAD_INPUT, "%s: steps is empty: nothing was measured", path);
    out->n_steps = (int64_t)n;
    out->present = true;
    return read_profile(m, json, path);
}

ebb_status ebb_report_measure(ebb_report_maker *m, const char *path) {
    char *text = NULL;
    size_t n = 0;
    ebb_json *json = NULL;
    ebb_status status = ebb_file_read(m->env, path, MAX_FILE_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_json_parse(m->env, path, text, n, &json);
    ebb_file_free(m->env, text, n);
    if (status != EBB_OK) return status;
    status = read_run(m, json, path);
    ebb_json_free(json);
    return status;
}
