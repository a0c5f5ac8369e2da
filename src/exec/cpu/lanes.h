/* cpu/lanes.h: views a tensor [n,c] or [n,c,h,w] as rows of lanes, for kernels that need a number per
 * channel.
 *
 * In storage the channel is the element's index modulo c. If c is small, a row has several elements of each
 * channel, so that rows are long enough for vectors:
 *
 *     c = 3, 22 repeats:  lane  0 1 2 | 3 4 5 | ... | 63 64 65     channel of lane = lane % 3
 *
 * The last row may end early, after a whole number of repeats.
 */
#ifndef EBB_EXEC_CPU_LANES_H
#define EBB_EXEC_CPU_LANES_H

#include "exec/cpu/cpu.h"

enum { CPU_LEAST_LANES = 64 };

typedef struct cpu_lanes {
    int64_t count;    /* elements of the tensor */
    int64_t channels; /* c */
    int64_t lanes;    /* a multiple of c: below 2 * CPU_LEAST_LANES, or c itself */
    int64_t rows;     /* whole rows */
    int64_t tail;     /* lanes of a shorter last row, else 0 */
} cpu_lanes;

static inline cpu_lanes cpu_lanes_of(const ebb_type *type) {
    cpu_lanes l = {.count = ebb_type_count(type), .channels = type->dim[1]};
    l.lanes = l.channels * cpu_ceil_div(CPU_LEAST_LANES, l.channels);
    l.rows = l.count / l.lanes;
    l.tail = l.count % l.lanes;
    return l;
}

/* The number of elements of one channel. */
static inline int64_t cpu_lanes_each(const cpu_lanes *l) {
    return l->count / l->channels;
}

/* Repeats the channels' numbers for all lanes. */
static inline void cpu_lanes_fill(const cpu_lanes *l, const float *channel, float *lane) {
    for (int64_t at = 0; at < l->lanes; at += l->channels) {
        memcpy(lane + at, channel, (size_t)l->channels * sizeof *lane);
    }
}

/* Copies the first repeat of a table of lanes to the others. */
static inline void cpu_lanes_repeat(const cpu_lanes *l, float *table) {
    for (int64_t at = l->channels; at < l->lanes; at += l->channels) {
        memcpy(table + at, table, (size_t)l->channels * sizeof *table);
    }
}

/* Bytes of scratch for n_tables tables of one float per lane of input 0, or EBB_BAD_INPUT. */
static inline ebb_status cpu_lanes_scratch(ebb_backend *backend, const ebb_call *call, int64_t n_tables,
                                           int64_t *bytes) {
    const int64_t lanes = cpu_lanes_of(&call->in[0]).lanes, each = n_tables * (int64_t)sizeof(float);
    const ebb_status status = cpu_scratch_check(backend, call, lanes, each);
    if (status == EBB_OK) *bytes = lanes * each;
    return status;
}

#endif
