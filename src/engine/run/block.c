/* The one block of an engine: the persistent region, which all programs share, then the largest program's
 * transient region. */
#include "engine/run/run.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what programs share --------------------------------------------------------------------------- */

/* Where each given persistent value lies; -1 for the other values. NULL: no memory. */
static int64_t *shared_offsets(ebb_arena *arena, const ebb_program *program) {
    const ebb_graph *graph = program->compiled.graph;
    const ebb_plan *plan = program->compiled.plan;
    int64_t *offset = EBB_NEW(arena, int64_t, graph->n_values);
    if (!offset) return NULL;
    for (uint32_t v = 0; v < graph->n_values; v++) offset[v] = -1;
    for (uint32_t b = 0; b < plan->n_buffers; b++) {
        const ebb_value *value = &graph->values[plan->buffers[b].value];
        if (value->producer == EBB_NONE && ebb_role_persistent(value->role))
            offset[plan->buffers[b].value] = plan->buffers[b].offset;
    }
    return offset;
}

static uint32_t next_shared(const int64_t *offset, uint32_t n_values, uint32_t v) {
    while (v < n_values && offset[v] < 0) v++;
    return v;
}

static bool same_type(const ebb_type *a, const ebb_type *b) {
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

static ebb_status refuse(const ebb_engine *engine, const ebb_value *now, const ebb_value *first) {
    char text[EBB_TYPE_TEXT], first_text[EBB_TYPE_TEXT];
    const ebb_value *v = now ? now : first;
    return ebb_fail(engine->env, EBB_BAD_INPUT,
                    "%s: %s is %s at these dimensions but %s at the first ones; dimensions that params, "
                    "states and constants depend on cannot change within one engine",
                    engine->model->name, v->name, now ? ebb_type_text(&now->type, text) : "absent",
                    first ? ebb_type_text(&first->type, first_text) : "absent");
}

/* The first program laid the given persistent values out and filled them. A later one finds them as they
 * are, so each must be the same tensor at the same place: the same bytes would not do, since a [2,3] is no
 * [3,2]. */
static ebb_status compare_shared(ebb_engine *engine, ebb_arena *arena, const ebb_program *program) {
    const ebb_program *first = engine->programs.at[0];
    const ebb_graph *graph = program->compiled.graph, *first_graph = first->compiled.graph;
    const int64_t *offset = shared_offsets(arena, program), *first_offset = shared_offsets(arena, first);
    if (!offset || !first_offset) return EBB_NO_MEMORY;
    for (uint32_t v = 0, w = 0;; v++, w++) {
        v = next_shared(offset, graph->n_values, v);
        w = next_shared(first_offset, first_graph->n_values, w);
        const ebb_value *a = v < graph->n_values ? &graph->values[v] : NULL;
        const ebb_value *b = w < first_graph->n_values ? &first_graph->values[w] : NULL;
        if (!a && !b) return EBB_OK;
        if (!a || !b || strcmp(a->name, b->name) != 0) return refuse(engine, a, a ? NULL : b);
        if (a->role != b->role || a->fill != b->fill || !same_type(&a->type, &b->type))
            return refuse(engine, a, b);
        if (offset[v] != first_offset[w])
            return ebb_fail(engine->env, EBB_INTERNAL,
                            "%s: %s lies at %lld, but at %lld in the first program", engine->model->name,
                            a->name, (long long)offset[v], (long long)first_offset[w]);
    }
}

ebb_status ebb_engine_check_shared(ebb_engine *engine, const ebb_program *program) {
    if (engine->programs.n == 0) return EBB_OK;
    ebb_arena arena;
    ebb_arena_init(&arena, engine->env);
    ebb_status status = compare_shared(engine, &arena, program);
    ebb_arena_deinit(&arena);
    return status;
}

/* ---- the bytes ------------------------------------------------------------------------------------- */

/* What stands in the way of a plan on a device with memory of its own, item by item. */
static ebb_status refuse_block(const ebb_engine *engine, const ebb_plan *plan) {
    const ebb_backend_api *api = engine->backend->api;
    ebb_memory_facts f;
    if (!api->memory || api->memory(engine->backend, &f) != EBB_OK) return EBB_NO_MEMORY;
    const int64_t need = plan->persistent_bytes + plan->arena_bytes;
    const int64_t context = ebb_max_i64(f.context_bytes, 0);
    const int64_t others = f.total_bytes - f.free_bytes - context - f.ballast_bytes - f.block_bytes;
    return ebb_fail(
        engine->env, EBB_NO_MEMORY,
        "%s: the plan takes %lld bytes (%lld persistent, %lld transient), and %lld of the device's %lld "
        "are free: %lld are taken by the context, %lld by the ballast of a cap, %lld by blocks of this "
        "engine, %lld by libraries and other processes: plan within %lld",
        engine->model->name, (long long)need, (long long)plan->persistent_bytes,
        (long long)plan->arena_bytes, (long long)f.free_bytes, (long long)f.total_bytes, (long long)context,
        (long long)f.ballast_bytes, (long long)f.block_bytes, (long long)ebb_max_i64(others, 0),
        (long long)f.free_bytes);
}

static void hold_block(ebb_engine *engine, void *block, int64_t bytes, int64_t persistent_bytes) {
    engine->block = block;
    engine->block_bytes = bytes;
    engine->persistent_bytes = persistent_bytes;
}

/* A device without room for two blocks: the parameters wait in host memory while one makes way for the
 * other. When there is no room for the new one either, the old one is made again, with them in it. When
 * that fails, too, or they cannot be copied back, they are lost: the engine holds no block then, compiles
 * nothing and runs nothing any more. */
static ebb_status swap_block(ebb_engine *engine, const ebb_plan *plan, int64_t need, char *parameters) {
    const ebb_backend_api *api = engine->backend->api;
    const int64_t kept = engine->persistent_bytes, old = engine->block_bytes;
    char why[1024] = "";
    void *block;
    ebb_status status = api->copy_out(engine->backend, parameters, engine->block, kept);
    if (status != EBB_OK) return status;
    ebb_engine_drop_block(engine);
    status = api->block_alloc(engine->backend, need, &block);
    if (status != EBB_OK) {
        if (status == EBB_NO_MEMORY) status = refuse_block(engine, plan);
        (void)snprintf(why, sizeof why, "%s", ebb_env_error(engine->env));
        if (api->block_alloc(engine->backend, old, &block) != EBB_OK) block = NULL;
    }
    if (block) hold_block(engine, block, status == EBB_OK ? need : old, kept);
    const ebb_status copied = block ? api->copy_in(engine->backend, block, parameters, kept) : EBB_OK;
    if (status == EBB_OK && copied != EBB_OK)
        (void)snprintf(why, sizeof why, "%s", ebb_env_error(engine->env));
    engine->lost = !block || copied != EBB_OK;
    if (engine->lost) ebb_engine_drop_block(engine);
    ebb_engine_bind_all(engine); /* programs have moved, or are nowhere */
    if (status == EBB_OK) status = copied;
    if (status == EBB_OK) return EBB_OK;
    return ebb_fail(engine->env, status, "%s%s", why, engine->lost ? "; and the parameters are lost" : "");
}

static ebb_status replace_block(ebb_engine *engine, const ebb_plan *plan, int64_t need) {
    const size_t bytes = (size_t)engine->persistent_bytes;
    char *parameters = ebb_alloc_aligned(engine->env, bytes, 64);
    if (!parameters) return EBB_NO_MEMORY;
    const ebb_status status = swap_block(engine, plan, need, parameters);
    ebb_free_aligned(engine->env, parameters, bytes, 64);
    return status;
}

/* The whole pages of [begin, end), whose bytes nobody needs any more. */
static void drop_pages(char *begin, char *end) {
    const long page = sysconf(_SC_PAGESIZE);
    if (page <= 0) return;
    const uintptr_t size = (uintptr_t)page, first = ((uintptr_t)begin + size - 1) / size * size;
    const uintptr_t last = (uintptr_t)end / size * size;
    if (first < last) (void)madvise((void *)first, last - first, MADV_DONTNEED);
}

/* Copies the persistent region into the new block. On the host a slice's old pages go back to the system
 * when it is copied, or else a larger block for one more program would need two sets of parameters. */
static ebb_status move_persistent(ebb_engine *engine, char *to) {
    const ebb_backend_api *api = engine->backend->api;
    const int64_t slice = (int64_t)4 << 20;
    char *from = engine->block;
    if (!api->host_memory)
        return (api->move ? api->move : api->copy_in)(engine->backend, to, from, engine->persistent_bytes);
    drop_pages(from + engine->persistent_bytes, from + engine->block_bytes);
    for (int64_t at = 0; at < engine->persistent_bytes; at += slice) {
        const int64_t n = ebb_min_i64(slice, engine->persistent_bytes - at);
        memcpy(to + at, from + at, (size_t)n);
        drop_pages(from + at, from + at + n);
    }
    return EBB_OK;
}

ebb_status ebb_engine_grow_block(ebb_engine *engine, const ebb_plan *plan) {
    const ebb_backend_api *api = engine->backend->api;
    int64_t need = plan->persistent_bytes + plan->arena_bytes;
    if (engine->plugin) return EBB_OK; /* XLA's tensors are its own */
    if (engine->block && need <= engine->block_bytes) return EBB_OK;
    if (engine->lost) return ebb_stale_lost(engine);
    void *block;
    ebb_status status = api->block_alloc(engine->backend, need, &block);
    if (status == EBB_NO_MEMORY && engine->block && api->memory) return replace_block(engine, plan, need);
    if (status == EBB_NO_MEMORY) return refuse_block(engine, plan);
    if (status != EBB_OK) return status;
    if (engine->block) {
        status = move_persistent(engine, block);
        if (status != EBB_OK) {
            api->block_free(engine->backend, block, need);
            return status;
        }
        ebb_engine_drop_block(engine);
    }
    hold_block(engine, block, need, plan->persistent_bytes);
    return EBB_OK;
}

void ebb_engine_drop_block(ebb_engine *engine) {
    if (engine->block)
        engine->backend->api->block_free(engine->backend, engine->block, engine->block_bytes);
    engine->block = NULL;
    engine->block_bytes = engine->persistent_bytes = 0;
}

void ebb_engine_bind_all(ebb_engine *engine) {
    for (size_t i = 0; i < engine->programs.n && !engine->plugin; i++)
        ebb_exec_bind(engine->programs.at[i]->exec, engine->block,
                      (char *)engine->block + engine->persistent_bytes);
}

int64_t ebb_engine_block_bytes(const ebb_engine *engine) {
    return engine->block_bytes;
}

ebb_status ebb_engine_memory(const ebb_engine *engine, ebb_memory_facts *out) {
    const ebb_backend_api *api = engine->backend->api;
    *out = (ebb_memory_facts){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    if (api->memory) return api->memory(engine->backend, out);
    return ebb_fail(engine->env, EBB_USAGE, "device %s has no memory of its own: see the block's bytes",
                    api->name);
}

int64_t ebb_engine_resident_bytes(const ebb_engine *engine) {
    enum { N_PAGES = 4096 }; /* asked about at a time */
    unsigned char in_memory[N_PAGES];
    const long page = sysconf(_SC_PAGESIZE);
    if (!engine->block || !engine->backend->api->host_memory || page <= 0) return -1;
    const uintptr_t size = (uintptr_t)page, begin = (uintptr_t)engine->block / size * size;
    const uintptr_t end = (uintptr_t)engine->block + (uintptr_t)engine->block_bytes;
    int64_t bytes = 0;
    for (uintptr_t at = begin; at < end; at += N_PAGES * size) {
        const uintptr_t left = (end - at + size - 1) / size, n = left < N_PAGES ? left : N_PAGES;
        if (mincore((void *)at, n * size, in_memory) != 0) return -1;
        for (uintptr_t i = 0; i < n; i++) bytes += (in_memory[i] & 1) * page;
    }
    return bytes;
}
