/* cpu/product_state.h: defines the state of a product, made by prepare and run by launch. */
#ifndef EBB_EXEC_CPU_PRODUCT_STATE_H
#define EBB_EXEC_CPU_PRODUCT_STATE_H

#include "exec/cpu/cpu.h"

/* An input or the output. */
typedef struct cpu_product_operand {
    int arg;             /* oneDNN's name of it */
    dnnl_memory_t plain; /* in our layout */
    int64_t chunk_bytes; /* as in cpu_operand */

    /* Set if the primitive needs another layout; else reorder is NULL. */
    dnnl_primitive_t reorder;
    dnnl_memory_t own, reorder_scratchpad;
    int64_t own_offset; /* in scratch */
} cpu_product_operand;

typedef struct cpu_product_state {
    dnnl_primitive_t main;
    dnnl_memory_t scratchpad;
    cpu_product_operand at[3]; /* both inputs, the output */
    int64_t n_more;            /* chunks after the first one */
    int team;                  /* threads that it was made for and runs with */

    /* A later chunk's result, if it is added to the earlier ones; else NULL. */
    dnnl_memory_t result;
    int64_t result_offset, result_floats;
} cpu_product_state;

#endif
