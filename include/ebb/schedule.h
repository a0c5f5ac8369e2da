/* ebb/schedule.h: computes the learning rate of each step from the schedule and the step's number alone, so
 * that a resumed run stays on the same curve.
 *
 * Threads: pure functions of plain data.
 */
#ifndef EBB_SCHEDULE_H
#define EBB_SCHEDULE_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ebb_schedule_kind {
    EBB_SCHEDULE_CONSTANT,
    EBB_SCHEDULE_STEP,     /* times `factor` after every `every` steps */
    EBB_SCHEDULE_COSINE,   /* half a cosine from `rate` to `least` (Loshchilov and Hutter, ICLR 2017) */
    EBB_SCHEDULE_ONE_CYCLE /* half a cosine from rate / 25 up to `rate` over the first 30 % of the steps,
                            * and one down to rate / 250000 (Smith and Topin, 2018) */
} ebb_schedule_kind;

typedef struct ebb_schedule {
    ebb_schedule_kind kind;
    double rate;     /* the highest: > 0 */
    double least;    /* COSINE: 0 <= least <= rate */
    double factor;   /* STEP: in (0, 1] */
    int64_t every;   /* STEP: >= 1 */
    int64_t n_steps; /* of the whole run: COSINE, ONE_CYCLE; >= 1 */
    int64_t warmup;  /* steps at the start in which the rate rises linearly to `rate`: step i has (i + 1) /
                      * warmup of it, and the curve begins after them. 0: none; not with ONE_CYCLE */
} ebb_schedule;

/* Sets a constant rate of 0.01, and a factor of 0.1. */
EBB_API void ebb_schedule_init(ebb_schedule *schedule);
/* EBB_USAGE: a field is out of its range. */
EBB_API EBB_CHECKED ebb_status ebb_schedule_check(ebb_env *env, const ebb_schedule *schedule);
/* The rate of a step, counted from 0, of a schedule that was checked. After the last step: the last
 * step's. */
EBB_API double ebb_schedule_rate(const ebb_schedule *schedule, int64_t step);

#ifdef __cplusplus
}
#endif
#endif
