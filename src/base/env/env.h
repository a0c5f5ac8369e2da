/* env: provides memory, errors and the log, and growing containers: arenas, arrays, text.
 *
 * Sizes: products and sums of sizes from outside use the checked helpers of plain.
 */
#ifndef EBB_BASE_ENV_H
#define EBB_BASE_ENV_H

#include <stdarg.h>

#include "base/plain/plain.h"

/* ---- memory, errors, log ---- */

/* Sets the error text (printf style, truncated at 1023 bytes; control bytes are shown as \xNN so that a
 * hostile name cannot reach a terminal) and returns status, so that `return ebb_fail(...)` reads as one
 * sentence. */
EBB_PRINTF(3, 4) ebb_status ebb_fail(ebb_env *env, ebb_status status, const char *format, ...);
/* While held, ebb_fail does not change the text: for the cleanup after an error, which may itself fail. Not
 * while workers run. */
void ebb_env_hold_error(ebb_env *env, bool held);
EBB_PRINTF(3, 4) void ebb_log(ebb_env *env, ebb_log_level level, const char *format, ...);
uint64_t ebb_clock_ns(const ebb_env *env);
bool ebb_stop_asked(const ebb_env *env);
/* While held, ebb_stop_asked is false: for short work that must still be done with an answer. Not while
 * workers run. */
void ebb_env_hold_stop(ebb_env *env, bool held);

/* Uninitialised memory; NULL sets the error text (EBB_NO_MEMORY, with the bytes). bytes 0 gives a
 * unique non-NULL pointer. Free with the same bytes and alignment. */
void *ebb_alloc_aligned(ebb_env *env, size_t bytes, size_t alignment);
void ebb_free_aligned(ebb_env *env, void *ptr, size_t bytes, size_t alignment);
/* Blocks of tensors are distinguished from other memory by this alignment, that of a large page. */
#define EBB_BLOCK_ALIGNMENT ((size_t)2 * 1024 * 1024)
/* n elements of size bytes, zeroed; the product is checked. Alignment 16. Free with the same. */
void *ebb_calloc(ebb_env *env, size_t n, size_t size);
void ebb_cfree(ebb_env *env, void *ptr, size_t n, size_t size);

/* ---- arena: many small allocations, freed together ---- */

typedef struct ebb_arena_chunk ebb_arena_chunk;
typedef struct ebb_arena {
    ebb_env *env;
    ebb_arena_chunk *chunks; /* newest first */
} ebb_arena;

void ebb_arena_init(ebb_arena *arena, ebb_env *env);
void ebb_arena_deinit(ebb_arena *arena); /* frees everything; safe on a zeroed struct */
/* n elements of size bytes, zeroed, aligned to 16. NULL (error set) when memory is out or n * size
 * overflows. n == 0 gives a valid pointer. */
void *ebb_arena_alloc(ebb_arena *arena, size_t n, size_t size);
#define EBB_NEW(arena, type, n) ((type *)ebb_arena_alloc((arena), (size_t)(n), sizeof(type)))
/* Copies into the arena; NULL when memory is out. */
char *ebb_arena_text(ebb_arena *arena, const char *text);
void *ebb_arena_copy(ebb_arena *arena, const void *from, size_t n, size_t size);

/* ---- growable arrays ---- */

/* EBB_ARRAY(int64_t) xs = {0};  ...  if (!EBB_PUSH(env, &xs, 7)) return EBB_NO_MEMORY;
 * ... EBB_ARRAY_FREE(env, &xs); */
#define EBB_ARRAY(type) \
    struct {            \
        type *at;       \
        size_t n, cap;  \
    }
/* Room for at least n elements; false (error set) when memory is out. */
bool ebb_array_reserve(ebb_env *env, void **at, size_t *cap, size_t n, size_t size);
#define EBB_RESERVE(env, a, count) \
    ebb_array_reserve((env), (void **)&(a)->at, &(a)->cap, (count), sizeof(*(a)->at))
#define EBB_PUSH(env, a, value) (EBB_RESERVE(env, a, (a)->n + 1) && ((a)->at[(a)->n++] = (value), true))
#define EBB_ARRAY_FREE(env, a) \
    (ebb_cfree((env), (a)->at, (a)->cap, sizeof(*(a)->at)), (a)->at = NULL, (a)->n = (a)->cap = 0)

/* ---- text: a growing string whose first failure latches ---- */

typedef struct ebb_text {
    ebb_env *env;
    char *at; /* NUL-terminated once anything was added; NULL before */
    size_t n, cap;
    bool failed; /* memory ran out: later calls do nothing */
} ebb_text;

void ebb_text_init(ebb_text *text, ebb_env *env);
void ebb_text_deinit(ebb_text *text);
EBB_PRINTF(2, 3) void ebb_text_add(ebb_text *text, const char *format, ...);
void ebb_text_put(ebb_text *text, const char *bytes, size_t n);
/* EBB_NO_MEMORY when an addition failed. */
EBB_CHECKED ebb_status ebb_text_status(const ebb_text *text);

#endif
