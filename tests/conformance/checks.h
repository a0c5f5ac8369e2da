/* The suite's checks (exec/conformance/checks.h), one by one. Each fails the running test. */
#ifndef EBB_TESTS_CONFORMANCE_CHECKS_H
#define EBB_TESTS_CONFORMANCE_CHECKS_H

#include "harness.h"

typedef void test_check(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                        const test_call *call, const test_inputs *inputs);

/* Calls it for every row, in f32 and f64. */
void test_each_row(const test_bench *bench, const ebb_op_cases *cases, test_check *each);

test_check test_check_agreement; /* with the reference in f64 */
test_check test_check_addresses;
test_check test_check_in_place;
test_check test_check_threads; /* any number up to the bench's width */

#endif
