/* xla/hlo/order.c: where the plan's order matters to XLA: repeated runs. */
#include "xla/hlo/module.h"

/* The newest gradient before a step; EBB_NONE: there is none yet. */
static ebb_id newest_gradient(const hlo_module *m, uint32_t s) {
    while (s-- > 0) {
        const ebb_plan_step *step = &m->plan->steps[s];
        for (uint32_t k = 0; k < step->n_writes; k++) {
            const ebb_value *value = hlo_value_of(m, step->writes[k]);
            if (value->role == EBB_ROLE_GRADIENT && !step->recompute) return step->writes[k];
        }
    }
    return EBB_NONE;
}

/* All that the run [first, end) reads from outside, behind the newest gradient. Params are no reason to
 * wait: they stay where they are. The gradient itself goes on behind the barrier. */
ebb_status hlo_order_run(hlo_module *m, uint32_t first, uint32_t end, uint32_t number) {
    EBB_ARRAY(ebb_id) outside = {0};
    ebb_env *env = m->arena->env;
    bool room = true;
    const ebb_id gradient = newest_gradient(m, first);
    for (uint32_t s = first; s < end; s++) {
        const ebb_plan_step *step = &m->plan->steps[s];
        for (uint32_t k = 0; k < step->n_writes; k++) m->run[step->writes[k]] = number;
        for (uint32_t i = 0; i < step->n_reads && room; i++) {
            const ebb_id b = step->reads[i];
            const bool known = m->run[b] == number || b == gradient;
            if (known || ebb_role_persistent(hlo_value_of(m, b)->role)) continue;
            m->run[b] = number;
            room = EBB_PUSH(env, &outside, b);
        }
    }
    const bool any = outside.n > 0;
    if (any && gradient != EBB_NONE && room) room = EBB_PUSH(env, &outside, gradient);
    hlo_value *values = room ? EBB_NEW(m->arena, hlo_value, outside.n) : NULL;
    for (size_t i = 0; values && i < outside.n; i++) values[i] = m->held[outside.at[i]];
    if (values && any) hlo_barrier(&m->h, values, (uint32_t)outside.n);
    for (size_t i = 0; values && i < outside.n; i++) m->held[outside.at[i]] = values[i];
    EBB_ARRAY_FREE(env, &outside);
    return values ? EBB_OK : EBB_NO_MEMORY;
}
