/* cpu/norm_act_sums.c: the first sweep of the gradients of fused batch norm: what was cut is left out on
 * the way, and bn_grad_sums' sums are made in its order, so that they have its bits. */
#include "exec/cpu/bits.h"
#include "exec/cpu/norm_act.h"
#include "exec/cpu/sums.h"

typedef struct act_sums {
    cpu_act act;
    const float *x, *y, *dy, *more;
    const uint8_t *bits;
    float *du;
} act_sums;

typedef struct act_finish {
    const cpu_sums *sums;
    const float *variance;
    double eps;
    float *dgamma, *dbeta;
} act_finish;

static void sums_finish(const void *ctx, int64_t begin, int64_t end) {
    const act_finish *f = ctx;
    for (int64_t c = begin; c < end; c++) {
        f->dgamma[c] = (float)(cpu_sums_total(f->sums, 0, c) / sqrt(f->variance[c] + f->eps));
        f->dbeta[c] = (float)cpu_sums_total(f->sums, 1, c);
    }
}

static ebb_status sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t n_tables,
                               int64_t *bytes) {
    const cpu_sums sums = cpu_sums_of(&call->in[0], 2);
    const int64_t each = n_tables * (int64_t)sizeof(float);
    const ebb_status status = cpu_sums_check(backend, call, &sums, each);
    if (status == EBB_OK) *bytes = cpu_sums_bytes(&sums) + sums.lanes.lanes * each;
    return status;
}

/* element_bytes: read for each element. variance: which operand it is. */
static void run_sums(const ebb_kernel_run *run, cpu_sums *sums, int64_t element_bytes, cpu_sum_rows *rows,
                     const act_sums *s, uint32_t variance) {
    cpu_sums_run(cpu_of(run->backend), sums, element_bytes, rows, s);
    const uint32_t first = run->call->n_out - 2; /* dgamma */
    const act_finish all = {sums, run->launch->in[variance], run->call->attr[EBB_BN_ACT_EPS].f,
                            run->launch->out[first], run->launch->out[first + 1]};
    cpu_sums_finish(cpu_of(run->backend), sums, sums_finish, &all);
}

/* ---- bn_act_grad_sums ------------------------------------------------------------------------------ */

/* What passes of one row, lane by lane, as a double: as in cpu_product_rows. */
#define PASSED(k) ((double)cpu_act_pass(&a, cpu_act_apply(&a, x[(k)*width + i], i), dy[(k)*width + i]))

/* Sums of du * (x - mean) and of du. */
CPU_VECTOR static void act_rows(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) {
    const act_sums *s = ctx;
    const cpu_act a = s->act;
    double *products = sums, *plain = sums + a.lanes.lanes;
    int64_t row = 0;
    for (; cpu_sums_by_four(width) && row + CPU_SUMS_FOUR <= rows; row += CPU_SUMS_FOUR) {
        const float *x = s->x + at + row * width, *dy = s->dy + at + row * width;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const double c = a.center[i], g0 = PASSED(0), g1 = PASSED(1), g2 = PASSED(2), g3 = PASSED(3);
            products[i] += (g0 * (x[i] - c) + g1 * (x[width + i] - c)) +
                           (g2 * (x[2 * width + i] - c) + g3 * (x[3 * width + i] - c));
            plain[i] += (g0 + g1) + (g2 + g3);
        }
    }
    for (; row < rows; row++) {
        const float *x = s->x + at + row * width, *dy = s->dy + at + row * width;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const double g = PASSED(0);
            products[i] += g * (x[i] - (double)a.center[i]);
            plain[i] += g;
        }
    }
}

static ebb_status bn_act_grad_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return sums_scratch(backend, call, CPU_ACT_TABLES, bytes);
}

static ebb_status bn_act_grad_sums_launch(const ebb_kernel_run *run) {
    cpu_sums sums = cpu_sums_of(&run->call->in[0], 2);
    sums.partial = run->launch->scratch;
    float *tables = (float *)((char *)run->launch->scratch + cpu_sums_bytes(&sums));
    const act_sums s = {.act = cpu_act_of(run, tables), .x = run->launch->in[0], .dy = run->launch->in[5]};
    run_sums(run, &sums, 8, act_rows, &s, 2);
    return EBB_OK;
}

CPU_KERNEL(bn_act_grad_sums, EBB_TAKES(F32), CPU_RATE(60000, 23000), .scratch = bn_act_grad_sums_scratch,
           .launch = bn_act_grad_sums_launch);

/* ---- bn_add_grad_sums, bn_add_bits_grad_sums --------------------------------------------------------- */

CPU_INLINE float whole(const act_sums *s, int64_t i, bool two) {
    return two ? s->dy[i] + s->more[i] : s->dy[i];
}

/* du of n elements, each stream in order. */
CPU_INLINE void cut_by_y(const act_sums *s, int64_t from, int64_t n, bool two) {
    const cpu_act a = {.min = s->act.min, .max = s->act.max};
    const float *y = s->y;
    float *du = s->du;
#pragma omp simd
    for (int64_t i = from; i < from + n; i++) du[i] = cpu_act_pass(&a, y[i], whole(s, i, two));
}

CPU_INLINE void cut_one_by_one(const act_sums *s, int64_t from, int64_t to, bool two) {
    for (int64_t i = from; i < to; i++)
        s->du[i] = cpu_bit_pass(s->bits[i / 8] >> i % 8 & 1U, whole(s, i, two));
}

/* A block may begin within a byte: rows have any length. */
CPU_INLINE void cut_by_bits(const act_sums *s, int64_t from, int64_t n, bool two) {
    const int64_t end = from + n;
    int64_t i = ebb_min_i64(cpu_ceil_div(from, 8) * 8, end);
    cut_one_by_one(s, from, i, two);
    for (; i + CPU_BITS_GROUP <= end; i += CPU_BITS_GROUP) {
        uint8_t byte[CPU_BITS_GROUP];
        const float *dy = s->dy + i, *more = s->more + i;
        float *du = s->du + i;
        cpu_bits_spread(s->bits + i / 8, byte);
#pragma omp simd
        for (int64_t k = 0; k < CPU_BITS_GROUP; k++)
            du[k] = cpu_bit_pass((unsigned)byte[k] >> (k % 8) & 1U, two ? dy[k] + more[k] : dy[k]);
    }
    cut_one_by_one(s, i, end, two);
}

/* Blocks of whole fours of rows are cut, and summed while they are in the caches. */
CPU_INLINE void add_rows(const act_sums *s, int64_t at, int64_t rows, int64_t width, double *sums, bool two,
                         bool by_bits) {
    enum { BLOCK = 16384 /* floats */ };
    const int64_t block = ebb_max_i64(BLOCK / width / CPU_SUMS_FOUR, 1) * CPU_SUMS_FOUR;
    const cpu_product_sums to = {s->act.center, sums, sums + s->act.lanes.lanes};
    for (int64_t row = 0; row < rows; row += block) {
        const int64_t n = ebb_min_i64(rows - row, block), from = at + row * width;
        if (by_bits)
            cut_by_bits(s, from, n * width, two);
        else
            cut_by_y(s, from, n * width, two);
        cpu_product_rows(&to, s->x + from, s->du + from, n, width);
    }
}

#define ADD_ROWS(name, two, by_bits)                                                                      \
    CPU_VECTOR static void name(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) { \
        add_rows(ctx, at, rows, width, sums, two, by_bits);                                               \
    }
ADD_ROWS(add_rows_y, false, false)
ADD_ROWS(add_rows_y_two, true, false)
ADD_ROWS(add_rows_bits, false, true)
ADD_ROWS(add_rows_bits_two, true, true)

static ebb_status bn_add_grad_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return sums_scratch(backend, call, 1, bytes);
}

/* x: which operand it is; the statistics stand behind it. */
static ebb_status add_launch(const ebb_kernel_run *run, uint32_t x, act_sums *s, int64_t element_bytes,
                             cpu_sum_rows *rows) {
    cpu_sums sums = cpu_sums_of(&run->call->in[0], 2);
    sums.partial = run->launch->scratch;
    float *center = (float *)((char *)run->launch->scratch + cpu_sums_bytes(&sums));
    cpu_lanes_fill(&sums.lanes, run->launch->in[x + 1], center);
    const ebb_bounds bounds = ebb_bn_act_bounds(run->call->attr);
    s->act = (cpu_act){
        .lanes = sums.lanes, .center = center, .min = (float)bounds.min, .max = (float)bounds.max};
    s->x = run->launch->in[x];
    s->du = run->launch->out[0];
    run_sums(run, &sums, element_bytes, rows, s, x + 2);
    return EBB_OK;
}

static ebb_status bn_add_grad_sums_launch(const ebb_kernel_run *run) {
    const bool two = run->call->n_in > 5;
    act_sums s = {.y = run->launch->in[3], .dy = run->launch->in[4], .more = run->launch->in[two ? 5 : 4]};
    return add_launch(run, 0, &s, two ? 20 : 16, two ? add_rows_y_two : add_rows_y);
}

static ebb_status bn_add_bits_grad_sums_launch(const ebb_kernel_run *run) {
    const bool two = run->call->n_in > 5;
    act_sums s = {
        .bits = run->launch->in[4], .dy = run->launch->in[0], .more = run->launch->in[two ? 5 : 0]};
    return add_launch(run, 1, &s, two ? 16 : 12, two ? add_rows_bits_two : add_rows_bits);
}

CPU_KERNEL(bn_add_grad_sums, EBB_TAKES(F32), CPU_RATE(60000, 21000), .scratch = bn_add_grad_sums_scratch,
           .launch = bn_add_grad_sums_launch);
CPU_KERNEL(bn_add_bits_grad_sums, EBB_TAKES(F32, U8), CPU_RATE(60000, 24000),
           .scratch = bn_add_grad_sums_scratch, .launch = bn_add_bits_grad_sums_launch);
