/* ebb fit --batch: does one batch fit, how, and what else could be done. */
#include "tool/commands/fit/fit.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#define MAX_ADDED_ANY 1e6 /* of one batch that is asked for, unless --max-added says otherwise */

typedef struct answer {
    const tool_fit_budget *budget;
    const ebb_fit_batch_result *result;
    const char *dim, *backend;
    char path[4][PATH_MAX]; /* of way i's plan; "": it does not fit */
} answer;

static ebb_status write_plans(tool *t, answer *a) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < a->result->n_ways && status == EBB_OK; i++) {
        const ebb_fit_way *way = &a->result->ways[i];
        if (way->fits) status = tool_plans_write(t, way->plan, tool_mode_name(way->mode), a->path[i]);
    }
    return status;
}

static out_word verdict(const answer *a, const ebb_fit_way *way) {
    out_word word = {"fits"};
    if (!way->fits) snprintf(word.text, sizeof word.text, "no");
    if (!way->fits && way->plan && way->total_bytes <= a->result->budget_bytes)
        snprintf(word.text, sizeof word.text, "too slow");
    return word;
}

static void add_way(const answer *a, out_table *table, uint32_t i) {
    const ebb_fit_way *way = &a->result->ways[i];
    const char *name = tool_mode_name(way->mode);
    if (!way->plan)
        out_row(table, (const char *const[OUT_COLUMNS]){
                           name, verdict(a, way).text,
                           way->total_bytes >= 0 ? out_bytes(way->total_bytes).text : "none found"});
    else
        out_row(table, (const char *const[OUT_COLUMNS]){
                           name, verdict(a, way).text, out_bytes(way->total_bytes).text,
                           tool_fit_rate(a->result->batch, way->time_ns).text,
                           out_change(way->time_ns, way->baseline_time_ns).text, a->path[i]});
}

/* Micro-batches are of one size: together they may be a few more than the batch. */
static out_word in_all(const answer *a) {
    const ebb_fit_accumulation *acc = &a->result->accumulation;
    const int64_t n = acc->n_micro * acc->micro_batch;
    out_word word = {""};
    if (n > a->result->batch) snprintf(word.text, sizeof word.text, " (%lld in all)", (long long)n);
    return word;
}

static void print_accumulation(const answer *a) {
    const ebb_fit_accumulation *acc = &a->result->accumulation;
    int64_t whole_ns = a->result->ways[1].time_ns;
    if (a->result->batch < 2) return; /* nothing to divide */
    if (acc->n_micro == 0) {
        printf("\ngradient accumulation: not even one item fits beside the sums\n");
        return;
    }
    printf("\ngradient accumulation, %lld micro-batches of %lld%s, nothing run again: %s, %s, %s of the "
           "batch in one\n",
           (long long)acc->n_micro, (long long)acc->micro_batch, in_all(a).text,
           out_bytes(acc->total_bytes).text, tool_fit_rate(a->result->batch, acc->time_ns).text,
           out_change(acc->time_ns, whole_ns).text);
    if (acc->n_batch_norms > 0)
        printf("it changes results: %u batch norms see %lld items in place of %lld\n", acc->n_batch_norms,
               (long long)acc->micro_batch, (long long)a->result->batch);
}

static void print_table(const tool *t, const answer *a) {
    out_table table = {0};
    tool_fit_budget_print(a->budget);
    printf("%s=%lld within %s: %s\n\n", a->dim, (long long)a->result->batch,
           out_budget(&t->args, a->result->budget_bytes).text,
           a->result->fits          ? "fits"
           : a->result->n_ways == 4 ? "does not fit"
                                    : "not known");
    out_row(&table,
            (const char *const[OUT_COLUMNS]){"mode", "", "total", "predicted time", "added", "plan"});
    for (uint32_t i = 0; i < a->result->n_ways; i++) add_way(a, &table, i);
    out_table_print(&table, stdout);
    if (a->result->n_ways == 4) print_accumulation(a);
    tool_fit_times_print(a->budget, a->backend);
}

static void put(out_json *json, const char *key, int64_t value) {
    if (value >= 0)
        out_integer(json, key, value);
    else
        out_text(json, key, NULL);
}

static void accumulation_json(out_json *json, const ebb_fit_accumulation *acc) {
    if (acc->n_micro == 0) {
        out_text(json, "accumulation", NULL);
        return;
    }
    out_open(json, "accumulation", '{');
    out_integer(json, "n_micro", acc->n_micro);
    out_integer(json, "micro_batch", acc->micro_batch);
    out_integer(json, "total_bytes", acc->total_bytes);
    out_integer(json, "time_ns", acc->time_ns);
    out_integer(json, "n_batch_norms", acc->n_batch_norms);
    out_close(json, '}');
}

static ebb_status print_json(tool *t, const answer *a) {
    const ebb_fit_batch_result *r = a->result;
    out_json json;
    out_json_begin(&json, "ebb.fit-batch/1");
    tool_fit_budget_json(&json, a->budget);
    out_integer(&json, "batch", r->batch);
    if (r->fits || r->n_ways == 4)
        out_bool(&json, "fits", r->fits);
    else
        out_text(&json, "fits", NULL); /* interrupted before all ways were tried */
    out_open(&json, "rows", '[');
    for (uint32_t i = 0; i < r->n_ways; i++) {
        const ebb_fit_way *way = &r->ways[i];
        out_open(&json, NULL, '{');
        out_text(&json, "mode", tool_mode_name(way->mode));
        out_bool(&json, "fits", way->fits);
        put(&json, "total_bytes", way->total_bytes);
        put(&json, "time_ns", way->time_ns);
        put(&json, "baseline_time_ns", way->baseline_time_ns);
        out_text(&json, "plan", a->path[i][0] != '\0' ? a->path[i] : NULL);
        out_close(&json, '}');
    }
    out_close(&json, ']');
    accumulation_json(&json, &r->accumulation);
    put(&json, "smallest_budget_bytes", r->smallest_budget_bytes > 0 ? r->smallest_budget_bytes : -1);
    put(&json, "largest_batch", r->largest_batch > 0 ? r->largest_batch : -1);
    return out_json_end(t, &json);
}

/* What must change at least. */
static ebb_status say_no(tool *t, const answer *a) {
    const ebb_fit_batch_result *r = a->result;
    char changes[256];
    /* What is asked for again has the reserve, or the context of a device, taken off again. */
    int n = a->budget->device.memory_bytes > 0
                ? snprintf(changes, sizeof changes, "take a device that leaves %lld bytes",
                           (long long)r->smallest_budget_bytes)
                : snprintf(changes, sizeof changes, "raise the budget to %lld bytes",
                           (long long)r->smallest_budget_bytes + (long long)a->budget->reserve_bytes);
    if (r->largest_batch > 0 && n > 0 && (size_t)n < sizeof changes)
        n += snprintf(changes + n, sizeof changes - (size_t)n, "%s lower the batch to %lld",
                      r->accumulation.n_micro > 0 ? "," : ", or", (long long)r->largest_batch);
    if (r->accumulation.n_micro > 0 && n > 0 && (size_t)n < sizeof changes)
        snprintf(changes + n, sizeof changes - (size_t)n, ", or accumulate %lld micro-batches of %lld",
                 (long long)r->accumulation.n_micro, (long long)r->accumulation.micro_batch);
    return tool_fail(t, EBB_OVER_BUDGET, "%s=%lld does not fit within %lld bytes: %s", a->dim,
                     (long long)r->batch, (long long)r->budget_bytes, changes);
}

static ebb_status print_answer(tool *t, answer *a, ebb_status status) {
    ebb_status printed = write_plans(t, a);
    if (printed == EBB_OK && (t->args.json || t->args.output)) printed = print_json(t, a);
    if (printed != EBB_OK) return printed;
    if (!t->args.json) print_table(t, a);
    if (status == EBB_INTERRUPTED)
        return tool_fail(t, status, "interrupted: the answer is what was found until then");
    return a->result->fits ? EBB_OK : say_no(t, a);
}

ebb_status tool_fit_one_batch(tool *t, const tool_fit_budget *budget, ebb_options *options,
                              const ebb_model *model) {
    tool_progress progress;
    ebb_fit_batch_result *result = NULL;
    answer a = {.budget = budget, .dim = t->args.over ? t->args.over : "N", .backend = options->device};
    tool_progress_begin(&progress, t, options);
    ebb_status status =
        ebb_fit_batch(t->env, model, a.dim, t->args.dims, t->args.n_dims, options, budget->bytes,
                      t->args.max_added >= 0 ? t->args.max_added : MAX_ADDED_ANY, t->args.batch, &result);
    tool_progress_end(&progress);
    if (!result) return status;
    a.result = result;
    if (status == EBB_OK || result->n_ways > 0) status = print_answer(t, &a, status);
    ebb_fit_batch_result_destroy(t->env, result);
    return status;
}
