/* cpu/conv.c: conv2d and its gradients as products. Activations are n,h,w,c; weights o,h,w,i as stored,
 * given to oneDNN as [g,o,i,h,w] with strides, of which it may choose another order for itself. */
#include "exec/cpu/conv.h"

cpu_product_kind cpu_conv_kind(const ebb_call *call) {
    if (call->op->code == EBB_OP_conv2d_dgrad) return CPU_CONV_DGRAD;
    return call->op->code == EBB_OP_conv2d_wgrad ? CPU_CONV_WGRAD : CPU_CONV;
}

/* So that three of them can be added. */
static int64_t bytes_of(const ebb_type *type) {
    return ebb_min_i64(ebb_type_bytes(type), INT64_MAX / 3);
}

void cpu_conv_sizes(const ebb_call *call, int64_t size[CPU_N_CONV]) {
    const cpu_product_kind kind = cpu_conv_kind(call);
    const int64_t *x = kind == CPU_CONV_DGRAD ? call->out[0].dim : call->in[0].dim;
    const int64_t *w = kind == CPU_CONV_WGRAD ? call->out[0].dim : call->in[1].dim;
    const int64_t *y = kind == CPU_CONV ? call->out[0].dim : call->in[kind == CPU_CONV_WGRAD].dim;
    const ebb_attr *a = call->attr;
    const int64_t all[CPU_N_CONV] = {[N] = x[0],
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
                                     [G] = a[EBB_CONV_GROUPS].i[0],
                                     [BYTES] = bytes_of(&call->in[0]) + bytes_of(&call->in[1]) +
                                               bytes_of(&call->out[0])};
    memcpy(size, all, sizeof all);
}

static cpu_layout image(int64_t n, int64_t c, int64_t h, int64_t w) {
    return (cpu_layout){4, {n, c, h, w}, {h * w * c, 1, w * c, c}};
}

/* A single group has no axis. */
static cpu_layout weights(const int64_t *s) {
    const int64_t o = s[O] / s[G], i = s[C] / s[G], row = s[KW] * i, filter = s[KH] * row;
    if (s[G] == 1) return (cpu_layout){4, {o, i, s[KH], s[KW]}, {filter, 1, row, i}};
    return (cpu_layout){5, {s[G], o, i, s[KH], s[KW]}, {o * filter, filter, 1, row, i}};
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

/* What oneDNN calls the operands, by kind; the weights' layout is its choice. n: images of a chunk. */
static void operands(const int64_t *s, int64_t n, bool free, cpu_product *p) {
    const int64_t bytes = n < s[N] ? n * (int64_t)sizeof(float) : 0;
    const cpu_operand x = {
        .plain = image(n, s[C], s[H], s[W]), .free = free, .chunk_bytes = bytes * s[C] * s[H] * s[W]};
    const cpu_operand y = {
        .plain = image(n, s[O], s[OH], s[OW]), .free = free, .chunk_bytes = bytes * s[O] * s[OH] * s[OW]};
    const cpu_operand w = {.plain = weights(s), .free = true};
    static const int args[3][3] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                                   {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
                                   {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS}};
    const int kind = p->kind - CPU_CONV;
    p->at[0] = p->kind == CPU_CONV_DGRAD ? y : x;
    p->at[1] = p->kind == CPU_CONV_WGRAD ? y : w;
    p->at[2] = p->kind == CPU_CONV_DGRAD ? x : p->kind == CPU_CONV_WGRAD ? w : y;
    for (int i = 0; i < 3; i++) p->at[i].arg = args[kind][i];
    p->n_more = s[N] / n - 1;
}

cpu_product cpu_conv_product(const ebb_call *call, const int64_t *s, cpu_conv_way way) {
    cpu_product p = {.kind = cpu_conv_kind(call)};
    operands(s, way.images > 0 ? way.images : s[N], way.images > 0, &p);
    for (int axis = 0; axis < 2; axis++) {
        p.stride[axis] = s[SH + axis];
        p.dilation[axis] = s[DH + axis] - 1;
        p.before[axis] = s[PH + axis];
        p.behind[axis] = pad_behind(s, axis);
    }
    p.bf16 = call->in[0].dtype == EBB_BF16;
    if (p.kind == CPU_CONV_WGRAD && writes_past_scratchpad(s)) p.avoid = "jit_1x1:";
    return p;
}

int64_t cpu_conv_most(const int64_t *s) {
    int64_t most = 0;
    for (int i = 0; i < BYTES; i++) most = ebb_max_i64(most, s[i]);
    for (int axis = 0; axis < 2 && most <= CPU_MOST_ALONG_AXIS; axis++) {
        most = ebb_max_i64(most, s[H + axis] + 2 * s[PH + axis]);
        most = ebb_max_i64(most, s[KH + axis] * s[DH + axis]);
    }
    return most;
}

static ebb_status conv_supports(ebb_backend *backend, const ebb_call *call) {
    int64_t s[CPU_N_CONV];
    cpu_conv_sizes(call, s);
    return cpu_product_supports(backend, call, cpu_conv_most(s));
}

static ebb_status conv_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    cpu_conv_way way;
    return cpu_conv_choose(cpu_of(backend), call, &way, bytes);
}

typedef struct conv_state {
    void *product;
    ebb_status (*launch)(const ebb_kernel_run *run);
} conv_state;

static void conv_release(ebb_backend *backend, void *state) {
    conv_state *c = state;
    if (!c) return;
    cpu_product_release(backend, c->product);
    ebb_cfree(backend->env, c, 1, sizeof *c);
}

static ebb_status conv_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    cpu_backend *cpu = cpu_of(backend);
    int64_t s[CPU_N_CONV], bytes;
    cpu_conv_way way;
    *state = NULL;
    ebb_status status = cpu_conv_choose(cpu, call, &way, &bytes);
    if (status != EBB_OK) return status;
    conv_state *c = ebb_calloc(backend->env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    cpu_conv_sizes(call, s);
    c->launch = way.columns ? cpu_columns_launch : way.tiles ? cpu_tiles_launch : cpu_product_launch;
    const cpu_product product = way.columns ? cpu_columns_product(s)
                                : way.tiles ? cpu_tiles_product(s, cpu_conv_kind(call))
                                            : cpu_conv_product(call, s, way);
    status = cpu_product_prepare(cpu, call, &product, &c->product);
    if (status == EBB_OK)
        *state = c;
    else
        conv_release(backend, c);
    return status;
}

static ebb_status conv_launch(const ebb_kernel_run *run) {
    const conv_state *c = run->state;
    ebb_kernel_run inner = *run;
    inner.state = c->product;
    return c->launch(&inner);
}

#define CONV(name, rate)                                                                        \
    CPU_KERNEL(name, EBB_TAKES(F32), rate, .rate_of = cpu_conv_rate, .supports = conv_supports, \
               .scratch = conv_scratch, .prepare = conv_prepare, .release = conv_release,       \
               .launch = conv_launch)
CONV(conv2d, EBB_RATE(215000, 17000, 3000));
CONV(conv2d_dgrad, EBB_RATE(195000, 17000, 3000));
CONV(conv2d_wgrad, EBB_RATE(170000, 17000, 3000));
