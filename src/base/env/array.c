/* Growable arrays: capacity doubles, so that n pushes cost O(n). */
#include "base/env/env.h"

bool ebb_array_reserve(ebb_env *env, void **at, size_t *cap, size_t n, size_t size) {
    enum { FIRST_CAPACITY = 8 };
    if (n <= *cap) return true;
    size_t wanted = *cap > SIZE_MAX / 2 ? n : *cap * 2;
    if (wanted < n) wanted = n;
    if (wanted < FIRST_CAPACITY) wanted = FIRST_CAPACITY;
    size_t bytes;
    if (__builtin_mul_overflow(wanted, size, &bytes)) {
        (void)ebb_fail(env, EBB_NO_MEMORY,
                       "out of memory: %zu elements of %zu bytes are more than can be named", n, size);
        return false;
    }
    void *grown = ebb_alloc_aligned(env, bytes, 16);
    if (!grown) return false;
    /* *at is really a `type *`: its bytes are copied, not read through another pointer type. */
    void *old;
    memcpy(&old, at, sizeof old);
    if (old) memcpy(grown, old, *cap * size);
    ebb_cfree(env, old, *cap, size);
    memcpy(at, &grown, sizeof grown);
    *cap = wanted;
    return true;
}
