/* measured: what `ebb run --json` measured of the same plan. */
#include "report/make/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* {op, median_ns, bytes?} for each step of the plan, in its order. */
static ebb_status read_op(ebb_report_maker *m, const ebb_json *json, const char *path, uint32_t s,
                          int64_t *ns, int64_t *bytes) {
    char where[320];
    int64_t op = 0, *sum = &m->report->measured.ops_ns;
    (void)snprintf(where, sizeof where, "%.256s: profile[%u]", path, s);
    ebb_status status = ebb_json_i64(m->env, json, where, "op", 0, UINT32_MAX, NULL, &op);
    if (status == EBB_OK && op != m->steps[s].op)
        return ebb_fail(m->env, EBB_BAD_INPUT, "%s: op is %lld, but step %u of the plan runs op %u", where,
                        (long long)op, s, m->steps[s].op);
    if (status == EBB_OK) status = ebb_json_i64(m->env, json, where, "median_ns", 0, INT64_MAX, NULL, ns);
    *bytes = -1;
    bool present = false;
    if (status == EBB_OK)
        status = ebb_json_i64(m->env, json, where, "bytes", 0, INT64_MAX, &present, bytes);
    if (status == EBB_OK && !ebb_add_i64(*sum, *ns, sum))
        return ebb_fail(m->env, EBB_BAD_INPUT, "%s: the times' sum is no 64-bit integer", where);
    return status;
}

static ebb_status read_ops(ebb_report_maker *m, const ebb_json *json, const char *path) {
    const ebb_json *steps = NULL;
    size_t n = 0;
    bool present = false;
    ebb_status status = ebb_json_array(m->env, json, path, "profile", &present, &steps, &n);
    if (status != EBB_OK || !present || n == 0) return status; /* 0: nothing was run */
    if (n != m->report->n_steps)
        return ebb_fail(m->env, EBB_BAD_INPUT, "%s: profile has %zu steps, but the plan has %u", path, n,
                        m->report->n_steps);
    int64_t *times = EBB_NEW(&m->report->arena, int64_t, n);
    int64_t *bytes = EBB_NEW(&m->report->arena, int64_t, n);
    if (!times || !bytes) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < n && status == EBB_OK; s++)
        status = read_op(m, ebb_json_at(steps, s), path, s, &times[s], &bytes[s]);
    m->report->measured.op_ns = times;
    m->report->measured.op_bytes = bytes;
    return status;
}

static int furthest_first(const void *a, const void *b) {
    const ebb_report_timed *x = a, *y = b;
    int64_t dx = x->measured_ns - x->predicted_ns, dy = y->measured_ns - y->predicted_ns;
    if (dx < 0) dx = -dx; /* both times are 0 or more, so that their difference fits */
    if (dy < 0) dy = -dy;
    if (dx != dy) return dx > dy ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static ebb_status sum_ops(ebb_report_maker *m) {
    ebb_report_measured *out = &m->report->measured;
    uint32_t n_ops = m->plan->graph->n_ops;
    ebb_report_timed *rows = EBB_NEW(&m->report->arena, ebb_report_timed, n_ops);
    if (!rows) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < m->report->n_steps; s++) {
        const ebb_report_step *step = &m->steps[s];
        ebb_report_timed *row = &rows[step->op];
        row->op = step->op;
        row->name = step->name;
        row->kind = step->kind;
        row->n_runs++;
        row->bytes = out->op_bytes[s];
        row->predicted_ns += step->time_ns;
        row->measured_ns += out->op_ns[s];
    }
    for (uint32_t i = 0; i < n_ops; i++)
        if (rows[i].n_runs > 0) rows[out->n_timed++] = rows[i];
    qsort(rows, out->n_timed, sizeof *rows, furthest_first);
    out->timed = rows;
    return EBB_OK;
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
                                     r->measured.op_ns[s]};
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

static ebb_status read_run(ebb_report_maker *m, const ebb_json *json, const char *path) {
    ebb_report_measured *out = &m->report->measured;
    const ebb_json *steps = NULL;
    size_t n = 0;
    ebb_status status = same_plan(m, json, path);
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
    return EBB_OK;
}

ebb_status ebb_report_measure(ebb_report_maker *m, const char *path) {
    ebb_json *json = NULL;
    ebb_status status = ebb_report_source(m, path, "ebb.run/1", &json);
    if (status != EBB_OK) return status;
    status = read_run(m, json, path);
    if (status == EBB_OK) status = read_ops(m, json, path);
    const bool profiled = status == EBB_OK && m->report->measured.op_ns;
    if (profiled) status = sum_ops(m);
    if (profiled && status == EBB_OK) status = sum_kinds(m);
    ebb_json_free(json);
    return status;
}
