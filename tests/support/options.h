/* The options that searches in tests begin with. */
#ifndef EBB_TESTS_SUPPORT_OPTIONS_H
#define EBB_TESTS_SUPPORT_OPTIONS_H

#include "ebb/ebb.h"

/* One worker a search: the tests share the processors already, and threads that wait for one another there
 * take most of the time. Answers are the same for any number (tests/sublinear's repeat, tune's own). */
static inline void test_options_init(ebb_options *options) {
    ebb_options_init(options);
    options->sublinear.num_worker = 1;
}

#endif
