/* graph/dtype.h: defines the dtypes of tensor elements and their facts, from dtypes.def. Included by
 * graph.h. */
#ifndef EBB_GRAPH_DTYPE_H
#define EBB_GRAPH_DTYPE_H

#include "base/base.h"
#include "base/half.h"

typedef enum ebb_dtype {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) EBB_##NAME,
#include "graph/dtypes.def"
} ebb_dtype;
enum {
    EBB_N_DTYPES = 0
#define EBB_DTYPE(NAME, name, kind, storage, load, store) +1
#include "graph/dtypes.def"
};

typedef enum ebb_dtype_kind {
    EBB_DTYPE_FLOAT,  /* params, activations, gradients */
    EBB_DTYPE_INT,    /* labels and ids */
    EBB_DTYPE_NARROW, /* integers below 32 bits: data, which must be cast to i32 for all ops but moves, and,
                       * as u8, places and bits that ops keep for their gradients */
    EBB_DTYPE_TRUTH   /* results of comparisons */
} ebb_dtype_kind;

/* The facts of a dtype, from dtypes.def. */
typedef struct ebb_dtype_info {
    const char *name; /* "f32" */
    int64_t bytes;    /* of an element */
    ebb_dtype_kind kind;
    double (*load)(const void *at, int64_t i);    /* element i of a tensor, exact */
    void (*store)(void *at, int64_t i, double x); /* x must be in the dtype's range; rounded as in C */
} ebb_dtype_info;
extern const ebb_dtype_info ebb_dtypes[EBB_N_DTYPES];

static inline bool ebb_dtype_real(ebb_dtype dtype) {
    return ebb_dtypes[dtype].kind == EBB_DTYPE_FLOAT;
}
/* Whether it is a 16-bit float: stored values are rounded, and arithmetic is done in f32. */
static inline bool ebb_dtype_low(ebb_dtype dtype) {
    return dtype == EBB_F16 || dtype == EBB_BF16;
}
/* The dtype of sums, statistics, losses and norms' params beside this one: f32 for 16 bits, else itself. */
static inline ebb_dtype ebb_dtype_wide(ebb_dtype dtype) {
    return ebb_dtype_low(dtype) ? EBB_F32 : dtype;
}
/* The range of an integer or boolean dtype. */
static inline void ebb_dtype_range(ebb_dtype dtype, double *least, double *most) {
    const double count = ebb_dtypes[dtype].bytes == 1   ? 0x1p8
                         : ebb_dtypes[dtype].bytes == 2 ? 0x1p16
                                                        : 0x1p32;
    const bool truth = ebb_dtypes[dtype].kind == EBB_DTYPE_TRUTH, natural = truth || dtype == EBB_U8;
    *least = natural ? 0 : -count / 2;
    *most = truth ? 1 : *least + count - 1;
}
/* x rounded to the dtype. */
static inline double ebb_dtype_rounded(ebb_dtype dtype, double x) {
    double element;
    ebb_dtypes[dtype].store(&element, 0, x);
    return ebb_dtypes[dtype].load(&element, 0);
}
/* The largest number below x in a real dtype. */
static inline double ebb_dtype_below(ebb_dtype dtype, double x) {
    const double y = ebb_dtype_rounded(dtype, x);
    if (y < x) return y;
    uint64_t bits = 0; /* of y: a sign and a size */
    ebb_dtypes[dtype].store(&bits, 0, y);
    const uint64_t sign = UINT64_C(1) << (8 * ebb_dtypes[dtype].bytes - 1);
    bits = (bits | sign) == sign ? sign | 1 : bits & sign ? bits + 1 : bits - 1;
    return ebb_dtypes[dtype].load(&bits, 0);
}
/* The distance from 1 to the next number in a real dtype: a unit in the last place of numbers in [1, 2). */
static inline double ebb_dtype_unit(ebb_dtype dtype) {
    switch (dtype) {
    case EBB_F64:
        return 0x1p-52;
    case EBB_F16:
        return 0x1p-10;
    case EBB_BF16:
        return 0x1p-7;
    default:
        return 0x1p-23;
    }
}

/* ---- real numbers as text, the same in every locale ------------------------------------------------- */

#define EBB_REAL_TEXT 32
/* The fewest digits that read back to the same number: "0.1", "1e-05". */
const char *ebb_real_text(double f, char text[EBB_REAL_TEXT]);
/* n bytes of [-]digits[.digits][e[+-]digits]. false when they are no such number, too long (64 bytes) or
 * too large for a double. */
bool ebb_real_parse(const char *text, size_t n, double *out);

/* Finds a dtype by the n bytes of its name; false when unknown. */
bool ebb_dtype_find(const char *name, size_t n, ebb_dtype *out);

#endif
