/* ebb run: training steps on synthetic data: planned bytes beside taken ones. */
#include "tool/commands/commands.h"
#include "tool/commands/run/run.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

enum { STEPS_DEFAULT = 3, PROFILE_STEPS = 101 };

typedef struct session {
    tool *t;
    ebb_engine *engine;
    ebb_program *program;
    inputs in;
    out_json json;
    bool as_json, phased;
    bool computes;              /* the backend does: its steps take the time that was predicted */
    bool has_loss, loss_is_f64; /* the model has a scalar loss, and the backend computes it */
    int64_t n_steps, n_done;
    int64_t first_ns, total_ns, best_ns; /* total: without the first step, which warms caches up */
} session;

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

static ebb_status one_step(session *s) {
    if (!s->phased) return ebb_step(s->program);
    ebb_status status = ebb_run_phase(s->program, EBB_FORWARD);
    if (status == EBB_OK) status = ebb_run_phase(s->program, EBB_BACKWARD);
    if (status == EBB_OK) status = ebb_run_phase(s->program, EBB_UPDATE);
    return status;
}

/* Fills has_loss and loss_is_f64. */
static ebb_status look_for_loss(session *s, const ebb_plan_summary *p) {
    ebb_tensor_info info;
    /* The shadow backend tracks bytes and computes nothing: what it would give is no loss. */
    if (s->in.loss[0] == '\0' || strcmp(p->backend, "shadow") == 0) return EBB_OK;
    ebb_status status = ebb_program_tensor(s->program, s->in.loss, &info);
    if (status != EBB_OK) return status;
    s->has_loss = info.rank == 0 && (info.element == EBB_FLOAT32 || info.element == EBB_FLOAT64);
    s->loss_is_f64 = info.element == EBB_FLOAT64;
    return EBB_OK;
}

static ebb_status fetch_loss(session *s, double *out) {
    float f32 = 0;
    if (!s->has_loss) return EBB_OK;
    if (s->loss_is_f64) return ebb_fetch(s->program, s->in.loss, out, sizeof *out);
    ebb_status status = ebb_fetch(s->program, s->in.loss, &f32, sizeof f32);
    if (status == EBB_OK) *out = (double)f32;
    return status;
}

static void print_step(const session *s, int64_t ns, double loss) {
    printf("step %-6lld %12s", (long long)s->n_done, out_time(ns).text);
    /* A NaN's sign means nothing, and printf would print it. */
    if (s->has_loss && isnan(loss))
        printf("   loss nan");
    else if (s->has_loss)
        printf("   loss %.6f", loss);
    printf("\n");
}

static ebb_status timed_step(session *s) {
    double loss = 0;
    ebb_status status = inputs_feed(s->t, &s->in, s->program);
    int64_t begin_ns = tool_now_ns();
    if (status == EBB_OK) status = one_step(s);
    int64_t ns = tool_now_ns() - begin_ns;
    if (status == EBB_OK) status = fetch_loss(s, &loss);
    if (status != EBB_OK) return status;
    if (s->n_done == 0)
        s->first_ns = ns;
    else
        s->total_ns += ns;
    if (s->n_done == 0 || ns < s->best_ns) s->best_ns = ns;
    s->n_done++;
    if (s->as_json) {
        out_open(&s->json, NULL, '{');
        out_integer(&s->json, "ns", ns);
        if (s->has_loss) out_real(&s->json, "loss", loss);
        out_close(&s->json, '}');
    }
    if (s->t->args.json) return EBB_OK;
    print_step(s, ns, loss);
    return out_finish(s->t); /* steps that nobody reads are not worth running */
}

/* Between two steps the program's state is whole, so that is where an interrupt is heard. */
static ebb_status next_step(session *s) {
    if (*s->t->stop == 0) return timed_step(s);
    return tool_fail(s->t, EBB_INTERRUPTED, "interrupted after step %lld of %lld", (long long)s->n_done,
                     (long long)s->n_steps);
}

static void print_head(const session *s, const ebb_plan_summary *p) {
    int64_t planned = p->arena_bytes + p->persistent_bytes, taken = ebb_engine_block_bytes(s->engine);
    out_safe(stdout, p->graph_name);
    printf(" on %s, %u %s: %u steps, %u run again\n", p->backend, p->n_threads,
           p->n_threads == 1 ? "thread" : "threads", p->n_steps, p->n_recomputed);
    printf("planned block    %lld bytes (%s)\n", (long long)planned, out_bytes(planned).text);
    printf("allocated block  %lld bytes (%s)\n", (long long)taken, out_bytes(taken).text);
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

static ebb_status print_figures(const session *s, const ebb_plan_summary *p, const figures *f) {
    if (f->resident >= 0)
        printf("block in memory  %lld bytes (%s)\n", (long long)f->resident, out_bytes(f->resident).text);
    device_memory_print(s->engine);
    printf("process peak     %lld bytes (%s)\n", (long long)f->peak, out_bytes(f->peak).text);
    printf("per step         %s mean%s, %s best\n", out_time(f->mean_ns).text,
           s->n_done > 1 ? " without the first" : "", out_time(s->best_ns).text);
    if (s->computes && s->n_done > 0)
        printf("predicted step   %s (measured: mean %s, best %s)\n", out_time(p->time_ns).text,
               out_change(f->mean_ns, p->time_ns).text, out_change(s->best_ns, p->time_ns).text);
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
static ebb_status figures_json(session *s, const ebb_plan_summary *p, const figures *f) {
    out_close(&s->json, ']');
    out_text(&s->json, "graph", p->graph_name);
    out_text(&s->json, "backend", p->backend);
    out_integer(&s->json, "n_threads", p->n_threads);
    out_integer(&s->json, "n_recomputed", p->n_recomputed);
    out_integer(&s->json, "n_replayed", (int64_t)ebb_program_n_replayed(s->program));
    out_integer(&s->json, "planned_bytes", p->arena_bytes + p->persistent_bytes);
    out_integer(&s->json, "allocated_bytes", ebb_engine_block_bytes(s->engine));
    out_integer(&s->json, "resident_block_bytes", f->resident);
    block_json(&s->json, f);
    device_memory_json(&s->json, s->engine);
    out_integer(&s->json, "process_peak_bytes", f->peak);
    out_integer(&s->json, "mean_step_ns", f->mean_ns);
    out_integer(&s->json, "best_step_ns", s->best_ns);
    out_integer(&s->json, "predicted_step_ns", p->time_ns);
    if (f->hash[0] != '\0') out_text(&s->json, "params_hash", f->hash);
    out_costs(&s->json, p);
    return s->t->args.profile ? profile_json(s->t, &s->json, s->program, p) : EBB_OK;
}

static ebb_status finish(session *s, const ebb_plan_summary *p) {
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

static ebb_status run_steps(session *s) {
    ebb_plan_summary summary;
    ebb_plan_summarize(ebb_program_plan(s->program), &summary);
    ebb_status status = look_for_loss(s, &summary);
    if (status == EBB_OK && s->t->args.profile) status = ebb_program_profile(s->program, PROFILE_STEPS);
    if (status != EBB_OK) return status;
    s->computes = strcmp(summary.backend, "shadow") != 0;
    s->as_json = s->t->args.json || s->t->args.output;
    if (s->as_json) {
        out_json_begin(&s->json, "ebb.run/1");
        out_open(&s->json, "steps", '[');
    }
    if (!s->t->args.json) print_head(s, &summary);
    while (s->n_done < s->n_steps && status == EBB_OK) status = next_step(s);
    /* What ran until Ctrl-C is still worth telling. */
    if (status == EBB_OK || status == EBB_INTERRUPTED) {
        ebb_status finished = finish(s, &summary);
        return finished != EBB_OK ? finished : status;
    }
    if (s->as_json) out_json_drop(&s->json);
    return status;
}

static ebb_status compile(session *s, const ebb_model *model, const ebb_options *options) {
    tool *t = s->t;
    const ebb_status status = ebb_engine_create(t->env, model, options, &s->engine);
    return status == EBB_OK ? ebb_compile(s->engine, t->args.dims, t->args.n_dims, &s->program) : status;
}

static ebb_status open_session(session *s, const ebb_model *model, ebb_options *options) {
    tool *t = s->t;
    tool_progress progress;
    tool_progress_begin(&progress, t, options);
    ebb_status status = inputs_find(t, model, options, &s->in);
    if (status == EBB_OK) status = compile(s, model, options);
    if (t->args.replan) {
        bool again;
        status = replan(t, s->engine, status, options, &again);
        if (again) {
            ebb_engine_destroy(s->engine);
            s->engine = NULL;
            status = compile(s, model, options);
        }
    }
    tool_progress_end(&progress);
    return status;
}

ebb_status tool_run(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    session s = {.t = t, .phased = t->args.phased};
    s.n_steps = t->args.steps > 0 ? t->args.steps : STEPS_DEFAULT;
    ebb_status status = tool_reserve(t);
    if (status == EBB_OK) status = tool_options(t, &options);
    if (status != EBB_OK) return status;
    if (t->args.replan && !ebb_device_is_apart(options.device))
        return tool_fail(
            t, EBB_USAGE,
            "--auto is for devices with memory of their own: leave it out, or give --device cuda");
    status = ebb_model_open(t->env, t->args.operand, &model);
    if (status != EBB_OK) return status;
    if (ebb_model_is_planning_graph(model)) {
        ebb_model_destroy(model);
        return tool_fail(t, EBB_USAGE,
                         "%.200s is a planning graph, which has no kernels to run: use `ebb plan`",
                         t->args.operand);
    }
    if (t->args.compare) {
        status = compare_run(t, model, &options);
        ebb_model_destroy(model);
        return status;
    }
    status = open_session(&s, model, &options);
    if (status == EBB_OK) status = run_steps(&s);
    if (status == EBB_OK) tool_note_effort(t, &options);
    inputs_drop(&s.in);
    if (s.engine) ebb_engine_destroy(s.engine);
    ebb_model_destroy(model);
    return status;
}
