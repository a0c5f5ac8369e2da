/* cpu/product.c: see product.h. What is asked before a run: descriptions, scratch, primitives. */
#include "exec/cpu/product.h"

#include "exec/cpu/onednn.h"
#include "exec/cpu/product_state.h"

/* What a product's description says. */
typedef struct layout {
    dnnl_primitive_desc_t main, reorder[3]; /* reorder NULL: the primitive takes our layout */
    int64_t scratchpad_bytes;               /* the largest of them: they never run at once */
    int64_t own_bytes[3];                   /* an operand as the primitive wants it; 0: ours will do */
    int64_t result_bytes;                   /* a chunk's result that is added to those before it; else 0 */
} layout;

static void layout_deinit(layout *l) {
    if (l->main) (void)dnnl_primitive_desc_destroy(l->main);
    for (int i = 0; i < 3; i++) {
        if (l->reorder[i]) (void)dnnl_primitive_desc_destroy(l->reorder[i]);
    }
    *l = (layout){0};
}

/* ---- its team ------------------------------------------------------------------------------------- */

int cpu_product_team(const cpu_backend *cpu, const ebb_call *call, const cpu_product *product) {
    ebb_cost cost;
    call->op->cost(call, &cost);
    const double flops = (double)cost.flops / (double)(product->n_more + 1); /* of a chunk */
    return flops < cpu->team_flops ? 1 : (int)cpu->base.n_threads;
}

/* ---- descriptions --------------------------------------------------------------------------------- */

/* Which of a primitive's descriptions an operand's is. */
static dnnl_query_t query_of(int arg) {
    switch (arg) {
    case DNNL_ARG_SRC:
        return dnnl_query_src_md;
    case DNNL_ARG_DIFF_SRC:
        return dnnl_query_diff_src_md;
    case DNNL_ARG_WEIGHTS:
        return dnnl_query_weights_md;
    case DNNL_ARG_DIFF_WEIGHTS:
        return dnnl_query_diff_weights_md;
    case DNNL_ARG_DST:
        return dnnl_query_dst_md;
    case DNNL_ARG_DIFF_DST:
        return dnnl_query_diff_dst_md;
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

/* The reorder between our layout of operand i and the primitive's, where they differ. */
static dnnl_status_t describe_reorder(const cpu_backend *cpu, const cpu_product *product, layout *l,
                                      int i) {
    const cpu_operand *operand = &product->at[i];
    const bool is_out = i == 2;
    cpu_memory_desc_own ours = {0};
    const cpu_memory_desc own = wanted(l->main, operand->arg);
    dnnl_status_t failed = cpu_memory_desc_make(&ours, &operand->plain, product->bf16, false);
    const cpu_memory_desc plain = cpu_memory_desc_of(&ours);
    if (!failed && !dnnl_memory_desc_equal(own, plain)) {
        failed = dnnl_reorder_primitive_desc_create(&l->reorder[i], is_out ? own : plain, cpu->engine,
                                                    is_out ? plain : own, cpu->engine, cpu->attr);
        l->own_bytes[i] = (int64_t)dnnl_memory_desc_get_size(own);
    }
    cpu_memory_desc_deinit(&ours);
    return failed;
}

/* Fills l, to be deinitialised on failure too. By the product's team. */
static ebb_status describe(cpu_backend *cpu, const ebb_call *call, const cpu_product *product, layout *l) {
    *l = (layout){0};
    dnnl_status_t failed = cpu_primitive_describe(cpu, product, &l->main);
    if (failed) return cpu_onednn(cpu->base.env, call, "primitive_desc_create", failed);
    l->scratchpad_bytes = scratchpad_bytes(l->main);
    for (int i = 0; i < 3; i++) {
        if (!product->at[i].free) continue;
        failed = describe_reorder(cpu, product, l, i);
        if (failed) return cpu_onednn(cpu->base.env, call, "reorder_primitive_desc_create", failed);
        if (l->reorder[i])
            l->scratchpad_bytes = ebb_max_i64(l->scratchpad_bytes, scratchpad_bytes(l->reorder[i]));
    }
    if (product->n_more > 0 && product->at[2].chunk_bytes == 0)
        l->result_bytes = (int64_t)dnnl_memory_desc_get_size(wanted(l->main, product->at[2].arg));
    return EBB_OK;
}

bool cpu_product_is_within(const ebb_call *call, int64_t most) {
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++)
        if (ebb_type_count(i < call->n_in ? &call->in[i] : &call->out[i - call->n_in]) > CPU_MOST_ELEMENTS)
            return false;
    return most <= CPU_MOST_ALONG_AXIS;
}

ebb_status cpu_product_supports(ebb_backend *backend, const ebb_call *call, int64_t most) {
    char text[CPU_CALL_TEXT];
    if (cpu_product_is_within(call, most)) return EBB_OK;
    if (most > CPU_MOST_ALONG_AXIS) {
        return ebb_fail(backend->env, EBB_BAD_INPUT,
                        "backend cpu: %s %s: a size, pad, stride or span of %lld is more than %d",
                        call->op->name, cpu_call_text(call, text), (long long)most, CPU_MOST_ALONG_AXIS);
    }
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cpu: %s %s: a tensor has more than %d elements: choose a smaller batch",
                    call->op->name, cpu_call_text(call, text), CPU_MOST_ELEMENTS);
}

/* Where the parts of scratch begin: operands, a chunk's result; the last one is the end. */
enum { N_PARTS = 5 };
static void parts_of(const layout *l, int64_t part[N_PARTS]) {
    const int64_t bytes[N_PARTS - 1] = {l->own_bytes[0], l->own_bytes[1], l->own_bytes[2], l->result_bytes};
    part[0] = ebb_align_up(l->scratchpad_bytes, CPU_ALIGNMENT);
    for (int i = 1; i < N_PARTS; i++) part[i] = part[i - 1] + ebb_align_up(bytes[i - 1], CPU_ALIGNMENT);
}

ebb_status cpu_product_scratch(cpu_backend *cpu, const ebb_call *call, const cpu_product *product,
                               int64_t *bytes) {
    layout l;
    int64_t part[N_PARTS];
    const int before = cpu_team_enter(cpu_product_team(cpu, call, product));
    const ebb_status status = describe(cpu, call, product, &l);
    cpu_team_leave(before);
    parts_of(&l, part);
    if (status == EBB_OK) *bytes = part[N_PARTS - 1];
    layout_deinit(&l);
    return status;
}

/* ---- primitives ----------------------------------------------------------------------------------- */

static dnnl_status_t memory_create(const cpu_backend *cpu, cpu_memory_desc desc, dnnl_memory_t *out) {
    return dnnl_memory_create(out, desc, cpu->engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t plain_create(const cpu_backend *cpu, const cpu_layout *l, bool bf16,
                                  dnnl_memory_t *out) {
    cpu_memory_desc_own plain = {0};
    dnnl_status_t failed = cpu_memory_desc_make(&plain, l, bf16, false);
    if (!failed) failed = memory_create(cpu, cpu_memory_desc_of(&plain), out);
    cpu_memory_desc_deinit(&plain);
    return failed;
}

static dnnl_status_t operand_create(cpu_backend *cpu, const cpu_product *product, const layout *l, int i,
                                    cpu_product_operand *to) {
    const cpu_operand *operand = &product->at[i];
    to->arg = operand->arg;
    to->chunk_bytes = operand->chunk_bytes;
    dnnl_status_t failed = plain_create(cpu, &operand->plain, product->bf16, &to->plain);
    if (failed || !l->reorder[i]) return failed;
    failed = dnnl_primitive_create(&to->reorder, l->reorder[i]);
    if (!failed) failed = memory_create(cpu, wanted(l->main, operand->arg), &to->own);
    if (!failed)
        failed = memory_create(cpu, wanted(l->reorder[i], DNNL_ARG_SCRATCHPAD), &to->reorder_scratchpad);
    return failed;
}

static dnnl_status_t state_create(cpu_backend *cpu, const cpu_product *product, const layout *l,
                                  cpu_product_state *s) {
    int64_t part[N_PARTS];
    parts_of(l, part);
    dnnl_status_t failed = dnnl_primitive_create(&s->main, l->main);
    for (int i = 0; i < 3; i++) {
        if (!failed) failed = operand_create(cpu, product, l, i, &s->at[i]);
        s->at[i].own_offset = part[i];
    }
    if (!failed) failed = memory_create(cpu, wanted(l->main, DNNL_ARG_SCRATCHPAD), &s->scratchpad);
    if (!failed && l->result_bytes > 0)
        failed = memory_create(cpu, wanted(l->main, product->at[2].arg), &s->result);
    s->result_offset = part[3];
    s->result_floats = l->result_bytes / (int64_t)sizeof(float);
    s->n_more = product->n_more;
    return failed;
}

ebb_status cpu_product_prepare(cpu_backend *cpu, const ebb_call *call, const cpu_product *product,
                               void **state) {
    ebb_env *env = cpu->base.env;
    *state = NULL;
    cpu_product_state *s = ebb_calloc(env, 1, sizeof *s);
    if (!s) return EBB_NO_MEMORY;
    layout l;
    s->team = cpu_product_team(cpu, call, product);
    const int before = cpu_team_enter(s->team);
    ebb_status status = describe(cpu, call, product, &l);
    if (status == EBB_OK) {
        status = cpu_onednn(env, call, "primitive_create", state_create(cpu, product, &l, s));
    }
    cpu_team_leave(before);
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
    if (s->scratchpad) (void)dnnl_memory_destroy(s->scratchpad);
    if (s->result) (void)dnnl_memory_destroy(s->result);
    for (int i = 0; i < 3; i++) {
        const cpu_product_operand *at = &s->at[i];
        if (at->reorder) (void)dnnl_primitive_destroy(at->reorder);
        if (at->plain) (void)dnnl_memory_destroy(at->plain);
        if (at->own) (void)dnnl_memory_destroy(at->own);
        if (at->reorder_scratchpad) (void)dnnl_memory_destroy(at->reorder_scratchpad);
    }
    ebb_cfree(backend->env, s, 1, sizeof *s);
}
