/* fill: the plan's table of buffers and steps.
 *
 * takes: a schedule, its lives and places. gives: a buffer for each value of the schedule, in the order of
 * its values, and a step for each op. cost: O(values + edges). */
#include "planner/build.h"

/* A view is in its base's region, also when it has no bytes. */
static void place_views(const ebb_pgraph *scheduled, ebb_buffer *buffers) {
    for (uint32_t i = 0; i < scheduled->n_ops; i++) {
        const ebb_pop *op = &scheduled->ops[i];
        for (uint32_t k = 0; k < op->n_views; k++)
            buffers[op->out[op->views[k].out]].persistent = buffers[op->in[op->views[k].in]].persistent;
    }
}

static ebb_buffer *fill_buffers(ebb_plan *plan, const ebb_plan_request *request, const ebb_lives *lives,
                                const ebb_places *places) {
    const ebb_pgraph *scheduled = request->scheduled;
    ebb_buffer *buffers = EBB_NEW(&plan->arena, ebb_buffer, scheduled->n_values);
    for (uint32_t v = 0; v < scheduled->n_values && buffers; v++) {
        const ebb_life *life = &lives->lives[v];
        buffers[v] = (ebb_buffer){.value = scheduled->value_origin[v],
                                  .persistent = ebb_role_persistent(scheduled->values[v].role),
                                  .bytes = scheduled->values[v].bytes,
                                  .lower = life->lower,
                                  .upper = life->upper};
        if (life->storage != EBB_NONE)
            buffers[v].offset = places->storage[life->storage] + life->offset_bytes;
    }
    if (buffers) place_views(scheduled, buffers);
    return buffers;
}

static ebb_status fill_step(ebb_plan *plan, const ebb_plan_request *request, const ebb_places *places,
                            uint32_t i, ebb_plan_step *step) {
    const ebb_pop *op = &request->scheduled->ops[i];
    const ebb_id *reads = ebb_arena_copy(&plan->arena, op->in, op->n_in, sizeof *op->in);
    const ebb_id *writes = ebb_arena_copy(&plan->arena, op->out, op->n_out, sizeof *op->out);
    if (!reads || !writes) return EBB_NO_MEMORY;
    *step =
        (ebb_plan_step){.op = op->origin,
                        .alternative = request->alternative ? request->alternative[op->origin] : EBB_NONE,
                        .reads = reads,
                        .writes = writes,
                        .n_reads = op->n_in,
                        .n_writes = op->n_out,
                        .scratch_offset = places->scratch[i],
                        .scratch_bytes = op->scratch_bytes};
    return EBB_OK;
}

ebb_status ebb_plan_fill(ebb_plan *plan, const ebb_plan_request *request, const ebb_lives *lives,
                         const ebb_places *places) {
    const ebb_pgraph *scheduled = request->scheduled;
    size_t n_words = ebb_bits_words(request->graph->n_ops);
    ebb_plan_step *steps = EBB_NEW(&plan->arena, ebb_plan_step, scheduled->n_ops);
    plan->buffers = fill_buffers(plan, request, lives, places);
    uint64_t *ran = ebb_calloc(plan->arena.env, n_words, sizeof *ran);
    ebb_status status = !steps || !plan->buffers || !ran ? EBB_NO_MEMORY : EBB_OK;
    for (uint32_t i = 0; i < scheduled->n_ops && status == EBB_OK; i++) {
        status = fill_step(plan, request, places, i, &steps[i]);
        steps[i].recompute = ebb_bits_get(ran, scheduled->ops[i].origin);
        ebb_bits_set(ran, scheduled->ops[i].origin);
        plan->time_ns += scheduled->ops[i].time_ns; /* the seal proved that the sum fits */
    }
    ebb_cfree(plan->arena.env, ran, n_words, sizeof *ran);
    plan->steps = steps;
    plan->n_steps = scheduled->n_ops;
    plan->n_buffers = scheduled->n_values;
    return status;
}
