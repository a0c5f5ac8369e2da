/* cpu/onednn.h: wraps the differences between oneDNN 2 and 3: descriptions of memory (structs in 2, objects
 * in 3) and of primitives (through an op's description in 2, directly in 3). All other oneDNN functions are
 * called directly.
 */
#ifndef EBB_EXEC_CPU_ONEDNN_H
#define EBB_EXEC_CPU_ONEDNN_H

#include "exec/cpu/product.h"

/* A description as oneDNN's other calls take it. Borrowed. */
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t cpu_memory_desc;
#else
typedef const dnnl_memory_desc_t *cpu_memory_desc;
#endif

/* A description that we own. All zeros: none. */
typedef struct cpu_memory_desc_own {
    dnnl_memory_desc_t desc;
} cpu_memory_desc_own;

/* Describes f32 or bf16 in this layout or, with any, its sizes in the layout that oneDNN prefers. */
dnnl_status_t cpu_memory_desc_make(cpu_memory_desc_own *out, const cpu_layout *layout, bool bf16, bool any);
void cpu_memory_desc_deinit(cpu_memory_desc_own *own);
cpu_memory_desc cpu_memory_desc_of(const cpu_memory_desc_own *own);

/* Describes the first implementation of a product that is not avoided; oneDNN lists the best first.
 * dnnl_unimplemented: there is none. The caller destroys *out, which is NULL on failure. Call it within
 * the product's team. */
dnnl_status_t cpu_primitive_describe(const cpu_backend *cpu, const cpu_product *product,
                                     dnnl_primitive_desc_t *out);
/* Whether the name of its implementation contains part, as in "x64:gemm:jit". */
bool cpu_primitive_is(const_dnnl_primitive_desc_t desc, const char *part);

#endif
