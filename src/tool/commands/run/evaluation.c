/* evaluation: the held-out part. --evaluate-every: by a program that reads training's own params; --eval:
 * once, by the only one. */
#include "tool/commands/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    int64_t n, n_top1, n_top5;
    double loss;
} tally;

bool run_evaluates_alone(const run_session *s) {
    return s->t->args.data && s->t->args.evaluate;
}

ebb_status evaluation_check(tool *t) {
    const tool_args *a = &t->args;
    if (a->evaluate_every > 0 || a->steps > 0 || a->flip || a->metrics)
        return tool_fail(
            t, EBB_USAGE,
            "--eval goes through the data once: leave --steps, --evaluate-every, --flip and --metrics out");
    if (a->schedule || a->lr >= 0 || a->warmup >= 0 || a->accumulate > 0)
        return tool_fail(t, EBB_USAGE,
                         "--eval trains nothing: leave --lr, --schedule, --warmup and --accumulate out");
    if (a->held_out == 0)
        return tool_fail(t, EBB_USAGE,
                         "--eval with a held-out share of 0 looks at nothing: leave it out for all data");
    if (a->device && strcmp(a->device, "shadow") == 0)
        return tool_fail(t, EBB_USAGE, "device shadow computes nothing to evaluate: leave --eval out");
    return EBB_OK;
}

ebb_status evaluation_fetch(run_session *s, ebb_options *options) {
    if (s->t->args.evaluate_every <= 0 && !run_evaluates_alone(s)) return EBB_OK;
    if (s->in.logits[0] == '\0')
        return tool_fail(s->t, EBB_BAD_INPUT,
                         "%.200s: an evaluation needs a loss that is softmax_xent, of classes",
                         s->t->args.operand);
    s->fetch = s->in.logits;
    if (run_evaluates_alone(s)) {
        options->fetch = &s->fetch;
        options->n_fetch = 1;
    }
    return EBB_OK;
}

ebb_status evaluation_begin(run_session *s) {
    tool *t = s->t;
    const char *logits = s->fetch;
    ebb_tensor_info info;
    ebb_status status = EBB_OK;
    if (!logits) return EBB_OK;
    if (run_evaluates_alone(s))
        s->evaluation = s->program;
    else
        status =
            ebb_compile_evaluation(s->engine, t->args.dims, t->args.n_dims, &logits, 1, &s->evaluation);
    if (status == EBB_OK) status = ebb_program_tensor(s->evaluation, logits, &info);
    if (status != EBB_OK) return status;
    const bool low = info.element == EBB_FLOAT16 || info.element == EBB_BFLOAT16;
    if (info.rank != 2 || (info.element != EBB_FLOAT32 && !low))
        return tool_fail(t, EBB_BAD_INPUT, "%.200s: %s is not f32, f16 or bf16 [N,K]", t->args.operand,
                         logits);
    s->n_rows = info.dim[0];
    s->n_classes = (uint32_t)info.dim[1];
    s->logits = malloc((size_t)(info.dim[0] * info.dim[1]) * sizeof *s->logits);
    return s->logits ? EBB_OK : tool_fail(t, EBB_NO_MEMORY, "no memory for %s", logits);
}

static float float_of(uint16_t x, ebb_element element) {
    const int n_fraction = element == EBB_FLOAT16 ? 10 : 7, bias = element == EBB_FLOAT16 ? 15 : 127;
    const int exponent = (x & 0x7FFF) >> n_fraction, fraction = x & ((1 << n_fraction) - 1);
    const double size = exponent == 2 * bias + 1 ? (fraction ? (double)NAN : (double)INFINITY)
                        : exponent == 0          ? ldexp(fraction, 1 - bias - n_fraction)
                                        : ldexp(fraction + (1 << n_fraction), exponent - bias - n_fraction);
    return (float)(x & 0x8000 ? -size : size);
}

/* Floats, whatever they were: of 16 bits, in place, from behind. */
static ebb_status fetch_logits(run_session *s) {
    ebb_tensor_info info;
    ebb_status status = ebb_program_tensor(s->evaluation, s->in.logits, &info);
    if (status == EBB_OK) status = ebb_fetch(s->evaluation, s->in.logits, s->logits, (size_t)info.bytes);
    if (status != EBB_OK || info.element == EBB_FLOAT32) return status;
    for (size_t i = (size_t)info.bytes / 2; i-- > 0;) {
        uint16_t low;
        memcpy(&low, (const char *)s->logits + 2 * i, sizeof low);
        s->logits[i] = float_of(low, info.element);
    }
    return EBB_OK;
}

/* Of equal ones the first counts as the larger; what is not a number is never right. */
static void count_row(tally *to, const float *row, uint32_t n_classes, uint32_t truth) {
    uint32_t n_above = 0;
    double most = -INFINITY, sum = 0;
    for (uint32_t k = 0; k < n_classes; k++) {
        most = fmax(most, (double)row[k]);
        n_above += row[k] > row[truth] || (row[k] == row[truth] && k < truth) || isnan(row[truth]);
    }
    for (uint32_t k = 0; k < n_classes; k++) sum += exp((double)row[k] - most);
    to->loss += most + log(sum) - (double)row[truth];
    to->n_top1 += n_above < 1;
    to->n_top5 += n_above < 5;
    to->n++;
}

static ebb_status count_batch(run_session *s, int64_t batch, tally *to) {
    uint32_t n = 0;
    ebb_status status = run_data_feed(s, s->data.held_out, s->evaluation, batch, &n);
    if (status == EBB_OK) status = ebb_step(s->evaluation);
    if (status == EBB_OK) status = fetch_logits(s);
    for (uint32_t i = 0; i < n && status == EBB_OK; i++)
        count_row(to, s->logits + (size_t)i * s->n_classes, s->n_classes, (uint32_t)s->data.held_labels[i]);
    return status;
}

static ebb_status add_row(run_session *s, const tally *from) {
    if (s->n_evaluations == s->evaluations_room) {
        const size_t room = s->evaluations_room > 0 ? 2 * s->evaluations_room : 16;
        run_evaluation *rows = realloc(s->evaluations, room * sizeof *rows);
        if (!rows) return tool_fail(s->t, EBB_NO_MEMORY, "no memory for %zu evaluations", room);
        s->evaluations = rows;
        s->evaluations_room = room;
    }
    const double n = from->n > 0 ? (double)from->n : NAN; /* of none, nothing is known */
    s->evaluations[s->n_evaluations++] = (run_evaluation){.step = s->n_begin + s->n_done,
                                                          .n = from->n,
                                                          .loss = from->loss / n,
                                                          .top1 = (double)from->n_top1 / n,
                                                          .top5 = (double)from->n_top5 / n};
    return EBB_OK;
}

/* All of the part. EBB_INTERRUPTED, without a text: there was a request to stop. */
static ebb_status evaluate(run_session *s, const run_evaluation **out) {
    tally sum = {.n = 0};
    ebb_status status = EBB_OK;
    for (int64_t b = 0; b * s->data.batch < s->data.facts.n_held_out && status == EBB_OK; b++)
        status = *s->t->stop != 0 ? EBB_INTERRUPTED : count_batch(s, b, &sum);
    s->n_seen = sum.n;
    if (status == EBB_OK) status = add_row(s, &sum);
    *out = status == EBB_OK ? &s->evaluations[s->n_evaluations - 1] : NULL;
    return status;
}

ebb_status evaluation_step(run_session *s, const run_evaluation **out) {
    const int64_t step = s->n_begin + s->n_done, every = s->t->args.evaluate_every;
    *out = NULL;
    if (!s->evaluation || (step % every != 0 && step != s->n_steps)) return EBB_OK;
    const ebb_status status = evaluate(s, out);
    return status == EBB_INTERRUPTED ? EBB_OK : status; /* the step is whole; the next one hears of it */
}

ebb_status evaluation_alone(run_session *s) {
    const run_evaluation *e;
    const int64_t begin_ns = tool_now_ns();
    if (!s->evaluation || s->n_done > 0) return EBB_OK;
    const ebb_status status = evaluate(s, &e);
    s->evaluation_ns = tool_now_ns() - begin_ns;
    if (status == EBB_INTERRUPTED)
        return tool_fail(s->t, EBB_INTERRUPTED, "interrupted during the evaluation, after %lld of %lld",
                         (long long)s->n_seen, (long long)s->data.facts.n_held_out);
    if (status == EBB_OK && !s->t->args.json)
        printf("held out         loss %.6f, top-1 %.2f %%, top-5 %.2f %%, of %lld\n", e->loss,
               100 * e->top1, 100 * e->top5, (long long)e->n);
    return status;
}

void evaluation_json(const run_session *s, out_json *json) {
    if (!s->evaluation) return;
    out_open(json, "evaluations", '[');
    for (size_t i = 0; i < s->n_evaluations; i++) {
        const run_evaluation *e = &s->evaluations[i];
        out_open(json, NULL, '{');
        out_integer(json, "step", e->step);
        out_integer(json, "n", e->n);
        out_real(json, "loss", e->loss);
        out_real(json, "top1", e->top1);
        out_real(json, "top5", e->top5);
        out_close(json, '}');
    }
    out_close(json, ']');
}

void evaluation_end(run_session *s) {
    free(s->logits);
    free(s->evaluations);
    s->logits = NULL;
    s->evaluations = NULL;
}
