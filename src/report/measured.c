/* measured: what `ebb run --json` measured of the same plan. */
#include "report/model.h"

#define MAX_FILE_BYTES ((size_t)1 << 28)

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
    if (status != EBB_OK) return status;
    if (n == 0) return ebb_fail(m->env, EBB_BAD_INPUT, "%s: steps is empty: nothing was measured", path);
    out->n_steps = (int64_t)n;
    out->present = true;
    return EBB_OK;
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
