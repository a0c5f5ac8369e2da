/* ref/ref.c: the reference backend's table of functions: facts, kernel objects, host memory. */
#include "exec/ref/ref.h"

const ebb_kernel_info *const ref_kernels[EBB_N_OPS] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) [EBB_OP_##name] = &ebb_ref_##name,
#include "graph/ops.def"
};

static ebb_status ref_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    *out = NULL;
    if (options->n_threads < 1) {
        return ebb_fail(env, EBB_USAGE, "backend ref: n_threads is 0: give 1 or more");
    }
    ebb_backend *backend = ebb_calloc(env, 1, sizeof *backend);
    if (!backend) return EBB_NO_MEMORY;
    *backend = (ebb_backend){&ebb_backend_ref, env, options->n_threads};
    *out = backend;
    return EBB_OK;
}

static void ref_destroy(ebb_backend *backend) {
    if (backend) ebb_cfree(backend->env, backend, 1, sizeof *backend);
}

static ebb_status ref_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    *out = (ebb_op_facts){.n_choices = 1};
    const ebb_kernel_info *info;
    const ebb_status status = ebb_kernel_find(backend, ref_kernels, call, &info);
    if (status != EBB_OK) return status;
    const ebb_kernel_rate rate = ebb_kernel_rate_of(backend, info, call, &out->kind);
    out->line =
        (ebb_roofline){.flops_per_us = rate.flops, .bytes_per_us = rate.bytes, .start_ns = rate.start_ns};
    out->time_ns = ebb_roofline_call_ns(&out->line, call);
    return EBB_OK;
}

static ebb_status ref_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                              ebb_kernel **out) {
    *out = NULL;
    const ebb_kernel_info *info;
    const ebb_status status = ebb_kernel_find(backend, ref_kernels, call, &info);
    return status == EBB_OK ? ebb_kernel_make(backend, info, call, seed_key, out) : status;
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
    .fuses = ebb_fuses_always,
    .alignment = 64,
    .create = ref_create,
    .destroy = ref_destroy,
    .facts = ref_facts,
    .prepare = ref_prepare,
    .release = ebb_kernel_release,
    .launch = ebb_kernel_launch,
    .block_alloc = ref_block_alloc,
    .block_free = ref_block_free,
    .copy_in = ref_copy,
    .copy_out = ref_copy,
    .fill = ref_fill,
};
