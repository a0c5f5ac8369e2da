/* cpu/product_state.h: what prepare makes of a product and launch runs. */
#ifndef EBB_EXEC_CPU_PRODUCT_STATE_H
#define EBB_EXEC_CPU_PRODUCT_STATE_H

#include "exec/cpu/cpu.h"

typedef struct cpu_product_state {
    dnnl_primitive_t main;
    dnnl_memory_t plain[3]; /* both inputs and the output, in our layout */
    int arg[3];             /* oneDNN's names of them */
    dnnl_memory_t scratchpad;

    /* Where the primitive wants another layout for operand free_layout; else reorder is NULL. */
    dnnl_primitive_t reorder;
    dnnl_memory_t own, reorder_scratchpad;
    int64_t own_offset; /* in scratch */
    int free_layout;    /* as in cpu_product */
} cpu_product_state;

#endif
