/* See jemalloc.h. Its functions are weak: absent, they are NULL. */
#include "base/env/jemalloc.h"

#include <stdio.h>

#include "ebb_build.h"

/* A sanitizer sees only what comes from the C library's allocator, so jemalloc is not used there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USE_JEMALLOC 0
#else
#define USE_JEMALLOC EBB_HAVE_JEMALLOC
#endif

#if USE_JEMALLOC
#include <jemalloc/jemalloc.h>
#pragma weak mallocx
#pragma weak dallocx
#pragma weak mallctl

bool ebb_jemalloc_present(void) {
    return mallocx && dallocx && mallctl;
}

static int flags_of(const ebb_jemalloc *jemalloc, size_t alignment) {
    const int flags = MALLOCX_ALIGN(alignment);
    if (!jemalloc || alignment < EBB_BLOCK_ALIGNMENT) return flags;
    return flags | MALLOCX_ARENA(jemalloc->arena) | MALLOCX_TCACHE_NONE;
}

static bool make_arena(ebb_jemalloc *jemalloc) {
    size_t size = sizeof jemalloc->arena;
    if (!jemalloc->has_arena)
        jemalloc->has_arena = mallctl("arenas.create", &jemalloc->arena, &size, NULL, 0) == 0;
    return jemalloc->has_arena;
}

void *ebb_jemalloc_alloc(void *ctx, size_t bytes, size_t alignment) {
    ebb_jemalloc *jemalloc = ctx;
    if (jemalloc && alignment >= EBB_BLOCK_ALIGNMENT && !make_arena(jemalloc)) return NULL;
    return mallocx(bytes, flags_of(jemalloc, alignment));
}

void ebb_jemalloc_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)bytes;
    /* Which arena it is from jemalloc knows itself. */
    dallocx(ptr, ctx && alignment >= EBB_BLOCK_ALIGNMENT ? MALLOCX_TCACHE_NONE : 0);
}

void ebb_jemalloc_end(ebb_jemalloc *jemalloc) {
    char name[48];
    if (!jemalloc->has_arena) return;
    (void)snprintf(name, sizeof name, "arena.%u.destroy", jemalloc->arena);
    (void)mallctl(name, NULL, NULL, NULL, 0);
    jemalloc->has_arena = false;
}

static bool read_stat(unsigned arena, const char *what, size_t *out) {
    char name[64];
    size_t size = sizeof *out;
    (void)snprintf(name, sizeof name, "stats.arenas.%u.%s", arena, what);
    return mallctl(name, out, &size, NULL, 0) == 0;
}

bool ebb_jemalloc_stats(const ebb_jemalloc *jemalloc, ebb_block_memory *out) {
    uint64_t epoch = 1;
    size_t large, pages, resident, page, size = sizeof epoch, page_size = sizeof page;
    *out = (ebb_block_memory){0};
    if (!jemalloc->has_arena) return true;
    if (mallctl("epoch", &epoch, &size, &epoch, size) != 0) return false;
    if (mallctl("arenas.page", &page, &page_size, NULL, 0) != 0) return false;
    if (!read_stat(jemalloc->arena, "large.allocated", &large) ||
        !read_stat(jemalloc->arena, "pactive", &pages) ||
        !read_stat(jemalloc->arena, "resident", &resident))
        return false;
    *out = (ebb_block_memory){(int64_t)large, (int64_t)(pages * page), (int64_t)resident};
    return true;
}

void ebb_jemalloc_name(char *out, size_t size) {
    const char *version = NULL;
    size_t n = sizeof version;
    if (mallctl("version", &version, &n, NULL, 0) != 0 || !version) version = "";
    (void)snprintf(out, size, "jemalloc %.*s", (int)strcspn(version, "-"), version);
}

#else

bool ebb_jemalloc_present(void) {
    return false;
}

void *ebb_jemalloc_alloc(void *ctx, size_t bytes, size_t alignment) {
    (void)ctx, (void)bytes, (void)alignment;
    return NULL;
}

void ebb_jemalloc_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)ctx, (void)ptr, (void)bytes, (void)alignment;
}

void ebb_jemalloc_end(ebb_jemalloc *jemalloc) {
    (void)jemalloc;
}

bool ebb_jemalloc_stats(const ebb_jemalloc *jemalloc, ebb_block_memory *out) {
    (void)jemalloc;
    *out = (ebb_block_memory){0};
    return false;
}

void ebb_jemalloc_name(char *out, size_t size) {
    (void)snprintf(out, size, "none");
}
#endif
