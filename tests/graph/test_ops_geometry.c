/* Geometry against counting: the rules that are arithmetic (windows, views) agree with the definition on
 * all small sizes. */
#include <criterion/criterion.h>

#include "graph/op.h"

static ebb_env *env;
static void setup(void) {
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
}
static void teardown(void) {
    ebb_env_destroy(env);
}
TestSuite(ops_geometry, .init = setup, .fini = teardown);

/* Windows of `span` places, one every `stride`, that lie within x padded on both sides. */
static int64_t windows(int64_t x, int64_t span, int64_t stride, int64_t pad) {
    int64_t n = 0;
    for (int64_t at = -pad; at + span <= x + pad; at += stride) n++;
    return n;
}

typedef struct axis {
    int64_t x, k, stride, pad, dilation;
} axis;

/* The next combination of small sizes; false when all were seen. */
static bool axis_next(axis *a) {
    if (++a->x <= 9) return true;
    a->x = 1;
    if (++a->k <= 5) return true;
    a->k = 1;
    if (++a->stride <= 4) return true;
    a->stride = 1;
    if (++a->pad <= 5) return true;
    a->pad = 0;
    return ++a->dilation <= 3;
}

/* The rows carry the axis; the columns are a 1x1 that must stay as it is. */
Test(ops_geometry, conv2d_has_one_result_for_each_window_that_fits) {
    axis a = {.x = 1, .k = 1, .stride = 1, .pad = 0, .dilation = 1};
    do {
        ebb_type in[] = {{.rank = 4, .dim = {1, 1, a.x, 3}}, {.rank = 4, .dim = {1, 1, a.k, 1}}}, out, dx,
                 dw;
        ebb_attr attr[] = {[EBB_CONV_STRIDE] = {.i = {a.stride, 1}},
                           [EBB_CONV_PAD] = {.i = {a.pad, 0}},
                           [EBB_CONV_DILATION] = {.i = {a.dilation, 1}},
                           [EBB_CONV_GROUPS] = {.i = {1}},
                           [EBB_CONV_SIZE] = {.i = {a.x, 3}}};
        ebb_call call = {.op = &ebb_op_conv2d, .in = in, .out = &out, .n_in = 2, .n_out = 1, .attr = attr};
        ebb_status status = call.op->infer(env, &call, &out);
        int64_t want = windows(a.x, a.dilation * (a.k - 1) + 1, a.stride, a.pad);
        cr_assert_eq(status == EBB_OK, want > 0, "x %d k %d", (int)a.x, (int)a.k);
        if (status) continue;
        cr_assert_eq(out.dim[2], want, "x %d k %d stride %d pad %d", (int)a.x, (int)a.k, (int)a.stride,
                     (int)a.pad);
        cr_assert_eq(out.dim[3], 3);

        /* and both gradients find their way back */
        ebb_type dgrad_in[] = {out, in[1]}, wgrad_in[] = {in[0], out};
        call = (ebb_call){.op = &ebb_op_conv2d_dgrad, .in = dgrad_in, .n_in = 2, .n_out = 1, .attr = attr};
        cr_assert_eq(call.op->infer(env, &call, &dx), EBB_OK, "%s", ebb_env_error(env));
        cr_assert(ebb_type_equal(&dx, &in[0]));
        attr[EBB_CONV_SIZE] = (ebb_attr){.i = {a.k, 1}};
        call = (ebb_call){.op = &ebb_op_conv2d_wgrad, .in = wgrad_in, .n_in = 2, .n_out = 1, .attr = attr};
        cr_assert_eq(call.op->infer(env, &call, &dw), EBB_OK, "%s", ebb_env_error(env));
        cr_assert(ebb_type_equal(&dw, &in[1]));
    } while (axis_next(&a));
}

Test(ops_geometry, pools_have_a_real_element_in_every_window) {
    axis a = {.x = 1, .k = 1, .stride = 1, .pad = 0, .dilation = 1};
    do {
        ebb_type x = {.rank = 4, .dim = {1, 1, a.x, 3}}, y;
        ebb_attr attr[] = {[EBB_POOL_KERNEL] = {.i = {a.k, 1}},
                           [EBB_POOL_STRIDE] = {.i = {a.stride, 0}},
                           [EBB_POOL_PAD] = {.i = {a.pad, 0}}};
        ebb_call call = {.op = &ebb_op_max_pool, .in = &x, .out = &y, .n_in = 1, .n_out = 1, .attr = attr};
        ebb_status status = call.op->infer(env, &call, &y);
        int64_t want = a.pad < a.k ? windows(a.x, a.k, a.stride, a.pad) : 0;
        cr_assert_eq(status == EBB_OK, want > 0, "x %d k %d pad %d", (int)a.x, (int)a.k, (int)a.pad);
        if (status) continue;
        cr_assert_eq(y.dim[2], want);
        cr_assert_eq(y.dim[3], 3, "a stride of 0 is the kernel's");
        for (int64_t w = 0; w < want; w++) {
            int64_t begin = w * a.stride - a.pad, end = begin + a.k;
            cr_assert(begin < a.x && end > 0, "window %d of x %d is padding", (int)w, (int)a.x);
        }
    } while (axis_next(&a) && a.dilation == 1);
}

/* ---- reshape -------------------------------------------------------------------------------------- */

#define ELEMENTS 24

/* Where the element of that logical number lies in storage, counted in elements. */
static int64_t storage_of(const ebb_type *type, int64_t logical) {
    if (type->rank != 4) return logical;
    const int64_t *d = type->dim;
    int64_t w = logical % d[3], h = logical / d[3] % d[2], c = logical / d[3] / d[2] % d[1];
    int64_t n = logical / d[3] / d[2] / d[1];
    return ((n * d[2] + h) * d[3] + w) * d[1] + c;
}

/* All shapes of ELEMENTS elements of rank 1 to 4, and two of rank 5. */
static uint32_t shapes_make(ebb_type shapes[256]) {
    uint32_t n = 0;
    for (int64_t a = 1; a <= ELEMENTS; a++) {
        for (int64_t b = 1; b <= ELEMENTS / a; b++) {
            for (int64_t c = 1; c <= ELEMENTS / a / b; c++) {
                int64_t d = ELEMENTS / a / b / c;
                if (a * b * c * d != ELEMENTS) continue;
                shapes[n++] = (ebb_type){.rank = 4, .dim = {a, b, c, d}};
                if (d == 1) shapes[n++] = (ebb_type){.rank = 3, .dim = {a, b, c}};
                if (d == 1 && c == 1) shapes[n++] = (ebb_type){.rank = 2, .dim = {a, b}};
            }
        }
    }
    shapes[n++] = (ebb_type){.rank = 1, .dim = {ELEMENTS}};
    shapes[n++] = (ebb_type){.rank = 5, .dim = {2, 1, 3, 2, 2}};
    shapes[n++] = (ebb_type){.rank = 5, .dim = {1, 4, 1, 6, 1}};
    return n;
}

Test(ops_geometry, reshape_is_allowed_just_where_no_byte_moves) {
    ebb_type shapes[256];
    uint32_t n = shapes_make(shapes), n_views = 0, n_refused = 0;
    cr_assert_gt(n, 40);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            bool same = true;
            for (int64_t e = 0; same && e < ELEMENTS; e++)
                same = storage_of(&shapes[i], e) == storage_of(&shapes[j], e);
            ebb_attr attr[] = {[EBB_RESHAPE_SHAPE] = {.i = {0}}};
            for (uint32_t d = 0; d < shapes[j].rank; d++) attr[0].i[d] = shapes[j].dim[d];
            ebb_type out;
            ebb_call call = {.op = &ebb_op_reshape, .in = &shapes[i], .n_in = 1, .n_out = 1, .attr = attr};
            char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
            cr_assert_eq(call.op->infer(env, &call, &out) == EBB_OK, same, "%s to %s",
                         ebb_type_text(&shapes[i], a), ebb_type_text(&shapes[j], b));
            if (same) cr_assert(ebb_type_equal(&out, &shapes[j]));
            n_views += same;
            n_refused += !same;
        }
    }
    cr_expect(n_views > n && n_refused > n, "both kinds must occur: %u and %u", n_views, n_refused);
}
