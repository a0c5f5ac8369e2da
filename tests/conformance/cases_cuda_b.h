/* Calls whose sizes reach every path of the cuda backend's kernels for elementwise ops, rows, shapes,
 * embedding, attention, dropout and optimizers; fills and tolerance are those of the op's table. */
#ifndef EBB_TESTS_CONFORMANCE_CASES_CUDA_B_H
#define EBB_TESTS_CONFORMANCE_CASES_CUDA_B_H

#include "cases.h"

extern const ebb_team_case ebb_cuda_b_cases[];
extern const uint32_t ebb_n_cuda_b_cases;

#endif
