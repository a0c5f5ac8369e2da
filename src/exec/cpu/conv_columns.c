/* cpu/conv_columns.c: a weight gradient as one matrix product (conv.h).
 *
 *     gradient [o, kh kw c] = dy^T [o, p] x columns [p, kh kw c]
 *
 * p: the pixels of all results; a row of columns is what one of them saw of the images, zeros where it saw
 * padding. Channels stand last in images and weights alike, so that only columns are made: in scratch,
 * behind the product's own. */
#include "exec/cpu/conv.h"

#include <string.h>

typedef struct columns_state {
    void *product;
    int64_t size[CPU_N_CONV], offset; /* of columns, in scratch */
} columns_state;

static int64_t pixels(const int64_t *s) {
    return s[N] * s[OH] * s[OW];
}

static int64_t row_floats(const int64_t *s) {
    return s[KH] * s[KW] * s[C];
}

cpu_product cpu_columns_product(const int64_t *s) {
    const int64_t p = pixels(s), row = row_floats(s);
    return (cpu_product){.kind = CPU_MATMUL,
                         .at = {{.arg = DNNL_ARG_WEIGHTS, .plain = {2, {p, row}, {row, 1}}},
                                {.arg = DNNL_ARG_SRC, .plain = {2, {s[O], p}, {1, s[O]}}},
                                {.arg = DNNL_ARG_DST, .plain = {2, {s[O], row}, {row, 1}}}}};
}

ebb_status cpu_columns_scratch(cpu_backend *cpu, const ebb_call *call, const int64_t *s, int64_t *offset,
                               int64_t *bytes) {
    const cpu_product product = cpu_columns_product(s);
    const int64_t columns = pixels(s) * row_floats(s) * (int64_t)sizeof(float);
    const ebb_status status = cpu_product_scratch(cpu, call, &product, offset);
    *offset = ebb_align_up(*offset, CPU_ALIGNMENT);
    *bytes = *offset + columns;
    return status;
}

ebb_status cpu_columns_prepare(cpu_backend *cpu, const ebb_call *call, const int64_t *s, void **state) {
    int64_t bytes;
    columns_state *c = ebb_calloc(cpu->base.env, 1, sizeof *c);
    *state = NULL;
    if (!c) return EBB_NO_MEMORY;
    const cpu_product product = cpu_columns_product(s);
    memcpy(c->size, s, sizeof c->size);
    ebb_status status = cpu_columns_scratch(cpu, call, s, &c->offset, &bytes);
    if (status == EBB_OK) status = cpu_product_prepare(cpu, call, &product, &c->product);
    if (status != EBB_OK) {
        cpu_columns_release(&cpu->base, c);
        return status;
    }
    *state = c;
    return EBB_OK;
}

void cpu_columns_release(ebb_backend *backend, void *state) {
    columns_state *c = state;
    if (!c) return;
    cpu_product_release(backend, c->product);
    ebb_cfree(backend->env, c, 1, sizeof *c);
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
    const columns_state *c = run->state;
    char *scratch = run->launch->scratch;
    const gathering g = {c->size, run->launch->in[0], (float *)(void *)(scratch + c->offset)};
    const int64_t n = pixels(c->size);
    cpu_spans(cpu_of(run->backend), n, 1, n * row_floats(c->size) * 2 * (int64_t)sizeof(float), gather_span,
              &g);
    void *const in[2] = {g.columns, run->launch->in[1]};
    ebb_launch launch = *run->launch;
    launch.in = in;
    ebb_kernel_run product = *run;
    product.launch = &launch;
    product.state = c->product;
    return cpu_product_launch(&product);
}
