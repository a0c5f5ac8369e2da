/* cuda/kernel.h: how a kernel is written: once, for the device and for the host.
 *
 * A kernel is a body: what one thread of one block does in one phase. A body never waits; between two
 * phases the whole block does, and what passes from phase to phase stands in the block's shared bytes. So
 * the same body runs on both sides, in the same order of operations, and its arithmetic is tested without a
 * device:
 *
 *     device (launch.inc)   for phase: body(args, block, thread, phase, shared); __syncthreads()
 *     host (tests/cuda)     for block, for phase, for thread: body(args, block, thread, phase, shared)
 *
 * Some kernels go round a loop of phases, as often as their arguments say (CUDA_KERNEL_LOOP): a thread of
 * theirs keeps a struct from phase to phase, which is registers on the device as long as its arrays are
 * indexed by constants.
 *
 * Rules of bodies, beside those of backend.h:
 *   - sums run in an order that the shape and the constants of the kernel decide, never the device: no
 *     atomics; several launches where one block cannot see all (a launch ends before the next one begins);
 *   - a whole 16 bytes at a time where addresses allow it (cuda_f32x4): operands are 256 bytes apart, rows
 *     need not be;
 *   - nothing but C that both compilers know. Products and sums are not contracted (-fmad=false); a kernel
 *     that wants a fused one says fmaf. exp, log, tanh and the like may differ in the last bits between the
 *     sides.
 *
 * A family is two files: kernels/<family>.h (argument structs and bodies) and kernels/<family>.def (its
 * list), which are named in kernels.h and kernels.def.
 */
#ifndef EBB_EXEC_CUDA_KERNEL_H
#define EBB_EXEC_CUDA_KERNEL_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define CUDA_BODY       static __host__ __device__ __forceinline__
#define CUDA_UNROLL     _Pragma("unroll")
#define CUDA_AHEAD      _Pragma("unroll 4") /* of loops that load: several loads are on their way at once */
#define CUDA_ONE_BY_ONE _Pragma("unroll 1")
#else
#define CUDA_BODY static inline
#define CUDA_UNROLL
#define CUDA_AHEAD
#define CUDA_ONE_BY_ONE
#endif

/* Every kernel's number: CUDA_KERNEL_<name>. kernels.def: CUDA_KERNEL(name, threads, phases, shared_bytes):
 *   name          cuda_<name>_args is the struct it is launched with (at most 4,000 bytes, copied), and
 *                 cuda_<name>_body its body
 *   threads       of a block: a multiple of 32, at most 1024
 *   phases        >= 1
 *   shared_bytes  of a block: at most 48 KiB, 16-byte aligned; 0: none
 *
 * CUDA_KERNEL_LOOP(name, threads, shared_bytes), which is CUDA_KERNEL with 0 phases to those who do not
 * define it, needs two more names:
 *   cuda_<name>_phases(args, block)  how many phases this block has, >= 1
 *   cuda_<name>_keep                 what a thread keeps; anything before phase 0. The body's last argument
 *
 * CUDA_KERNELS and CUDA_KERNEL_LOOPS are three in a row, of f32, f16 and bf16 (kernels/elements.h).
 */
#define CUDA_KERNELS(name, threads, phases, shared_bytes)  \
    CUDA_KERNEL(name, threads, phases, shared_bytes)       \
    CUDA_KERNEL(name##_f16, threads, phases, shared_bytes) \
    CUDA_KERNEL(name##_bf16, threads, phases, shared_bytes)
#define CUDA_KERNEL_LOOPS(name, threads, shared_bytes)  \
    CUDA_KERNEL_LOOP(name, threads, shared_bytes)       \
    CUDA_KERNEL_LOOP(name##_f16, threads, shared_bytes) \
    CUDA_KERNEL_LOOP(name##_bf16, threads, shared_bytes)
typedef enum cuda_kernel_id {
#define CUDA_KERNEL(name, threads, phases, shared_bytes) CUDA_KERNEL_##name,
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL
    CUDA_N_KERNELS
} cuda_kernel_id;

/* What changes from run to run and what goes wrong in one, in device memory, so that a recorded run sees
 * it. */
typedef struct cuda_scalars {
    uint64_t seed, step; /* of SEEDED ops */
    /* 0, or what a kernel could not use: a code of cuda_fault_code, and its numbers. Written by whoever
     * finds it (any one, if there are several): a run that has a fault is refused, and nothing is updated
     * after it. */
    int64_t fault, fault_value, fault_limit;
} cuda_scalars;

typedef enum cuda_fault_code {
    CUDA_FAULT_NONE,
    CUDA_FAULT_LABEL,     /* a label outside [0, limit) */
    CUDA_FAULT_EMBEDDING, /* an id outside [0, limit) */
    CUDA_FAULT_INDEX      /* one outside [-limit, limit) */
} cuda_fault_code;

typedef struct cuda_f32x4 {
    float v[4];
} cuda_f32x4;

/* 16 bytes at once; p is 16-byte aligned: a device would stop at another, and so does the host. */
CUDA_BODY void cuda_check4(const float *p) {
#ifdef __CUDA_ARCH__
    (void)p;
#else
    assert((uintptr_t)p % 16 == 0);
#endif
}

CUDA_BODY cuda_f32x4 cuda_load4(const float *p) {
    cuda_f32x4 x;
    cuda_check4(p);
#ifdef __CUDA_ARCH__
    const float4 q = *(const float4 *)p;
    x.v[0] = q.x, x.v[1] = q.y, x.v[2] = q.z, x.v[3] = q.w;
#else
    x.v[0] = p[0], x.v[1] = p[1], x.v[2] = p[2], x.v[3] = p[3];
#endif
    return x;
}

/* p: in shared bytes. (Loads are the same for both.) */
CUDA_BODY void cuda_share4(float *p, cuda_f32x4 x) {
    cuda_check4(p);
#ifdef __CUDA_ARCH__
    *(float4 *)p = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]);
#else
    p[0] = x.v[0], p[1] = x.v[1], p[2] = x.v[2], p[3] = x.v[3];
#endif
}

/* p: in the device's memory, never in shared bytes. */
CUDA_BODY void cuda_store4(float *p, cuda_f32x4 x) {
#ifdef __CUDA_ARCH__
    /* A plain assignment may become four stores. This is one, and otherwise the same. */
    __stwb((float4 *)p, make_float4(x.v[0], x.v[1], x.v[2], x.v[3]));
#else
    cuda_share4(p, x);
#endif
}

/* Operands >= 0, by > 0; a device divides 32 bits several times faster than 64. */
CUDA_BODY int64_t cuda_divide(int64_t n, int64_t by) {
    if (((uint64_t)n | (uint64_t)by) >> 32) return n / by;
    return (int64_t)((uint32_t)n / (uint32_t)by);
}

/* Notes what a run could not use. */
CUDA_BODY void cuda_fault(cuda_scalars *scalars, int64_t code, int64_t value, int64_t limit) {
    if (scalars->fault) return;
    scalars->fault_value = value;
    scalars->fault_limit = limit;
    scalars->fault = code;
}

/* As many blocks of `each` as cover n. */
CUDA_BODY int64_t cuda_blocks_of(int64_t n, int64_t each) {
    return n / each + (n % each != 0);
}

#endif
