/* cpu/conv_columns.c: a weight gradient as one matrix product (conv.h).
 *
 *     gradient [o, kh kw c] = dy^T [o, p] x columns [p, kh kw c]
 *
 * p: the pixels of all results; a row of columns is what one of them saw of the images, zeros where it saw
 * padding. Channels stand last in images and weights alike, so that only columns are made. Scratch:
 *
 *     | columns | the product's |
 */
#include "exec/cpu/conv.h"

#include <string.h>

static int64_t pixels(const int64_t *s) {
    return s[N] * s[OH] * s[OW];
}

static int64_t row_floats(const int64_t *s) {
    return s[KH] * s[KW] * s[C];
}

static int64_t columns_bytes(const int64_t *s) {
    return ebb_align_up(pixels(s) * row_floats(s) * (int64_t)sizeof(float), CPU_ALIGNMENT);
}

cpu_product cpu_columns_product(const int64_t *s) {
    const int64_t p = pixels(s), row = row_floats(s);
    return (cpu_product){.kind = CPU_MATMUL,
                         .at = {{.arg = DNNL_ARG_WEIGHTS, .plain = {2, {p, row}, {row, 1}}},
                                {.arg = DNNL_ARG_SRC, .plain = {2, {s[O], p}, {1, s[O]}}},
                                {.arg = DNNL_ARG_DST, .plain = {2, {s[O], row}, {row, 1}}}}};
}

ebb_status cpu_columns_scratch(cpu_backend *cpu, const ebb_call *call, const int64_t *s, int64_t *bytes) {
    const cpu_product product = cpu_columns_product(s);
    const ebb_status status = cpu_product_scratch(cpu, call, &product, bytes);
    if (status == EBB_OK) *bytes += columns_bytes(s);
    return status;
}

typedef struct gathering {
    const int64_t *s;
    const float *x;
    float *columns;
} gathering;

/* What pixel (oh, ow) of image n saw. */
static void gather_row(const gathering *g, int64_t n, int64_t oh, int64_t ow, float *to) {
    const int64_t *s = g->s;
    for (int64_t kh = 0; kh < s[KH]; kh++) {
        const int64_t h = oh * s[SH] + kh * s[DH] - s[PH];
        for (int64_t kw = 0; kw < s[KW]; kw++, to += s[C]) {
            const int64_t w = ow * s[SW] + kw * s[DW] - s[PW];
            if (h >= 0 && h < s[H] && w >= 0 && w < s[W])
                memcpy(to, g->x + ((n * s[H] + h) * s[W] + w) * s[C], (size_t)s[C] * sizeof *to);
            else
                memset(to, 0, (size_t)s[C] * sizeof *to);
        }
    }
}

static void gather_span(const void *ctx, int64_t begin, int64_t end) {
    const gathering *g = ctx;
    const int64_t *s = g->s, row = row_floats(s);
    for (int64_t p = begin; p < end; p++)
        gather_row(g, p / (s[OH] * s[OW]), p / s[OW] % s[OH], p % s[OW], g->columns + p * row);
}

ebb_status cpu_columns_launch(const ebb_kernel_run *run) {
    int64_t s[CPU_N_CONV];
    cpu_conv_sizes(run->call, s);
    const gathering g = {s, run->launch->in[0], run->launch->scratch};
    cpu_spans(cpu_of(run->backend), pixels(s), 1, 2 * columns_bytes(s), gather_span, &g);
    void *const in[2] = {g.columns, run->launch->in[1]};
    ebb_launch launch = *run->launch;
    launch.in = in;
    launch.scratch = (char *)launch.scratch + columns_bytes(s);
    ebb_kernel_run product = *run;
    product.launch = &launch;
    return cpu_product_launch(&product);
}
