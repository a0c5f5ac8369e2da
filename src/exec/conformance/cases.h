/* conformance/cases.h: what every kernel of every backend is tried on: one table of cases per op of
 * ops.def, in a file per family. A listed op without a table is a link error.
 */
#ifndef EBB_EXEC_CONFORMANCE_CASES_H
#define EBB_EXEC_CONFORMANCE_CASES_H

#include "exec/conformance.h"

/* One call: shapes of the inputs "[2,3,7,7] [4,3,3,3] []" and attributes "stride=2,1 pad=1"; what is not
 * named has its default. */
typedef struct ebb_op_case {
    const char *inputs, *attrs;
} ebb_op_case;

/* How an input is filled, one letter each; the last letter stands for all further inputs:
 *   u  uniform in [-1, 1)
 *   d  distinct: a shuffled ladder of values, no two equal, none nearer than 0.01 to zero (for kinks)
 *   p  uniform in [0.5, 1.5): variances, learning rates
 *   t  ties: 0 or 1
 *   n  NaN, -0, 0 and a few small integers, so that there are ties: what max and relu trip over
 *   l  labels: i32 in [0, size of input 0's dim 1)
 *   m  mean of input 0's channels, v their variance: the statistics that bn_stats would give
 *   r  mean of input 0's rows, s their variance: those of ln_stats
 *   i  ids: i32 that name rows of a table
 *   w  places in a window: u8 below 9
 *   b  bits: u8 */
typedef struct ebb_op_cases {
    const ebb_op_info *op;
    const char *fills;
    /* Largest difference between two backends, as a part of the largest magnitude in the reference's result
     * (and of 1 where that is smaller). 0: the same bits. */
    double tolerance;
    const ebb_op_case *rows;
    uint32_t n_rows;
} ebb_op_cases;

#define EBB_CASES(name, fill_letters, allowed, table)               \
    const ebb_op_cases ebb_cases_##name = {.op = &ebb_op_##name,    \
                                           .fills = (fill_letters), \
                                           .tolerance = (allowed),  \
                                           .rows = (table),         \
                                           .n_rows = EBB_COUNT(table)}

#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) extern const ebb_op_cases ebb_cases_##name;
#include "graph/ops.def"

/* All of them. */
extern const ebb_op_cases *const ebb_op_cases_all[];
extern const uint32_t ebb_n_op_cases;

/* Beside the tables: one of their ops with NaNs among its inputs. */
extern const ebb_op_cases ebb_nan_cases[];
extern const uint32_t ebb_n_nan_cases;

/* Beside the tables: calls of more than one block of a device's kernels, and of each of their shapes. */
extern const ebb_op_cases ebb_large_cases[];
extern const uint32_t ebb_n_large_cases;

/* A call that the cpu backend shares out among threads; fills and tolerance are those of the op's table. */
typedef struct ebb_team_case {
    const ebb_op_cases *cases;
    ebb_op_case row;
} ebb_team_case;
/* A row of such a table. */
#define EBB_ROW(name, inputs, attrs) \
    {                                \
        &ebb_cases_##name, {         \
            inputs, attrs            \
        }                            \
    }
extern const ebb_team_case ebb_team_cases[];
extern const uint32_t ebb_n_team_cases;
/* Calls whose sizes reach every path of the cuda backend's kernels, as those of ebb_large_cases do. */
extern const ebb_team_case ebb_block_cases[];
extern const uint32_t ebb_n_block_cases;
/* A table of that one row. */
ebb_op_cases ebb_team_table(const ebb_team_case *row);

/* A case read: its types and attributes. */
typedef struct ebb_case_call {
    ebb_call call; /* points into this struct: it is not copied */
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_attr attr[16];
} ebb_case_call;

/* EBB_INTERNAL: the row is wrong. f64: every float of it is f64. */
EBB_CHECKED ebb_status ebb_case_read(ebb_env *env, const ebb_op_cases *cases, uint32_t row, bool f64,
                                     ebb_case_call *out);
/* The letter of input i. */
char ebb_case_letter(const ebb_op_cases *cases, uint32_t i);
/* Fills input i (storage order) as its letter says; filled[] are the inputs before it. The same for the
 * same seed; values of f32 are those of f64, rounded. */
void ebb_case_fill(const ebb_op_cases *cases, const ebb_call *call, uint32_t i, uint64_t seed,
                   void *const *filled);

/* Element i of a tensor; ebb_element_get is in exec/conformance.h. */
void ebb_element_set(const ebb_type *type, void *at, int64_t i, double x);

#endif
