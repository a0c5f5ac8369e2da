/* cpu/take.c: places by indices, and their gradients. For take's gradient the indices are sorted first (a
 * counting sort, which keeps equal ones in order), so that each number of the result is summed by one
 * thread, in double and in the order in which dy has its parts. Scratch: | where each index ends: places +
 * 1 | where in dy the sorted ones are: n |, whole numbers of 8 bytes. */
#include "exec/cpu/cpu.h"

static ebb_status indices_check(const ebb_kernel_run *run, int64_t places) {
    const int32_t *i = run->launch->in[1];
    for (int64_t k = 0; k < ebb_type_count(&run->call->in[1]); k++) {
        if (i[k] >= -places && i[k] < places) continue;
        return ebb_fail(run->backend->env, EBB_BAD_INPUT,
                        "%s: index %d is outside [-%lld, %lld): correct the indices", run->call->op->name,
                        i[k], (long long)places, (long long)places);
    }
    return EBB_OK;
}

CPU_INLINE int64_t from_front(int32_t index, int64_t places) {
    return index < 0 ? index + places : index;
}

/* ---- take, pick, and sort_grad --------------------------------------------------------------- */

typedef struct taking {
    ebb_walk walk; /* ebb_take_walk */
    const void *x;
    const int32_t *i;
    void *y;
    int64_t places, stride; /* of x's axis */
} taking;

/* begin and end in elements of y. */
#define TAKE(T)                                                                                         \
    static void take_##T(const void *ctx, int64_t begin, int64_t end) {                                 \
        const taking *t = ctx;                                                                          \
        const uint32_t last = t->walk.n_dims - 1;                                                       \
        const int64_t s = t->walk.stride[0][last], each = t->walk.stride[1][last];                      \
        ebb_walk_place at = ebb_walk_place_of(&t->walk, begin);                                         \
        while (begin < end) {                                                                           \
            const int64_t n = ebb_min_i64(t->walk.size[last] - at.at[last], end - begin);               \
            const T *x = (const T *)t->x + at.element[0];                                               \
            const int32_t *i = t->i + at.element[1];                                                    \
            if (each == 0 && s == 1) {                                                                  \
                memcpy((T *)t->y + begin, x + from_front(*i, t->places) * t->stride,                    \
                       (size_t)n * sizeof(T));                                                          \
            } else {                                                                                    \
                for (int64_t k = 0; k < n; k++)                                                         \
                    ((T *)t->y)[begin + k] = x[k * s + from_front(i[k * each], t->places) * t->stride]; \
            }                                                                                           \
            begin += n;                                                                                 \
            ebb_walk_on(&t->walk, &at, n);                                                              \
        }                                                                                               \
    }
CPU_BY_BYTES(TAKE)

static ebb_status chosen_launch(const ebb_kernel_run *run, uint32_t n_i, bool whole) {
    const ebb_type *x = &run->call->in[0], *y = &run->call->out[0];
    const ebb_axis axis = ebb_axis_of(x, run->call->attr[EBB_TAKE_AXIS].i[0]);
    const ebb_status status = indices_check(run, axis.size);
    if (status != EBB_OK) return status;
    taking t = {.x = run->launch->in[0],
                .i = run->launch->in[1],
                .y = run->launch->out[0],
                .places = axis.size,
                .stride = axis.inner};
    ebb_take_walk(run->call, n_i, whole, &t.walk);
    cpu_spans(cpu_of(run->backend), ebb_type_count(y), CPU_ALIGNMENT, 2 * ebb_type_bytes(y),
              CPU_OF_BYTES(take, x->dtype), &t);
    return EBB_OK;
}

static ebb_status take_launch(const ebb_kernel_run *run) {
    return chosen_launch(run, run->call->in[1].rank, false);
}
CPU_KERNEL(take, EBB_TAKES_ALL, CPU_RATE(20000, 12000), .launch = take_launch);

static ebb_status pick_launch(const ebb_kernel_run *run) {
    return chosen_launch(run, 0, true);
}
CPU_KERNEL(pick, EBB_TAKES_ALL, CPU_RATE(20000, 5000), .launch = pick_launch);

static ebb_status sort_grad_launch(const ebb_kernel_run *run) {
    return chosen_launch(run, 1, true);
}
CPU_KERNEL(sort_grad, EBB_TAKES(F32, I32), CPU_RATE(20000, 8000), .launch = sort_grad_launch);

/* ---- take's gradient -------------------------------------------------------------------------------- */

typedef struct giving {
    ebb_walk walk; /* ebb_take_grad_walk */
    const float *dy;
    const int32_t *i; /* of pick */
    float *dx;
    int64_t places;
    const int64_t *ends; /* the sorted ones of index v are [v ? ends[v - 1] : 0, ends[v]) */
    const int64_t *sorted;
} giving;

enum { TILE = 64 };

/* `width` numbers of dx at one place along the axis, `stride` apart in dy. */
CPU_VECTOR static void sum_given(const giving *g, int64_t place, const float *dy, int64_t stride,
                                 int64_t width, float *to) {
    double sum[TILE] = {0};
    for (int64_t k = place ? g->ends[place - 1] : 0; k < g->ends[place]; k++) {
        const float *from = dy + g->sorted[k];
        if (stride == 1) {
#pragma omp simd
            for (int64_t e = 0; e < width; e++) sum[e] += from[e];
        } else {
            for (int64_t e = 0; e < width; e++) sum[e] += from[e * stride];
        }
    }
    for (int64_t e = 0; e < width; e++) to[e] = (float)sum[e];
}

/* begin and end in elements of dx. */
static void give_span(const void *ctx, int64_t begin, int64_t end) {
    const giving *g = ctx;
    const uint32_t last = g->walk.n_dims - 1;
    const int64_t most = g->walk.stride[1][last] ? 1 : TILE; /* at one place */
    ebb_walk_place at = ebb_walk_place_of(&g->walk, begin);
    while (begin < end) {
        const int64_t width = ebb_min_i64(ebb_min_i64(most, g->walk.size[last] - at.at[last]), end - begin);
        sum_given(g, at.element[1], g->dy + at.element[0], g->walk.stride[0][last], width, g->dx + begin);
        begin += width;
        ebb_walk_on(&g->walk, &at, width);
    }
}

/* ends[v] is where index v begins until its places are put there one by one, and ends behind them. */
static void sort_indices(const ebb_call *call, const int32_t *i, int64_t places, int64_t *ends,
                         int64_t *sorted) {
    const int64_t n = ebb_type_count(&call->in[1]);
    ebb_walk walk;
    ebb_take_index_walk(call, &walk);
    memset(ends, 0, (size_t)(places + 1) * sizeof *ends);
    for (int64_t k = 0; k < n; k++) ends[from_front(i[k], places) + 1]++;
    for (int64_t v = 0; v < places; v++) ends[v + 1] += ends[v];
    ebb_walk_place at = ebb_walk_place_of(&walk, 0);
    for (int64_t k = 0; k < n; k++, ebb_walk_on(&walk, &at, 1))
        sorted[ends[from_front(i[k], places)]++] = at.element[0];
}

static ebb_status take_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    int64_t count = call->attr[EBB_TAKE_SIZE].i[0] + 1;
    if (!ebb_add_i64(count, ebb_type_count(&call->in[1]), &count)) count = INT64_MAX;
    const ebb_status status = cpu_scratch_check(backend, call, count, sizeof(int64_t));
    if (status == EBB_OK) *bytes = count * (int64_t)sizeof(int64_t);
    return status;
}

static ebb_status take_grad_launch(const ebb_kernel_run *run) {
    const ebb_call *call = run->call;
    const int64_t places = call->attr[EBB_TAKE_SIZE].i[0];
    const ebb_status status = indices_check(run, places);
    if (status != EBB_OK) return status;
    int64_t *ends = run->launch->scratch, *sorted = ends + places + 1;
    sort_indices(call, run->launch->in[1], places, ends, sorted);
    giving g = {.dy = run->launch->in[0], .dx = run->launch->out[0], .ends = ends, .sorted = sorted};
    ebb_take_grad_walk(call, false, &g.walk);
    cpu_spans(cpu_of(run->backend), ebb_type_count(&call->out[0]), CPU_ALIGNMENT / (int64_t)sizeof(float),
              ebb_type_bytes(&call->in[0]) + ebb_type_bytes(&call->out[0]), give_span, &g);
    return EBB_OK;
}
CPU_KERNEL(take_grad, EBB_TAKES(F32, I32), CPU_RATE(20000, 10000), .scratch = take_grad_scratch,
           .launch = take_grad_launch);

/* ---- pick's gradient -------------------------------------------------------------------------------- */

static void unpick_span(const void *ctx, int64_t begin, int64_t end) {
    const giving *g = ctx;
    const uint32_t last = g->walk.n_dims - 1;
    const int64_t s = g->walk.stride[0][last], t = g->walk.stride[1][last], u = g->walk.stride[2][last];
    ebb_walk_place at = ebb_walk_place_of(&g->walk, begin);
    while (begin < end) {
        const int64_t n = ebb_min_i64(g->walk.size[last] - at.at[last], end - begin);
        const float *dy = g->dy + at.element[0];
        const int32_t *i = g->i + at.element[2];
        for (int64_t k = 0; k < n; k++)
            g->dx[begin + k] = from_front(i[k * u], g->places) == at.element[1] + k * t ? dy[k * s] : 0;
        begin += n;
        ebb_walk_on(&g->walk, &at, n);
    }
}

static ebb_status pick_grad_launch(const ebb_kernel_run *run) {
    giving g = {.dy = run->launch->in[0],
                .i = run->launch->in[1],
                .dx = run->launch->out[0],
                .places = run->call->attr[EBB_TAKE_SIZE].i[0]};
    const ebb_status status = indices_check(run, g.places);
    if (status != EBB_OK) return status;
    ebb_take_grad_walk(run->call, true, &g.walk);
    cpu_spans(cpu_of(run->backend), ebb_type_count(&run->call->out[0]),
              CPU_ALIGNMENT / (int64_t)sizeof(float), ebb_type_bytes(&run->call->out[0]), unpick_span, &g);
    return EBB_OK;
}
CPU_KERNEL(pick_grad, EBB_TAKES(F32, I32), CPU_STREAM, .launch = pick_grad_launch);
