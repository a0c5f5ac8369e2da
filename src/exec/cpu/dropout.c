/* cpu/dropout.c: dropout by exec/dropout.h's mask. Its gradient is the same function of dy. */
#include "exec/dropout.h"
#include "exec/cpu/cpu.h"

typedef struct mask {
    const float *x;
    float *y;
    uint64_t key, step, threshold;
    double scale;
    int64_t channels, places; /* rank 4 only */
} mask;

enum {
    RUN = 16,
    WORDS = RUN + 8
}; /* elements drawn at once; random words that cover them wherever they begin */

/* Draws for the logical indices [first, first + n), n <= RUN; the element of index first + i gets
 * word[first % 4 + i]. */
static void draw(const mask *m, int64_t first, int64_t n, uint32_t word[WORDS]) {
    const uint64_t block = (uint64_t)first / 4, last = (uint64_t)(first + n - 1) / 4;
    for (uint64_t b = block; b <= last; b++) {
        const ebb_u32x4 random = ebb_dropout_block(m->key, m->step, b);
        memcpy(word + 4 * (b - block), random.v, sizeof random.v);
    }
}

static inline float masked(const mask *m, uint32_t word, float x) {
    return word >= m->threshold ? (float)(x * m->scale) : 0;
}

/* Storage order is logical order; begin is a multiple of RUN. */
static void flat_span(const void *ctx, int64_t begin, int64_t end) {
    const mask *m = ctx;
    for (int64_t i = begin; i < end; i += RUN) {
        const int64_t n = ebb_min_i64(end - i, RUN);
        uint32_t word[WORDS];
        draw(m, i, n, word);
        for (int64_t k = 0; k < n; k++) m->y[i + k] = masked(m, word[k], m->x[i + k]);
    }
}

/* Channels last; begin and end in runs of places of a plane, over all images. */
static void planes_span(const void *ctx, int64_t begin, int64_t end) {
    const mask *m = ctx;
    const int64_t runs = cpu_ceil_div(m->places, RUN);
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / runs, place = i % runs * RUN, n = ebb_min_i64(m->places - place, RUN);
        const int64_t at = (image * m->places + place) * m->channels;
        for (int64_t c = 0; c < m->channels; c++) {
            const int64_t logical = (image * m->channels + c) * m->places + place;
            uint32_t word[WORDS];
            draw(m, logical, n, word);
            for (int64_t k = 0; k < n; k++) {
                const int64_t element = at + k * m->channels + c;
                m->y[element] = masked(m, word[logical % 4 + k], m->x[element]);
            }
        }
    }
}

static ebb_status dropout_launch(const ebb_kernel_run *run) {
    const ebb_type *type = &run->call->in[0];
    const double p = run->call->attr[EBB_DROPOUT_P].f;
    mask m = {.x = run->launch->in[0],
              .y = run->launch->out[0],
              .key = ebb_dropout_key(run->launch->seed, run->seed_key),
              .step = ebb_dropout_step(run->seed_key, run->launch->step),
              .threshold = ebb_dropout_threshold(p),
              .scale = ebb_dropout_scale(p)};
    const int64_t count = ebb_type_count(type), work = 16 * count;
    if (type->rank != 4) {
        cpu_spans(cpu_of(run->backend), count, RUN, work, flat_span, &m);
        return EBB_OK;
    }
    m.channels = type->dim[1];
    m.places = type->dim[2] * type->dim[3];
    cpu_spans(cpu_of(run->backend), type->dim[0] * cpu_ceil_div(m.places, RUN), 1, work, planes_span, &m);
    return EBB_OK;
}

CPU_KERNEL(dropout, EBB_TAKES(F32), CPU_RATE(300, 25000), .launch = dropout_launch);
CPU_KERNEL(dropout_grad, EBB_TAKES(F32), CPU_RATE(300, 25000), .launch = dropout_launch);
