/* peak: what one thread of this machine can do at most: the roof that kernels are held against. */
#ifndef EBB_BENCH_CPU_PEAK_H
#define EBB_BENCH_CPU_PEAK_H

#include "base/base.h"

/* Multiply-adds of f32 in vectors of 32 or 64 bytes, two flops each; 0: this processor has no such vectors.
 */
double peak_gflops(ebb_env *env, int vector_bytes);
/* y = a + b over arrays that no cache holds: 12 bytes an element, as the cost model counts them. 0: no
 * memory. */
double peak_gb_per_s(ebb_env *env);

#endif
