/* The pool: blocks by size, freed ones first.
 *
 * A class holds sizes from 2^k (1 + e/8) on, so that at most an eighth of a block is more than was asked
 * for. Ops run in the order in which they are called, on a device too, so that a block can be written to by
 * an op that is called after the one which read it last. */
#include "eager/eager.h"

enum { SMALLEST_LOG = 6, SMALLEST = 1 << SMALLEST_LOG, KEPT = 16 << 20 };

/* The class of so many bytes, and what its blocks have: the bytes rounded up. */
static uint32_t class_of(int64_t bytes, int64_t *rounded) {
    if (bytes <= SMALLEST) {
        *rounded = SMALLEST;
        return 0;
    }
    const uint32_t log = 63 - (uint32_t)__builtin_clzll((uint64_t)(bytes - 1)); /* 2^log < bytes */
    const int64_t eighth = (int64_t)1 << (log - 3);
    const int64_t whole = (bytes + eighth - 1) / eighth; /* in (8, 16] */
    *rounded = whole * eighth;
    return (log - SMALLEST_LOG) * 8 + (uint32_t)(whole - 8);
}

void ebb_pool_init(ebb_pool *pool, ebb_env *env, ebb_backend *backend) {
    *pool = (ebb_pool){.env = env, .backend = backend};
}

static void block_free(ebb_pool *pool, ebb_pool_block *block) {
    pool->bytes -= block->bytes;
    pool->backend->api->block_free(pool->backend, block->at, block->bytes);
    ebb_cfree(pool->env, block, 1, sizeof *block);
}

/* The largest first, until at most `most` bytes are free. */
static void trim_to(ebb_pool *pool, int64_t most) {
    for (uint32_t c = EBB_POOL_CLASSES; c-- > 0 && pool->free_bytes > most;) {
        while (pool->free[c] && pool->free_bytes > most) {
            ebb_pool_block *block = pool->free[c];
            pool->free[c] = block->next;
            pool->free_bytes -= block->bytes;
            block_free(pool, block);
        }
    }
}

void ebb_pool_trim(ebb_pool *pool) {
    trim_to(pool, 0);
}

/* An old block of the class, or of one up to a quarter larger. */
static ebb_pool_block *take_free(ebb_pool *pool, uint32_t class, int64_t rounded) {
    for (uint32_t c = class; c < EBB_POOL_CLASSES && c <= class + 2; c++) {
        ebb_pool_block *block = pool->free[c];
        if (!block || block->bytes > rounded + rounded / 4) continue;
        pool->free[c] = block->next;
        pool->free_bytes -= block->bytes;
        return block;
    }
    return NULL;
}

static ebb_status take_new(ebb_pool *pool, int64_t bytes, ebb_pool_block **out) {
    const ebb_backend_api *api = pool->backend->api;
    ebb_pool_block *block = ebb_calloc(pool->env, 1, sizeof *block);
    if (!block) return EBB_NO_MEMORY;
    /* What lies free and fits nothing goes back before it becomes more than a quarter of what is in use. */
    if (pool->free_bytes > KEPT)
        trim_to(pool,
                ebb_max_i64(KEPT, ebb_max_i64(pool->peak_live_bytes, pool->live_bytes + bytes) / 4 * 5 -
                                      pool->live_bytes - bytes));
    ebb_status status = api->block_alloc(pool->backend, bytes, &block->at);
    if (status == EBB_NO_MEMORY && pool->free_bytes > 0) {
        ebb_pool_trim(pool);
        status = api->block_alloc(pool->backend, bytes, &block->at);
    }
    if (status) {
        ebb_cfree(pool->env, block, 1, sizeof *block);
        return status;
    }
    block->bytes = bytes;
    pool->bytes += bytes;
    *out = block;
    return EBB_OK;
}

void ebb_pool_note_peak(ebb_pool *pool) {
    pool->peak_live_bytes = ebb_max_i64(pool->peak_live_bytes, pool->live_bytes);
    pool->peak_bytes = ebb_max_i64(pool->peak_bytes, pool->live_bytes + pool->beside_bytes);
}

ebb_status ebb_pool_take(ebb_pool *pool, int64_t bytes, ebb_pool_block **out) {
    int64_t rounded;
    *out = NULL;
    if (bytes > INT64_MAX / 2)
        return ebb_fail(pool->env, EBB_NO_MEMORY, "a tensor of %lld bytes", (long long)bytes);
    const uint32_t class = class_of(bytes, &rounded);
    ebb_pool_block *block = take_free(pool, class, rounded);
    if (!block) {
        const ebb_status status = take_new(pool, rounded, &block);
        if (status) return status;
    }
    block->next = NULL;
    block->n_refs = 1;
    pool->live_bytes += block->bytes;
    ebb_pool_note_peak(pool);
    *out = block;
    return EBB_OK;
}

ebb_status ebb_pool_borrow(ebb_pool *pool, void *at, int64_t bytes, void (*release)(void *ctx), void *ctx,
                           ebb_pool_block **out) {
    ebb_pool_block *block = *out = ebb_calloc(pool->env, 1, sizeof *block);
    if (!block) return EBB_NO_MEMORY;
    *block = (ebb_pool_block){.at = at, .bytes = bytes, .n_refs = 1, .release = release, .ctx = ctx};
    return EBB_OK;
}

void ebb_pool_drop(ebb_pool *pool, ebb_pool_block *block) {
    int64_t rounded;
    if (!block || --block->n_refs > 0) return;
    if (block->release) {
        block->release(block->ctx);
        ebb_cfree(pool->env, block, 1, sizeof *block);
        return;
    }
    const uint32_t class = class_of(block->bytes, &rounded);
    block->next = pool->free[class];
    pool->free[class] = block;
    pool->free_bytes += block->bytes;
    pool->live_bytes -= block->bytes;
}
