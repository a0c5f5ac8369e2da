/* Learning rates, step by step. */
#include "ebb/schedule.h"

#include <math.h>

#include "base/base.h"

#define HALF_TURN 3.14159265358979323846

enum { START_PART = 25, END_PART = 10000 }; /* of one cycle: rate / 25, and that / 10000 */
#define RISE 0.3

void ebb_schedule_init(ebb_schedule *schedule) {
    *schedule = (ebb_schedule){.rate = 0.01, .factor = 0.1, .every = 1, .n_steps = 1};
}

/* Written so that a NaN fails too. */
ebb_status ebb_schedule_check(ebb_env *env, const ebb_schedule *s) {
    const bool bent = s->kind == EBB_SCHEDULE_COSINE || s->kind == EBB_SCHEDULE_ONE_CYCLE;
    if (!(s->rate > 0 && s->rate <= 1e30))
        return ebb_fail(env, EBB_USAGE, "the learning rate is %g; it must be above 0", s->rate);
    if (s->warmup < 0)
        return ebb_fail(env, EBB_USAGE, "a warm-up of %lld steps; give 0 or more", (long long)s->warmup);
    if (bent && s->n_steps < 1)
        return ebb_fail(env, EBB_USAGE, "a schedule over %lld steps; it must have 1 or more",
                        (long long)s->n_steps);
    if (s->kind == EBB_SCHEDULE_COSINE && !(s->least >= 0 && s->least <= s->rate))
        return ebb_fail(env, EBB_USAGE, "the least learning rate is %g; it must be in [0, %g]", s->least,
                        s->rate);
    if (s->kind == EBB_SCHEDULE_STEP && !(s->every >= 1 && s->factor > 0 && s->factor <= 1))
        return ebb_fail(env, EBB_USAGE,
                        "the learning rate times %g every %lld steps; the factor must be in (0, 1], the "
                        "steps 1 or more",
                        s->factor, (long long)s->every);
    if (s->kind == EBB_SCHEDULE_ONE_CYCLE && s->warmup > 0)
        return ebb_fail(env, EBB_USAGE, "one cycle begins with a rise of its own: leave the warm-up out");
    if (bent && s->warmup >= s->n_steps)
        return ebb_fail(env, EBB_USAGE, "a warm-up of %lld steps leaves nothing of %lld: give less",
                        (long long)s->warmup, (long long)s->n_steps);
    return EBB_OK;
}

/* From a to b along half a cosine; part in [0, 1]. */
static double bend(double a, double b, double part) {
    return b + (a - b) * 0.5 * (1 + cos(HALF_TURN * part));
}

static double one_cycle(const ebb_schedule *s, int64_t step) {
    const double start = s->rate / START_PART, end = start / END_PART, at = (double)step;
    const double top = RISE * (double)s->n_steps - 1, last = (double)(s->n_steps - 1);
    if (at <= top) return bend(start, s->rate, top > 0 ? at / top : 1);
    return bend(s->rate, end, last > top && at < last ? (at - fmax(top, 0)) / (last - fmax(top, 0)) : 1);
}

double ebb_schedule_rate(const ebb_schedule *s, int64_t step) {
    if (step < s->warmup) return s->rate * (double)(step + 1) / (double)s->warmup;
    const int64_t at = step - s->warmup, n = s->n_steps - s->warmup;
    switch (s->kind) {
    case EBB_SCHEDULE_CONSTANT:
        break;
    case EBB_SCHEDULE_STEP:
        return s->rate * pow(s->factor, (double)(at / s->every));
    case EBB_SCHEDULE_COSINE:
        return bend(s->rate, s->least, at < n ? (double)at / (double)n : 1);
    case EBB_SCHEDULE_ONE_CYCLE:
        return one_cycle(s, step);
    }
    return s->rate;
}
