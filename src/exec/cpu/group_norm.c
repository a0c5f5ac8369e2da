/* cpu/group_norm.c: group normalisation of images whose channels are stored last.
 *
 * What a thread takes is a block of whole groups of one image, 64 channels or one group. It goes over the
 * places by tiles of at most 64 channels, which vectors run over; a channel's sums are in double, place
 * after place, and a group's are those of its channels in their order. */
#include "exec/cpu/cpu.h"

#include <math.h>

enum { TILE = 64 };

typedef struct gn {
    const float *x, *mean, *variance, *gamma, *beta, *dy;
    float *to, *to_mean, *to_variance;
    int64_t places, c, groups, each; /* groups of `each` channels */
    int64_t block, n_blocks;         /* channels of a block; blocks of an image */
    double eps;
} gn;

static gn gn_of(const ebb_call *call) {
    const ebb_type *x = &call->in[0];
    gn s = {.places = x->rank == 4 ? x->dim[2] * x->dim[3] : 1,
            .c = x->dim[1],
            .groups = call->attr[EBB_GN_GROUPS].i[0]};
    s.each = s.c / s.groups;
    s.block = ebb_max_i64(TILE / s.each, 1) * s.each;
    s.n_blocks = cpu_ceil_div(s.c, s.block);
    return s;
}

static void run_blocks(const ebb_kernel_run *run, cpu_span *span, const gn *s) {
    const ebb_type *x = &run->call->in[0];
    cpu_spans(cpu_of(run->backend), x->dim[0] * s->n_blocks, 1, 3 * ebb_type_bytes(x), span, s);
}

/* A tile: channels [c, c + width) of an image, none of another block's; which group each is of. */
typedef struct tile {
    int64_t base; /* element of its first place */
    int64_t c, width;
    int64_t group[TILE]; /* of the image */
} tile;

/* The next tile of block `at` behind one that ended before channel `from`; false: none is left. */
static bool next_tile(const gn *s, int64_t at, int64_t from, tile *t) {
    const int64_t image = at / s->n_blocks, begin = at % s->n_blocks * s->block;
    const int64_t end = ebb_min_i64(begin + s->block, s->c);
    t->c = ebb_max_i64(from, begin);
    t->width = ebb_min_i64(end - t->c, TILE);
    t->base = image * s->places * s->c + t->c;
    for (int64_t k = 0; k < t->width; k++) t->group[k] = (t->c + k) / s->each;
    return t->width > 0;
}

/* What a block's groups come to: at most TILE of them, the first is group `first`. */
typedef struct totals {
    int64_t image, first, n;
    double a[TILE], b[TILE];
} totals;

static totals totals_of(const gn *s, int64_t at) {
    totals t = {.image = at / s->n_blocks, .first = at % s->n_blocks * s->block / s->each};
    t.n = ebb_min_i64(s->block / s->each, s->groups - t.first);
    return t;
}

/* Sums of x - center over a tile's places, or of its squares. */
CPU_INLINE void sum_tile(const gn *s, const tile *t, const double center[TILE], bool squares,
                         double sum[TILE]) {
    for (int64_t k = 0; k < t->width; k++) sum[k] = 0;
    for (int64_t p = 0; p < s->places; p++) {
        const float *x = s->x + t->base + p * s->c;
#pragma omp simd
        for (int64_t k = 0; k < t->width; k++) {
            const double d = x[k] - center[k];
            sum[k] += squares ? d * d : d;
        }
    }
}

/* ---- gn_stats --------------------------------------------------------------------------------------- */

CPU_VECTOR static void stats_span(const void *ctx, int64_t begin, int64_t end) {
    const gn *s = ctx;
    const double n = (double)(s->places * s->each);
    for (int64_t at = begin; at < end; at++) {
        totals all = totals_of(s, at);
        double center[TILE] = {0}, sum[TILE];
        tile t;
        for (int64_t from = 0; next_tile(s, at, from, &t); from = t.c + t.width) {
            sum_tile(s, &t, center, false, sum);
            for (int64_t k = 0; k < t.width; k++) all.a[t.group[k] - all.first] += sum[k];
        }
        for (int64_t from = 0; next_tile(s, at, from, &t); from = t.c + t.width) {
            for (int64_t k = 0; k < t.width; k++) center[k] = all.a[t.group[k] - all.first] / n;
            sum_tile(s, &t, center, true, sum);
            for (int64_t k = 0; k < t.width; k++) all.b[t.group[k] - all.first] += sum[k];
        }
        for (int64_t g = 0; g < all.n; g++) {
            s->to_mean[all.image * s->groups + all.first + g] = (float)(all.a[g] / n);
            s->to_variance[all.image * s->groups + all.first + g] = (float)(all.b[g] / n);
        }
    }
}

static ebb_status gn_stats_launch(const ebb_kernel_run *run) {
    gn s = gn_of(run->call);
    s.x = run->launch->in[0];
    s.to_mean = run->launch->out[0];
    s.to_variance = run->launch->out[1];
    run_blocks(run, stats_span, &s);
    return EBB_OK;
}

CPU_KERNEL(gn_stats, EBB_TAKES(F32), CPU_RATE(10000, 23000), .launch = gn_stats_launch);

/* ---- by the statistics ------------------------------------------------------------------------------ */

static gn with_statistics(const ebb_kernel_run *run) {
    gn s = gn_of(run->call);
    s.x = run->launch->in[0];
    s.mean = run->launch->in[1];
    s.variance = run->launch->in[2];
    s.to = run->launch->out[0];
    s.eps = run->call->attr[EBB_GN_EPS].f;
    return s;
}

/* mean and inv_std of a tile's channels. */
CPU_INLINE void statistics_of(const gn *s, const tile *t, int64_t image, float center[TILE],
                              float scale[TILE]) {
    for (int64_t k = 0; k < t->width; k++) {
        const int64_t g = image * s->groups + t->group[k];
        center[k] = s->mean[g];
        scale[k] = (float)(1 / sqrt(s->variance[g] + s->eps));
    }
}

CPU_VECTOR static void apply_span(const void *ctx, int64_t begin, int64_t end) {
    const gn *s = ctx;
    for (int64_t at = begin; at < end; at++) {
        tile t;
        for (int64_t from = 0; next_tile(s, at, from, &t); from = t.c + t.width) {
            const float *gamma = s->gamma + t.c, *beta = s->beta + t.c;
            float center[TILE], scale[TILE];
            statistics_of(s, &t, at / s->n_blocks, center, scale);
            for (int64_t p = 0; p < s->places; p++) {
                const float *x = s->x + t.base + p * s->c;
                float *y = s->to + t.base + p * s->c;
#pragma omp simd
                for (int64_t k = 0; k < t.width; k++)
                    y[k] = (x[k] - center[k]) * scale[k] * gamma[k] + beta[k];
            }
        }
    }
}

static ebb_status gn_apply_launch(const ebb_kernel_run *run) {
    gn s = with_statistics(run);
    s.gamma = run->launch->in[3];
    s.beta = run->launch->in[4];
    run_blocks(run, apply_span, &s);
    return EBB_OK;
}

CPU_KERNEL(gn_apply, EBB_TAKES(F32), CPU_STREAM, .launch = gn_apply_launch);

/* ---- gn_grad ---------------------------------------------------------------------------------------- */

/* Sums of g = dy * gamma and of g * xhat over a tile's places. */
CPU_INLINE void grad_sums(const gn *s, const tile *t, const float center[TILE], const float scale[TILE],
                          double plain[TILE], double products[TILE]) {
    const float *gamma = s->gamma + t->c;
    for (int64_t k = 0; k < t->width; k++) plain[k] = products[k] = 0;
    for (int64_t p = 0; p < s->places; p++) {
        const float *x = s->x + t->base + p * s->c, *dy = s->dy + t->base + p * s->c;
#pragma omp simd
        for (int64_t k = 0; k < t->width; k++) {
            const double g = dy[k] * gamma[k];
            plain[k] += g;
            products[k] += g * ((x[k] - center[k]) * scale[k]);
        }
    }
}

CPU_INLINE void grad_give(const gn *s, const tile *t, const float center[TILE], const float scale[TILE],
                          const float shift[TILE], const float slope[TILE]) {
    const float *gamma = s->gamma + t->c;
    for (int64_t p = 0; p < s->places; p++) {
        const float *x = s->x + t->base + p * s->c, *dy = s->dy + t->base + p * s->c;
        float *dx = s->to + t->base + p * s->c;
#pragma omp simd
        for (int64_t k = 0; k < t->width; k++)
            dx[k] = scale[k] * (dy[k] * gamma[k] - shift[k] - (x[k] - center[k]) * scale[k] * slope[k]);
    }
}

/* In place over x or dy: a block's groups are summed before any of them is written. */
CPU_VECTOR static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    const gn *s = ctx;
    const double n = (double)(s->places * s->each);
    for (int64_t at = begin; at < end; at++) {
        totals all = totals_of(s, at);
        float center[TILE], scale[TILE], shift[TILE], slope[TILE];
        tile t;
        for (int64_t from = 0; next_tile(s, at, from, &t); from = t.c + t.width) {
            double plain[TILE], products[TILE];
            statistics_of(s, &t, all.image, center, scale);
            grad_sums(s, &t, center, scale, plain, products);
            for (int64_t k = 0; k < t.width; k++) {
                all.a[t.group[k] - all.first] += plain[k];
                all.b[t.group[k] - all.first] += products[k];
            }
        }
        for (int64_t from = 0; next_tile(s, at, from, &t); from = t.c + t.width) {
            statistics_of(s, &t, all.image, center, scale);
            for (int64_t k = 0; k < t.width; k++) {
                shift[k] = (float)(all.a[t.group[k] - all.first] / n);
                slope[k] = (float)(all.b[t.group[k] - all.first] / n);
            }
            grad_give(s, &t, center, scale, shift, slope);
        }
    }
}

static ebb_status gn_grad_launch(const ebb_kernel_run *run) {
    gn s = with_statistics(run);
    s.gamma = run->launch->in[3];
    s.dy = run->launch->in[4];
    run_blocks(run, grad_span, &s);
    return EBB_OK;
}

CPU_KERNEL(gn_grad, EBB_TAKES(F32), CPU_STREAM, .launch = gn_grad_launch);

/* ---- gn_grad_sums ----------------------------------------------------------------------------------- */

enum { STRIP = 16 }; /* channels whose sums one thread takes, over all images and places */

typedef struct strips {
    gn s;
    int64_t images;
    float *dgamma, *dbeta;
} strips;

/* One image's part of a strip: its statistics are the image's. */
CPU_INLINE void strip_add(const gn *s, int64_t image, int64_t c, int64_t width, double products[STRIP],
                          double plain[STRIP]) {
    double center[STRIP], scale[STRIP];
    for (int64_t k = 0; k < width; k++) {
        const int64_t g = image * s->groups + (c + k) / s->each;
        center[k] = s->mean[g];
        scale[k] = 1 / sqrt(s->variance[g] + s->eps);
    }
    for (int64_t row = image * s->places; row < (image + 1) * s->places; row++) {
        const float *x = s->x + row * s->c + c, *dy = s->dy + row * s->c + c;
#pragma omp simd
        for (int64_t k = 0; k < width; k++) {
            const double g = dy[k];
            products[k] += g * ((x[k] - center[k]) * scale[k]);
            plain[k] += g;
        }
    }
}

CPU_VECTOR static void strips_span(const void *ctx, int64_t begin, int64_t end) {
    const strips *r = ctx;
    for (int64_t strip = begin; strip < end; strip++) {
        const int64_t c = strip * STRIP, width = ebb_min_i64(r->s.c - c, STRIP);
        double products[STRIP] = {0}, plain[STRIP] = {0};
        for (int64_t image = 0; image < r->images; image++)
            strip_add(&r->s, image, c, width, products, plain);
        for (int64_t k = 0; k < width; k++) {
            r->dgamma[c + k] = (float)products[k];
            r->dbeta[c + k] = (float)plain[k];
        }
    }
}

static ebb_status gn_grad_sums_launch(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    strips r = {.s = with_statistics(run),
                .images = x->dim[0],
                .dgamma = run->launch->out[0],
                .dbeta = run->launch->out[1]};
    r.s.dy = run->launch->in[3];
    cpu_spans(cpu_of(run->backend), cpu_ceil_div(r.s.c, STRIP), 1, 2 * ebb_type_bytes(x), strips_span, &r);
    return EBB_OK;
}

CPU_KERNEL(gn_grad_sums, EBB_TAKES(F32), CPU_RATE(12000, 23000), .launch = gn_grad_sums_launch);
