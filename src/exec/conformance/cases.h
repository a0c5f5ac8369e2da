/* conformance/cases.h: defines the test cases of every kernel: one definition per op of ops.def, in
 * cases_<family>.c. A listed op without one is a link error.
 */
#ifndef EBB_EXEC_CONFORMANCE_CASES_H
#define EBB_EXEC_CONFORMANCE_CASES_H

#include "exec/conformance.h"

/* One call: shapes of the inputs "[2,3,7,7] [4,3,3,3] []", with a dtype if it is neither real nor implied
 * by its letter, "bool[3] i32[3]", and attributes "stride=2,1 pad=1"; others have their defaults. */
typedef struct ebb_op_case {
    const char *inputs, *attrs;
} ebb_op_case;

/* How an input is filled, one letter each; the last letter stands for all further inputs:
 *   u  uniform in [-1, 1)
 *   d  distinct: a shuffled ladder of values, no two equal, none nearer than 0.01 to zero (for kinks)
 *   p  uniform in [0.5, 1.5): variances, learning rates
 *   t  ties: 0 or 1
 *   z  as p, but one in sixteen is 0
 *   n NaN, -0, 0 and a few small integers, so that there are ties: edge cases of max and relu
 *   l  labels: i32 in [0, size of input 0's dim 1)
 *   m  mean of input 0's channels, v their variance: the statistics that bn_stats would give
 *   r  mean of input 0's rows, s their variance: those of ln_stats
 *   i  ids: i32 that name rows of a table
 *   a  indices: i32 that name places along an axis, half of them from its end
 *   w  places in a window: u8 below 9
 *   b  bits: u8
 * Where a row gives a dtype, i32 is filled with small integers, the smallest and the largest, bool with 0
 * and 1, u8 as b. Inputs filled by l, m, v, r, s, i and a are made from other values, and get no gradient.
 */
typedef struct ebb_case_rows {
    const ebb_op_case *at;
    uint32_t n;
} ebb_case_rows;

/* Sets of rows, by purpose. */
typedef enum ebb_case_set {
    EBB_SET_SMALL,     /* odd sizes, in every shape that the op takes: in every real dtype, and for its
                          gradient */
    EBB_SET_NAN,       /* with NaNs among the inputs: a loss that is not a number must show */
    EBB_SET_LARGE,     /* several blocks of a device's kernels, in each of their shapes */
    EBB_SET_NAN_LARGE, /* the same with NaNs */
    /* Only in f32. SHARED: just above the size that the cpu backend leaves to one thread, with counts that
     * no number of threads divides. BLOCKS: sizes that reach every path of the cuda backend's kernels:
     * their blocks have 1024 elements (masks 2048, adamw 4096), rows are cut at 64, 256 and 2048 numbers,
     * attention at 64 rows and 32 and 64 numbers of a head, tiles of planes at 32, digits of sorted ids at
     * 4 bits, its strips at 512. */
    EBB_SET_SHARED,
    EBB_SET_BLOCKS,
    EBB_N_SETS
} ebb_case_set;

/* A call worked out by hand: the numbers of each input and result in logical order, "1 2 | 3". */
typedef struct ebb_case_value {
    const char *inputs, *attrs, *in, *out;
} ebb_case_value;

typedef struct ebb_op_cases {
    const ebb_op_info *op;
    const char *fills, *nan_fills;
    /* Largest difference between two backends, relative to the largest magnitude in the reference's result
     * (at least 1). 0: the same bits. */
    double tolerance;
    ebb_case_rows set[EBB_N_SETS];
    bool rounds_factors; /* a product, whose factors a device may round */
    bool alone;          /* the cpu backend runs it on one thread: it has no EBB_SHARED rows */
    /* The op whose results on input 0 are inputs 1 and 2, if an attribute `batch` is absent or set: the
     * gradient goes through both. NULL: they are ordinary inputs. */
    const ebb_op_info *statistics;
    const ebb_case_value *values; /* of the reference */
    uint32_t n_values;
} ebb_op_cases;

/* Defines an op's cases: EBB_CASES(relu, "d", 0, EBB_SMALL({"[33]", ""}), EBB_NAN("n", {"[3]", ""}), ...).
 * EBB_SMALL and EBB_VALUES are required; each set has a form that takes a named array of rows. */
#define EBB_CASES(name, fill_letters, allowed, ...) \
    const ebb_op_cases ebb_cases_##name = {         \
        .op = &ebb_op_##name, .fills = (fill_letters), .tolerance = (allowed), __VA_ARGS__}
#define EBB_ROWS_OF(which, array) .set[which] = {(array), EBB_COUNT(array)}
#define EBB_ROWS(which, ...) \
    .set[which] = {(const ebb_op_case[]){__VA_ARGS__}, EBB_COUNT(((const ebb_op_case[]){__VA_ARGS__}))}
#define EBB_SMALL(...)                   EBB_ROWS(EBB_SET_SMALL, __VA_ARGS__)
#define EBB_SMALL_OF(array)              EBB_ROWS_OF(EBB_SET_SMALL, array)
#define EBB_LARGE(...)                   EBB_ROWS(EBB_SET_LARGE, __VA_ARGS__)
#define EBB_LARGE_OF(array)              EBB_ROWS_OF(EBB_SET_LARGE, array)
#define EBB_SHARED(...)                  EBB_ROWS(EBB_SET_SHARED, __VA_ARGS__)
#define EBB_SHARED_OF(array)             EBB_ROWS_OF(EBB_SET_SHARED, array)
#define EBB_BLOCKS(...)                  EBB_ROWS(EBB_SET_BLOCKS, __VA_ARGS__)
#define EBB_BLOCKS_OF(array)             EBB_ROWS_OF(EBB_SET_BLOCKS, array)
#define EBB_NAN(letters, ...)            .nan_fills = (letters), EBB_ROWS(EBB_SET_NAN, __VA_ARGS__)
#define EBB_NAN_OF(letters, array)       .nan_fills = (letters), EBB_ROWS_OF(EBB_SET_NAN, array)
#define EBB_NAN_LARGE(letters, ...)      EBB_ROWS(EBB_SET_NAN_LARGE, __VA_ARGS__)
#define EBB_NAN_LARGE_OF(letters, array) EBB_ROWS_OF(EBB_SET_NAN_LARGE, array)

#define EBB_VALUES(...)                              \
    .values = (const ebb_case_value[]){__VA_ARGS__}, \
    .n_values = EBB_COUNT(((const ebb_case_value[]){__VA_ARGS__}))

#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) extern const ebb_op_cases ebb_cases_##name;
#include "graph/ops.def"

/* All of them. */
extern const ebb_op_cases *const ebb_op_cases_all[];
extern const uint32_t ebb_n_op_cases;
/* NULL: the op has no kernel. */
const ebb_op_cases *ebb_op_cases_of(const ebb_op_info *op);

/* Rows of one op with the same fills. */
typedef struct ebb_case_table {
    const ebb_op_info *op;
    const char *fills;
    double tolerance;
    bool rounds_factors;
    const ebb_op_case *rows;
    uint32_t n_rows;
} ebb_case_table;
/* A set of an op's rows, possibly empty. */
ebb_case_table ebb_case_table_of(const ebb_op_cases *cases, ebb_case_set set);
/* Whether the rows of this set are also tried in dtypes other than f32. */
static inline bool ebb_case_set_small(ebb_case_set set) {
    return set < EBB_SET_SHARED;
}

/* A parsed case: its types and attributes. */
typedef struct ebb_case_call {
    ebb_call call; /* points into this struct, which must not be copied */
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_attr attr[16];
} ebb_case_call;

/* EBB_INTERNAL: the row is wrong. real: the dtype of its floats, except those that the op's rule keeps
 * wide. */
EBB_CHECKED ebb_status ebb_case_read(ebb_env *env, const ebb_case_table *cases, uint32_t row,
                                     ebb_dtype real, ebb_case_call *out);
/* The letter of input i. ebb_case_made: whether the letter makes it from other values. */
char ebb_case_letter(const ebb_case_table *cases, uint32_t i);
bool ebb_case_made(char letter);
/* Fills input i (storage order) as its letter says; filled[] are the inputs before it. The same seed gives
 * the same values, rounded to the dtype. */
void ebb_case_fill(const ebb_case_table *cases, const ebb_call *call, uint32_t i, uint64_t seed,
                   void *const *filled);

/* Element i of a tensor; ebb_element_get is in exec/conformance.h. */
void ebb_element_set(const ebb_type *type, void *at, int64_t i, double x);

#endif
