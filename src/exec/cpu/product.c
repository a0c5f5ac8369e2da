/* cpu/product.c: see product.h. What is asked before a run: descriptions, scratch, primitives. */
#include "exec/cpu/product.h"

#include "exec/cpu/onednn.h"
#include "exec/cpu/product_state.h"

/* What a product's description says. */
typedef struct layout {
    dnnl_primitive_desc_t main, reorder; /* reorder NULL: the primitive takes our layout */
    int64_t scratchpad_bytes;            /* the larger of the two: they never run at once */
    int64_t own_bytes;                   /* weights as the primitive wants them; 0: ours will do */
} layout;

static void layout_deinit(layout *l) {
    if (l->main) (void)dnnl_primitive_desc_destroy(l->main);
    if (l->reorder) (void)dnnl_primitive_desc_destroy(l->reorder);
    *l = (layout){0};
}

/* Which of a primitive's descriptions an operand's is. */
static dnnl_query_t query_of(int arg) {
    switch (arg) {
    case DNNL_ARG_SRC:
        return dnnl_query_src_md;
    case DNNL_ARG_WEIGHTS:
        return dnnl_query_weights_md;
    case DNNL_ARG_DIFF_WEIGHTS:
        return dnnl_query_diff_weights_md;
    case DNNL_ARG_SCRATCHPAD:
        return dnnl_query_scratchpad_md;
    default:
        return dnnl_query_undef;
    }
}

static cpu_memory_desc wanted(const_dnnl_primitive_desc_t desc, int arg) {
    return dnnl_primitive_desc_query_md(desc, query_of(arg), 0);
}

static int64_t scratchpad_bytes(const_dnnl_primitive_desc_t desc) {
    return (int64_t)dnnl_memory_desc_get_size(wanted(desc, DNNL_ARG_SCRATCHPAD));
}

static const cpu_operand *free_operand(const cpu_product *product) {
    return product->free_layout == 2 ? &product->out : &product->in[product->free_layout];
}

/* The reorder between our layout of the free operand and the primitive's, where they differ. */
static dnnl_status_t describe_reorder(const cpu_backend *cpu, const cpu_product *product,
                                      cpu_memory_desc own, dnnl_primitive_desc_t *out) {
    cpu_memory_desc_own ours = {0};
    dnnl_status_t failed = cpu_memory_desc_make(&ours, &free_operand(product)->plain, false);
    const cpu_memory_desc plain = cpu_memory_desc_of(&ours);
    if (!failed && !dnnl_memory_desc_equal(own, plain)) {
        const bool is_out = product->free_layout == 2;
        failed = dnnl_reorder_primitive_desc_create(out, is_out ? own : plain, cpu->engine,
                                                    is_out ? plain : own, cpu->engine, cpu->attr);
    }
    cpu_memory_desc_deinit(&ours);
    return failed;
}

/* Fills l, to be deinitialised on failure too. At the width. */
static ebb_status describe(cpu_backend *cpu, const ebb_call *call, const cpu_product *product, layout *l) {
    *l = (layout){0};
    dnnl_status_t failed = cpu_primitive_describe(cpu, product, &l->main);
    if (failed) return cpu_onednn(cpu->base.env, call, "primitive_desc_create", failed);
    l->scratchpad_bytes = scratchpad_bytes(l->main);
    if (product->free_layout < 0) return EBB_OK;
    const cpu_memory_desc own = wanted(l->main, free_operand(product)->arg);
    failed = describe_reorder(cpu, product, own, &l->reorder);
    if (failed) return cpu_onednn(cpu->base.env, call, "reorder_primitive_desc_create", failed);
    if (!l->reorder) return EBB_OK;
    l->own_bytes = (int64_t)dnnl_memory_desc_get_size(own);
    l->scratchpad_bytes = ebb_max_i64(l->scratchpad_bytes, scratchpad_bytes(l->reorder));
    return EBB_OK;
}

ebb_status cpu_product_supports(ebb_backend *backend, const ebb_call *call, int64_t most) {
    char text[CPU_CALL_TEXT];
    if (most > CPU_MOST_ALONG_AXIS) {
        return ebb_fail(backend->env, EBB_BAD_INPUT,
                        "backend cpu: %s %s: a size, pad, stride or span of %lld is more than %d",
                        call->op->name, cpu_call_text(call, text), (long long)most, CPU_MOST_ALONG_AXIS);
    }
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++) {
        const ebb_type *type = i < call->n_in ? &call->in[i] : &call->out[i - call->n_in];
        if (ebb_type_count(type) <= CPU_MOST_ELEMENTS) continue;
        return ebb_fail(backend->env, EBB_BAD_INPUT,
                        "backend cpu: %s %s: a tensor has more than %d elements: choose a smaller batch",
                        call->op->name, cpu_call_text(call, text), CPU_MOST_ELEMENTS);
    }
    return EBB_OK;
}

static int64_t own_offset(const layout *l) {
    return ebb_align_up(l->scratchpad_bytes, CPU_ALIGNMENT);
}

ebb_status cpu_product_scratch(cpu_backend *cpu, const ebb_call *call, const cpu_product *product,
                               int64_t *bytes) {
    layout l;
    const int before = cpu_width_enter(cpu);
    const ebb_status status = describe(cpu, call, product, &l);
    cpu_width_leave(cpu, before);
    if (status == EBB_OK) *bytes = own_offset(&l) + ebb_align_up(l.own_bytes, CPU_ALIGNMENT);
    layout_deinit(&l);
    return status;
}

/* ---- primitives ----------------------------------------------------------------------------------- */

static dnnl_status_t memory_create(const cpu_backend *cpu, cpu_memory_desc desc, dnnl_memory_t *out) {
    return dnnl_memory_create(out, desc, cpu->engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t plain_create(const cpu_backend *cpu, const cpu_layout *l, dnnl_memory_t *out) {
    cpu_memory_desc_own plain = {0};
    dnnl_status_t failed = cpu_memory_desc_make(&plain, l, false);
    if (!failed) failed = memory_create(cpu, cpu_memory_desc_of(&plain), out);
    cpu_memory_desc_deinit(&plain);
    return failed;
}

static dnnl_status_t reorder_create(cpu_backend *cpu, const cpu_product *product, const layout *l,
                                    cpu_product_state *s) {
    const cpu_operand *free = free_operand(product);
    dnnl_status_t failed = dnnl_primitive_create(&s->reorder, l->reorder);
    if (!failed) failed = memory_create(cpu, wanted(l->main, free->arg), &s->own);
    if (!failed)
        failed = memory_create(cpu, wanted(l->reorder, DNNL_ARG_SCRATCHPAD), &s->reorder_scratchpad);
    s->own_offset = own_offset(l);
    return failed;
}

static dnnl_status_t state_create(cpu_backend *cpu, const cpu_product *product, const layout *l,
                                  cpu_product_state *s) {
    dnnl_status_t failed = dnnl_primitive_create(&s->main, l->main);
    for (int i = 0; i < 3; i++) {
        const cpu_operand *operand = i == 2 ? &product->out : &product->in[i];
        s->arg[i] = operand->arg;
        if (!failed) failed = plain_create(cpu, &operand->plain, &s->plain[i]);
    }
    if (!failed) failed = memory_create(cpu, wanted(l->main, DNNL_ARG_SCRATCHPAD), &s->scratchpad);
    s->free_layout = product->free_layout;
    if (!failed && l->reorder) failed = reorder_create(cpu, product, l, s);
    return failed;
}

ebb_status cpu_product_prepare(cpu_backend *cpu, const ebb_call *call, const cpu_product *product,
                               void **state) {
    ebb_env *env = cpu->base.env;
    *state = NULL;
    cpu_product_state *s = ebb_calloc(env, 1, sizeof *s);
    if (!s) return EBB_NO_MEMORY;
    layout l;
    const int before = cpu_width_enter(cpu);
    ebb_status status = describe(cpu, call, product, &l);
    if (status == EBB_OK) {
        status = cpu_onednn(env, call, "primitive_create", state_create(cpu, product, &l, s));
    }
    cpu_width_leave(cpu, before);
    layout_deinit(&l);
    if (status != EBB_OK) {
        cpu_product_release(&cpu->base, s);
        return status;
    }
    *state = s;
    return EBB_OK;
}

void cpu_product_release(ebb_backend *backend, void *state) {
    cpu_product_state *s = state;
    if (!s) return;
    if (s->main) (void)dnnl_primitive_destroy(s->main);
    if (s->reorder) (void)dnnl_primitive_destroy(s->reorder);
    dnnl_memory_t memories[] = {s->plain[0],   s->plain[1], s->plain[2],
                                s->scratchpad, s->own,      s->reorder_scratchpad};
    for (size_t i = 0; i < EBB_COUNT(memories); i++) {
        if (memories[i]) (void)dnnl_memory_destroy(memories[i]);
    }
    ebb_cfree(backend->env, s, 1, sizeof *s);
}
