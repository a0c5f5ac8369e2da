/* ebb fit: the largest batch within a budget, for each way to save memory. */
#include "out.h"

#define MAX_ADDED_DEFAULT 0.30

typedef struct answers {
    const ebb_fit_result *result;
    char path[4][PATH_MAX]; /* of row i's plan, "" when nothing fits */
} answers;

static ebb_status write_plans(tool *t, answers *a) {
    ebb_status status = tool_plans_folder(t);
    for (uint32_t i = 0; i < a->result->n_rows && status == EBB_OK; i++) {
        const ebb_fit_row *row = &a->result->rows[i];
        if (row->plan != NULL)
            status = tool_plans_write(t, row->plan, tool_mode_name(row->mode), a->path[i]);
    }
    return status;
}

static void print_table(const tool *t, const answers *a) {
    out_table table = {0};
    const char *dim = t->args.over != NULL ? t->args.over : "N";
    printf("largest %s within %s\n\n", dim, out_bytes(a->result->budget_bytes).text);
    out_row(&table,
            (const char *const[OUT_COLUMNS]){"mode", dim, "total", "predicted time", "added", "plan"});
    for (uint32_t i = 0; i < a->result->n_rows; i++) {
        const ebb_fit_row *row = &a->result->rows[i];
        if (row->batch == 0) {
            out_row(&table, (const char *const[OUT_COLUMNS]){tool_mode_name(row->mode), "none fits"});
            continue;
        }
        out_row(&table, (const char *const[OUT_COLUMNS]){
                            tool_mode_name(row->mode), out_count(row->batch).text,
                            out_bytes(row->total_bytes).text, out_time(row->time_ns).text,
                            out_change(row->time_ns, row->baseline_time_ns).text, a->path[i]});
    }
    out_table_print(&table, stdout);
}

static void tried_json(out_json *json, const ebb_fit_result *result) {
    out_open(json, "tried", '[');
    for (uint32_t i = 0; i < result->n_tried; i++) {
        const ebb_fit_point *row = &result->tried[i];
        out_open(json, NULL, '{');
        out_text(json, "mode", tool_mode_name(row->mode));
        out_integer(json, "batch", row->batch);
        out_integer(json, "total_bytes", row->total_bytes);
        out_integer(json, "time_ns", row->time_ns);
        out_integer(json, "baseline_time_ns", row->baseline_time_ns);
        out_close(json, '}');
    }
    out_close(json, ']');
}

static ebb_status print_json(tool *t, const answers *a) {
    out_json json;
    out_json_begin(&json, "ebb.fit/1");
    out_integer(&json, "budget_bytes", a->result->budget_bytes);
    out_open(&json, "rows", '[');
    for (uint32_t i = 0; i < a->result->n_rows; i++) {
        const ebb_fit_row *row = &a->result->rows[i];
        out_open(&json, NULL, '{');
        out_text(&json, "mode", tool_mode_name(row->mode));
        out_integer(&json, "batch", row->batch);
        out_integer(&json, "total_bytes", row->total_bytes);
        out_integer(&json, "time_ns", row->time_ns);
        out_integer(&json, "baseline_time_ns", row->baseline_time_ns);
        out_text(&json, "plan", a->path[i][0] != '\0' ? a->path[i] : NULL);
        out_close(&json, '}');
    }
    out_close(&json, ']');
    tried_json(&json, a->result);
    return out_json_end(t, &json);
}

static ebb_status print_answers(tool *t, const ebb_fit_result *result) {
    answers a = {.result = result};
    bool any = false;
    for (uint32_t i = 0; i < result->n_rows; i++) any = any || result->rows[i].batch > 0;
    ebb_status status = write_plans(t, &a);
    if (status == EBB_OK && (t->args.json || t->args.output != NULL)) status = print_json(t, &a);
    if (status != EBB_OK) return status;
    if (!t->args.json) print_table(t, &a);
    if (any) return EBB_OK;
    return tool_fail(t, EBB_OVER_BUDGET, "nothing fits: not even %s=1 within %lld bytes: raise --budget",
                     t->args.over != NULL ? t->args.over : "N", (long long)result->budget_bytes);
}

ebb_status tool_fit(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    ebb_fit_result *result = NULL;
    tool_progress progress;
    if (t->args.budget_bytes < 0)
        return tool_fail(t, EBB_USAGE, "fit needs --budget: write --budget 11GiB, for instance");
    ebb_status status = tool_options(t, &options);
    if (status != EBB_OK) return status;
    status = ebb_model_open(t->env, t->args.operand, &model);
    if (status != EBB_OK) return status;
    tool_progress_begin(&progress, t, &options);
    status = ebb_fit(t->env, model, t->args.over != NULL ? t->args.over : "N", t->args.dims, t->args.n_dims,
                     &options, t->args.budget_bytes,
                     t->args.max_added >= 0 ? t->args.max_added : MAX_ADDED_DEFAULT, &result);
    tool_progress_end(&progress);
    if (status == EBB_INTERRUPTED && result != NULL && result->n_rows > 0) {
        (void)tool_fail(t, status, "interrupted: the answer is what was found until then");
        ebb_status printed = print_answers(t, result);
        if (printed != EBB_OK) {
            t->error[0] = '\0';
            status = printed;
        }
    }
    if (status == EBB_OK) status = print_answers(t, result);
    if (status == EBB_OK) tool_note_effort(t, &options);
    if (result != NULL) ebb_fit_result_destroy(t->env, result);
    ebb_model_destroy(model);
    return status;
}
