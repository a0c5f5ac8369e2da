/* ebb bench: how long ops take on this machine: a costs file for --costs. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS_DEFAULT = 11, RUNS_MOST = 10000 };

static void print_table(tool *t, const ebb_costs *costs, const ebb_costs_summary *s) {
    out_table *table = calloc(1, sizeof *table);
    ebb_costs_kind kind;
    char flops[32], bytes[32], off[32];
    if (!table) return; /* the file has it all */
    printf("%u distinct ops of %u kinds on %s, %u %s (", s->n_ops, s->n_kinds, s->backend, s->n_threads,
           s->n_threads == 1 ? "thread" : "threads");
    out_safe(stdout, s->machine);
    printf(")\n\n");
    out_row(table, (const char *const[OUT_COLUMNS]){"kind", "uses", "measured", "line misses by", "GFLOP/s",
                                                    "GB/s"});
    for (uint32_t i = 0; i < s->n_kinds && i < OUT_ROWS - 1; i++) {
        if (ebb_costs_kind_at(t->env, costs, i, &kind) != EBB_OK) break;
        const double ns = kind.measured_ns > 0 ? (double)kind.measured_ns : 1;
        snprintf(flops, sizeof flops, "%.1f", (double)kind.flops / ns);
        snprintf(off, sizeof off, "%.0f %%", 100 * (double)kind.off_ns / ns);
        snprintf(bytes, sizeof bytes, "%.1f", (double)kind.bytes / ns);
        out_row(table,
                (const char *const[OUT_COLUMNS]){kind.kind, out_count(kind.n_uses).text,
                                                 out_time(kind.measured_ns).text, off, flops, bytes});
    }
    out_table_print(table, stdout);
    free(table);
}

/* Gives the costs to the file of -o or `path`, and to standard output in the form that was asked for. */
static ebb_status tell(tool *t, const ebb_costs *costs, const char *path) {
    ebb_costs_summary summary;
    ebb_status status = path ? ebb_costs_write(t->env, costs, path) : EBB_OK;
    if (status != EBB_OK) return status;
    ebb_costs_summarize(costs, &summary);
    tool_note_busy(costs, "measure again when it is not, or with more --steps");
    if (t->args.json) return ebb_costs_write(t->env, costs, "-");
    print_table(t, costs, &summary);
    if (path) {
        printf("\nwritten to ");
        out_safe(stdout, path);
        printf("\n");
    }
    return EBB_OK;
}

static ebb_status measure(tool *t, const ebb_model *model, const ebb_dim_binding *dims, uint32_t n_dims,
                          const ebb_options *options, ebb_costs **out) {
    const ebb_measure_request request = {.n_runs =
                                             t->args.steps > 0 ? (uint32_t)t->args.steps : RUNS_DEFAULT};
    return ebb_measure(t->env, model, dims, n_dims, options, &request, out);
}

static void print_xla_steps(const ebb_xla_measured *m, uint32_t n_steps) {
    printf("own kernels      %s a step (shortest of %u), loss %.6f\n", out_time(m->own_ns).text, n_steps,
           m->own_loss);
    printf("xla              %s a step, loss %.6f\n", out_time(m->xla_ns).text, m->xla_loss);
    printf("losses differ    %.2e of our own at most\n", m->loss_off);
    printf("params differ    %.2e of the first step's change\n", m->param_off);
}

static void print_xla(const ebb_xla_measured *m, uint32_t n_steps) {
    const ebb_xla_memory *x = &m->memory;
    if (n_steps > 0) print_xla_steps(m, n_steps);
    printf("planned arena    %s, without recomputation %s; %u steps run again\n",
           out_bytes(m->arena_bytes).text, out_bytes(m->baseline_arena_bytes).text, m->n_recomputed);
    printf("xla temp         %s; with repeated steps merged %s\n", out_bytes(x->temp_bytes).text,
           out_bytes(m->merged_temp_bytes).text);
    printf("xla arguments    %s, results beside them %s\n", out_bytes(x->arguments_bytes).text,
           out_bytes(x->outputs_bytes - x->alias_bytes).text);
}
static ebb_status bench_ops(tool *t, const ebb_options *options) {
    ebb_model *model = NULL;
    ebb_costs *costs = NULL;
    ebb_status status = tool_model_open(t, &model);
    if (status != EBB_OK) return status;
    status = measure(t, model, t->args.dims, t->args.n_dims, options, &costs);
    if (status == EBB_OK) status = tell(t, costs, t->args.output);
    ebb_costs_destroy(costs);
    ebb_model_destroy(model);
    return status;
}

/* --backend xla: a model's whole steps, by XLA and by our own kernels. */
static ebb_status bench_xla(tool *t, const ebb_options *options) {
    ebb_model *model = NULL;
    ebb_xla_measured m;
    const uint32_t n_steps = t->args.compile_only ? 0
                             : t->args.steps > 0  ? (uint32_t)t->args.steps
                                                  : RUNS_DEFAULT;
    ebb_status status = tool_model_open(t, &model);
    if (status != EBB_OK) return status;
    status = ebb_measure_xla(t->env, model, t->args.dims, t->args.n_dims, options, n_steps, &m);
    ebb_model_destroy(model);
    if (status != EBB_OK) return status;
    if (!t->args.json) {
        print_xla(&m, n_steps);
        return out_finish(t);
    }
    out_json json;
    out_json_begin(&json, "ebb.xla/1");
    out_integer(&json, "steps", n_steps);
    out_integer(&json, "own_ns", m.own_ns);
    out_integer(&json, "xla_ns", m.xla_ns);
    out_real(&json, "own_loss", m.own_loss);
    out_real(&json, "xla_loss", m.xla_loss);
    out_real(&json, "loss_off", m.loss_off);
    out_real(&json, "param_off", m.param_off);
    out_integer(&json, "n_recomputed", m.n_recomputed);
    out_integer(&json, "arena_bytes", m.arena_bytes);
    out_integer(&json, "baseline_arena_bytes", m.baseline_arena_bytes);
    out_integer(&json, "arguments_bytes", m.memory.arguments_bytes);
    out_integer(&json, "outputs_bytes", m.memory.outputs_bytes);
    out_integer(&json, "alias_bytes", m.memory.alias_bytes);
    out_integer(&json, "temp_bytes", m.memory.temp_bytes);
    out_integer(&json, "merged_temp_bytes", m.merged_temp_bytes);
    return out_json_end(t, &json);
}

/* Each probe adds to what the ones before it measured. */
static ebb_status measure_probes(tool *t, const ebb_options *options, ebb_costs **out) {
    ebb_status status = EBB_OK;
    const char *text;
    for (uint32_t i = 0; status == EBB_OK && (text = ebb_measure_probe(i)) != NULL; i++) {
        ebb_options more = *options;
        more.cache = NULL; /* its folder is for the calibration; plans of probes are of no use */
        ebb_model *model = NULL;
        ebb_costs *costs = NULL;
        if (*out) more.costs = *out;
        status = ebb_model_parse(t->env, "probe", text, strlen(text), &model);
        if (status == EBB_OK) status = measure(t, model, NULL, 0, &more, &costs);
        ebb_model_destroy(model);
        if (status != EBB_OK) break;
        ebb_costs_destroy(*out);
        *out = costs;
    }
    return status;
}

static ebb_status bench_calibrate(tool *t, const ebb_options *options) {
    char machine[PATH_MAX];
    const char *path = t->args.output, *folder = tool_cache_folder(&t->args);
    ebb_costs *costs = NULL;
    ebb_status status = EBB_OK;
    if (!path && !folder && !t->args.json)
        return tool_fail(t, EBB_USAGE,
                         "a calibration is kept in a file: name one with -o, or a folder with --cache");
    if (!path && folder) {
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return tool_fail(t, EBB_IO, "cannot make folder %.400s: %s: name a folder that can be written",
                             folder, strerror(errno));
        status = tool_calibration_path(t, options, folder, machine, sizeof machine);
        path = machine;
    }
    if (status == EBB_OK) status = measure_probes(t, options, &costs);
    if (status == EBB_OK) status = tell(t, costs, path);
    ebb_costs_destroy(costs);
    return status;
}

ebb_status tool_bench(tool *t) {
    ebb_options options;
    const bool xla = t->args.backend && strcmp(t->args.backend, "xla") == 0;
    if (xla && (t->args.ops || t->args.calibrate))
        return tool_fail(t, EBB_USAGE, "bench --backend xla times whole steps, no ops: leave out --%s",
                         t->args.ops ? "ops" : "calibrate");
    if (!xla && t->args.compile_only)
        return tool_fail(t, EBB_USAGE, "--compile-only belongs to --backend xla: give both or none");
    if (!xla && t->args.ops == t->args.calibrate)
        return tool_fail(t, EBB_USAGE,
                         "bench measures --ops of a MODEL, or with --calibrate kinds of ops: %s",
                         t->args.ops ? "leave out one of the two" : "give one of the two");
    if (t->args.calibrate && (t->args.operand || t->args.n_dims > 0))
        return tool_fail(t, EBB_USAGE, "bench --calibrate has models of its own: leave out %s",
                         t->args.operand ? "the MODEL" : "--dim");
    if (t->args.steps > RUNS_MOST)
        return tool_fail(t, EBB_USAGE, "bench: --steps %lld: at most %d are kept", (long long)t->args.steps,
                         RUNS_MOST);
    ebb_status status = tool_options(t, &options);
    if (status != EBB_OK) return status;
    if (options.xla) return bench_xla(t, &options);
    return t->args.ops ? bench_ops(t, &options) : bench_calibrate(t, &options);
}
