/* cpu/mask.c: relu's gradient by a bit for each element of y. Work is cut at multiples of 64 elements, so
 * that no two threads write one byte. */
#include "exec/cpu/bits.h"

typedef struct masked {
    const float *from; /* y, or dy */
    float *to;
    uint8_t *bits; /* written by relu_mask, read by relu_mask_grad */
    const uint8_t *read;
} masked;

CPU_VECTOR static void mask_span(const void *ctx, int64_t begin, int64_t end) {
    const masked *m = ctx;
    cpu_bits_make(m->from, begin, end, 0, (float)NAN, m->bits);
}

static ebb_status relu_mask_launch(const ebb_kernel_run *run) {
    const int64_t n = ebb_type_count(&run->call->in[0]);
    const masked m = {.from = run->launch->in[0], .bits = run->launch->out[0]};
    cpu_spans(cpu_of(run->backend), n, CPU_BITS_GROUP, 4 * n, mask_span, &m);
    return EBB_OK;
}

CPU_KERNEL(relu_mask, EBB_TAKES(F32, U8), CPU_RATE(20000, 24000), .launch = relu_mask_launch);

CPU_VECTOR static void mask_grad_span(const void *ctx, int64_t begin, int64_t end) {
    const masked m = *(const masked *)ctx;
    int64_t i = begin;
    for (; i + CPU_BITS_GROUP <= end; i += CPU_BITS_GROUP) {
        uint8_t byte[CPU_BITS_GROUP];
        cpu_bits_spread(m.read + i / 8, byte);
#pragma omp simd
        for (int64_t k = 0; k < CPU_BITS_GROUP; k++) {
            const float dy = m.from[i + k];
            m.to[i + k] = byte[k] & (1U << (k % 8)) ? dy : 0;
        }
    }
    for (; i < end; i++) m.to[i] = m.read[i / 8] >> i % 8 & 1 ? m.from[i] : 0;
}

static ebb_status relu_mask_grad_launch(const ebb_kernel_run *run) {
    const int64_t n = ebb_type_count(&run->call->out[0]);
    const masked m = {.from = run->launch->in[0], .to = run->launch->out[0], .read = run->launch->in[1]};
    cpu_spans(cpu_of(run->backend), n, CPU_BITS_GROUP, 8 * n, mask_grad_span, &m);
    return EBB_OK;
}

CPU_KERNEL(relu_mask_grad, EBB_TAKES(F32, U8), CPU_STREAM, .launch = relu_mask_grad_launch);
