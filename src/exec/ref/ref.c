/* ref/ref.c: the reference backend's table of functions: facts, kernel objects, host memory. */
#include "exec/ref/ref.h"

#include "exec/roofline.h"

/* Reading and writing elements one by one through double is slow; the ratio of the two rates is what
 * matters to a search: about that of a host core. Not measured on any machine, so that plans agree on all
 * of them. */
static const ebb_roofline ref_roofline = {.flops_per_us = 2000, .bytes_per_us = 4000, .start_ns = 200};

typedef ebb_status (*ref_kernel)(const ref_run *run);

/* NULL for composites and views: they have no kernel. */
static const ref_kernel kernels[EBB_N_OPS] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) [EBB_OP_##name] = ebb_ref_##name,
#include "graph/ops.def"
};

struct ebb_kernel {
    ebb_call call; /* its tables follow this struct */
    uint64_t seed_key;
    size_t bytes;
};

static ebb_status ref_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    *out = NULL;
    if (options->n_threads < 1) {
        return ebb_fail(env, EBB_USAGE, "backend ref: n_threads is 0: give 1 or more");
    }
    ebb_backend *backend = ebb_calloc(env, 1, sizeof(*backend));
    if (!backend) return EBB_NO_MEMORY;
    *backend = (ebb_backend){&ebb_backend_ref, env, options->n_threads};
    *out = backend;
    return EBB_OK;
}

static void ref_destroy(ebb_backend *backend) {
    if (backend) ebb_cfree(backend->env, backend, 1, sizeof(*backend));
}

static ebb_status supported(ebb_backend *backend, const ebb_call *call) {
    if (kernels[call->op->code]) return EBB_OK;
    return ebb_fail(backend->env, EBB_BAD_INPUT, "backend ref: %s has no kernel: it is %s", call->op->name,
                    call->op->view ? "a view" : "composite, lower the graph first");
}

static ebb_status ref_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    *out = (ebb_op_facts){.n_choices = 1};
    const ebb_status status = supported(backend, call);
    if (status != EBB_OK) return status;
    ebb_cost cost = {0};
    call->op->cost(call, &cost);
    *out = (ebb_op_facts){.n_choices = 1,
                          .time_ns = ebb_roofline_ns(&ref_roofline, &cost),
                          .kind = call->op->name,
                          .line = ref_roofline};
    return EBB_OK;
}

static ebb_status ref_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                              ebb_kernel **out) {
    *out = NULL;
    const ebb_status status = supported(backend, call);
    if (status != EBB_OK) return status;
    const size_t n_types = (size_t)call->n_in + call->n_out, n_attrs = call->op->n_attrs;
    const size_t bytes = sizeof(ebb_kernel) + n_types * sizeof(ebb_type) + n_attrs * sizeof(ebb_attr);
    ebb_kernel *kernel = ebb_calloc(backend->env, 1, bytes);
    if (!kernel) return EBB_NO_MEMORY;
    ebb_attr *attr = (ebb_attr *)(kernel + 1);
    ebb_type *in = (ebb_type *)(attr + n_attrs), *results = in + call->n_in;
    if (n_attrs) memcpy(attr, call->attr, n_attrs * sizeof(ebb_attr));
    if (call->n_in) memcpy(in, call->in, call->n_in * sizeof(ebb_type));
    if (call->n_out) memcpy(results, call->out, call->n_out * sizeof(ebb_type));
    kernel->call = *call;
    kernel->call.in = in;
    kernel->call.out = results;
    kernel->call.attr = attr;
    kernel->seed_key = seed_key;
    kernel->bytes = bytes;
    *out = kernel;
    return EBB_OK;
}

static void ref_release(ebb_backend *backend, ebb_kernel *kernel) {
    if (kernel) ebb_cfree(backend->env, kernel, 1, kernel->bytes);
}

static ebb_status ref_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    const ref_run run = {backend->env, &kernel->call, launch, kernel->seed_key};
    return kernels[kernel->call.op->code](&run);
}

static ebb_status ref_block_alloc(ebb_backend *backend, int64_t bytes, void **out) {
    *out = ebb_alloc_aligned(backend->env, (size_t)bytes, (size_t)ebb_backend_ref.alignment);
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

static void ref_block_free(ebb_backend *backend, void *block, int64_t bytes) {
    if (block) ebb_free_aligned(backend->env, block, (size_t)bytes, (size_t)ebb_backend_ref.alignment);
}

static ebb_status ref_copy(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    (void)backend;
    if (bytes) memcpy(to, from, (size_t)bytes);
    return EBB_OK;
}

static ebb_status ref_fill(ebb_backend *backend, void *to, int byte, int64_t bytes) {
    (void)backend;
    if (bytes) memset(to, byte, (size_t)bytes);
    return EBB_OK;
}

const ebb_backend_api ebb_backend_ref = {
    .name = "ref",
    .host_memory = true,
    .computes = true,
    .alignment = 64,
    .create = ref_create,
    .destroy = ref_destroy,
    .facts = ref_facts,
    .prepare = ref_prepare,
    .release = ref_release,
    .launch = ref_launch,
    .block_alloc = ref_block_alloc,
    .block_free = ref_block_free,
    .copy_in = ref_copy,
    .copy_out = ref_copy,
    .fill = ref_fill,
};
