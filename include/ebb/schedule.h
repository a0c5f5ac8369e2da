/* ebb/schedule.h: the learning rate of each step, from what was asked for and the step's number alone, so
 * that a resumed run goes on along the same curve.
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
    int64_t warmup;  /* the first so many steps rise in a line to where the curve, which begins behind them,
                      * starts: step i has (i + 1) / warmup of it. 0: none; not with ONE_CYCLE */
} ebb_schedule;

/* A constant rate of 0.01; factor 0.1. */
EBB_API void ebb_schedule_init(ebb_schedule *schedule);
/* EBB_USAGE: a field is out of its range. */
EBB_API EBB_CHECKED ebb_status ebb_schedule_check(ebb_env *env, const ebb_schedule *schedule);
/* Of a step, counted from 0, of a schedule that was checked. Behind the last step: the last one's. */
EBB_API double ebb_schedule_rate(const ebb_schedule *schedule, int64_t step);

#ifdef __cplusplus
}
#endif
#endif
