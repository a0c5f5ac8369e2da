/* cpu/onednn.c: see onednn.h. */
#include "exec/cpu/onednn.h"

#if DNNL_VERSION_MAJOR < 2 || (DNNL_VERSION_MAJOR == 2 && DNNL_VERSION_MINOR < 6)
#error "oneDNN is older than 2.6"
#endif

/* The descriptions of a product's operands. */
typedef struct operands {
    cpu_memory_desc_own at[3];
} operands;

static dnnl_status_t operands_make(const cpu_product *p, operands *o) {
    dnnl_status_t failed = dnnl_success;
    for (int i = 0; i < 3 && !failed; i++)
        failed = cpu_memory_desc_make(&o->at[i], &p->at[i].plain, p->bf16, p->at[i].free);
    return failed;
}

static void operands_deinit(operands *o) {
    for (int i = 0; i < 3; i++) cpu_memory_desc_deinit(&o->at[i]);
}

/* Which input is the left factor. */
static int left_of(const cpu_product *p) {
    return p->at[0].arg == DNNL_ARG_SRC ? 0 : 1;
}

/* What a convolution and its gradients call these. */
typedef struct convolution {
    cpu_memory_desc x, w, y;
} convolution;

static convolution convolution_of(const cpu_product *p, const operands *o) {
    const cpu_memory_desc in0 = cpu_memory_desc_of(&o->at[0]), in1 = cpu_memory_desc_of(&o->at[1]);
    const cpu_memory_desc out = cpu_memory_desc_of(&o->at[2]);
    switch (p->kind) {
    case CPU_CONV_DGRAD:
        return (convolution){.x = out, .w = in1, .y = in0};
    case CPU_CONV_WGRAD:
        return (convolution){.x = in0, .w = out, .y = in1};
    default:
        return (convolution){.x = in0, .w = in1, .y = out};
    }
}

bool cpu_primitive_is(const_dnnl_primitive_desc_t desc, const char *part) {
    const char *name = NULL;
    if (dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name)) return false;
    return name && strstr(name, part);
}

static bool avoided(const cpu_product *product, const_dnnl_primitive_desc_t desc) {
    return product->avoid && cpu_primitive_is(desc, product->avoid);
}

#if DNNL_VERSION_MAJOR >= 3

dnnl_status_t cpu_memory_desc_make(cpu_memory_desc_own *out, const cpu_layout *l, bool bf16, bool any) {
    const dnnl_data_type_t type = bf16 ? dnnl_bf16 : dnnl_f32;
    if (any)
        return dnnl_memory_desc_create_with_tag(&out->desc, l->rank, l->size, type, dnnl_format_tag_any);
    return dnnl_memory_desc_create_with_strides(&out->desc, l->rank, l->size, type, l->stride);
}

void cpu_memory_desc_deinit(cpu_memory_desc_own *own) {
    if (own->desc) (void)dnnl_memory_desc_destroy(own->desc);
    own->desc = NULL;
}

cpu_memory_desc cpu_memory_desc_of(const cpu_memory_desc_own *own) {
    return own->desc;
}

static dnnl_status_t forward_describe(const cpu_backend *cpu, const cpu_product *p, const convolution *c,
                                      dnnl_primitive_desc_t *out) {
    return dnnl_convolution_forward_primitive_desc_create(
        out, cpu->engine, dnnl_forward_training, dnnl_convolution_direct, c->x, c->w, NULL, c->y, p->stride,
        p->dilation, p->before, p->behind, cpu->attr);
}

/* Gradients want to see their forward. */
static dnnl_status_t backward_describe(const cpu_backend *cpu, const cpu_product *p, const convolution *c,
                                       dnnl_primitive_desc_t *out) {
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t failed = forward_describe(cpu, p, c, &hint);
    if (!failed && p->kind == CPU_CONV_DGRAD)
        failed = dnnl_convolution_backward_data_primitive_desc_create(
            out, cpu->engine, dnnl_convolution_direct, c->x, c->w, c->y, p->stride, p->dilation, p->before,
            p->behind, hint, cpu->attr);
    else if (!failed)
        failed = dnnl_convolution_backward_weights_primitive_desc_create(
            out, cpu->engine, dnnl_convolution_direct, c->x, c->w, NULL, c->y, p->stride, p->dilation,
            p->before, p->behind, hint, cpu->attr);
    if (hint) (void)dnnl_primitive_desc_destroy(hint);
    return failed;
}

static dnnl_status_t first(const cpu_backend *cpu, const cpu_product *p, const operands *o,
                           dnnl_primitive_desc_t *out) {
    if (p->kind == CPU_MATMUL)
        return dnnl_matmul_primitive_desc_create(out, cpu->engine, cpu_memory_desc_of(&o->at[left_of(p)]),
                                                 cpu_memory_desc_of(&o->at[!left_of(p)]), NULL,
                                                 cpu_memory_desc_of(&o->at[2]), cpu->attr);
    const convolution c = convolution_of(p, o);
    return p->kind == CPU_CONV ? forward_describe(cpu, p, &c, out) : backward_describe(cpu, p, &c, out);
}

static dnnl_status_t choose(const cpu_backend *cpu, const cpu_product *p, const operands *o,
                            dnnl_primitive_desc_t *out) {
    dnnl_status_t failed = first(cpu, p, o, out);
    while (!failed && avoided(p, *out)) failed = dnnl_primitive_desc_next_impl(*out);
    if (!failed) return dnnl_success;
    if (*out) (void)dnnl_primitive_desc_destroy(*out);
    *out = NULL;
    return failed == dnnl_last_impl_reached ? dnnl_unimplemented : failed;
}

#else

dnnl_status_t cpu_memory_desc_make(cpu_memory_desc_own *out, const cpu_layout *l, bool bf16, bool any) {
    const dnnl_data_type_t type = bf16 ? dnnl_bf16 : dnnl_f32;
    if (any) return dnnl_memory_desc_init_by_tag(&out->desc, l->rank, l->size, type, dnnl_format_tag_any);
    return dnnl_memory_desc_init_by_strides(&out->desc, l->rank, l->size, type, l->stride);
}

void cpu_memory_desc_deinit(cpu_memory_desc_own *own) {
    (void)own;
}

cpu_memory_desc cpu_memory_desc_of(const cpu_memory_desc_own *own) {
    return &own->desc;
}

/* What a primitive is made of; each points into nothing. */
typedef union op_desc {
    dnnl_convolution_desc_t convolution;
    dnnl_matmul_desc_t matmul;
} op_desc;

static dnnl_status_t op_describe(const cpu_product *p, cpu_product_kind kind, const operands *o,
                                 op_desc *out) {
    const convolution c = convolution_of(p, o);
    switch (kind) {
    case CPU_MATMUL:
        return dnnl_matmul_desc_init(&out->matmul, &o->at[left_of(p)].desc, &o->at[!left_of(p)].desc, NULL,
                                     &o->at[2].desc);
    case CPU_CONV_DGRAD:
        return dnnl_dilated_convolution_backward_data_desc_init(&out->convolution, dnnl_convolution_direct,
                                                                c.x, c.w, c.y, p->stride, p->dilation,
                                                                p->before, p->behind);
    case CPU_CONV_WGRAD:
        return dnnl_dilated_convolution_backward_weights_desc_init(
            &out->convolution, dnnl_convolution_direct, c.x, c.w, NULL, c.y, p->stride, p->dilation,
            p->before, p->behind);
    default:
        return dnnl_dilated_convolution_forward_desc_init(&out->convolution, dnnl_forward_training,
                                                          dnnl_convolution_direct, c.x, c.w, NULL, c.y,
                                                          p->stride, p->dilation, p->before, p->behind);
    }
}

/* What a gradient wants to see of its forward; *out stays NULL for others. */
static dnnl_status_t hint_describe(const cpu_backend *cpu, const cpu_product *p, const operands *o,
                                   dnnl_primitive_desc_t *out) {
    op_desc forward;
    if (p->kind != CPU_CONV_DGRAD && p->kind != CPU_CONV_WGRAD) return dnnl_success;
    const dnnl_status_t failed = op_describe(p, CPU_CONV, o, &forward);
    return failed ? failed : dnnl_primitive_desc_create(out, &forward, cpu->attr, cpu->engine, NULL);
}

static dnnl_status_t walk(dnnl_primitive_desc_iterator_t at, const cpu_product *p,
                          dnnl_primitive_desc_t *out) {
    for (;;) {
        *out = dnnl_primitive_desc_iterator_fetch(at);
        if (!*out) return dnnl_out_of_memory;
        if (!avoided(p, *out)) return dnnl_success;
        (void)dnnl_primitive_desc_destroy(*out);
        *out = NULL;
        const dnnl_status_t failed = dnnl_primitive_desc_iterator_next(at);
        if (failed) return failed == dnnl_iterator_ends ? dnnl_unimplemented : failed;
    }
}

static dnnl_status_t choose(const cpu_backend *cpu, const cpu_product *p, const operands *o,
                            dnnl_primitive_desc_t *out) {
    dnnl_primitive_desc_iterator_t at = NULL;
    dnnl_primitive_desc_t hint = NULL;
    op_desc op;
    dnnl_status_t failed = hint_describe(cpu, p, o, &hint);
    if (!failed) failed = op_describe(p, p->kind, o, &op);
    if (!failed) failed = dnnl_primitive_desc_iterator_create(&at, &op, cpu->attr, cpu->engine, hint);
    if (!failed) failed = walk(at, p, out);
    if (at) (void)dnnl_primitive_desc_iterator_destroy(at);
    if (hint) (void)dnnl_primitive_desc_destroy(hint);
    return failed;
}

#endif

dnnl_status_t cpu_primitive_describe(const cpu_backend *cpu, const cpu_product *product,
                                     dnnl_primitive_desc_t *out) {
    operands o = {0};
    *out = NULL;
    dnnl_status_t failed = operands_make(product, &o);
    if (!failed) failed = choose(cpu, product, &o, out);
    operands_deinit(&o);
    return failed;
}
