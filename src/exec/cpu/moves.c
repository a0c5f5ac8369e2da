/* cpu/moves.c: elements at other places: repeated (broadcast_to), or with their axes in another order
 * (permute). */
#include "exec/cpu/places.h"

#define MOVE(T)                                              \
    static void move_##T(const cpu_places_row *row) {        \
        const T *const x = row->in[0];                       \
        T *y = row->y;                                       \
        const int64_t n = row->n, s = row->stride[0];        \
        if (s == 1) {                                        \
            memcpy(y, x, (size_t)n * sizeof *y);             \
        } else if (s == 0) {                                 \
            for (int64_t i = 0; i < n; i++) y[i] = *x;       \
        } else {                                             \
            for (int64_t i = 0; i < n; i++) y[i] = x[i * s]; \
        }                                                    \
    }
MOVE(uint32_t)
MOVE(uint8_t)

static ebb_status move_launch(const ebb_kernel_run *run, const uint32_t along[EBB_MAX_RANK]) {
    ebb_walk walk;
    ebb_walk_begin(&walk, &run->call->out[0]);
    ebb_walk_operand(&walk, &run->call->in[0], along, NULL, NULL);
    ebb_walk_end(&walk);
    const bool byte = ebb_dtype_bytes(run->call->in[0].dtype) == 1;
    return cpu_places_run(run, &walk, byte ? move_uint8_t : move_uint32_t, byte ? 2 : 8);
}

static ebb_status broadcast_to_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    (void)ebb_broadcast_to_along(&run->call->in[0], &run->call->out[0], run->call->attr, along);
    return move_launch(run, along);
}
CPU_KERNEL(broadcast_to, EBB_TAKES(F32, I32, BOOL), CPU_STREAM, .launch = broadcast_to_launch);

static ebb_status permute_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    ebb_permute_along(&run->call->out[0], run->call->attr, along);
    return move_launch(run, along);
}
CPU_KERNEL(permute, EBB_TAKES(F32, I32, BOOL), CPU_RATE(20000, 8000), .launch = permute_launch);
