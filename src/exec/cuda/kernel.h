/* cuda/kernel.h: how a kernel is written: once, for the device and for the host.
 *
 * A kernel is a body: what one thread of one block does in one phase. A body never waits; between two phases
 * the whole block does, and what passes from phase to phase stands in the block's shared bytes. So the same
 * body runs on both sides, in the same order of operations, and its arithmetic is tested without a device:
 *
 *     device (launch.inc)   for phase: body(args, block, thread, phase, shared); __syncthreads()
 *     host (tests/cuda)     for block, for phase, for thread: body(args, block, thread, phase, shared)
 *
 * Rules of bodies, beside those of backend.h:
 *   - sums run in an order that the shape and the constants of the kernel decide, never the device: no atomics;
 *     several launches where one block cannot see all (a launch ends before the next one begins);
 *   - a whole 16 bytes at a time where addresses allow it (cuda_f32x4): operands are 256 bytes apart, rows
 *     need not be;
 *   - nothing but C that both compilers know. Products and sums are not contracted (-fmad=false); a kernel that
 *     wants a fused one says fmaf. exp, log, tanh and the like may differ in the last bits between the sides.
 *
 * A family is three files: kernels/<family>.h (argument structs and bodies), kernels/<family>.def (its list) and
 * kernels/<family>.cu (three lines that compile it for the device).
 */
#ifndef EBB_EXEC_CUDA_KERNEL_H
#define EBB_EXEC_CUDA_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CUDA_BODY static __host__ __device__ __forceinline__
#else
#define CUDA_BODY static inline
#endif

/* Every kernel's number: CUDA_KERNEL_<name>. kernels.def: CUDA_KERNEL(name, threads, phases, shared_bytes):
 *   name          cuda_<name>_args is the struct it is launched with (at most 4,000 bytes, copied), and
 *                 cuda_<name>_body its body
 *   threads       of a block: a multiple of 32, at most 1024
 *   phases        >= 1
 *   shared_bytes  of a block: at most 48 KiB, 16-byte aligned; 0: none */
typedef enum cuda_kernel_id {
#define CUDA_KERNEL(name, threads, phases, shared_bytes) CUDA_KERNEL_##name,
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL
    CUDA_N_KERNELS
} cuda_kernel_id;

/* What changes from run to run and what goes wrong in one, in device memory, so that a recorded run sees it. */
typedef struct cuda_scalars {
    uint64_t seed, step; /* of SEEDED ops */
    /* 0, or what a kernel could not use: a code of cuda_fault_code, and its numbers. Written by whoever finds it
     * (any one, if there are several): a run that has a fault is refused as a whole. */
    int64_t fault, fault_value, fault_limit;
} cuda_scalars;

typedef enum cuda_fault_code {
    CUDA_FAULT_NONE,
    CUDA_FAULT_LABEL,    /* a label outside [0, limit) */
    CUDA_FAULT_EMBEDDING /* an id outside [0, limit) */
} cuda_fault_code;

typedef struct cuda_f32x4 {
    float v[4];
} cuda_f32x4;

#ifndef __CUDA_ARCH__
typedef float cuda_aligned __attribute__((aligned(16))); /* a sanitizer looks whether it is */
#endif

/* 16 bytes at once; p is 16-byte aligned. */
CUDA_BODY cuda_f32x4 cuda_load4(const float *p) {
    cuda_f32x4 x;
#ifdef __CUDA_ARCH__
    const float4 q = *(const float4 *)p;
    x.v[0] = q.x, x.v[1] = q.y, x.v[2] = q.z, x.v[3] = q.w;
#else
    x.v[0] = *(const cuda_aligned *)p, x.v[1] = p[1], x.v[2] = p[2], x.v[3] = p[3];
#endif
    return x;
}

CUDA_BODY void cuda_store4(float *p, cuda_f32x4 x) {
#ifdef __CUDA_ARCH__
    /* A plain assignment may become four stores. This is one, and otherwise the same. */
    __stwb((float4 *)p, make_float4(x.v[0], x.v[1], x.v[2], x.v[3]));
#else
    *(cuda_aligned *)p = x.v[0], p[1] = x.v[1], p[2] = x.v[2], p[3] = x.v[3];
#endif
}

/* As many blocks of `each` as cover n. */
CUDA_BODY int64_t cuda_blocks_of(int64_t n, int64_t each) {
    return n / each + (n % each != 0);
}

#endif
