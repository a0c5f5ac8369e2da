/* cuda/reduction.c: see reduction.h. */
#include "exec/cuda/reduction.h"

enum { MOST_CHANNELS = 1 << 28, FOUR = 4 };

ebb_status cuda_channels_supports(ebb_backend *backend, const ebb_call *call) {
    const ebb_type *type = &call->in[0];
    if (type->dim[1] < MOST_CHANNELS) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: %s of %s: 2^28 channels or more are not supported", call->op->name,
                    ebb_type_text(type, text));
}

cuda_lanes cuda_lanes_for_sums(const ebb_type *type) {
    return cuda_lanes_of(1, ebb_type_count(type), type->dim[1], FOUR, CUDA_LANES_SUM_ROWS,
                         CUDA_LANES_SUM_BLOCKS);
}

cuda_lanes cuda_lanes_for_each(const ebb_type *type, int32_t side) {
    return cuda_lanes_of(1, ebb_type_count(type), type->dim[1], side, CUDA_LANES_EACH_ROWS,
                         CUDA_LANES_EACH_BLOCKS);
}

int64_t cuda_lanes_blocks(const cuda_lanes *lanes) {
    return lanes->outer * lanes->chunks * lanes->tiles;
}

ebb_status cuda_sums_scratch(ebb_backend *backend, const ebb_call *call, const cuda_lanes *lanes,
                             int32_t n_sums, int64_t *bytes) {
    const int64_t each = n_sums * (int64_t)sizeof(double);
    int64_t numbers, all;
    if (ebb_mul_i64(lanes->outer * lanes->chunks, cuda_sums_width(lanes), &numbers) &&
        ebb_mul_i64(numbers, each, &all)) {
        *bytes = all;
        return EBB_OK;
    }
    char text[EBB_TYPE_TEXT];
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: %s of %s: the bytes of its scratch do not fit in 63 bits",
                    call->op->name, ebb_type_text(&call->in[0], text));
}

ebb_status cuda_sums_join(ebb_backend *backend, const cuda_lanes *lanes, const void *partial,
                          cuda_sums_join_args join) {
    join.partial = partial;
    join.chunks = lanes->chunks;
    join.channels = lanes->channels;
    join.width = cuda_sums_width(lanes);
    return cuda_launch(backend, CUDA_KERNEL_sums_join, lanes->outer * cuda_join_blocks(lanes->channels),
                       &join);
}
