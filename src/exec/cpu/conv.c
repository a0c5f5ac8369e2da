/* cpu/conv.c: conv2d and its gradients as products. Activations are n,h,w,c; weights o,h,w,i as stored,
 * given to oneDNN as [g,o,i,h,w] with strides, of which it may choose another order for itself. */
#include "exec/cpu/low.h"
#include "exec/cpu/product.h"

typedef enum conv_kind { FORWARD, DGRAD, WGRAD } conv_kind;
enum { N, C, H, W, O, KH, KW, OH, OW, SH, SW, PH, PW, DH, DW, G, N_CONV };

typedef struct conv {
    int64_t size[N_CONV];
    conv_kind kind;
    dnnl_convolution_desc_t forward, backward;
    cpu_product product; /* points into this struct */
} conv;

static conv_kind kind_of(const ebb_call *call) {
    if (call->op->code == EBB_OP_conv2d_dgrad) return DGRAD;
    return call->op->code == EBB_OP_conv2d_wgrad ? WGRAD : FORWARD;
}

static void conv_sizes(const ebb_call *call, conv_kind kind, int64_t size[N_CONV]) {
    const int64_t *x = kind == DGRAD ? call->out[0].dim : call->in[0].dim;
    const int64_t *w = kind == WGRAD ? call->out[0].dim : call->in[1].dim;
    const int64_t *y = kind == FORWARD ? call->out[0].dim : call->in[kind == WGRAD].dim;
    const ebb_attr *a = call->attr;
    const int64_t all[N_CONV] = {[N] = x[0],
                                 [C] = x[1],
                                 [H] = x[2],
                                 [W] = x[3],
                                 [O] = y[1],
                                 [KH] = w[2],
                                 [KW] = w[3],
                                 [OH] = y[2],
                                 [OW] = y[3],
                                 [SH] = a[EBB_CONV_STRIDE].i[0],
                                 [SW] = a[EBB_CONV_STRIDE].i[1],
                                 [PH] = a[EBB_CONV_PAD].i[0],
                                 [PW] = a[EBB_CONV_PAD].i[1],
                                 [DH] = a[EBB_CONV_DILATION].i[0],
                                 [DW] = a[EBB_CONV_DILATION].i[1],
                                 [G] = a[EBB_CONV_GROUPS].i[0]};
    memcpy(size, all, sizeof all);
}

static dnnl_status_t image_desc(dnnl_memory_desc_t *desc, int64_t n, int64_t c, int64_t h, int64_t w) {
    const dnnl_dims_t dims = {n, c, h, w};
    return dnnl_memory_desc_init_by_tag(desc, 4, dims, dnnl_f32, dnnl_nhwc);
}

/* Weights in our layout, or in any where desc is only a wish. */
static dnnl_status_t weights_desc(dnnl_memory_desc_t *desc, const int64_t *s, bool any) {
    const int64_t o = s[O] / s[G], i = s[C] / s[G], row = s[KW] * i, filter = s[KH] * row;
    const dnnl_dims_t dims = {s[G], o, i, s[KH], s[KW]}, strides = {o * filter, filter, 1, row, i};
    const int skip = s[G] == 1; /* a single group has no axis */
    if (any)
        return dnnl_memory_desc_init_by_tag(desc, 5 - skip, dims + skip, dnnl_f32, dnnl_format_tag_any);
    return dnnl_memory_desc_init_by_strides(desc, 5 - skip, dims + skip, dnnl_f32, strides + skip);
}

/* Padding behind the last element that this many outputs need: less than 0 where some are not read. */
static int64_t pad_behind(const int64_t *s, int axis) {
    const int64_t span = (s[KH + axis] - 1) * s[DH + axis] + 1;
    return (s[OH + axis] - 1) * s[SH + axis] + span - s[H + axis] - s[PH + axis];
}

/* oneDNN's strided 1x1 weight gradients of channels-last images write past their scratchpad where an image
 * has fewer channels than one of their blocks, 8 or 16 (github.com/uxlfoundation/oneDNN/issues/6035). */
static bool writes_past_scratchpad(const int64_t *s) {
    return s[KH] == 1 && s[KW] == 1 && (s[SH] > 1 || s[SW] > 1) && s[C] / s[G] < 16;
}

/* What oneDNN calls the operands, by kind; the weights' layout is its choice. */
static cpu_product operands(const conv *v, const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *w,
                            const dnnl_memory_desc_t *y) {
    switch (v->kind) {
    case DGRAD:
        return (cpu_product){.in = {{DNNL_ARG_DIFF_DST, *y}, {DNNL_ARG_WEIGHTS, *w}},
                             .out = {DNNL_ARG_DIFF_SRC, *x},
                             .free_layout = 1,
                             .hint = &v->forward,
                             .op = &v->backward};
    case WGRAD:
        return (cpu_product){.in = {{DNNL_ARG_SRC, *x}, {DNNL_ARG_DIFF_DST, *y}},
                             .out = {DNNL_ARG_DIFF_WEIGHTS, *w},
                             .free_layout = 2,
                             .hint = &v->forward,
                             .op = &v->backward,
                             .avoid = writes_past_scratchpad(v->size) ? "jit_1x1:" : NULL};
    default:
        return (cpu_product){.in = {{DNNL_ARG_SRC, *x}, {DNNL_ARG_WEIGHTS, *w}},
                             .out = {DNNL_ARG_DST, *y},
                             .free_layout = 1,
                             .op = &v->forward};
    }
}

static dnnl_status_t conv_describe(conv *v) {
    const int64_t *s = v->size;
    dnnl_memory_desc_t x, w, y, plain;
    dnnl_status_t failed = image_desc(&x, s[N], s[C], s[H], s[W]);
    if (!failed) failed = image_desc(&y, s[N], s[O], s[OH], s[OW]);
    if (!failed) failed = weights_desc(&w, s, true);
    if (!failed) failed = weights_desc(&plain, s, false);
    if (failed) return failed;
    v->product = operands(v, &x, &plain, &y);
    const dnnl_dims_t stride = {s[SH], s[SW]}, dilation = {s[DH] - 1, s[DW] - 1};
    const dnnl_dims_t before = {s[PH], s[PW]}, behind = {pad_behind(s, 0), pad_behind(s, 1)};
    const dnnl_alg_kind_t direct = dnnl_convolution_direct;
    failed = dnnl_dilated_convolution_forward_desc_init(&v->forward, dnnl_forward_training, direct, &x, &w,
                                                        NULL, &y, stride, dilation, before, behind);
    if (failed || v->kind == FORWARD) return failed;
    if (v->kind == DGRAD) {
        return dnnl_dilated_convolution_backward_data_desc_init(&v->backward, direct, &x, &w, &y, stride,
                                                                dilation, before, behind);
    }
    return dnnl_dilated_convolution_backward_weights_desc_init(&v->backward, direct, &x, &w, NULL, &y,
                                                               stride, dilation, before, behind);
}

static ebb_status conv_supports(ebb_backend *backend, const ebb_call *call) {
    int64_t s[N_CONV], most = 0;
    conv_sizes(call, kind_of(call), s);
    for (int i = 0; i < N_CONV; i++) most = ebb_max_i64(most, s[i]);
    for (int axis = 0; axis < 2 && most <= CPU_MOST_ALONG_AXIS; axis++) {
        most = ebb_max_i64(most, s[H + axis] + 2 * s[PH + axis]);
        most = ebb_max_i64(most, s[KH + axis] * s[DH + axis]);
    }
    return cpu_product_supports(backend, call, most);
}

static ebb_status conv_of(ebb_backend *backend, const ebb_call *call, conv *v) {
    v->kind = kind_of(call);
    conv_sizes(call, v->kind, v->size);
    return cpu_onednn(backend->env, call, "convolution_desc_init", conv_describe(v));
}

static ebb_status conv_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    cpu_backend *cpu = cpu_of(backend);
    int64_t key[CPU_MEMO_KEY] = {1 + call->op->code};
    conv_sizes(call, kind_of(call), key + 1);
    if (cpu_memo_find(&cpu->memo, key, bytes)) return EBB_OK;
    conv v;
    ebb_status status = conv_of(backend, call, &v);
    if (status == EBB_OK) status = cpu_product_scratch(cpu, call, &v.product, bytes);
    return status == EBB_OK ? cpu_memo_add(&cpu->memo, backend->env, key, *bytes) : status;
}

static ebb_status conv_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    conv v;
    const ebb_status status = conv_of(backend, call, &v);
    return status == EBB_OK ? cpu_product_prepare(cpu_of(backend), call, &v.product, state) : status;
}

_Static_assert(N_CONV < CPU_MEMO_KEY, "a convolution's numbers and its op fit in a key");

/* ---- the kernels ----------------------------------------------------------------------------------- */

/* By how many channels stand side by side in a vector. */
typedef struct conv_class {
    const char *kind[3][CPU_N_REALS]; /* by conv_kind */
    ebb_kernel_rate rate[3];
} conv_class;
#define KINDS(of) \
    { CPU_KINDS("conv2d" of), CPU_KINDS("conv2d_dgrad" of), CPU_KINDS("conv2d_wgrad" of) }
static const conv_class dense = {KINDS(""),
                                 {{215000, 17000, 3000}, {195000, 17000, 3000}, {170000, 17000, 3000}}};
static const conv_class thin = {KINDS(" thin"),
                                {{200000, 17000, 3000}, {150000, 15000, 3000}, {110000, 12000, 3000}}};
static const conv_class grouped = {KINDS(" grouped"),
                                   {{180000, 15000, 3000}, {90000, 15000, 3000}, {120000, 12000, 3000}}};
static const conv_class narrow = {KINDS(" narrow"),
                                  {{40000, 17000, 3000}, {35000, 15000, 3000}, {20000, 12000, 3000}}};

enum { THIN = 16, NARROW = 8 }; /* fewer input channels of an image or of a group */

static void conv_rate(const ebb_call *call, ebb_kernel_rate *rate, const char **kind) {
    const conv_kind which = kind_of(call);
    const ebb_type *x = which == DGRAD ? &call->out[0] : &call->in[0];
    const int64_t groups = call->attr[EBB_CONV_GROUPS].i[0], channels = x->dim[1] / groups;
    const conv_class *c = groups == 1         ? channels < THIN ? &thin : &dense
                          : channels < NARROW ? &narrow
                                              : &grouped;
    *rate = c->rate[which];
    *kind = c->kind[which][cpu_real_of(call)];
}

#define CONV(name, rate)                                                                         \
    CPU_KERNEL(name, EBB_TAKES(F32), rate, .rate_of = conv_rate, .supports = conv_supports,      \
               .scratch = conv_scratch, .prepare = conv_prepare, .release = cpu_product_release, \
               .launch = cpu_product_launch)
CONV(conv2d, EBB_RATE(215000, 17000, 3000));
CONV(conv2d_dgrad, EBB_RATE(195000, 17000, 3000));
CONV(conv2d_wgrad, EBB_RATE(170000, 17000, 3000));
