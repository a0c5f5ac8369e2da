/* conformance/lists.h: see lists.c. */
#ifndef EBB_EXEC_CONFORMANCE_LISTS_H
#define EBB_EXEC_CONFORMANCE_LISTS_H

#include "exec/conformance/cases.h"

typedef struct ebb_case_list {
    const ebb_op_cases *at;
    uint32_t n;
} ebb_case_list;
enum { EBB_MOST_CASE_LISTS = 8 };
/* Tables beside those of ebb_op_cases_all, of the same ops. */
uint32_t ebb_case_lists(ebb_case_list out[EBB_MOST_CASE_LISTS]);

/* Single rows that are large enough for several threads or blocks, with the fills and tolerances of their
 * ops' tables. */
typedef struct ebb_row_list {
    const ebb_team_case *at;
    uint32_t n;
} ebb_row_list;
uint32_t ebb_row_lists(ebb_row_list out[EBB_MOST_CASE_LISTS]);

/* "batch norm" of "bn_apply"; an op that no family has is one of its own. */
const char *ebb_op_family(const char *op);

/* A convolution or a matrix product, whose factors a device may round. */
bool ebb_op_is_product(const ebb_op_info *op);

#endif
