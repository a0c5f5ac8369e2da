/* What oneDNN does otherwise depends on the processor: has it vectors of 64 bytes? */
#ifndef EBB_TESTS_SUPPORT_VECTORS_H
#define EBB_TESTS_SUPPORT_VECTORS_H

#include <stdbool.h>

static inline bool test_has_avx512(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

#endif
