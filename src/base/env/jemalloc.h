/* base/env/jemalloc.h: allocates through jemalloc if the process runs on it, as the default allocator.
 * Private to base.
 *
 * The library never loads jemalloc into a process: a shared library that did so would place it after the C
 * library, and memory from one would be freed by the other (docs/decisions/0002). It only checks whether
 * the program has it, linked first or preloaded. Then tensor blocks, recognized by their alignment, have
 * their own arena and so their own statistics.
 */
#ifndef EBB_BASE_JEMALLOC_H
#define EBB_BASE_JEMALLOC_H

#include "base/env/env.h"

typedef struct ebb_jemalloc {
    bool has_arena;
    unsigned arena; /* of blocks, created for the first one */
} ebb_jemalloc;

/* Whether this process runs on jemalloc: malloc and jemalloc's own calls come from the same library. */
bool ebb_jemalloc_present(void);
/* As in ebb_env_options; ctx is an ebb_jemalloc, or NULL for memory below EBB_BLOCK_ALIGNMENT. */
void *ebb_jemalloc_alloc(void *ctx, size_t bytes, size_t alignment);
void ebb_jemalloc_free(void *ctx, void *ptr, size_t bytes, size_t alignment);
/* Destroys the arena of blocks, which must be empty. */
void ebb_jemalloc_end(ebb_jemalloc *jemalloc);
/* Statistics of the arena of blocks; zeros before the first block. false: jemalloc was built without
 * statistics. */
bool ebb_jemalloc_stats(const ebb_jemalloc *jemalloc, ebb_block_memory *out);
/* Writes "jemalloc 5.3.0". */
void ebb_jemalloc_name(char *out, size_t size);

#endif
