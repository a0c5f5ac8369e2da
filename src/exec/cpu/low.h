/* cpu/low.h: runs f32 kernels on 16-bit operands.
 *
 * A kernel without 16-bit support gets its operands in parts: as many rows (images, or elements) as fit in
 * scratch are widened to f32 there, the kernel runs on them as on a call with that many rows, and its
 * results are rounded to 16 bits. So arithmetic is in f32, each result is rounded once, and scratch, which
 * the plan counts, is small compared with the tensors. Parts are cut only by shape and the plan's width,
 * and sums over them are added in order, so bits do not depend on the team.
 *
 * Ops without a row in low_cut.c run as one part: correct for any op, but with scratch for all operands.
 */
#ifndef EBB_EXEC_CPU_LOW_H
#define EBB_EXEC_CPU_LOW_H

#include "exec/cpu/cpu.h"

/* Whether an operand or a result has 16 bits. */
bool cpu_is_low(const ebb_call *call);
/* The names of a kind of calls (exec/kernels.h) in f32, bf16 and f16, which are measured separately;
 * indexed by cpu_real_of. */
enum { CPU_N_REALS = 3 };
#define CPU_KINDS(name) \
    { name, name " bf16", name " f16" }
uint32_t cpu_real_of(const ebb_call *call);
/* The kernel of such calls, for any op. */
extern const ebb_kernel_info cpu_low_kernel;
/* The same for products with weights so large that they are processed some channels at a time: strip.c. */
extern const ebb_kernel_info cpu_strip_kernel;
bool cpu_has_strips(const ebb_call *call);
/* Finds the kernel that runs the parts, for its rate. EBB_BAD_INPUT: it does not support them. */
EBB_CHECKED ebb_status cpu_low_of(ebb_backend *backend, const ebb_call *call, const ebb_kernel_info **out);

/* ---- low_cut.c: how a call is cut ------------------------------------------------------------ */

/* Bits of operands and results by position. */
typedef struct cpu_low_cut {
    int64_t rows, part; /* in total, and per part; a multiple of 64 where flat, except in the last */
    int64_t lanes;      /* lanes of parts (low_run.h) */
    uint32_t in, out;   /* those that are cut; the others are whole in each part */
    uint32_t scaled;    /* f32 operands for all rows that the kernel takes as its part's: multiplied by the
                         * part's share of the rows */
    uint32_t summed, weighted; /* results that are sums over the parts; those weighted by each part's
                                * share */
    bool flat;                 /* the cut tensors are lines of elements; u8: a bit for each */
    bool merged;               /* results are a mean and a variance */
} cpu_low_cut;
cpu_low_cut cpu_low_cut_of(const ebb_backend *backend, const ebb_call *call);

/* A part of some rows as a call in f32. An op fused of several runs as the first or the last of them, and
 * the others run while its operands or results are in scratch (low_norm.c), so that fusing changes no bit.
 * Its tables are here: it must not be copied. */
typedef struct cpu_low_call {
    ebb_call call;
    uint32_t from[EBB_MAX_OPERANDS]; /* its operands, by their numbers in the whole call */
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_attr attr[EBB_MAX_ATTRS];
} cpu_low_call;
void cpu_low_part(const ebb_call *call, const cpu_low_cut *cut, int64_t rows, cpu_low_call *out);
/* For gradients that need it: bn_apply of a part, whose result shows which elements an activation has cut;
 * else false.
 */
bool cpu_low_applied(const ebb_call *call, const cpu_low_cut *cut, int64_t rows, cpu_low_call *out);

/* ---- low_span.c: conversion between 16 and 32 bits, by the team ---- */

void cpu_low_widen(cpu_backend *cpu, ebb_dtype dtype, const void *from, float *to, int64_t n);
void cpu_low_round(cpu_backend *cpu, ebb_dtype dtype, const float *from, void *to, int64_t n);
/* ---- low_norm.c: ops fused with batch norm, each step rounded as if it had been stored ---- */

/* Rounds n elements of y; adds skip, if any, and rounds; then applies the bounds. */
void cpu_low_activate(cpu_backend *cpu, ebb_dtype dtype, float *y, const void *skip, ebb_bounds bounds,
                      int64_t n);
/* Sets dy to 0 where y, rounded, is cut. */
void cpu_low_cut_gradient(cpu_backend *cpu, ebb_dtype dtype, const float *y, float *dy, ebb_bounds bounds,
                          int64_t n);
/* to += more, rounded. */
void cpu_low_add(cpu_backend *cpu, ebb_dtype dtype, const void *more, float *to, int64_t n);
/* Makes the bits of bn_add_bits from y as stored. */
void cpu_low_bits(cpu_backend *cpu, ebb_dtype dtype, const void *y, ebb_bounds bounds, uint8_t *bits,
                  int64_t n);

#endif
