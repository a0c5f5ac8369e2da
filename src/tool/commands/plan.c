/* ebb plan: the plan of one training step. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <string.h>

static void print_table(const tool *t, const ebb_plan_summary *s) {
    out_table table = {0};
    int64_t fixed = s->total_bytes - s->arena_bytes - s->persistent_bytes;
    int64_t base_persistent = s->baseline_total_bytes - s->baseline_arena_bytes - fixed;
    char steps[48];
    snprintf(steps, sizeof steps, "%u of %u", s->n_recomputed, s->n_steps);
    printf("plan of ");
    out_safe(stdout, s->graph_name);
    printf(" (%s, %u %s)", s->backend, s->n_threads, s->n_threads == 1 ? "thread" : "threads");
    if (s->budget_bytes >= 0) printf(" within %s", out_budget(&t->args, s->budget_bytes).text);
    printf("\n\n");
    out_row(&table, (const char *const[OUT_COLUMNS]){"", "in place", "this plan", "change"});
    const struct {
        const char *name;
        int64_t before, now;
    } rows[] = {
        {"arena", s->baseline_arena_bytes, s->arena_bytes},
        {"persistent", base_persistent, s->persistent_bytes},
        {"fixed", fixed, fixed},
        {"total", s->baseline_total_bytes, s->total_bytes},
    };
    for (size_t i = 0; i < TOOL_COUNT(rows); i++) {
        if (rows[i].before == 0 && rows[i].now == 0) continue;
        out_row(&table, (const char *const[OUT_COLUMNS]){rows[i].name, out_bytes(rows[i].before).text,
                                                         out_bytes(rows[i].now).text,
                                                         out_change(rows[i].now, rows[i].before).text});
    }
    out_row(&table, (const char *const[OUT_COLUMNS]){"max live", "", out_bytes(s->max_live_bytes).text});
    if (s->budget_bytes >= 0)
        out_row(&table, (const char *const[OUT_COLUMNS]){"budget", "", out_bytes(s->budget_bytes).text});
    out_row(&table, (const char *const[OUT_COLUMNS]){"predicted time", out_time(s->baseline_time_ns).text,
                                                     out_time(s->time_ns).text,
                                                     out_change(s->time_ns, s->baseline_time_ns).text});
    out_row(&table,
            (const char *const[OUT_COLUMNS]){"lower bound", "", out_time(s->bound_time_ns).text,
                                             out_change(s->bound_time_ns, s->baseline_time_ns).text});
    out_row(&table, (const char *const[OUT_COLUMNS]){"steps run again", "0", steps});
    out_table_print(&table, stdout);
    if (s->costs_machine) {
        printf("\ncosts: ");
        out_safe(stdout, tool_costs_line(s).text);
        printf("\n");
    } else if (strcmp(s->backend, "cpu") == 0) {
        printf("\ncosts: the built-in model of a server core with 512-bit vectors; --costs host: this "
               "machine's\n");
    }
}

static ebb_status summary_json(tool *t, const ebb_plan_summary *s) {
    out_json json;
    /* The file of -o has the plan: the summary is for standard output only. */
    tool to_stdout = *t;
    to_stdout.args.output = NULL;
    out_json_begin(&json, "ebb.plan-summary/1");
    out_text(&json, "graph", s->graph_name);
    out_text(&json, "backend", s->backend);
    out_integer(&json, "n_threads", s->n_threads);
    out_integer(&json, "n_steps", s->n_steps);
    out_integer(&json, "n_recomputed", s->n_recomputed);
    out_integer(&json, "n_buffers", s->n_buffers);
    out_integer(&json, "arena_bytes", s->arena_bytes);
    out_integer(&json, "persistent_bytes", s->persistent_bytes);
    out_integer(&json, "total_bytes", s->total_bytes);
    out_integer(&json, "max_live_bytes", s->max_live_bytes);
    if (s->budget_bytes >= 0)
        out_integer(&json, "budget_bytes", s->budget_bytes);
    else
        out_text(&json, "budget_bytes", NULL);
    out_integer(&json, "time_ns", s->time_ns);
    out_open(&json, "baseline", '{');
    out_integer(&json, "arena_bytes", s->baseline_arena_bytes);
    out_integer(&json, "total_bytes", s->baseline_total_bytes);
    out_integer(&json, "time_ns", s->baseline_time_ns);
    out_close(&json, '}');
    out_integer(&json, "time_ns_lower_bound", s->bound_time_ns);
    out_costs(&json, s);
    out_text(&json, "plan", t->args.output);
    ebb_status status = out_json_end(&to_stdout, &json);
    if (status != EBB_OK) *t = to_stdout;
    return status;
}

/* plan NULL: there is only the log of a search that found none. */
static ebb_status write_plan(tool *t, const ebb_plan *plan, const ebb_search_log *log) {
    const char *output = t->args.output;
    if (log) {
        ebb_status status = ebb_search_log_write(t->env, log, t->args.log);
        if (status != EBB_OK || !plan) return status;
    }
    ebb_plan_summary summary;
    ebb_plan_summarize(plan, &summary);
    if (output) {
        ebb_status status = ebb_plan_write(t->env, plan, output);
        if (status != EBB_OK) return status;
    }
    if (t->args.json) return output ? summary_json(t, &summary) : ebb_plan_write(t->env, plan, "-");
    print_table(t, &summary);
    return EBB_OK;
}

/* A description alone is no budget, and --budget may say more than it: a plan may be for more than the
 * device has. */
static void note_device(const tool *t, const ebb_plan *plan) {
    ebb_device_memory device;
    ebb_plan_summary s;
    if (!ebb_device_is_file(t->args.device) ||
        ebb_device_memory_read(t->env, t->args.device, &device) != EBB_OK)
        return;
    const int64_t room = device.memory_bytes - device.context_bytes;
    ebb_plan_summarize(plan, &s);
    if (s.total_bytes <= room) return;
    fprintf(stderr, "ebb: the plan takes %lld bytes, more than the %lld that ", (long long)s.total_bytes,
            (long long)room);
    out_safe(stderr, device.name);
    fprintf(stderr, " has beside its context: --budget %lld plans within these\n", (long long)room);
}

/* Where activations are few or small 16 bits may save nothing: weights stay in f32, and their casts, and
 * what kernels widen, lie beside them. A plan in place is made in milliseconds, so the other one is asked
 * for. */
static void note_precision(const tool *t, const ebb_model *model, const ebb_options *options,
                           const ebb_plan *plan) {
    ebb_options whole = *options;
    ebb_plan *other = NULL;
    ebb_plan_summary in_f32, s;
    if (options->precision == EBB_PRECISION_F32) return;
    whole.precision = EBB_PRECISION_F32;
    whole.memory = EBB_MEMORY_IN_PLACE;
    whole.budget_bytes = 0;
    whole.budget_share = 0;
    whole.n_keep = whole.n_drop = 0;
    whole.cache = NULL;
    whole.native_bf16 = false;
    whole.dump = NULL;
    whole.log = NULL;
    whole.on_progress = NULL;
    if (ebb_plan_model(t->env, model, t->args.dims, t->args.n_dims, &whole, &other) == EBB_OK) {
        ebb_plan_summarize(plan, &s);
        ebb_plan_summarize(other, &in_f32);
        if (s.baseline_total_bytes >= in_f32.total_bytes)
            fprintf(
                stderr,
                "ebb: %s saves nothing here: %lld bytes in place and %lld in f32; leave --precision out, "
                "or try a larger batch\n",
                t->args.precision, (long long)s.baseline_total_bytes, (long long)in_f32.total_bytes);
    }
    ebb_plan_destroy(other);
}

ebb_status tool_plan(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    ebb_plan *plan = NULL;
    tool_progress progress;
    ebb_status status = tool_reserve(t);
    if (status == EBB_OK) status = tool_options(t, &options);
    if (status == EBB_OK && t->args.log && strcmp(t->args.log, "-") == 0)
        return tool_fail(t, EBB_USAGE, "--log needs a file: standard output has the plan");
    if (status == EBB_OK && t->args.log && t->args.output && strcmp(t->args.log, t->args.output) == 0)
        return tool_fail(t, EBB_USAGE, "-o and --log name the same file \"%.200s\"", t->args.log);
    if (status != EBB_OK) return status;
    status = tool_model_open(t, &model);
    if (status == EBB_OK && t->args.log) status = ebb_search_log_create(t->env, &options.log);
    if (status != EBB_OK) {
        ebb_model_destroy(model);
        return status;
    }
    tool_progress_begin(&progress, t, &options);
    status = ebb_plan_model(t->env, model, t->args.dims, t->args.n_dims, &options, &plan);
    tool_progress_end(&progress);
    /* Interrupted: the best plan so far is still worth having. */
    if (status == EBB_INTERRUPTED && plan)
        tool_fail(t, status,
                  t->args.output ? "interrupted: the best plan so far was written"
                                 : "interrupted: this is the best plan so far");
    if (plan && (status == EBB_OK || status == EBB_INTERRUPTED)) {
        ebb_status written = write_plan(t, plan, options.log);
        if (written == EBB_OK) tool_note_effort(t, &options);
        if (written == EBB_OK) note_device(t, plan);
        if (written == EBB_OK && status == EBB_OK) note_precision(t, model, &options, plan);
        if (written != EBB_OK) {
            if (status == EBB_INTERRUPTED) t->error[0] = '\0';
            status = written;
        }
    } else if (options.log && (status == EBB_OVER_BUDGET || status == EBB_INTERRUPTED)) {
        const ebb_status written = write_plan(t, NULL, options.log);
        if (written != EBB_OK) status = written;
    }
    ebb_search_log_destroy(options.log);
    ebb_plan_destroy(plan);
    ebb_model_destroy(model);
    return status;
}
