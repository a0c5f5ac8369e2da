/* cpu/norm_sums.c: what is summed per channel: batch statistics, the sums of batch-norm's gradient, and a
 * bias's gradient. Single elements are read once and added as doubles. */
#include "exec/cpu/sums.h"

#include <math.h>

/* The width is in the sums' lanes even where a row is cut. */
typedef struct summed {
    const float *x, *dy;
    const float *center; /* per lane: x is taken relative to it */
    int64_t lanes;
} summed;

/* ---- bn_stats ------------------------------------------------------------------------------------ */

/* Sums of x - center and of its square. */
CPU_VECTOR static void stats_rows(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) {
    const summed *s = ctx;
    const float *center = s->center;
    double *first = sums, *second = sums + s->lanes;
    int64_t row = 0;
    for (; cpu_sums_by_four(width) && row + CPU_SUMS_FOUR <= rows; row += CPU_SUMS_FOUR) {
        const float *x0 = s->x + at + row * width, *x1 = x0 + width, *x2 = x1 + width, *x3 = x2 + width;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const double c = center[i], d0 = x0[i] - c, d1 = x1[i] - c, d2 = x2[i] - c, d3 = x3[i] - c;
            first[i] += (d0 + d1) + (d2 + d3);
            second[i] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3);
        }
    }
    for (; row < rows; row++) {
        const float *x = s->x + at + row * width;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const double d = x[i] - (double)center[i];
            first[i] += d;
            second[i] += d * d;
        }
    }
}

typedef struct stats {
    const cpu_sums *sums;
    const float *center;
    float *mean, *variance;
} stats;

/* Channels [begin, end). */
static void stats_finish(const void *ctx, int64_t begin, int64_t end) {
    const stats *s = ctx;
    const double m = (double)cpu_lanes_each(&s->sums->lanes);
    for (int64_t c = begin; c < end; c++) {
        const double first = cpu_sums_total(s->sums, 0, c) / m;
        const double second = cpu_sums_total(s->sums, 1, c) / m;
        s->mean[c] = (float)(s->center[c] + first);
        const double variance = second - first * first;
        s->variance[c] = (float)(variance < 0 ? 0 : variance);
    }
}

static int64_t lanes_bytes(const cpu_lanes *l) {
    return ebb_align_up(l->lanes * (int64_t)sizeof(float), CPU_ALIGNMENT);
}

static ebb_status two_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cpu_sums sums = cpu_sums_of(&call->in[0], 2);
    const ebb_status status = cpu_sums_check(backend, call, &sums, sizeof(float));
    if (status == EBB_OK) *bytes = cpu_sums_bytes(&sums) + lanes_bytes(&sums.lanes);
    return status;
}

/* Relative to a channel's first element, so that a mean far from zero costs the variance nothing. */
static ebb_status bn_stats_launch(const ebb_kernel_run *run) {
    cpu_sums sums = cpu_sums_of(&run->call->in[0], 2);
    sums.partial = run->launch->scratch;
    float *center = (float *)((char *)run->launch->scratch + cpu_sums_bytes(&sums));
    cpu_lanes_fill(&sums.lanes, run->launch->in[0], center);
    const summed s = {.x = run->launch->in[0], .center = center, .lanes = sums.lanes.lanes};
    cpu_sums_run(cpu_of(run->backend), &sums, 4, stats_rows, &s);
    const stats all = {&sums, center, run->launch->out[0], run->launch->out[1]};
    cpu_sums_finish(cpu_of(run->backend), &sums, stats_finish, &all);
    return EBB_OK;
}

CPU_KERNEL(bn_stats, EBB_TAKES(F32), CPU_RATE(60000, 23000), .scratch = two_sums_scratch,
           .launch = bn_stats_launch);

/* ---- bn_grad_sums -------------------------------------------------------------------------------- */

/* Sums of dy * (x - mean) and of dy. */
CPU_VECTOR static void grad_rows(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) {
    const summed *s = ctx;
    const cpu_product_sums to = {s->center, sums, sums + s->lanes};
    cpu_product_rows(&to, s->x + at, s->dy + at, rows, width);
}

typedef struct grad_sums {
    const cpu_sums *sums;
    const float *variance;
    double eps;
    float *dgamma, *dbeta;
} grad_sums;

static void grad_finish(const void *ctx, int64_t begin, int64_t end) {
    const grad_sums *g = ctx;
    for (int64_t c = begin; c < end; c++) {
        g->dgamma[c] = (float)(cpu_sums_total(g->sums, 0, c) / sqrt(g->variance[c] + g->eps));
        g->dbeta[c] = (float)cpu_sums_total(g->sums, 1, c);
    }
}

static ebb_status bn_grad_sums_launch(const ebb_kernel_run *run) {
    cpu_sums sums = cpu_sums_of(&run->call->in[0], 2);
    sums.partial = run->launch->scratch;
    float *mean = (float *)((char *)run->launch->scratch + cpu_sums_bytes(&sums));
    cpu_lanes_fill(&sums.lanes, run->launch->in[1], mean);
    const summed s = {run->launch->in[0], run->launch->in[3], mean, sums.lanes.lanes};
    cpu_sums_run(cpu_of(run->backend), &sums, 8, grad_rows, &s);
    const grad_sums all = {&sums, run->launch->in[2], run->call->attr[EBB_BN_EPS].f, run->launch->out[0],
                           run->launch->out[1]};
    cpu_sums_finish(cpu_of(run->backend), &sums, grad_finish, &all);
    return EBB_OK;
}

CPU_KERNEL(bn_grad_sums, EBB_TAKES(F32), CPU_RATE(60000, 23000), .scratch = two_sums_scratch,
           .launch = bn_grad_sums_launch);

/* ---- bias_grad ----------------------------------------------------------------------------------- */

/* Columns of rows that are `row` floats apart, by fours as whole rows are. */
CPU_INLINE void add_plain(const float *x, int64_t row, int64_t rows, int64_t width, bool by_four,
                          double *sums) {
    int64_t r = 0;
    for (; by_four && r + CPU_SUMS_FOUR <= rows; r += CPU_SUMS_FOUR) {
        const float *x0 = x + r * row, *x1 = x0 + row, *x2 = x1 + row, *x3 = x2 + row;
#pragma omp simd
        for (int64_t i = 0; i < width; i++)
            sums[i] += ((double)x0[i] + (double)x1[i]) + ((double)x2[i] + (double)x3[i]);
    }
    for (; r < rows; r++) {
#pragma omp simd
        for (int64_t i = 0; i < width; i++) sums[i] += x[r * row + i];
    }
}

CPU_VECTOR void cpu_sums_plain(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) {
    add_plain((const float *)ctx + at, width, rows, width, cpu_sums_by_four(width), sums);
}

bool cpu_sums_apart(const cpu_sums *sums, int64_t part_rows) {
    const cpu_lanes *l = &sums->lanes;
    bool apart = l->lanes == l->channels;
    for (int64_t i = 0; i < sums->n_chunks && apart; i++) {
        const int64_t first = cpu_cut(l->rows, sums->n_chunks, i);
        apart = first / part_rows == (cpu_cut(l->rows, sums->n_chunks, i + 1) - 1) / part_rows;
    }
    return apart;
}

CPU_VECTOR void cpu_sums_columns(const cpu_sums *sums, const float *x, int64_t part_rows, int64_t part,
                                 int64_t column, int64_t width) {
    const int64_t lanes = sums->lanes.lanes, rows = sums->lanes.rows;
    for (int64_t i = 0; i < sums->n_chunks; i++) {
        const int64_t first = cpu_cut(rows, sums->n_chunks, i);
        if (first / part_rows != part) continue;
        double *to = sums->partial + i * lanes + column;
        memset(to, 0, (size_t)width * sizeof *to);
        add_plain(x + first * lanes + column, lanes, cpu_cut(rows, sums->n_chunks, i + 1) - first, width,
                  cpu_sums_by_four(lanes), to);
    }
}

typedef struct bias_sum {
    const cpu_sums *sums;
    float *db;
} bias_sum;

static void bias_finish(const void *ctx, int64_t begin, int64_t end) {
    const bias_sum *b = ctx;
    for (int64_t c = begin; c < end; c++) b->db[c] = (float)cpu_sums_total(b->sums, 0, c);
}

void cpu_sums_store(cpu_backend *cpu, const cpu_sums *sums, float *to) {
    const bias_sum all = {sums, to};
    cpu_sums_finish(cpu, sums, bias_finish, &all);
}

static ebb_status bias_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cpu_sums sums = cpu_sums_of(&call->in[0], 1);
    const ebb_status status = cpu_sums_check(backend, call, &sums, 0);
    if (status == EBB_OK) *bytes = cpu_sums_bytes(&sums);
    return status;
}

static ebb_status bias_grad_launch(const ebb_kernel_run *run) {
    cpu_sums sums = cpu_sums_of(&run->call->in[0], 1);
    sums.partial = run->launch->scratch;
    cpu_sums_run(cpu_of(run->backend), &sums, 4, cpu_sums_plain, run->launch->in[0]);
    cpu_sums_store(cpu_of(run->backend), &sums, run->launch->out[0]);
    return EBB_OK;
}

CPU_KERNEL(bias_grad, EBB_TAKES(F32), CPU_RATE(60000, 23000), .scratch = bias_grad_scratch,
           .launch = bias_grad_launch);
