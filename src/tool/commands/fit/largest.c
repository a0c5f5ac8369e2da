/* largest: the largest batch within a budget, for each way to save memory. */
#include "tool/commands/fit/fit.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <string.h>

#define MAX_ADDED_DEFAULT 0.30

typedef struct answers {
    const tool_fit_budget *budget;
    const ebb_fit_result *result;
    char path[4][PATH_MAX]; /* of row i's plan, "" when nothing fits */
} answers;

static ebb_status write_plans(tool *t, answers *a) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < a->result->n_rows && status == EBB_OK; i++) {
        const ebb_fit_row *row = &a->result->rows[i];
        if (row->plan) status = tool_plans_write(t, row->plan, tool_mode_name(row->mode), a->path[i]);
    }
    return status;
}

/* The next larger size of each mode, which did not fit. */
static void print_next(const answers *a, const char *dim) {
    const char *before = "\none more did not fit: ";
    for (uint32_t i = 0; i < a->result->n_rows; i++) {
        const ebb_fit_row *row = &a->result->rows[i];
        if (row->batch == 0 || row->next_total_bytes < 0) continue;
        bool slow = row->next_total_bytes <= a->result->budget_bytes;
        printf("%s%s %s=%lld takes %s", before, tool_mode_name(row->mode), dim, (long long)row->batch + 1,
               slow ? "too much time" : out_bytes(row->next_total_bytes).text);
        before = "; ";
    }
    if (*before == ';') printf("\n");
}

static void print_table(const tool *t, const answers *a) {
    out_table table = {0};
    const char *dim = t->args.over ? t->args.over : "N";
    tool_fit_budget_print(a->budget);
    printf("largest %s within %s\n\n", dim, out_budget(&t->args, a->result->budget_bytes).text);
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
                            out_bytes(row->total_bytes).text, tool_fit_rate(row->batch, row->time_ns).text,
                            out_change(row->time_ns, row->baseline_time_ns).text, a->path[i]});
    }
    out_table_print(&table, stdout);
    print_next(a, dim);
    tool_fit_times_print(a->budget, a->result->backend);
    printf("\n--batch asks for one %s: gradient accumulation beside it, and what must change if it does "
           "not fit\n",
           dim);
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
    out_text(&json, "graph", a->result->graph);
    out_text(&json, "backend", a->result->backend);
    out_integer(&json, "n_threads", a->result->n_threads);
    tool_fit_budget_json(&json, a->budget);
    out_open(&json, "rows", '[');
    for (uint32_t i = 0; i < a->result->n_rows; i++) {
        const ebb_fit_row *row = &a->result->rows[i];
        out_open(&json, NULL, '{');
        out_text(&json, "mode", tool_mode_name(row->mode));
        out_integer(&json, "batch", row->batch);
        out_integer(&json, "total_bytes", row->total_bytes);
        out_integer(&json, "time_ns", row->time_ns);
        out_integer(&json, "baseline_time_ns", row->baseline_time_ns);
        if (row->next_total_bytes >= 0)
            out_integer(&json, "next_total_bytes", row->next_total_bytes);
        else
            out_text(&json, "next_total_bytes", NULL);
        out_text(&json, "plan", a->path[i][0] != '\0' ? a->path[i] : NULL);
        out_close(&json, '}');
    }
    out_close(&json, ']');
    tried_json(&json, a->result);
    return out_json_end(t, &json);
}

static ebb_status print_answers(tool *t, const tool_fit_budget *budget, const ebb_fit_result *result) {
    answers a = {.budget = budget, .result = result};
    bool any = false;
    for (uint32_t i = 0; i < result->n_rows; i++) any = any || result->rows[i].batch > 0;
    ebb_status status = write_plans(t, &a);
    if (status == EBB_OK && (t->args.json || t->args.output)) status = print_json(t, &a);
    if (status != EBB_OK) return status;
    if (!t->args.json) print_table(t, &a);
    if (any) return EBB_OK;
    const char *dim = t->args.over ? t->args.over : "N";
    int64_t smallest = INT64_MAX;
    for (uint32_t i = 0; i < result->n_rows; i++)
        if (result->rows[i].next_total_bytes >= 0 && result->rows[i].next_total_bytes < smallest)
            smallest = result->rows[i].next_total_bytes;
    if (smallest <= result->budget_bytes)
        return tool_fail(t, EBB_OVER_BUDGET,
                         "nothing fits: %s=1 takes too much time within %lld bytes: raise --budget or "
                         "--max-added",
                         dim, (long long)result->budget_bytes);
    if (smallest < INT64_MAX)
        return tool_fail(
            t, EBB_OVER_BUDGET,
            "nothing fits: not even %s=1 within %lld bytes: the smallest found needs %lld: raise "
            "--budget",
            dim, (long long)result->budget_bytes, (long long)smallest);
    return tool_fail(t, EBB_OVER_BUDGET, "nothing fits: not even %s=1 within %lld bytes: raise --budget",
                     dim, (long long)result->budget_bytes);
}

ebb_status tool_fit_largest(tool *t, const tool_fit_budget *budget, ebb_options *options,
                            const ebb_model *model) {
    ebb_fit_result *result = NULL;
    tool_progress progress;
    tool_progress_begin(&progress, t, options);
    ebb_status status =
        ebb_fit(t->env, model, t->args.over ? t->args.over : "N", t->args.dims, t->args.n_dims, options,
                budget->bytes, t->args.max_added >= 0 ? t->args.max_added : MAX_ADDED_DEFAULT, &result);
    tool_progress_end(&progress);
    if (status == EBB_INTERRUPTED && result && result->n_rows > 0) {
        (void)tool_fail(t, status, "interrupted: the answer is what was found until then");
        ebb_status printed = print_answers(t, budget, result);
        if (printed != EBB_OK) {
            t->error[0] = '\0';
            status = printed;
        }
    }
    if (status == EBB_OK) status = print_answers(t, budget, result);
    for (uint32_t i = 0; status == EBB_OK && i < result->n_rows; i++) {
        if (!result->rows[i].plan) continue;
        tool_note_costs(t, result->rows[i].plan); /* of the first size: others may know more or fewer ops */
        break;
    }
    if (result) ebb_fit_result_destroy(t->env, result);
    return status;
}
