/* figures: the planned bytes and times beside the measured ones. */
#include "tool/commands/run/run.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <sys/resource.h>

/* High-water mark of resident memory; the kernel's own, which a fork's parent does not colour. */
static int64_t process_peak_bytes(void) {
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1) break;
    }
    if (file) fclose(file);
    if (kib > 0) return kib * 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : -1;
}

/* XLA's own bytes, which are no plan's. */
static void print_xla(const ebb_xla_memory *m) {
    const struct {
        const char *name;
        int64_t bytes;
    } rows[] = {{"xla arguments", m->arguments_bytes},
                {"xla results", m->outputs_bytes - m->alias_bytes},
                {"xla temp", m->temp_bytes}};
    for (size_t i = 0; i < TOOL_COUNT(rows); i++)
        printf("%-16s %lld bytes (%s)\n", rows[i].name, (long long)rows[i].bytes,
               out_bytes(rows[i].bytes).text);
}

static void xla_json(out_json *json, const ebb_xla_memory *m) {
    out_open(json, "xla_memory", '{');
    out_integer(json, "arguments_bytes", m->arguments_bytes);
    out_integer(json, "outputs_bytes", m->outputs_bytes);
    out_integer(json, "alias_bytes", m->alias_bytes);
    out_integer(json, "temp_bytes", m->temp_bytes);
    out_close(json, '}');
}

void run_print_head(const run_session *s, const ebb_plan_summary *p) {
    int64_t planned = p->arena_bytes + p->persistent_bytes, taken = ebb_engine_block_bytes(s->engine);
    out_safe(stdout, p->graph_name);
    printf(" %s %s, %u %s: %u steps, %u run again\n", s->by_xla ? "by XLA, planned for" : "on", p->backend,
           p->n_threads, p->n_threads == 1 ? "thread" : "threads", p->n_steps, p->n_recomputed);
    printf("planned block    %lld bytes (%s)\n", (long long)planned, out_bytes(planned).text);
    if (!s->by_xla)
        printf("allocated block  %lld bytes (%s)\n", (long long)taken, out_bytes(taken).text);
    else
        print_xla(&s->xla);
    if (p->costs_machine) {
        printf("costs            ");
        out_safe(stdout, tool_costs_line(p).text);
        printf("\n");
    }
    fflush(stdout);
}

/* What was measured when the last step was done. */
typedef struct figures {
    char hash[EBB_PROGRAM_HASH_TEXT]; /* of --hash, else "" */
    int64_t peak, resident, mean_ns;
    bool has_block;
    ebb_block_memory block;
} figures;

/* What a plan's own model is off by where it may mislead. */
#define FAR_OFF 0.25

/* A plan's time is of one part. */
static void print_prediction(const run_session *s, const ebb_plan_summary *p, int64_t mean_ns) {
    if (!s->computes || s->by_xla || s->n_done == 0 || s->n_parts != 1) return;
    printf("predicted step   %s%s (measured: mean %s, best %s)\n", out_time(p->time_ns).text,
           p->costs_machine ? "" : " by the built-in model", out_change(mean_ns, p->time_ns).text,
           out_change(s->best_ns, p->time_ns).text);
    const double off = (double)(s->best_ns - p->time_ns), far = FAR_OFF * (double)p->time_ns;
    if (!p->costs_machine && (off > far || off < -far))
        printf("                 --costs host measures this machine instead\n");
}

static ebb_status print_figures(const run_session *s, const ebb_plan_summary *p, const figures *f) {
    if (f->resident >= 0)
        printf("block in memory  %lld bytes (%s)\n", (long long)f->resident, out_bytes(f->resident).text);
    device_memory_print(s->engine);
    printf("process peak     %lld bytes (%s)\n", (long long)f->peak, out_bytes(f->peak).text);
    run_data_print(s);
    if (s->n_done > 0)
        printf("per step         %s mean%s, %s best\n", out_time(f->mean_ns).text,
               s->n_done > 1 ? " without the first" : "", out_time(s->best_ns).text);
    else if (!run_evaluates_alone(s))
        printf("per step         none was left to run\n");
    print_prediction(s, p, f->mean_ns);
    scaler_print(s);
    if (f->hash[0] != '\0') printf("params           %s\n", f->hash);
    return s->t->args.profile ? profile_print(s->t, s->program, p) : EBB_OK;
}

static void block_json(out_json *json, const figures *f) {
    if (!f->has_block) {
        out_text(json, "block_memory", NULL);
        return;
    }
    out_open(json, "block_memory", '{');
    out_integer(json, "allocated_bytes", f->block.allocated_bytes);
    out_integer(json, "active_bytes", f->block.active_bytes);
    out_integer(json, "resident_bytes", f->block.resident_bytes);
    out_close(json, '}');
}

/* The members after the steps. */
static ebb_status figures_json(run_session *s, const ebb_plan_summary *p, const figures *f) {
    out_close(&s->json, ']');
    out_text(&s->json, "graph", p->graph_name);
    out_text(&s->json, "backend", p->backend);
    out_integer(&s->json, "n_threads", p->n_threads);
    out_integer(&s->json, "n_recomputed", p->n_recomputed);
    if (s->n_begin > 0) out_integer(&s->json, "resumed_after", s->n_begin);
    out_integer(&s->json, "n_replayed", (int64_t)ebb_program_n_replayed(s->program));
    out_integer(&s->json, "planned_bytes", p->arena_bytes + p->persistent_bytes);
    out_integer(&s->json, "allocated_bytes", ebb_engine_block_bytes(s->engine));
    out_integer(&s->json, "resident_block_bytes", f->resident);
    if (s->by_xla) xla_json(&s->json, &s->xla);
    block_json(&s->json, f);
    device_memory_json(&s->json, s->engine);
    out_integer(&s->json, "process_peak_bytes", f->peak);
    out_integer(&s->json, "mean_step_ns", f->mean_ns);
    out_integer(&s->json, "best_step_ns", s->best_ns);
    if (s->n_parts == 1) out_integer(&s->json, "predicted_step_ns", p->time_ns);
    scaler_json(s);
    run_data_json(s, &s->json);
    evaluation_json(s, &s->json);
    if (f->hash[0] != '\0') out_text(&s->json, "params_hash", f->hash);
    out_costs(&s->json, p);
    return s->t->args.profile ? profile_json(s->t, &s->json, s->program, p) : EBB_OK;
}

ebb_status run_finish(run_session *s, const ebb_plan_summary *p) {
    figures f = {.peak = process_peak_bytes(),
                 .resident = ebb_engine_resident_bytes(s->engine),
                 .mean_ns = s->n_done > 1 ? s->total_ns / (s->n_done - 1) : s->first_ns};
    f.has_block = ebb_env_block_memory(s->t->env, &f.block);
    ebb_status status = s->t->args.hash ? ebb_program_hash(s->program, f.hash) : EBB_OK;
    if (status == EBB_OK && !s->t->args.json) status = print_figures(s, p, &f);
    if (status == EBB_OK && s->as_json) status = figures_json(s, p, &f);
    if (status == EBB_OK && s->as_json) return out_json_end(s->t, &s->json);
    if (s->as_json) out_json_drop(&s->json);
    return status;
}
