/* ebb run: training steps, on data or on made-up inputs: planned bytes beside taken ones. */
#include "tool/commands/commands.h"
#include "tool/commands/run/run.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <string.h>

enum { STEPS_DEFAULT = 3, PROFILE_STEPS = 101 };

static ebb_status run_steps(run_session *s) {
    ebb_plan_summary summary;
    ebb_plan_summarize(ebb_program_plan(s->program), &summary);
    ebb_status status = run_find_loss(s, &summary);
    if (status == EBB_OK) status = saves_begin(s);
    if (status == EBB_OK) status = scaler_begin(s);
    if (status == EBB_OK) status = run_data_begin(s);
    if (status == EBB_OK) status = metrics_begin(s);
    if (status == EBB_OK && s->t->args.profile) status = ebb_program_profile(s->program, PROFILE_STEPS);
    if (status != EBB_OK) return status;
    s->by_xla = strcmp(s->t->args.backend ? s->t->args.backend : "", "xla") == 0;
    if (s->by_xla) status = ebb_program_xla_memory(s->program, &s->xla);
    if (status != EBB_OK) return status;
    s->computes = strcmp(summary.backend, "shadow") != 0;
    s->as_json = s->t->args.json || s->t->args.output;
    if (s->as_json) {
        out_json_begin(&s->json, "ebb.run/1");
        out_open(&s->json, "steps", '[');
    }
    if (!s->t->args.json) run_print_head(s, &summary);
    while (s->n_begin + s->n_done < s->n_steps && status == EBB_OK) status = run_next_step(s);
    if (status == EBB_OK) status = evaluation_alone(s);
    /* What ran until Ctrl-C is still worth telling. */
    if (status == EBB_OK || status == EBB_INTERRUPTED) {
        const ebb_status saved = saves_end(s);
        ebb_status finished = saved == EBB_OK ? run_finish(s, &summary) : saved;
        if (saved != EBB_OK && s->as_json) out_json_drop(&s->json);
        return finished != EBB_OK ? finished : status;
    }
    if (s->as_json) out_json_drop(&s->json);
    return status;
}

static ebb_status compile(run_session *s, const ebb_model *model, const ebb_options *options) {
    tool *t = s->t;
    const ebb_status status = ebb_engine_create(t->env, model, options, &s->engine);
    return status == EBB_OK ? ebb_compile(s->engine, t->args.dims, t->args.n_dims, &s->program) : status;
}

/* What runs, and is hardly what was meant. */
static void tell_what_is_missing(const run_session *s) {
    const tool_args *a = &s->t->args;
    const bool loads = a->init_from || a->resume || s->t->onnx;
    if (!a->evaluate && !a->data && s->in.loss[0] == '\0')
        fputs("ebb: the model has no loss, so nothing is trained: it takes a line `loss %x`\n", stderr);
    if (loads) return;
    if (s->in.n_weights > 0 && s->in.n_begun == 0)
        fputs("ebb: all weights start at zero: load some with --init-from FILE, or write init=kaiming\n",
              stderr);
    else if (run_evaluates_alone(s))
        fputs("ebb: these are the untrained params: --init-from FILE evaluates a save\n", stderr);
}

static ebb_status open_session(run_session *s, const ebb_model *model, ebb_options *options) {
    tool *t = s->t;
    tool_progress progress;
    ebb_status status = run_data_open(s);
    if (status != EBB_OK) return status;
    tool_progress_begin(&progress, t, options);
    status = inputs_find(t, model, options, &s->in);
    if (status == EBB_OK) status = evaluation_fetch(s, options);
    if (status == EBB_OK) tell_what_is_missing(s);
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
    if (status == EBB_OK) status = evaluation_begin(s);
    if (status == EBB_OK && t->onnx) status = ebb_onnx_feed(t->onnx, s->program);
    return status;
}

ebb_status tool_run(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    run_session s = {.t = t, .phased = t->args.phased, .save_folder = -1};
    s.n_parts = t->args.accumulate > 1 && !t->args.evaluate ? (uint32_t)t->args.accumulate : 1;
    s.n_steps = run_evaluates_alone(&s) ? 0 : t->args.steps > 0 ? t->args.steps : STEPS_DEFAULT;
    ebb_status status = tool_reserve(t);
    if (status == EBB_OK) status = saves_check(t);
    if (status == EBB_OK) status = run_data_check(t);
    if (status == EBB_OK) status = rates_find(&s);
    if (status == EBB_OK) status = tool_options(t, &options);
    if (status != EBB_OK) return status;
    if (t->args.replan && !ebb_device_is_apart(options.device))
        return tool_fail(
            t, EBB_USAGE,
            "--auto is for devices with memory of their own: leave it out, or give --device cuda");
    if (t->args.budget_share > 0 && (t->args.replan || t->args.compare))
        return tool_fail(t, EBB_USAGE, "--%s takes a budget in bytes: write --budget 11GiB, for instance",
                         t->args.replan ? "auto" : "compare");
    status = tool_model_open(t, &model);
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
    const ebb_status closed = metrics_end(&s);
    if (status == EBB_OK) status = closed;
    if (status == EBB_OK) tool_note_effort(t, &options);
    inputs_drop(&s.in);
    run_data_end(&s);
    evaluation_end(&s);
    if (s.engine) ebb_engine_destroy(s.engine);
    saves_close(&s); /* the engine's last save may have been under way */
    ebb_model_destroy(model);
    return status;
}
