/* cpu/cpu.h: the cpu backend: oneDNN for convolutions and matrix products, own loops for the rest; f32.
 *
 * Who decides how many threads work, and why results do not depend on it:
 *
 *     width   backend->n_threads, the plan's. oneDNN's primitives are made for it and always run with it:
 *             some of them split sums by the team that they find.
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
    dnnl_primitive_attr_t attr;   /* scratchpads are the plan's, not oneDNN's */
    bool wide;                    /* oneDNN works in vectors of 64 bytes */
    bool winograd;                /* convolutions may be computed in transformed tiles (conv.h) */
    bool native;                  /* products of bf16 are the processor's (product.h) */
    cpu_memo memo;                /* of the products asked for so far: scratch bytes, ways */
    int n_run;                    /* 1 to the width */
    int n_before, dynamic_before; /* the caller's OpenMP settings, between begin and end */
    struct cpu_jit *jit;          /* who makes code for bodies (fused.h) */
    uint64_t n_teams;             /* how often an own kernel's work was shared out: tests ask */
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

/* An op's kernel for what it takes itself; NULL: it has none. */
const ebb_kernel_info *cpu_kernel_of(ebb_opcode code);
/* The kernel of a call, its own or that of 16 bits (low.h). EBB_BAD_INPUT as ebb_kernel_find. */
EBB_CHECKED ebb_status cpu_kernel_find(ebb_backend *backend, const ebb_call *call,
                                       const ebb_kernel_info **out);

/* A kernel and its rate: of one thread of a present server core with 512-bit vectors, on tensors beyond the
 * caches, rounded. Rates are constants so that a plan is the same wherever it is made; what a search needs
 * of them is their ratios. */
#define CPU_KERNEL(name, takes, rate, ...) EBB_KERNEL(cpu, name, takes, rate, __VA_ARGS__)
#define CPU_RATE(flops, bytes)             EBB_RATE(flops, bytes, 1000)
#define CPU_STREAM                         CPU_RATE(20000, 25000) /* what only moves elements */

/* EBB_OK when count * each bytes of scratch can be counted, with room to align its parts; else
 * EBB_BAD_INPUT. */
ebb_status cpu_scratch_check(ebb_backend *backend, const ebb_call *call, int64_t count, int64_t each);

/* ---- team.c --------------------------------------------------------------------------------------- */

/* Computes [begin, end). Must not depend on where the cuts are. */
typedef void cpu_span(const void *ctx, int64_t begin, int64_t end);

/* span over all of [0, n), cut at multiples of unit; `bytes` that it moves tell whether a team is worth it.
 */
void cpu_spans(cpu_backend *cpu, int64_t n, int64_t unit, int64_t bytes, cpu_span *span, const void *ctx);

/* Around anything of oneDNN's: the width, whatever the caller's setting is. Returns what leave restores. */
int cpu_width_enter(const cpu_backend *cpu);
void cpu_width_leave(const cpu_backend *cpu, int before);

ebb_status cpu_begin(ebb_backend *backend, const ebb_run *run);
ebb_status cpu_end(ebb_backend *backend);

/* ---- small helpers -------------------------------------------------------------------------------- */

/* Where part i of n equal parts of [0, total) begins; part n begins at total. */
static inline int64_t cpu_cut(int64_t total, int64_t n, int64_t i) {
    return total / n * i + ebb_min_i64(i, total % n);
}

static inline int64_t cpu_ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

/* What only moves elements asks for their size alone: a function name_T for each that there is, of a macro
 * of T, and the one for a dtype. */
#define CPU_BY_BYTES(macro)       macro(uint8_t) macro(uint16_t) macro(uint32_t) macro(uint64_t)
#define CPU_OF_BYTES(name, dtype) CPU_OF_BYTES_(name, ebb_dtype_bytes(dtype))
#define CPU_OF_BYTES_(name, bytes)    \
    ((bytes) == 1   ? name##_uint8_t  \
     : (bytes) == 2 ? name##_uint16_t \
     : (bytes) == 4 ? name##_uint32_t \
                    : name##_uint64_t)

/* CPU_VECTOR: compiled once for each vector width and chosen when the program starts. Bits do not change:
 * products and sums are not contracted, and what is summed across elements has its order written down. Once
 * under sanitizers, whose checks keep a loop from being vectorized.
 * CPU_INLINE: a part of such functions, compiled into each of them. */
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
