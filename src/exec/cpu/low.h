/* cpu/low.h: kernels of f32 for operands of 16 bits.
 *
 * What a kernel does not take in 16 bits it is given in parts: as many rows (images, or elements) as fit in
 * scratch as f32 are widened there, the kernel runs on them as on a call of that many rows, and what it
 * gives is rounded to 16 bits. So arithmetic is f32's, each result is rounded once, and scratch, which the
 * plan counts, is small beside the tensors. Parts are cut by shape and the plan's width alone; sums over
 * them are added in their order: bits do not depend on the team.
 *
 * Ops without a row in low_cut.c are one part: right for any op, at the price of scratch for all of their
 * operands.
 */
#ifndef EBB_EXEC_CPU_LOW_H
#define EBB_EXEC_CPU_LOW_H

#include "exec/cpu/cpu.h"

/* Is an operand or a result of 16 bits? */
bool cpu_is_low(const ebb_call *call);
/* Names of kinds of calls (exec/kernels.h), which are measured apart: by cpu_real_of. */
enum { CPU_N_REALS = 3 };
#define CPU_KINDS(name) \
    { name, name " bf16", name " f16" }
uint32_t cpu_real_of(const ebb_call *call);
/* The kernel of such calls: whatever the op is. */
extern const ebb_kernel_info cpu_low_kernel;
/* The same for products with weights so large that they are worth some channels at a time: strip.c. */
extern const ebb_kernel_info cpu_strip_kernel;
bool cpu_has_strips(const ebb_call *call);
/* The kernel that runs the parts, for its rate. EBB_BAD_INPUT: it does not support them. */
EBB_CHECKED ebb_status cpu_low_of(ebb_backend *backend, const ebb_call *call, const ebb_kernel_info **out);

/* ---- low_cut.c: how a call is cut ------------------------------------------------------------ */

/* Bits of operands and results by position. */
typedef struct cpu_low_cut {
    int64_t rows, part; /* in all, and of a part: but for the last one, multiples of 64 where flat */
    int64_t lanes;      /* in which parts are run (low_run.h) */
    uint32_t in, out;   /* those that are cut; others are whole in each part */
    uint32_t scaled; /* f32 operands that stand for all rows where the kernel takes them for its own: times
                      * the part's share of the rows */
    uint32_t summed, weighted; /* results that are sums over the parts; of them, by each one's share */
    bool flat;                 /* what is cut is a line of elements; u8: a bit for each */
    bool merged;               /* results are a mean and a variance */
} cpu_low_cut;
cpu_low_cut cpu_low_cut_of(const ebb_backend *backend, const ebb_call *call);

/* A part of so many rows as a call in f32. What is fused of several ops is run as the first or the last of
 * them, and the others while its operands or results are in scratch (low_norm.c), so that fusing changes no
 * bit. Its tables are here: not to be copied. */
typedef struct cpu_low_call {
    ebb_call call;
    uint32_t from[EBB_MAX_OPERANDS]; /* its operands, by their numbers in the whole call */
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_attr attr[EBB_MAX_ATTRS];
} cpu_low_call;
void cpu_low_part(const ebb_call *call, const cpu_low_cut *cut, int64_t rows, cpu_low_call *out);
/* bn_apply of a part whose result tells what an activation has cut, of gradients that need it; else false.
 */
bool cpu_low_applied(const ebb_call *call, const cpu_low_cut *cut, int64_t rows, cpu_low_call *out);

/* ---- low_span.c: between 16 bits and 32, by the team ----------------------------------------- */

void cpu_low_widen(cpu_backend *cpu, ebb_dtype dtype, const void *from, float *to, int64_t n);
void cpu_low_round(cpu_backend *cpu, ebb_dtype dtype, const float *from, void *to, int64_t n);
/* ---- low_norm.c: what is fused with batch norm, each step rounded as if it had been stored ---- */

/* y, of n elements: rounded; plus skip where there is one, rounded; within the bounds. */
void cpu_low_activate(cpu_backend *cpu, ebb_dtype dtype, float *y, const void *skip, ebb_bounds bounds,
                      int64_t n);
/* dy: 0 where y, rounded, is cut. */
void cpu_low_cut_gradient(cpu_backend *cpu, ebb_dtype dtype, const float *y, float *dy, ebb_bounds bounds,
                          int64_t n);
/* to += more, rounded. */
void cpu_low_add(cpu_backend *cpu, ebb_dtype dtype, const void *more, float *to, int64_t n);
/* The bits of bn_add_bits, of y as it is stored. */
void cpu_low_bits(cpu_backend *cpu, ebb_dtype dtype, const void *y, ebb_bounds bounds, uint8_t *bits,
                  int64_t n);

#endif
