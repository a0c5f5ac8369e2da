/* A test that this machine or build cannot run. */
#ifndef EBB_TESTS_SUPPORT_SKIP_H
#define EBB_TESTS_SUPPORT_SKIP_H

#include <criterion/criterion.h>
#include <stdio.h>

/* Ends the running test. Criterion keeps quiet about it unless it is asked to be verbose;
 * scripts/test-count counts the line that is printed here. */
#define TEST_SKIP(why)                             \
    do {                                           \
        (void)fprintf(stderr, "SKIP %s\n", (why)); \
        cr_skip_test("%s", (why));                 \
    } while (0)

#endif
