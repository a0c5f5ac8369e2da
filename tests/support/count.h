/* How many graphs a property test draws: from the environment, so that a long run needs no other build. */
#ifndef EBB_TESTS_COUNT_H
#define EBB_TESTS_COUNT_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"

static inline uint32_t count_from_env(const char *name, uint32_t otherwise) {
    const char *text = getenv(name);
    int64_t n = otherwise;
    if (text != NULL) cr_assert(ebb_parse_i64(text, 1, 100000000, &n), "%s=%s is no count", name, text);
    return (uint32_t)n;
}

/* Of a table whose rows take seconds each: how many of its n are run, from the first on; all where
 * EBB_TEST_ROWS does not say fewer. The sanitizers look at the code, which a row reaches as well as the
 * rest. */
static inline uint32_t rows_from_env(size_t n) {
    const uint32_t most = count_from_env("EBB_TEST_ROWS", UINT16_MAX);
    return n < most ? (uint32_t)n : most;
}

#endif
