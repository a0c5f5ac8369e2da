/* rates: --lr, --schedule and what belongs to them. */
#include "tool/commands/run/run.h"

#include <string.h>

static const char *const kinds[] = {[EBB_SCHEDULE_CONSTANT] = "constant",
                                    [EBB_SCHEDULE_STEP] = "step",
                                    [EBB_SCHEDULE_COSINE] = "cosine",
                                    [EBB_SCHEDULE_ONE_CYCLE] = "one-cycle"};

ebb_status rates_find(run_session *s) {
    const tool_args *a = &s->t->args;
    ebb_schedule *to = &s->schedule;
    ebb_schedule_init(to);
    for (size_t i = 0; a->schedule && i < TOOL_COUNT(kinds); i++)
        if (strcmp(a->schedule, kinds[i]) == 0) to->kind = (ebb_schedule_kind)i;
    if (a->lr >= 0) to->rate = a->lr;
    if (a->lr_least >= 0) to->least = a->lr_least;
    if (a->lr_factor >= 0) to->factor = a->lr_factor;
    if (a->warmup >= 0) to->warmup = a->warmup;
    to->every = a->lr_every;
    to->n_steps = s->n_steps;
    const bool steps = to->kind == EBB_SCHEDULE_STEP;
    if (steps != (a->lr_every > 0))
        return tool_fail(s->t, EBB_USAGE,
                         "--schedule step and --lr-every N belong together: give both or none");
    if (!steps && a->lr_factor >= 0)
        return tool_fail(s->t, EBB_USAGE, "--lr-factor is of --schedule step: leave it out");
    if (to->kind != EBB_SCHEDULE_COSINE && a->lr_least >= 0)
        return tool_fail(s->t, EBB_USAGE, "--lr-least is of --schedule cosine: leave it out");
    return ebb_schedule_check(s->t->env, to);
}
