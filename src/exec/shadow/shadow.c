/* shadow/shadow.c: the backend that computes nothing and proves a plan: it tracks which buffer owns each
 * byte and refuses a step that reads bytes which another value has overwritten (shadow/step.c).
 *
 * A block is a range of numbers, no memory, so a plan for any machine can be walked on any other.
 */
#include "exec/shadow/shadow.h"

#include "exec/roofline.h"

#define BLOCK_ALIGNMENT ((int64_t)EBB_BLOCK_ALIGNMENT)

/* Rates of a host core, for plans that are asked of this backend itself. */
static const ebb_roofline shadow_roofline = {.flops_per_us = 2000, .bytes_per_us = 4000, .start_ns = 200};

static ebb_status shadow_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    *out = NULL;
    ebb_shadow *shadow = ebb_calloc(env, 1, sizeof *shadow);
    if (!shadow) return EBB_NO_MEMORY;
    shadow->base = (ebb_backend){&ebb_backend_shadow, env, options->n_threads};
    shadow->next_block = (uint64_t)BLOCK_ALIGNMENT;
    const ebb_status status = ebb_owners_init(&shadow->owners, env);
    if (status != EBB_OK) {
        ebb_cfree(env, shadow, 1, sizeof *shadow);
        return status;
    }
    *out = &shadow->base;
    return EBB_OK;
}

static void shadow_destroy(ebb_backend *backend) {
    if (!backend) return;
    ebb_shadow *shadow = (ebb_shadow *)backend;
    ebb_env *env = backend->env;
    ebb_owners_deinit(&shadow->owners);
    EBB_ARRAY_FREE(env, &shadow->roots);
    ebb_cfree(env, shadow, 1, sizeof *shadow);
}

static ebb_status shadow_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    (void)backend;
    ebb_cost cost = {0};
    if (call->op->cost) call->op->cost(call, &cost);
    *out = (ebb_op_facts){.n_choices = 1,
                          .time_ns = ebb_roofline_ns(&shadow_roofline, &cost),
                          .kind = call->op->name,
                          .line = shadow_roofline};
    return EBB_OK;
}

/* No kernel: what a step does to memory comes with the launch. */
static ebb_status shadow_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                                 ebb_kernel **out) {
    (void)backend, (void)call, (void)seed_key;
    *out = NULL;
    return EBB_OK;
}

static void shadow_release(ebb_backend *backend, ebb_kernel *kernel) {
    (void)backend, (void)kernel;
}

static ebb_status shadow_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    (void)kernel;
    if (!launch->check) {
        return ebb_fail(backend->env, EBB_INTERNAL, "backend shadow: launched without what it must check");
    }
    return ebb_shadow_step((ebb_shadow *)backend, launch);
}

/* ---- blocks: ranges of numbers -------------------------------------------------------------------- */

static ebb_status shadow_block_alloc(ebb_backend *backend, int64_t bytes, void **out) {
    *out = NULL;
    ebb_shadow *shadow = (ebb_shadow *)backend;
    const uint64_t limit = (uint64_t)ebb_min_i64(INT64_MAX, (int64_t)(UINTPTR_MAX >> 1));
    const uint64_t room = limit - shadow->next_block;
    if (bytes < 0 || (uint64_t)bytes > room || room - (uint64_t)bytes < 2 * (uint64_t)BLOCK_ALIGNMENT) {
        return ebb_fail(backend->env, EBB_NO_MEMORY, "backend shadow: no addresses left for %lld bytes",
                        (long long)bytes);
    }
    *out = (void *)(uintptr_t)shadow->next_block;
    /* A gap behind each block: an offset past its end meets nobody's bytes. */
    shadow->next_block += (uint64_t)ebb_align_up(bytes + 1, BLOCK_ALIGNMENT);
    return EBB_OK;
}

/* Addresses are not given out twice; what a freed block held is forgotten when there is memory to say so.
 */
static void shadow_block_free(ebb_backend *backend, void *block, int64_t bytes) {
    if (!block) return;
    const ebb_status status =
        ebb_shadow_take((ebb_shadow *)backend, block, bytes, EBB_OWNER_NOBODY, EBB_NONE);
    (void)status;
}

static ebb_status shadow_copy_in(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    (void)backend, (void)to, (void)from, (void)bytes;
    return EBB_OK;
}

static ebb_status shadow_copy_out(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    (void)backend, (void)from;
    if (bytes) memset(to, 0, (size_t)bytes);
    return EBB_OK;
}

static ebb_status shadow_fill(ebb_backend *backend, void *to, int byte, int64_t bytes) {
    (void)byte;
    return ebb_shadow_take((ebb_shadow *)backend, to, bytes, EBB_OWNER_NOBODY, EBB_NONE);
}

static ebb_status shadow_given(ebb_backend *backend, const void *at, int64_t bytes, ebb_id buffer) {
    ebb_shadow *shadow = (ebb_shadow *)backend;
    const ebb_status status = ebb_shadow_set_root(shadow, buffer, buffer);
    return status == EBB_OK ? ebb_shadow_take(shadow, at, bytes, buffer, EBB_NONE) : status;
}

const ebb_backend_api ebb_backend_shadow = {
    .name = "shadow",
    .computes = false,
    .alignment = 64, /* of plans that are asked of it; it runs those of any other */
    .create = shadow_create,
    .destroy = shadow_destroy,
    .facts = shadow_facts,
    .prepare = shadow_prepare,
    .release = shadow_release,
    .launch = shadow_launch,
    .block_alloc = shadow_block_alloc,
    .block_free = shadow_block_free,
    .copy_in = shadow_copy_in,
    .copy_out = shadow_copy_out,
    .fill = shadow_fill,
    .given = shadow_given,
};
