/* ebb tune: what each parameter of the search buys, and which values to take. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#define TIME_LIMIT_DEFAULT_S 60

static const char *note(const ebb_tune_result *result, uint32_t i) {
    const ebb_tune_row *row = &result->rows[i];
    if (i == result->recommended && row->cut_short) return "recommended; cut short";
    if (i == result->recommended) return "recommended";
    if (row->cut_short) return row->fits ? "cut short" : "cut short, over the budget";
    return row->found && !row->fits ? "over the budget" : "";
}

static void print_table(const tool *t, const ebb_tune_result *result) {
    int64_t base_ns = result->baseline_time_ns;
    out_table table = {0};
    printf("within %s; in place, nothing run again: %s, %s",
           out_budget(&t->args, result->budget_bytes).text, out_bytes(result->baseline_total_bytes).text,
           out_time(base_ns).text);
    if (result->bound_time_ns > 0)
        printf("; no plan adds less than %s", out_change(result->bound_time_ns, base_ns).text);
    printf("\n\n");
    out_row(&table,
            (const char *const[OUT_COLUMNS]){"config", "total", "added", "candidates", "planning", ""});
    for (uint32_t i = 0; i < result->n_rows; i++) {
        const ebb_tune_row *row = &result->rows[i];
        if (row->found)
            out_row(&table, (const char *const[OUT_COLUMNS]){
                                row->what, out_bytes(row->total_bytes).text,
                                out_change(row->time_ns, base_ns).text, out_count(row->n_candidates).text,
                                out_time(row->planning_ns).text, note(result, i)});
        else
            out_row(&table, (const char *const[OUT_COLUMNS]){row->what, "none found", "", "",
                                                             out_time(row->planning_ns).text, ""});
    }
    out_table_print(&table, stdout);
    if (!result->cut_short) return;
    for (uint32_t i = 0; i < result->n_rows; i++) {
        if (!result->rows[i].cut_short) continue;
        printf("\nthe time limit ended a default's search: --time-limit gives more seconds\n");
        return;
    }
    printf("\nthe time limit left rows out: --time-limit gives more seconds\n");
}

/* What plan, fit, frontier and run need to search as the row did. Workers and a lower bound only where they
 * are not the default's: a file may go to another machine. */
static void put_config(out_json *json, const ebb_config *config, int64_t num_worker) {
    ebb_sublinear_config defaults;
    const ebb_sublinear_config *s = &config->sublinear;
    ebb_sublinear_config_init(&defaults);
    out_text(json, "method", config->method == EBB_CONFIG_MEGENGINE ? "megengine" : "budget");
    out_integer(json, "thresh_nr_try", s->thresh_nr_try);
    out_integer(json, "genetic_nr_iter", s->genetic_nr_iter);
    out_integer(json, "genetic_pool_size", s->genetic_pool_size);
    if (s->lb_memory_bytes > 0) out_integer(json, "lb_memory", s->lb_memory_bytes);
    if (num_worker != defaults.num_worker) out_integer(json, "num_worker", num_worker);
    if (config->search_seed >= 0) out_integer(json, "search_seed", config->search_seed);
    out_integer(json, "effort", config->effort);
}

static void row_json(out_json *json, const ebb_tune_row *row) {
    const struct {
        const char *key;
        int64_t value;
    } figures[] = {
        {"total_bytes", row->total_bytes}, {"time_ns", row->time_ns}, {"candidates", row->n_candidates}};
    out_open(json, NULL, '{');
    out_text(json, "what", row->what);
    out_bool(json, "default", row->is_default);
    out_bool(json, "found", row->found);
    out_bool(json, "fits", row->fits);
    out_bool(json, "cut_short", row->cut_short);
    for (size_t i = 0; i < TOOL_COUNT(figures); i++) {
        if (row->found)
            out_integer(json, figures[i].key, figures[i].value);
        else
            out_text(json, figures[i].key, NULL);
    }
    out_integer(json, "planning_ns", row->planning_ns);
    out_open(json, "config", '{');
    put_config(json, &row->config, row->config.sublinear.num_worker);
    out_close(json, '}');
    out_close(json, '}');
}

/* -o takes the config, so the document goes to standard output alone. */
static ebb_status print_json(tool *t, const ebb_tune_result *result) {
    tool to_stdout = *t;
    out_json json;
    bool any = result->recommended < result->n_rows;
    to_stdout.args.output = NULL;
    out_json_begin(&json, "ebb.tune/1");
    out_integer(&json, "budget_bytes", result->budget_bytes);
    out_open(&json, "baseline", '{');
    out_integer(&json, "total_bytes", result->baseline_total_bytes);
    out_integer(&json, "time_ns", result->baseline_time_ns);
    out_close(&json, '}');
    out_integer(&json, "time_ns_lower_bound", result->bound_time_ns);
    out_integer(&json, "num_worker", result->num_worker);
    out_bool(&json, "cut_short", result->cut_short);
    if (any)
        out_integer(&json, "recommended", result->recommended);
    else
        out_text(&json, "recommended", NULL);
    out_text(&json, "config", any ? t->args.output : NULL);
    out_open(&json, "rows", '[');
    for (uint32_t i = 0; i < result->n_rows; i++) row_json(&json, &result->rows[i]);
    out_close(&json, ']');
    ebb_status status = out_json_end(&to_stdout, &json);
    if (status != EBB_OK) *t = to_stdout;
    return status;
}

static ebb_status write_config(tool *t, const ebb_tune_result *result) {
    tool to_file = *t;
    out_json json;
    if (!t->args.output || result->recommended == result->n_rows) return EBB_OK;
    to_file.args.json = false;
    out_json_begin(&json, "ebb.config/1");
    put_config(&json, &result->rows[result->recommended].config, result->num_worker);
    ebb_status status = out_json_end(&to_file, &json);
    if (status != EBB_OK) *t = to_file;
    return status;
}

/* MegEngine's mode takes no budget. */
static void print_next(const tool *t, const ebb_tune_result *result) {
    printf("\nwrote ");
    out_safe(stdout, t->args.output);
    printf(": ebb plan MODEL");
    if (result->rows[result->recommended].config.method == EBB_CONFIG_BUDGET)
        printf(" --budget %lld", (long long)result->budget_bytes);
    printf(" --config ");
    out_safe(stdout, t->args.output);
    printf("\n");
}

static ebb_status print_result(tool *t, const ebb_tune_result *result) {
    ebb_status status = write_config(t, result);
    if (status == EBB_OK && t->args.json) return print_json(t, result);
    if (status == EBB_OK) print_table(t, result);
    if (status == EBB_OK && t->args.output && result->recommended < result->n_rows) print_next(t, result);
    return status;
}

/* A share is of the plan in place, as for plan: here it becomes bytes. */
static ebb_status resolve_share(tool *t, const ebb_model *model, ebb_options *options) {
    ebb_options in_place = *options;
    ebb_plan *plan = NULL;
    ebb_plan_summary s;
    if (options->budget_share == 0) return EBB_OK;
    in_place.memory = EBB_MEMORY_IN_PLACE;
    in_place.budget_share = 0;
    in_place.n_keep = in_place.n_drop = 0; /* are chosen within budgets */
    in_place.dump = NULL;
    in_place.on_progress = NULL;
    const ebb_status status = ebb_plan_model(t->env, model, t->args.dims, t->args.n_dims, &in_place, &plan);
    if (status == EBB_OK) {
        ebb_plan_summarize(plan, &s);
        const int64_t bytes = (int64_t)(options->budget_share * (double)s.baseline_total_bytes);
        t->args.budget_bytes = bytes > 1 ? bytes : 1;
        options->budget_share = 0;
    }
    ebb_plan_destroy(plan);
    return status;
}

ebb_status tool_tune(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    ebb_tune_result *result = NULL;
    tool_progress progress;
    if (t->args.budget_bytes < 0)
        return tool_fail(t, EBB_USAGE, "tune needs --budget: write --budget 11GiB or 60%%, for instance");
    ebb_status status = tool_options(t, &options);
    if (status != EBB_OK) return status;
    if (options.time_limit_s == 0) options.time_limit_s = TIME_LIMIT_DEFAULT_S;
    status = tool_model_open(t, &model);
    if (status != EBB_OK) return status;
    status = resolve_share(t, model, &options);
    if (status != EBB_OK) {
        ebb_model_destroy(model);
        return status;
    }
    tool_progress_begin(&progress, t, &options);
    status = ebb_tune(t->env, model, t->args.dims, t->args.n_dims, &options, t->args.budget_bytes, &result);
    tool_progress_end(&progress);
    if (result) {
        ebb_status printed = print_result(t, result);
        if (printed == EBB_OK && status == EBB_INTERRUPTED)
            (void)tool_fail(t, status, "interrupted: the answer is what was found until then");
        if (printed != EBB_OK) status = printed;
        ebb_tune_result_destroy(t->env, result);
    }
    ebb_model_destroy(model);
    return status;
}
