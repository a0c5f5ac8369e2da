/* cpu/cpu.h: declares the cpu backend: oneDNN for convolutions and matrix products, own loops for the rest;
 * f32.
 *
 * The number of threads, and why results do not depend on it:
 *
 *     width   backend->n_threads, the plan's. oneDNN's primitives are made for it, small ones for one
 *             thread, and always run with as many: some of them split sums by the team that they find.
 *     n_run   what begin() was asked for, at most the width. Own kernels run with it; they cut sums by
 *             shape (sums.h), so that the team only decides who computes what.
 *
 * The one OpenMP construct is in team.c; kernels give it functions over half-open ranges ("spans").
 */
#ifndef EBB_EXEC_CPU_CPU_H
#define EBB_EXEC_CPU_CPU_H

#include <dnnl.h>

#include "exec/cpu/memo.h"
#include "exec/kernels.h"

#define CPU_ALIGNMENT 64 /* bytes: a cache line, and the widest vector */

typedef struct cpu_backend {
    ebb_backend base; /* first */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t attr;   /* scratchpads are from the plan, not from oneDNN */
    bool wide;                    /* oneDNN works in vectors of 64 bytes */
    bool winograd;                /* convolutions may be computed in transformed tiles (conv.h) */
    bool native;                  /* bf16 products use the processor's instructions (product.h) */
    cpu_memo memo;                /* scratch bytes and ways of the products queried so far */
    int64_t team_bytes;           /* own kernels that move fewer run on one thread; tests lower both */
    double team_flops;            /* and products of fewer */
    int n_run;                    /* 1 to the width */
    int n_before, dynamic_before; /* the caller's OpenMP settings, between begin and end */
    struct cpu_jit *jit;          /* the code generator for bodies (fused.h) */
    uint64_t n_teams;             /* how often an own kernel ran on a team; for tests */
} cpu_backend;

extern const ebb_backend_api ebb_backend_cpu;

static inline cpu_backend *cpu_of(ebb_backend *backend) {
    return (cpu_backend *)backend;
}

/* The kernels, one per op that has one. */
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) extern const ebb_kernel_info ebb_cpu_##name;
#include "graph/ops.def"

/* An op's kernel for the dtypes that it takes itself; NULL: it has none. */
const ebb_kernel_info *cpu_kernel_of(ebb_opcode code);
/* Finds the kernel of a call, its own or the 16-bit one (low.h). EBB_BAD_INPUT as ebb_kernel_find. */
EBB_CHECKED ebb_status cpu_kernel_find(ebb_backend *backend, const ebb_call *call,
                                       const ebb_kernel_info **out);

/* A kernel and its rate: of one thread of a current server core with 512-bit vectors, on tensors larger
 * than the caches, rounded. Rates are constants so that a plan is the same wherever it is made; a search
 * only needs their ratios. */
#define CPU_KERNEL(name, takes, rate, ...) EBB_KERNEL(cpu, name, takes, rate, __VA_ARGS__)
#define CPU_RATE(flops, bytes)             EBB_RATE(flops, bytes, 1000)
#define CPU_STREAM                         CPU_RATE(20000, 25000) /* for ops that only move elements */

/* EBB_OK when count * each bytes of scratch can be counted, with room to align its parts; else
 * EBB_BAD_INPUT. */
ebb_status cpu_scratch_check(ebb_backend *backend, const ebb_call *call, int64_t count, int64_t each);

/* ---- team.c --------------------------------------------------------------------------------------- */

/* Computes [begin, end). Its results must not depend on the cuts. */
typedef void cpu_span(const void *ctx, int64_t begin, int64_t end);

/* Runs span over all of [0, n), cut at multiples of unit; the `bytes` that it moves decide whether a team
 * is worthwhile. Between one thread and n_run there is nothing: OpenMP runtimes start and stop threads when
 * the team's size changes. */
void cpu_spans(cpu_backend *cpu, int64_t n, int64_t unit, int64_t bytes, cpu_span *span, const void *ctx);

/* Sets the threads of oneDNN's calls, whatever the caller's setting. Returns the setting that leave
 * restores. */
int cpu_team_enter(int n_threads);
void cpu_team_leave(int before);

ebb_status cpu_begin(ebb_backend *backend, const ebb_run *run);
ebb_status cpu_end(ebb_backend *backend);

/* ---- small helpers -------------------------------------------------------------------------------- */

/* The start of part i of n equal parts of [0, total); part n starts at total. */
static inline int64_t cpu_cut(int64_t total, int64_t n, int64_t i) {
    return total / n * i + ebb_min_i64(i, total % n);
}

static inline int64_t cpu_ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

/* Ops that only move elements depend only on their size: CPU_BY_BYTES makes a function name_T for each size
 * from a macro of T, and CPU_OF_BYTES selects the one for a dtype. */
#define CPU_BY_BYTES(macro)       macro(uint8_t) macro(uint16_t) macro(uint32_t) macro(uint64_t)
#define CPU_OF_BYTES(name, dtype) CPU_OF_BYTES_(name, ebb_dtype_bytes(dtype))
#define CPU_OF_BYTES_(name, bytes)    \
    ((bytes) == 1   ? name##_uint8_t  \
     : (bytes) == 2 ? name##_uint16_t \
     : (bytes) == 4 ? name##_uint32_t \
                    : name##_uint64_t)

/* CPU_VECTOR: compiled once for each vector width and chosen when the program starts. Bits do not change:
 * products and sums are not contracted, and sums across elements have an explicit order. Compiled only once
 * under sanitizers, whose checks prevent vectorization. CPU_INLINE: a part of such functions, compiled into
 * each of them. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CPU_VECTOR __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define CPU_VECTOR
#endif
#if defined(__GNUC__)
#define CPU_INLINE static inline __attribute__((always_inline))
#else
#define CPU_INLINE static inline
#endif

#endif
