/* ebb frontier: what each byte less costs in time. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <stdlib.h>

#define POINTS_DEFAULT 12
#define BAR_WIDTH      30

typedef struct answers {
    const ebb_frontier_result *result;
    char path[EBB_FRONTIER_MAX_BUDGETS]
             [PATH_MAX]; /* of row i's plan; "" when there is none, or no --plans */
} answers;

static ebb_status write_plans(tool *t, answers *a) {
    if (!t->args.plans) return EBB_OK;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < a->result->n_rows && status == EBB_OK; i++) {
        const ebb_frontier_row *row = &a->result->rows[i];
        if (row->plan)
            status = tool_plans_write(t, row->plan, out_count(row->budget_bytes).text, a->path[i]);
    }
    return status;
}

/* The row's added time as a bar, the curve's largest being the whole width. */
static const char *added_bar(const ebb_frontier_result *result, const ebb_frontier_row *row) {
    static const char full[BAR_WIDTH + 1] = "##############################";
    int64_t most_ns = 0, base_ns = result->baseline_time_ns;
    for (uint32_t i = 0; i < result->n_rows; i++) {
        if (result->rows[i].time_ns - base_ns > most_ns) most_ns = result->rows[i].time_ns - base_ns;
    }
    if (row->time_ns <= base_ns) return "";
    double share = (double)(row->time_ns - base_ns) / (double)most_ns;
    return full + BAR_WIDTH - (int)(share * (BAR_WIDTH - 1) + 1);
}

/* Budgets that were typed are shown to the byte, too. */
static out_word budget_word(const tool *t, int64_t bytes) {
    return t->args.n_budgets > 0 ? out_budget(&t->args, bytes) : out_bytes(bytes);
}

static void print_table(const tool *t, const answers *a) {
    const ebb_frontier_result *result = a->result;
    int64_t base_ns = result->baseline_time_ns;
    out_table table = {0};
    printf("in place, nothing run again: %s, %s\n\n", out_bytes(result->baseline_total_bytes).text,
           out_time(base_ns).text);
    out_row(&table, (const char *const[OUT_COLUMNS]){"budget", "total", "predicted time", "lower bound",
                                                     "added", ""});
    for (uint32_t i = 0; i < result->n_rows; i++) {
        const ebb_frontier_row *row = &result->rows[i];
        if (!row->plan)
            out_row(&table,
                    (const char *const[OUT_COLUMNS]){budget_word(t, row->budget_bytes).text, "none found"});
        else
            out_row(&table, (const char *const[OUT_COLUMNS]){
                                budget_word(t, row->budget_bytes).text, out_bytes(row->total_bytes).text,
                                out_time(row->time_ns).text, out_time(row->bound_time_ns).text,
                                out_change(row->time_ns, base_ns).text, added_bar(result, row)});
    }
    out_table_print(&table, stdout);
    printf("\nsmallest plan found: %s (%lld bytes)\n", out_bytes(result->smallest_bytes).text,
           (long long)result->smallest_bytes);
}

static void row_json(out_json *json, const ebb_frontier_row *row, const char *path) {
    const struct {
        const char *key;
        int64_t value;
    } figures[] = {{"total_bytes", row->total_bytes},
                   {"time_ns", row->time_ns},
                   {"time_ns_lower_bound", row->bound_time_ns}};
    out_open(json, NULL, '{');
    out_integer(json, "budget_bytes", row->budget_bytes);
    for (size_t i = 0; i < TOOL_COUNT(figures); i++) {
        if (row->plan)
            out_integer(json, figures[i].key, figures[i].value);
        else
            out_text(json, figures[i].key, NULL);
    }
    out_bool(json, "found", row->plan);
    out_text(json, "plan", path[0] != '\0' ? path : NULL);
    out_close(json, '}');
}

static ebb_status print_json(tool *t, const answers *a) {
    const ebb_frontier_result *result = a->result;
    out_json json;
    out_json_begin(&json, "ebb.frontier/1");
    out_open(&json, "baseline", '{');
    out_integer(&json, "total_bytes", result->baseline_total_bytes);
    out_integer(&json, "time_ns", result->baseline_time_ns);
    out_close(&json, '}');
    out_integer(&json, "smallest_bytes", result->smallest_bytes);
    out_open(&json, "rows", '[');
    for (uint32_t i = 0; i < result->n_rows; i++) row_json(&json, &result->rows[i], a->path[i]);
    out_close(&json, ']');
    return out_json_end(t, &json);
}

static ebb_status print_answers(tool *t, answers *a) {
    const ebb_frontier_result *result = a->result;
    ebb_status status = write_plans(t, a);
    if (status == EBB_OK && (t->args.json || t->args.output)) status = print_json(t, a);
    if (status != EBB_OK) return status;
    if (!t->args.json) print_table(t, a);
    for (uint32_t i = 0; i < result->n_rows; i++) {
        if (result->rows[i].plan) return EBB_OK;
    }
    return tool_fail(t, EBB_OVER_BUDGET,
                     "no plan within any budget; the smallest found needs %lld bytes: raise --budgets",
                     (long long)result->smallest_bytes);
}

/* Interrupted: what was found is still worth telling. */
static ebb_status tell(tool *t, const ebb_frontier_result *result, ebb_status status) {
    bool cut_short = status == EBB_INTERRUPTED;
    if (!result || (cut_short && result->n_rows == 0)) return status;
    answers *a = calloc(1, sizeof *a); /* a quarter of a megabyte: too much for a stack */
    if (!a) return tool_fail(t, EBB_NO_MEMORY, "no memory for the answer: %zu bytes", sizeof *a);
    a->result = result;
    ebb_status printed = print_answers(t, a);
    free(a);
    if (printed != EBB_OK || !cut_short) return printed != EBB_OK ? printed : status;
    return tool_fail(t, status, "interrupted: the answer is what was found until then");
}

static ebb_status find_and_print(tool *t, ebb_options *options, const ebb_model *model) {
    tool_progress progress;
    ebb_frontier_result *result = NULL;
    ebb_frontier_request request = {.budgets = t->args.n_budgets > 0 ? t->args.budgets : NULL,
                                    .n_budgets = t->args.n_budgets,
                                    .n_points =
                                        t->args.points > 0 ? (uint32_t)t->args.points : POINTS_DEFAULT,
                                    .max_added = t->args.max_added >= 0 ? t->args.max_added : -1};
    ebb_status status = tool_plans_folder(t); /* before the work, not after it */
    if (status != EBB_OK) return status;
    tool_progress_begin(&progress, t, options);
    status = ebb_frontier(t->env, model, t->args.dims, t->args.n_dims, options, &request, &result);
    tool_progress_end(&progress);
    status = tell(t, result, status);
    if (status == EBB_OK && result->n_rows > 0) tool_note_costs(t, result->rows[0].plan);
    if (result) ebb_frontier_result_destroy(t->env, result);
    return status;
}

ebb_status tool_frontier(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    if (t->args.n_budgets > 0 && t->args.points > 0)
        return tool_fail(t, EBB_USAGE, "--points and --budgets are both given: leave out one of the two");
    ebb_status status = tool_options(t, &options);
    if (status != EBB_OK) return status;
    options.memory = EBB_MEMORY_BUDGET; /* whatever the sublinear flags say: they set the search's values */
    status = tool_model_open(t, &model);
    if (status != EBB_OK) return status;
    status = find_and_print(t, &options, model);
    if (status == EBB_OK) tool_note_effort(t, &options);
    ebb_model_destroy(model);
    return status;
}
