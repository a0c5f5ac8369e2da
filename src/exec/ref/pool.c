/* ref/pool.c: pooling over windows and over whole planes, and the gradients.
 *
 * A window is the part of kernel h x w that lies inside the input; padding holds no elements. Gradients
 * gather: each input element asks the windows that contain it.
 */
#include "exec/ref/ref.h"

#include <math.h>

typedef struct pool {
    ref_tensor x, y; /* in the gradients: also dx, dy shapes */
    int64_t n, c, h, w, oh, ow;
    int64_t kernel[2], stride[2], pad[2];
} pool;

typedef struct window {
    int64_t h0, h1, w0, w1; /* half-open, inside the input */
} window;

static pool pool_of(const ebb_kernel_run *run, ref_tensor x, ref_tensor y) {
    const ebb_attr *a = run->call->attr;
    pool s = {.x = x, .y = y, .n = x.type->dim[0], .c = x.type->dim[1], .h = x.type->dim[2]};
    s.w = x.type->dim[3];
    s.oh = y.type->dim[2];
    s.ow = y.type->dim[3];
    for (int axis = 0; axis < 2; axis++) {
        s.kernel[axis] = a[EBB_POOL_KERNEL].i[axis];
        s.stride[axis] = ebb_pool_stride(a, (uint32_t)axis);
        s.pad[axis] = a[EBB_POOL_PAD].i[axis];
    }
    return s;
}

static window window_of(const pool *s, int64_t p, int64_t q) {
    const int64_t h = p * s->stride[0] - s->pad[0], w = q * s->stride[1] - s->pad[1];
    return (window){ebb_max_i64(h, 0), ebb_min_i64(h + s->kernel[0], s->h), ebb_max_i64(w, 0),
                    ebb_min_i64(w + s->kernel[1], s->w)};
}

/* The output positions [*first, *end) along an axis whose windows contain input position i. */
static void readers(const pool *s, int axis, int64_t i, int64_t n_out, int64_t *first, int64_t *end) {
    const int64_t last = i + s->pad[axis], reach = last - s->kernel[axis] + 1;
    *first = reach <= 0 ? 0 : (reach + s->stride[axis] - 1) / s->stride[axis];
    *end = ebb_min_i64(last / s->stride[axis] + 1, n_out);
}

/* A NaN is above every number, and nothing is above a NaN: a loss that is no number has to show. */
static bool above(double x, double best) {
    return !(x <= best) && !isnan(best);
}

/* Storage index of the window's first maximum in the order h, w. */
static int64_t first_max(const pool *s, const window *v, int64_t n, int64_t c) {
    int64_t best = ref_at4(s->x.type, n, c, v->h0, v->w0);
    for (int64_t h = v->h0; h < v->h1; h++) {
        for (int64_t w = v->w0; w < v->w1; w++) {
            const int64_t at = ref_at4(s->x.type, n, c, h, w);
            if (above(ref_get(&s->x, at), ref_get(&s->x, best))) best = at;
        }
    }
    return best;
}

/* y of one window and channel; dx of one element. */
typedef double y_of(const ebb_kernel_run *run, const pool *s, const window *v, int64_t n, int64_t c);
typedef double dx_of(const ebb_kernel_run *run, const pool *s, int64_t n, int64_t c, int64_t h, int64_t w);

static ebb_status forward(const ebb_kernel_run *run, y_of *y) {
    const pool s = pool_of(run, ref_in(run, 0), ref_out(run, 0));
    for (int64_t n = 0; n < s.n; n++) {
        for (int64_t p = 0; p < s.oh; p++) {
            for (int64_t q = 0; q < s.ow; q++) {
                const window v = window_of(&s, p, q);
                for (int64_t c = 0; c < s.c; c++)
                    ref_set(&s.y, ref_at4(s.y.type, n, c, p, q), y(run, &s, &v, n, c));
            }
        }
    }
    return EBB_OK;
}

static ebb_status backward(const ebb_kernel_run *run, const pool *s, const ref_tensor *dx, dx_of *element) {
    for (int64_t n = 0; n < s->n; n++)
        for (int64_t h = 0; h < s->h; h++)
            for (int64_t w = 0; w < s->w; w++)
                for (int64_t c = 0; c < s->c; c++)
                    ref_set(dx, ref_at4(dx->type, n, c, h, w), element(run, s, n, c, h, w));
    return EBB_OK;
}

/* ---- maximum ---------------------------------------------------------------------------------------- */

static double max_y(const ebb_kernel_run *run, const pool *s, const window *v, int64_t n, int64_t c) {
    (void)run;
    return ref_get(&s->x, first_max(s, v, n, c));
}

REF_KERNEL(max_pool) {
    return forward(run, max_y);
}

static double max_dx(const ebb_kernel_run *run, const pool *s, int64_t n, int64_t c, int64_t h, int64_t w) {
    (void)run;
    const int64_t self = ref_at4(s->x.type, n, c, h, w);
    int64_t p0, p1, q0, q1;
    readers(s, 0, h, s->oh, &p0, &p1);
    readers(s, 1, w, s->ow, &q0, &q1);
    double sum = 0;
    for (int64_t p = p0; p < p1; p++) {
        for (int64_t q = q0; q < q1; q++) {
            const window v = window_of(s, p, q);
            if (first_max(s, &v, n, c) == self) sum += ref_get(&s->y, ref_at4(s->y.type, n, c, p, q));
        }
    }
    return sum;
}

REF_KERNEL(max_pool_grad) {
    const pool s = pool_of(run, ref_in(run, 0), ref_in(run, 1));
    const ref_tensor dx = ref_out(run, 0);
    return backward(run, &s, &dx, max_dx);
}

/* The place of an element in a window is counted over the whole kernel, padding too. */
static int64_t place_of(const pool *s, int64_t p, int64_t q, int64_t h, int64_t w) {
    return (h - p * s->stride[0] + s->pad[0]) * s->kernel[1] + (w - q * s->stride[1] + s->pad[1]);
}

REF_KERNEL(max_pool_at) {
    const pool s = pool_of(run, ref_in(run, 0), ref_out(run, 0));
    const ref_tensor place = ref_out(run, 1);
    for (int64_t n = 0; n < s.n; n++) {
        for (int64_t p = 0; p < s.oh; p++) {
            for (int64_t q = 0; q < s.ow; q++) {
                const window v = window_of(&s, p, q);
                for (int64_t c = 0; c < s.c; c++) {
                    const int64_t to = ref_at4(s.y.type, n, c, p, q), best = first_max(&s, &v, n, c);
                    const int64_t pixel = best / s.c % (s.h * s.w);
                    ref_set(&s.y, to, ref_get(&s.x, best));
                    ref_set(&place, to, (double)place_of(&s, p, q, pixel / s.w, pixel % s.w));
                }
            }
        }
    }
    return EBB_OK;
}

static double max_at_dx(const ebb_kernel_run *run, const pool *s, int64_t n, int64_t c, int64_t h,
                        int64_t w) {
    const ref_tensor place = ref_in(run, 1);
    int64_t p0, p1, q0, q1;
    readers(s, 0, h, s->oh, &p0, &p1);
    readers(s, 1, w, s->ow, &q0, &q1);
    double sum = 0;
    for (int64_t p = p0; p < p1; p++) {
        for (int64_t q = q0; q < q1; q++) {
            const int64_t at = ref_at4(s->y.type, n, c, p, q);
            if ((int64_t)ref_get(&place, at) == place_of(s, p, q, h, w)) sum += ref_get(&s->y, at);
        }
    }
    return sum;
}

REF_KERNEL(max_pool_at_grad) {
    const ref_tensor dx = ref_out(run, 0);
    const pool s = pool_of(run, dx, ref_in(run, 0));
    return backward(run, &s, &dx, max_at_dx);
}

/* ---- average ---------------------------------------------------------------------------------------- */

/* What a window's sum is divided by: its elements, or with count_pad the kernel's. */
static double avg_divisor(const ebb_kernel_run *run, const pool *s, const window *v) {
    if (run->call->attr[EBB_POOL_COUNT_PAD].i[0]) return (double)(s->kernel[0] * s->kernel[1]);
    return (double)((v->h1 - v->h0) * (v->w1 - v->w0));
}

static double avg_y(const ebb_kernel_run *run, const pool *s, const window *v, int64_t n, int64_t c) {
    double sum = 0;
    for (int64_t h = v->h0; h < v->h1; h++)
        for (int64_t w = v->w0; w < v->w1; w++) sum += ref_get(&s->x, ref_at4(s->x.type, n, c, h, w));
    return sum / avg_divisor(run, s, v);
}

REF_KERNEL(avg_pool) {
    return forward(run, avg_y);
}

static double avg_dx(const ebb_kernel_run *run, const pool *s, int64_t n, int64_t c, int64_t h, int64_t w) {
    int64_t p0, p1, q0, q1;
    readers(s, 0, h, s->oh, &p0, &p1);
    readers(s, 1, w, s->ow, &q0, &q1);
    double sum = 0;
    for (int64_t p = p0; p < p1; p++) {
        for (int64_t q = q0; q < q1; q++) {
            const window v = window_of(s, p, q);
            sum += ref_get(&s->y, ref_at4(s->y.type, n, c, p, q)) / avg_divisor(run, s, &v);
        }
    }
    return sum;
}

REF_KERNEL(avg_pool_grad) {
    const pool s = pool_of(run, ref_out(run, 0), ref_in(run, 0));
    return backward(run, &s, &s.x, avg_dx);
}

/* ---- whole planes ----------------------------------------------------------------------------------- */

REF_KERNEL(global_avg_pool) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t *d = x.type->dim;
    for (int64_t n = 0; n < d[0]; n++) {
        for (int64_t c = 0; c < d[1]; c++) {
            double sum = 0;
            for (int64_t h = 0; h < d[2]; h++)
                for (int64_t w = 0; w < d[3]; w++) sum += ref_get(&x, ref_at4(x.type, n, c, h, w));
            ref_set(&y, n * d[1] + c, sum / (double)(d[2] * d[3]));
        }
    }
    return EBB_OK;
}

REF_KERNEL(global_avg_pool_grad) {
    const ref_tensor dy = ref_in(run, 0), dx = ref_out(run, 0);
    const int64_t *d = dx.type->dim;
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++)
            for (int64_t h = 0; h < d[2]; h++)
                for (int64_t w = 0; w < d[3]; w++)
                    ref_set(&dx, ref_at4(dx.type, n, c, h, w),
                            ref_get(&dy, n * d[1] + c) / (double)(d[2] * d[3]));
    return EBB_OK;
}
