/* cpu/mask.c: relu's gradient by a bit for each element of y. Work is cut at multiples of 64 elements, so
 * that no two threads write one byte. */
#include "exec/cpu/cpu.h"

typedef struct masked {
    const float *from; /* y, or dy */
    float *to;
    uint8_t *bits; /* written by relu_mask, read by relu_mask_grad */
    const uint8_t *read;
} masked;

enum { GROUP = 64 };

CPU_INLINE unsigned byte_of(const float *y, int64_t n) {
    unsigned byte = 0;
    for (int64_t k = 0; k < n; k++) byte |= (y[k] <= 0 ? 0U : 1U) << k;
    return byte;
}

/* A NaN passes: it is asked what is cut. */
CPU_VECTOR static void mask_span(const void *ctx, int64_t begin, int64_t end) {
    const masked *m = ctx;
    int64_t i = begin;
    for (; i + GROUP <= end; i += GROUP) {
        uint8_t pass[GROUP];
#pragma omp simd
        for (int64_t k = 0; k < GROUP; k++) pass[k] = (uint8_t)((m->from[i + k] <= 0 ? 0U : 1U) << (k % 8));
        for (int64_t b = 0; b < GROUP / 8; b++) {
            const uint8_t *p = pass + 8 * b;
            m->bits[i / 8 + b] = (uint8_t)(p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7]);
        }
    }
    for (; i < end; i += 8) m->bits[i / 8] = (uint8_t)byte_of(m->from + i, ebb_min_i64(end - i, 8));
}

static ebb_status relu_mask_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                   uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const int64_t n = ebb_type_count(&call->in[0]);
    const masked m = {.from = launch->in[0], .bits = launch->out[0]};
    cpu_spans(cpu_of(backend), n, GROUP, 4 * n, mask_span, &m);
    return EBB_OK;
}

const ebb_kernel_info ebb_cpu_relu_mask = {.launch = relu_mask_launch};

CPU_VECTOR static void mask_grad_span(const void *ctx, int64_t begin, int64_t end) {
    const masked m = *(const masked *)ctx;
    int64_t i = begin;
    for (; i + GROUP <= end; i += GROUP) {
        uint8_t byte[GROUP];
        for (int64_t b = 0; b < GROUP / 8; b++) memset(byte + 8 * b, m.read[i / 8 + b], 8);
#pragma omp simd
        for (int64_t k = 0; k < GROUP; k++) {
            const float dy = m.from[i + k];
            m.to[i + k] = byte[k] & (1U << (k % 8)) ? dy : 0;
        }
    }
    for (; i < end; i++) m.to[i] = m.read[i / 8] >> i % 8 & 1 ? m.from[i] : 0;
}

static ebb_status relu_mask_grad_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                        uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const int64_t n = ebb_type_count(&call->out[0]);
    const masked m = {.from = launch->in[0], .to = launch->out[0], .read = launch->in[1]};
    cpu_spans(cpu_of(backend), n, GROUP, 8 * n, mask_grad_span, &m);
    return EBB_OK;
}

const ebb_kernel_info ebb_cpu_relu_mask_grad = {.launch = relu_mask_grad_launch};
