/* exec/place.c: persistent values at addresses of their own, where others have them: what lies in whose
 * bytes, found once by offsets. */
#include "exec/program.h"

#include <stdlib.h>

typedef struct base {
    int64_t offset;
    ebb_id buffer;
} base;

static int by_offset(const void *a, const void *b) {
    const int64_t x = ((const base *)a)->offset, y = ((const base *)b)->offset;
    return (x > y) - (x < y);
}

/* The last of n bases, by offset, that begins at or before the offset. */
static ebb_id base_at(const base *bases, uint32_t n, int64_t offset) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (bases[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? bases[low - 1].buffer : EBB_NONE;
}

ebb_status ebb_program_find_bases(ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    base *bases = EBB_NEW(&exec->arena, base, plan->n_buffers);
    exec->base = EBB_NEW(&exec->arena, ebb_id, plan->n_buffers);
    exec->place = EBB_NEW(&exec->arena, uintptr_t, plan->n_buffers);
    if (!bases || !exec->base || !exec->place) return EBB_NO_MEMORY;
    for (ebb_id i = 0; i < plan->n_buffers; i++) {
        const ebb_buffer *b = &plan->buffers[i];
        exec->base[i] = EBB_NONE;
        if (b->persistent && b->bytes > 0 && exec->given[b->value] == i)
            bases[exec->n_bases++] = (base){b->offset, i};
    }
    if (exec->n_bases > 1) qsort(bases, exec->n_bases, sizeof *bases, by_offset);
    for (ebb_id i = 0; i < plan->n_buffers; i++) {
        const ebb_buffer *b = &plan->buffers[i];
        if (b->persistent && b->bytes > 0) exec->base[i] = base_at(bases, exec->n_bases, b->offset);
    }
    return EBB_OK;
}

void ebb_exec_place(ebb_exec *exec, ebb_id value, void *at) {
    const ebb_id buffer = value < exec->plan->graph->n_values ? exec->given[value] : EBB_NONE;
    if (buffer == EBB_NONE || exec->base[buffer] != buffer || exec->place[buffer] == (uintptr_t)at) return;
    exec->n_placed += (at != NULL) - (exec->place[buffer] != 0);
    exec->place[buffer] = (uintptr_t)at;
    exec->moved = true;
}
