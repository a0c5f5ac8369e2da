/* base/env/jemalloc.h: the default allocator where the process runs on jemalloc. Private to base.
 *
 * The library never brings jemalloc into a process: a shared library that did would put it after the C
 * library, and memory taken from one would be given back to the other (docs/decisions/0002). It only asks
 * whether the program has it: linked first, or preloaded. Then blocks of tensors, known by their alignment,
 * lie in an arena of their own, whose statistics are theirs alone.
 */
#ifndef EBB_BASE_JEMALLOC_H
#define EBB_BASE_JEMALLOC_H

#include "base/env/env.h"

typedef struct ebb_jemalloc {
    bool has_arena;
    unsigned arena; /* of blocks: made for the first one */
} ebb_jemalloc;

/* Whether this process runs on jemalloc: its allocator's calls and malloc are one library's. */
bool ebb_jemalloc_present(void);
/* As in ebb_env_options; ctx is an ebb_jemalloc, or NULL for memory below EBB_BLOCK_ALIGNMENT. */
void *ebb_jemalloc_alloc(void *ctx, size_t bytes, size_t alignment);
void ebb_jemalloc_free(void *ctx, void *ptr, size_t bytes, size_t alignment);
/* Gives the arena of blocks back; nothing may be left in it. */
void ebb_jemalloc_end(ebb_jemalloc *jemalloc);
/* Statistics of the arena of blocks: zeros before the first one. false: jemalloc was built without any. */
bool ebb_jemalloc_stats(const ebb_jemalloc *jemalloc, ebb_block_memory *out);
/* "jemalloc 5.3.0". */
void ebb_jemalloc_name(char *out, size_t size);

#endif
