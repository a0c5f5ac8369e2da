/* Envs whose memory runs out, comes filled with 0xA5, and is counted and compared when it is freed. */
#ifndef EBB_TESTS_SUPPORT_SCARCE_H
#define EBB_TESTS_SUPPORT_SCARCE_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"

typedef struct scarce_memory {
    uint64_t n_calls, n_live, n_wrong_frees;
    uint64_t fail_at; /* the first call that is refused, counted from 0 */
    bool once;        /* only that call; otherwise all after it, too */
    size_t bytes, peak_bytes;
} scarce_memory;

/* Before each block: what it was asked for. */
typedef struct scarce_note {
    size_t bytes, alignment;
} scarce_note;

static inline size_t scarce_note_room(size_t alignment) {
    return alignment > sizeof(scarce_note) ? alignment : sizeof(scarce_note);
}

static inline void *scarce_alloc(void *ctx, size_t bytes, size_t alignment) {
    scarce_memory *memory = ctx;
    const uint64_t call = memory->n_calls++;
    if (memory->once ? call == memory->fail_at : call >= memory->fail_at) return NULL;
    const size_t room = scarce_note_room(alignment),
                 total = (room + bytes + alignment - 1) & ~(alignment - 1);
    char *block = aligned_alloc(alignment, total);
    if (!block) return NULL;
    memset(block, 0xA5, total);
    const scarce_note note = {bytes, alignment};
    memcpy(block + room - sizeof note, &note, sizeof note);
    memory->n_live++;
    memory->bytes += bytes;
    if (memory->bytes > memory->peak_bytes) memory->peak_bytes = memory->bytes;
    return block + room;
}

static inline void scarce_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    scarce_memory *memory = ctx;
    scarce_note note;
    memcpy(&note, (char *)ptr - sizeof note, sizeof note);
    if (note.bytes != bytes || note.alignment != alignment) memory->n_wrong_frees++;
    memory->n_live--;
    memory->bytes -= bytes;
    free((char *)ptr - scarce_note_room(note.alignment));
}

/* EBB_NO_MEMORY when the env itself is refused; *env is then NULL. */
static inline ebb_status scarce_env_create(scarce_memory *memory, ebb_env **env) {
    const ebb_env_options options = {.alloc = scarce_alloc, .free = scarce_free, .alloc_ctx = memory};
    return ebb_env_create(&options, env);
}

static inline ebb_env *scarce_env(scarce_memory *memory) {
    ebb_env *env = NULL;
    cr_assert_eq(scarce_env_create(memory, &env), EBB_OK);
    return env;
}

#endif
