/* cpu/reduce.c: pictures upsampled, with the sums that are its gradient. */
#include "exec/cpu/cpu.h"

enum { TILE = 64 };

/* ---- upsample ------------------------------------------------------------------------------------ */

typedef struct picture {
    const void *from;
    void *to;
    int64_t rows, w, c;    /* of the smaller picture: n * h */
    int64_t fh, fw, pixel; /* bytes of all channels of one */
} picture;

static picture picture_of(const ebb_kernel_run *run, const ebb_type *small, const ebb_attr *factor) {
    const int64_t *d = small->dim;
    return (picture){run->launch->in[0],
                     run->launch->out[0],
                     d[0] * d[2],
                     d[3],
                     d[1],
                     factor->i[0],
                     factor->i[1],
                     d[1] * ebb_dtype_bytes(small->dtype)};
}

/* begin and end in rows of y. */
static void upsample_span(const void *ctx, int64_t begin, int64_t end) {
    const picture *p = ctx;
    for (int64_t row = begin; row < end; row++) {
        const char *from = (const char *)p->from + row / p->fh * p->w * p->pixel;
        char *to = (char *)p->to + row * p->w * p->fw * p->pixel;
        for (int64_t w = 0; w < p->w; w++, from += p->pixel) {
            for (int64_t j = 0; j < p->fw; j++, to += p->pixel) memcpy(to, from, (size_t)p->pixel);
        }
    }
}

static ebb_status upsample_launch(const ebb_kernel_run *run) {
    const picture p = picture_of(run, &run->call->in[0], &run->call->attr[EBB_UPSAMPLE_FACTOR]);
    cpu_spans(cpu_of(run->backend), p.rows * p.fh, 1, ebb_type_bytes(&run->call->out[0]), upsample_span,
              &p);
    return EBB_OK;
}

CPU_KERNEL(upsample, EBB_TAKES_ALL, CPU_STREAM, .launch = upsample_launch);

/* begin and end in rows of dx. */
CPU_VECTOR static void upsample_grad_span(const void *ctx, int64_t begin, int64_t end) {
    const picture *p = ctx;
    const int64_t from_row = p->w * p->fw * p->c;
    for (int64_t at = begin * p->w; at < end * p->w; at++) {
        const float *from =
            (const float *)p->from + at / p->w * p->fh * from_row + at % p->w * p->fw * p->c;
        for (int64_t first = 0; first < p->c; first += TILE) {
            const int64_t width = ebb_min_i64(p->c - first, TILE);
            double sum[TILE] = {0};
            for (int64_t place = 0; place < p->fh * p->fw; place++) {
                const float *dy = from + place / p->fw * from_row + place % p->fw * p->c + first;
#pragma omp simd
                for (int64_t k = 0; k < width; k++) sum[k] += dy[k];
            }
            for (int64_t k = 0; k < width; k++) ((float *)p->to)[at * p->c + first + k] = (float)sum[k];
        }
    }
}

static ebb_status upsample_grad_launch(const ebb_kernel_run *run) {
    const picture p = picture_of(run, &run->call->out[0], &run->call->attr[EBB_UPSAMPLE_FACTOR]);
    cpu_spans(cpu_of(run->backend), p.rows, 1, ebb_type_bytes(&run->call->in[0]), upsample_grad_span, &p);
    return EBB_OK;
}

CPU_KERNEL(upsample_grad, EBB_TAKES(F32), CPU_RATE(2500, 20000), .launch = upsample_grad_launch);
