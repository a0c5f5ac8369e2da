/* cpu/rows.h: declares the kernels of pointwise ops on contiguous elements, for code that runs several of
 * them on a tile. They are the same functions that run the ops by themselves, so the bits are the same.
 *
 * One per pointwise op of ops.def, defined where the kernel is. */
#ifndef EBB_EXEC_CPU_ROWS_H
#define EBB_EXEC_CPU_ROWS_H

#include "exec/cpu/cpu.h"

/* Computes y[i] from in[j][i * stride[j]], for i < n. */
typedef struct cpu_places_row {
    void *y;
    const void *in[EBB_WALK_OPERANDS];
    int64_t stride[EBB_WALK_OPERANDS], n;
} cpu_places_row;
typedef void cpu_places_kernel(const cpu_places_row *row);

/* The arguments of a span of cpu/pointwise.h. */
typedef struct cpu_pointwise {
    const float *a, *b; /* b: NULL if there is one operand */
    float *y;
    float p, q; /* from the op's attributes */
} cpu_pointwise;

/* One of places, casts and span is set. 16-bit elements are f32 here, and rounded by the caller. */
typedef struct cpu_row {
    cpu_places_kernel *const *places;                /* by the dtype of the last operand */
    cpu_places_kernel *const (*casts)[EBB_N_DTYPES]; /* by the dtypes of the operand and of the result */
    cpu_span *span;                                  /* of f32; its ctx is a cpu_pointwise */
    void (*numbers)(const ebb_attr *attr, float *p, float *q); /* of span */
} cpu_row;

#define EBB_OP(name, family)
#define EBB_POINTWISE(name, family) extern const cpu_row cpu_row_##name;
#include "graph/ops.def"

#endif
