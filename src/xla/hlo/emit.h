/* xla/hlo/emit.h: prints values and operations of StableHLO, one per line. Private to the folder.
 *
 * Each operation is a call that returns its result; shapes of results follow from the operands where
 * possible. Running out of memory shows in the text's status. */
#ifndef EBB_XLA_HLO_EMIT_H
#define EBB_XLA_HLO_EMIT_H

#include "xla/hlo/hlo.h"

typedef enum hlo_kind {
    HLO_NONE,
    HLO_PRED,
    HLO_U8,
    HLO_S8,
    HLO_S16,
    HLO_S32,
    HLO_U32,
    HLO_U64,
    HLO_F16,
    HLO_BF16,
    HLO_F32,
    HLO_F64,
    HLO_N_KINDS
} hlo_kind;

enum { HLO_MAX_RANK = 12 };
typedef struct hlo_type {
    hlo_kind kind;
    uint32_t rank;
    int64_t dim[HLO_MAX_RANK];
} hlo_type;

typedef struct hlo_value {
    uint32_t number;
    int32_t part; /* for an operation with several results; -1: it has one */
    hlo_type type;
} hlo_value;

typedef struct hlo {
    ebb_text *text;
    uint32_t n; /* names so far */
} hlo;

/* One of our ops while it is emitted: rows of the table read operands from in and write out. */
typedef struct hlo_op {
    hlo *to;
    const ebb_call *call;
    const hlo_value *in;
    hlo_value *out;
    hlo_value key, step; /* of random ops: u64[] */
    bool ordered;        /* XLA must run late what the plan runs late */
} hlo_op;

/* ---- types ---- */

/* The kind of a dtype; HLO_NONE: there is none. */
hlo_kind hlo_kind_of(ebb_dtype dtype);
/* The type, with axes in storage order. */
hlo_type hlo_type_of(const ebb_type *type);
int64_t hlo_count(const hlo_type *type);
bool hlo_real(hlo_kind kind);
static inline hlo_type hlo_with(hlo_type type, hlo_kind kind) {
    type.kind = kind;
    return type;
}
hlo_type hlo_shape(hlo_kind kind, uint32_t rank, const int64_t *dim);
void hlo_put_type(hlo *h, const hlo_type *type);
void hlo_put_value(hlo *h, const hlo_value *value);

/* ---- elementwise ---- */

hlo_value hlo_full(hlo *h, hlo_type type, double x);
hlo_value hlo_whole(hlo *h, hlo_type type, uint64_t x); /* for integers, all 64 bits */
/* c everywhere, with x's type. */
hlo_value hlo_like(hlo *h, const hlo_value *x, double c);
hlo_value hlo_1(hlo *h, const char *name, hlo_value x);                   /* "exponential" */
hlo_value hlo_erf(hlo *h, hlo_value x);                                   /* from CHLO, which every plugin
                                                                           * knows */
hlo_value hlo_2(hlo *h, const char *name, hlo_value a, hlo_value b);      /* "add": of one type */
hlo_value hlo_2c(hlo *h, const char *name, hlo_value a, double c);        /* with a constant */
hlo_value hlo_compare(hlo *h, const char *how, hlo_value a, hlo_value b); /* "LT" */
hlo_value hlo_select(hlo *h, hlo_value condition, hlo_value a, hlo_value b);
hlo_value hlo_convert(hlo *h, hlo_kind kind, hlo_value x);
static inline hlo_value hlo_add(hlo *h, hlo_value a, hlo_value b) {
    return hlo_2(h, "add", a, b);
}
static inline hlo_value hlo_sub(hlo *h, hlo_value a, hlo_value b) {
    return hlo_2(h, "subtract", a, b);
}
static inline hlo_value hlo_mul(hlo *h, hlo_value a, hlo_value b) {
    return hlo_2(h, "multiply", a, b);
}
static inline hlo_value hlo_div(hlo *h, hlo_value a, hlo_value b) {
    return hlo_2(h, "divide", a, b);
}

/* ---- shapes ---- */

hlo_value hlo_reshape(hlo *h, hlo_value x, hlo_type type);
/* Broadcasts x: its axis d runs along axis[d] of the type, whose dims are used; axes of size 1 are
 * repeated. */
hlo_value hlo_spread(hlo *h, hlo_value x, hlo_type type, const uint32_t *axis);
/* Broadcast a vector along one axis of a type; and a scalar. */
hlo_value hlo_along(hlo *h, hlo_value vector, hlo_type type, uint32_t axis);
hlo_value hlo_everywhere(hlo *h, hlo_value scalar, hlo_type type);
hlo_value hlo_transpose(hlo *h, hlo_value x, const uint32_t *order);
hlo_value hlo_slice(hlo *h, hlo_value x, const int64_t *begin, const int64_t *end, const int64_t *step);
/* low and high may be negative; between: places inserted between neighbours. */
hlo_value hlo_pad(hlo *h, hlo_value x, double with, const int64_t *low, const int64_t *high,
                  const int64_t *between);
hlo_value hlo_concatenate(hlo *h, const hlo_value *x, uint32_t n, uint32_t axis);
hlo_value hlo_iota(hlo *h, hlo_type type, uint32_t axis);
/* Reverses the axes (bits). */
hlo_value hlo_reverse(hlo *h, hlo_value x, uint32_t axes);

/* ---- sums, products, windows ---- */

/* Reduces ("add", "maximum", ...) over the axes (bits), which are removed. */
hlo_value hlo_reduce(hlo *h, const char *name, hlo_value x, double start, uint32_t axes);
/* A product of a and b of rank 2 or 3; at rank 3 the first axis is a batch. sum_a, sum_b: the axes summed
 * over. */
hlo_value hlo_dot(hlo *h, hlo_value a, hlo_value b, uint32_t sum_a, uint32_t sum_b);
typedef struct hlo_window {
    int64_t stride[2], low[2], high[2], spread[2], dilation[2]; /* spread: dilation of the first operand */
    int64_t groups, batch_groups;
} hlo_window;
/* dims: "[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]". */
hlo_value hlo_convolution(hlo *h, hlo_value a, hlo_value b, const char *dims, const hlo_window *window,
                          hlo_type type);
/* Reduces the windows of x, n,h,w,c; `name` as for hlo_reduce. */
hlo_value hlo_reduce_window(hlo *h, const char *name, hlo_value x, double start, const int64_t kernel[2],
                            const hlo_window *window, hlo_type type);

/* ---- indices ---- */

/* Gathers rows of table[v, ...] by index[n] into [n, ...]; and adds rows by index to zeros [v, ...], or to
 * base. */
hlo_value hlo_gather_rows(hlo *h, hlo_value table, hlo_value index);
hlo_value hlo_scatter_rows(hlo *h, hlo_type table, hlo_value index, hlo_value rows);
hlo_value hlo_scatter_rows_onto(hlo *h, hlo_value base, hlo_value index, hlo_value rows);

/* Sorts along an axis, stably, and moves `beside` along; a NaN is larger than all numbers. */
void hlo_sort(hlo *h, hlo_value x, hlo_value beside, uint32_t axis, bool descending, hlo_value out[2]);
/* Reinterprets the bits of x as a kind of the same width. */
hlo_value hlo_bitcast(hlo *h, hlo_kind kind, hlo_value x);
/* Writes `part` into x at a place, an s32[] for each axis. */
hlo_value hlo_written(hlo *h, hlo_value x, hlo_value part, const hlo_value *place);
/* Puts a barrier over values: XLA may not run a reader of the results before all values exist, nor merge it
 * with readers of the original values. Replaces each x[i] by its result. n >= 1. */
void hlo_barrier(hlo *h, hlo_value *x, uint32_t n);

/* ---- order.c: expresses the plan's order as data dependences, so that XLA cannot run an op sooner ---- */

/* A boolean that is always false, but unknown until x exists. */
hlo_value hlo_never(hlo *h, hlo_value x);
/* x, readable only once `never` is known, by a select that is fused with an op that rewrites x anyway, such
 * as a transposition. */
hlo_value hlo_late(hlo *h, hlo_value x, hlo_value never);

/* ---- the table ---- */

typedef void hlo_row(hlo_op *op);
/* The function that emits an op, by its code (rows.def); NULL: none. */
extern hlo_row *const hlo_table[EBB_N_OPS];

#endif
