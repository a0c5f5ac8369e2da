/* Arenas: small allocations carved from chunks that double in size and are freed together. */
#include "base/env/env.h"

enum { ALIGNMENT = 16, FIRST_CHUNK_BYTES = 4096, MAX_CHUNK_BYTES = 1 << 20 };

struct ebb_arena_chunk {
    _Alignas(ALIGNMENT) ebb_arena_chunk *next;
    size_t bytes; /* header included */
    size_t used;  /* header included; a multiple of ALIGNMENT */
};

void ebb_arena_init(ebb_arena *arena, ebb_env *env) {
    arena->env = env;
    arena->chunks = NULL;
}

void ebb_arena_deinit(ebb_arena *arena) {
    for (ebb_arena_chunk *chunk = arena->chunks; chunk;) {
        ebb_arena_chunk *next = chunk->next;
        ebb_free_aligned(arena->env, chunk, chunk->bytes, ALIGNMENT);
        chunk = next;
    }
    arena->chunks = NULL;
}

/* A chunk with room for need bytes. It becomes the head unless the old head has more left over, so that
 * one large request does not waste a fresh chunk. */
static ebb_arena_chunk *add_chunk(ebb_arena *arena, size_t need) {
    ebb_arena_chunk *head = arena->chunks;
    size_t bytes = FIRST_CHUNK_BYTES;
    if (head) bytes = head->bytes < MAX_CHUNK_BYTES / 2 ? head->bytes * 2 : MAX_CHUNK_BYTES;
    if (bytes < sizeof *head + need) bytes = sizeof *head + need;

    ebb_arena_chunk *chunk = ebb_alloc_aligned(arena->env, bytes, ALIGNMENT);
    if (!chunk) return NULL;
    chunk->bytes = bytes;
    chunk->used = sizeof *chunk;
    if (head && head->bytes - head->used > bytes - sizeof *chunk - need) {
        chunk->next = head->next;
        head->next = chunk;
    } else {
        chunk->next = head;
        arena->chunks = chunk;
    }
    return chunk;
}

void *ebb_arena_alloc(ebb_arena *arena, size_t n, size_t size) {
    size_t need;
    if (__builtin_mul_overflow(n, size, &need) || need > PTRDIFF_MAX - MAX_CHUNK_BYTES) {
        (void)ebb_fail(arena->env, EBB_NO_MEMORY,
                       "out of memory: %zu elements of %zu bytes are more than can be named", n, size);
        return NULL;
    }
    /* At least one unit, so that an empty allocation has an address of its own. */
    need = need == 0 ? ALIGNMENT : (need + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    ebb_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->bytes - chunk->used < need) chunk = add_chunk(arena, need);
    if (!chunk) return NULL;
    void *ptr = (char *)chunk + chunk->used;
    chunk->used += need;
    return memset(ptr, 0, need);
}

char *ebb_arena_text(ebb_arena *arena, const char *text) {
    return ebb_arena_copy(arena, text, strlen(text) + 1, 1);
}

void *ebb_arena_copy(ebb_arena *arena, const void *from, size_t n, size_t size) {
    void *ptr = ebb_arena_alloc(arena, n, size);
    if (ptr && n * size > 0) memcpy(ptr, from, n * size);
    return ptr;
}
