/* cpu/product_state.h: what prepare makes of a product and launch runs. */
#ifndef EBB_EXEC_CPU_PRODUCT_STATE_H
#define EBB_EXEC_CPU_PRODUCT_STATE_H

#include "exec/cpu/cpu.h"

/* An input or the output. */
typedef struct cpu_product_operand {
    int arg;             /* oneDNN's name of it */
    dnnl_memory_t plain; /* in our layout */
    int64_t chunk_bytes; /* as in cpu_operand */

    /* Where the primitive wants another layout; else reorder is NULL. */
    dnnl_primitive_t reorder;
    dnnl_memory_t own, reorder_scratchpad;
    int64_t own_offset; /* in scratch */
} cpu_product_operand;

typedef struct cpu_product_state {
    dnnl_primitive_t main;
    dnnl_memory_t scratchpad;
    cpu_product_operand at[3]; /* both inputs, the output */
    int64_t n_more;            /* chunks behind the first one */

    /* A later chunk's result, where it is added to those before; else NULL. */
    dnnl_memory_t result;
    int64_t result_offset, result_floats;
} cpu_product_state;

#endif
