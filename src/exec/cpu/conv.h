/* cpu/conv.h: chooses how a convolution is computed, from its shape, the processor and the width alone, so
 * that a call's bits do not depend on the plan.
 *
 *     plain      on images as they are stored, channels last
 *     blocks     on images in blocks of channels, converted in scratch some at a time (decision 55)
 *     tiles      of 4 x 4 pixels that are transformed, multiplied and transformed back (tiles.h): a 3 x 3
 *                takes a quarter of the products (decision 107)
 *     columns    a weight gradient as one product with what each pixel of the result saw (decision 81)
 */
#ifndef EBB_EXEC_CPU_CONV_H
#define EBB_EXEC_CPU_CONV_H

#include "exec/cpu/product.h"

/* BYTES: of its three tensors. */
enum { N, C, H, W, O, KH, KW, OH, OW, SH, SW, PH, PW, DH, DW, G, BYTES, CPU_N_CONV };

/* images: number converted at a time, a divisor of the batch; 0: none. One of the three is set at most. */
typedef struct cpu_conv_way {
    int64_t images;
    bool tiles, columns;
} cpu_conv_way;

cpu_product_kind cpu_conv_kind(const ebb_call *call);
void cpu_conv_sizes(const ebb_call *call, int64_t size[CPU_N_CONV]);
/* The largest of its sizes, pads, strides and spans. */
int64_t cpu_conv_most(const int64_t *size);
/* The call as a oneDNN product. */
cpu_product cpu_conv_product(const ebb_call *call, const int64_t *size, cpu_conv_way way);

/* Chooses the way of a call that is taken by itself, and computes all its scratch. Memoized,
 * because it queries oneDNN.
 */
EBB_CHECKED ebb_status cpu_conv_choose(cpu_backend *cpu, const ebb_call *call, cpu_conv_way *way,
                                       int64_t *scratch_bytes);
/* Columns use cpu_product's functions on a matrix product. size: from cpu_conv_sizes. */
cpu_product cpu_columns_product(const int64_t *size);
EBB_CHECKED ebb_status cpu_columns_scratch(cpu_backend *cpu, const ebb_call *call, const int64_t *size,
                                           int64_t *bytes);
ebb_status cpu_columns_launch(const ebb_kernel_run *run); /* its state is from the product's prepare */
/* Tiles likewise. count: of a whole call. */
int64_t cpu_tiles_count(const int64_t *size, cpu_product_kind kind);
cpu_product cpu_tiles_product(const int64_t *size, cpu_product_kind kind);
EBB_CHECKED ebb_status cpu_tiles_scratch(cpu_backend *cpu, const ebb_call *call, const int64_t *size,
                                         int64_t *bytes);
ebb_status cpu_tiles_launch(const ebb_kernel_run *run);
void cpu_conv_rate(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                   const char **kind);

#endif
