/* The suite's tables (exec/conformance/cases.h) under the names of tests, where a wrong row fails the test.
 */
#ifndef EBB_TESTS_CONFORMANCE_CASES_H
#define EBB_TESTS_CONFORMANCE_CASES_H

#include <criterion/criterion.h>

#include "exec/conformance/cases.h"

typedef ebb_case_call test_call;

static inline void test_call_read(ebb_env *env, const ebb_case_table *cases, uint32_t row, ebb_dtype real,
                                  test_call *out) {
    cr_assert_eq(ebb_case_read(env, cases, row, real, out), EBB_OK, "%s", ebb_env_error(env));
}

#define test_fill_of    ebb_case_letter
#define test_fill_input ebb_case_fill
#define test_get        ebb_element_get
#define test_set        ebb_element_set

#endif
