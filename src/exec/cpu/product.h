/* cpu/product.h: computes convolutions and matrix products by oneDNN.
 *
 * Six ops have the same form here: a oneDNN primitive with two inputs and one output, some of which (the
 * weights or their gradient, images) may need a layout other than ours. Scratch of a run, each part
 * 64-aligned:
 *
 *     | scratchpad of primitive or reorder | operands as the primitive wants them | a chunk's result |
 *
 * Images in another layout are converted and processed in chunks of a few, so that scratch stays small; a
 * result of all chunks, a weight gradient, is added up in order.
 *
 * Descriptions are cheap and made for every query; primitives, which compile code, are made in prepare.
 */
#ifndef EBB_EXEC_CPU_PRODUCT_H
#define EBB_EXEC_CPU_PRODUCT_H

#include "exec/cpu/cpu.h"

/* Sizes and strides, in elements, as oneDNN orders axes. */
typedef struct cpu_layout {
    int rank;
    dnnl_dims_t size, stride;
} cpu_layout;

typedef struct cpu_operand {
    int arg;             /* oneDNN's name of it: DNNL_ARG_* */
    cpu_layout plain;    /* the layout of it, or of a chunk, in memory */
    bool free;           /* oneDNN may choose another layout for it */
    int64_t chunk_bytes; /* from one chunk to the next; 0: all chunks share it */
} cpu_operand;

typedef enum cpu_product_kind { CPU_MATMUL, CPU_CONV, CPU_CONV_DGRAD, CPU_CONV_WGRAD } cpu_product_kind;

/* A plain value, without oneDNN objects. */
typedef struct cpu_product {
    cpu_product_kind kind;
    cpu_operand at[3]; /* both inputs, the output */
    int64_t n_more;    /* chunks after the first one */
    dnnl_dims_t stride, dilation, before,
        behind; /* of convolutions: two each; dilation 0 is dense, before and behind are padding */
    /* Implementations whose name contains this are skipped; NULL: none. */
    const char *avoid;
    bool bf16; /* all three operands; else f32 */
} cpu_product;

/* Whether a call's product uses the processor's own bf16 (ebb_backend_options.native_bf16). Only for whole
 * blocks of channels: otherwise oneDNN 2.6 reads past the end of a tensor, and a NaN there enters the
 * result. Other products run in f32, in parts (low.h). */
bool cpu_is_native(const cpu_backend *cpu, const ebb_call *call);

/* The first number of a key (memo.h). */
static inline int64_t cpu_product_key(const ebb_call *call) {
    return 1 + (int64_t)call->op->code + (call->in[0].dtype == EBB_BF16 ? EBB_N_OPS : 0);
}

/* oneDNN counts in 32 bits, and visits every place along an axis when it describes a convolution. Limits of
 * `most`, the largest of a call's sizes, strides and spans, and of each tensor. */
#define CPU_MOST_ALONG_AXIS (1 << 20)
#define CPU_MOST_ELEMENTS   INT32_MAX
bool cpu_product_is_within(const ebb_call *call, int64_t most);
/* EBB_BAD_INPUT: it is not. */
EBB_CHECKED ebb_status cpu_product_supports(ebb_backend *backend, const ebb_call *call, int64_t most);

/* The threads that a product is made for and always runs with: the plan's width, or one where waking others
 * costs more than they save. */
int cpu_product_team(const cpu_backend *cpu, const ebb_call *call, const cpu_product *product);

/* Computes the bytes of scratch. Takes tens of microseconds: callers memoize it (memo.h). */
EBB_CHECKED ebb_status cpu_product_scratch(cpu_backend *cpu, const ebb_call *call,
                                           const cpu_product *product, int64_t *bytes);
EBB_CHECKED ebb_status cpu_product_prepare(cpu_backend *cpu, const ebb_call *call,
                                           const cpu_product *product, void **state);
void cpu_product_release(ebb_backend *backend, void *state);
ebb_status cpu_product_launch(const ebb_kernel_run *run);

/* Adds the n floats of x to those of `to`: of a sum over chunks. */
void cpu_product_add(cpu_backend *cpu, float *to, const float *x, int64_t n);

/* Of transformed tiles against the reference, relative to a result's largest magnitude. */
#define CPU_TILE_TOLERANCE 1e-5

/* Whether a convolution of 16 bits is computed in transformed tiles: these are widened and rounded as they
 * are made, so that it needs no parts (low.h). */
bool cpu_conv_takes_low(const cpu_backend *cpu, const ebb_call *call);
/* Whether a convolution, or its parts, where it is too large for oneDNN (low.h), use transformed tiles.
 * Also false if its scratch has not been queried. */
bool cpu_conv_is_winograd(const ebb_backend *backend, const ebb_call *call);

/* EBB_OK for dnnl_success; else fails with the oneDNN call, the op and the shapes in the error. */
ebb_status cpu_onednn(ebb_env *env, const ebb_call *call, const char *what, dnnl_status_t status);

/* Writes "f32[1,2,3,4], f32[4,3,2,1] -> f32[1,4,2,3]", truncated if too long. */
#define CPU_CALL_TEXT 512
const char *cpu_call_text(const ebb_call *call, char text[CPU_CALL_TEXT]);

#endif
