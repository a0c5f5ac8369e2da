/* cpu/onednn.h: what differs between the versions of oneDNN, 2 and 3: descriptions of memory (structs in 2,
 * objects in 3) and of primitives (by way of an op's description in 2, at once in 3). Everything else of
 * oneDNN is called as it is.
 */
#ifndef EBB_EXEC_CPU_ONEDNN_H
#define EBB_EXEC_CPU_ONEDNN_H

#include "exec/cpu/product.h"

/* A description as the library's other calls take it. Borrowed. */
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t cpu_memory_desc;
#else
typedef const dnnl_memory_desc_t *cpu_memory_desc;
#endif

/* One of our own. All zeros is none. */
typedef struct cpu_memory_desc_own {
    dnnl_memory_desc_t desc;
} cpu_memory_desc_own;

/* f32 or bf16 in this layout or, with any, of its sizes in whatever layout oneDNN likes best. */
dnnl_status_t cpu_memory_desc_make(cpu_memory_desc_own *out, const cpu_layout *layout, bool bf16, bool any);
void cpu_memory_desc_deinit(cpu_memory_desc_own *own);
cpu_memory_desc cpu_memory_desc_of(const cpu_memory_desc_own *own);

/* The first implementation of a product that it does not avoid; oneDNN lists the best first.
 * dnnl_unimplemented: there is none. The caller destroys *out, which is NULL on failure. At the width. */
dnnl_status_t cpu_primitive_describe(const cpu_backend *cpu, const cpu_product *product,
                                     dnnl_primitive_desc_t *out);
/* The name of its implementation has this part, as in "x64:gemm:jit". */
bool cpu_primitive_is(const_dnnl_primitive_desc_t desc, const char *part);

#endif
