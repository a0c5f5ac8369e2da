/* steps: one training step after the other, with its time and its loss. */
#include "tool/commands/run/run.h"
#include "tool/out/out.h"

#include <math.h>
#include <string.h>

static ebb_status run_once(run_session *s) {
    if (!s->phased) return ebb_step(s->program);
    ebb_status status = ebb_run_phase(s->program, EBB_FORWARD);
    if (status == EBB_OK) status = ebb_run_phase(s->program, EBB_BACKWARD);
    if (status == EBB_OK) status = ebb_run_phase(s->program, EBB_UPDATE);
    return status;
}

ebb_status run_find_loss(run_session *s, const ebb_plan_summary *p) {
    ebb_tensor_info info;
    /* The shadow backend tracks bytes and computes nothing: what it would give is no loss. */
    if (s->in.loss[0] == '\0' || strcmp(p->backend, "shadow") == 0) return EBB_OK;
    ebb_status status = ebb_program_tensor(s->program, s->in.loss, &info);
    if (status != EBB_OK) return status;
    s->has_loss = info.rank == 0 && (info.element == EBB_FLOAT32 || info.element == EBB_FLOAT64);
    s->loss_is_f64 = info.element == EBB_FLOAT64;
    return EBB_OK;
}

static ebb_status fetch_loss(run_session *s, double *out) {
    float f32 = 0;
    if (!s->has_loss) return EBB_OK;
    if (s->loss_is_f64) return ebb_fetch(s->program, s->in.loss, out, sizeof *out);
    ebb_status status = ebb_fetch(s->program, s->in.loss, &f32, sizeof f32);
    if (status == EBB_OK) *out = (double)f32;
    return status;
}

/* Made up, or the batch of this part of this step. */
static ebb_status feed(run_session *s, double rate, uint32_t part) {
    const int64_t step = s->n_begin + s->n_done;
    uint32_t n;
    if (!s->data.train) return inputs_feed(s->t, &s->in, s->program, rate);
    const ebb_status status = run_data_feed(s, s->data.train, s->program, step * s->n_parts + part, &n);
    return status == EBB_OK ? inputs_feed_rate(&s->in, s->program, rate) : status;
}

/* All parts of a step: the time that they ran, and the mean of their losses. */
static ebb_status one_step(run_session *s, double rate, int64_t *ns, double *loss) {
    *ns = 0;
    *loss = 0;
    for (uint32_t part = 0; part < s->n_parts; part++) {
        double of_part = 0;
        ebb_status status = feed(s, rate, part);
        const int64_t begin_ns = tool_now_ns();
        if (status == EBB_OK) status = run_once(s);
        *ns += tool_now_ns() - begin_ns;
        if (status == EBB_OK) status = fetch_loss(s, &of_part);
        if (status != EBB_OK) return status;
        *loss += of_part;
    }
    *loss /= s->n_parts;
    return EBB_OK;
}

static void print_step(const run_session *s, int64_t ns, double loss, bool skipped,
                       const run_evaluation *e) {
    printf("step %-6lld %12s", (long long)(s->n_begin + s->n_done), out_time(ns).text);
    /* A NaN's sign means nothing, and printf would print it. */
    if (s->has_loss && isnan(loss))
        printf("   loss nan");
    else if (s->has_loss)
        printf("   loss %.6f", loss);
    if (skipped)
        printf("   skipped: gradients beyond f16; the loss is scaled by %.9g now", (double)s->scale);
    if (e)
        printf("   held out: loss %.6f, top-1 %.2f %%, top-5 %.2f %%", e->loss, 100 * e->top1,
               100 * e->top5);
    printf("\n");
}

/* Once: what is no number stays so. */
static void note_nan(run_session *s, double loss, bool skipped) {
    if (!s->has_loss || !isnan(loss) || skipped || s->nan_is_told) return;
    s->nan_is_told = true;
    (void)fflush(stdout);
    fprintf(stderr,
            "ebb: the loss is not a number at step %lld: --check-finite names the op that made the first; "
            "a smaller --lr may prevent it\n",
            (long long)(s->n_begin + s->n_done));
}

static ebb_status timed_step(run_session *s) {
    const run_evaluation *evaluation = NULL;
    double loss = 0;
    int64_t ns = 0;
    bool skipped = false;
    const double rate = ebb_schedule_rate(&s->schedule, s->n_begin + s->n_done);
    const int64_t begin_ns = tool_now_ns();
    ebb_status status = one_step(s, rate, &ns, &loss);
    if (status == EBB_OK) status = scaler_step(s, &skipped);
    if (status != EBB_OK) return status;
    if (s->n_done == 0) {
        s->first_ns = ns;
        s->first_wait_ns = run_data_wait_ns(s);
    } else {
        s->total_ns += ns;
        s->wall_ns += tool_now_ns() - begin_ns;
    }
    if (s->n_done == 0 || ns < s->best_ns) s->best_ns = ns;
    s->n_done++;
    status = evaluation_step(s, &evaluation);
    if (status != EBB_OK) return status;
    if (s->as_json) {
        out_open(&s->json, NULL, '{');
        out_integer(&s->json, "ns", ns);
        if (s->has_loss) out_real(&s->json, "loss", loss);
        if (skipped) out_bool(&s->json, "skipped", true);
        out_close(&s->json, '}');
    }
    if (!s->t->args.json) {
        print_step(s, ns, loss, skipped, evaluation);
        status = out_finish(s->t); /* steps that nobody reads are not worth running */
    }
    note_nan(s, loss, skipped);
    if (status == EBB_OK) status = metrics_step(s, rate, loss, ns, evaluation);
    return status == EBB_OK ? saves_step(s) : status;
}

/* Between two steps the program's state is whole, so that is where an interrupt is heard. */
ebb_status run_next_step(run_session *s) {
    if (*s->t->stop == 0) return timed_step(s);
    return tool_fail(s->t, EBB_INTERRUPTED, "interrupted after step %lld of %lld",
                     (long long)(s->n_begin + s->n_done), (long long)s->n_steps);
}
