/* ref/ref.h: the reference backend: naive loops, one kernel per op, every sum in double.
 *
 * The other backends are tested against it, so its kernels are written for readability, not speed: elements
 * are read as double whatever their dtype and rounded once when stored, so each kernel exists only once.
 *
 * In place: where an op's may_overwrite allows it, out's pointer is in's pointer. Kernels read an element
 * (or a softmax row) completely before they store there.
 */
#ifndef EBB_EXEC_REF_REF_H
#define EBB_EXEC_REF_REF_H

#include "exec/kernels.h"

/* The kernels, one per op that has one. */
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) extern const ebb_kernel_info ebb_ref_##name;
#include "graph/ops.def"
/* NULL for composites, views and choices: they have no kernel. */
extern const ebb_kernel_info *const ref_kernels[EBB_N_OPS];

/* Begins a kernel: REF_KERNEL(relu) { ... run->call ... }. It takes every dtype, because elements are read
 * as double, and is slow. Only the ratio of the two rates matters to a search: about that of a host core.
 * The rates are not measured, so that plans are the same on all machines. Errors: EBB_BAD_INPUT for values
 * that no kernel can use. */
#define REF_KERNEL(name)                                                                   \
    static ebb_status ref_##name(const ebb_kernel_run *run);                               \
    EBB_KERNEL(ref, name, EBB_TAKES_ALL, EBB_RATE(2000, 4000, 200), .launch = ref_##name); \
    static ebb_status ref_##name(const ebb_kernel_run *run)

typedef struct ref_tensor {
    const ebb_type *type;
    ebb_dtype dtype;
    void *at;
} ref_tensor;

static inline ref_tensor ref_in(const ebb_kernel_run *run, uint32_t i) {
    const ebb_type *type = &run->call->in[i];
    return (ref_tensor){type, type->dtype, run->launch->in[i]};
}
static inline ref_tensor ref_out(const ebb_kernel_run *run, uint32_t i) {
    const ebb_type *type = &run->call->out[i];
    return (ref_tensor){type, type->dtype, run->launch->out[i]};
}

/* Element i in storage order, by the table of dtypes; inline, because a call per element would be slow. */
static inline double ref_get(const ref_tensor *t, int64_t i) {
    switch (t->dtype) {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) \
    case EBB_##NAME: {                                    \
        const storage x = ((const storage *)t->at)[i];    \
        return load;                                      \
    }
#include "graph/dtypes.def"
    }
    return 0;
}
static inline void ref_set(const ref_tensor *t, int64_t i, double x) {
    switch (t->dtype) {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) \
    case EBB_##NAME:                                      \
        ((storage *)t->at)[i] = store;                    \
        return;
#include "graph/dtypes.def"
    }
}

/* Elements of a tensor `step` apart in storage, from element `at` on. */
typedef struct ref_line {
    const ref_tensor *t;
    int64_t at, step;
} ref_line;
/* Adds to sum n products of the elements of two lines, one after the other: for matrix products and
 * convolutions. The dtype is dispatched once per line. */
double ref_dot(double sum, ref_line a, ref_line b, int64_t n);

/* Storage index of [n,c,h,w] in a tensor of rank 4: channels last. */
static inline int64_t ref_at4(const ebb_type *t, int64_t n, int64_t c, int64_t h, int64_t w) {
    return ((n * t->dim[2] + h) * t->dim[3] + w) * t->dim[1] + c;
}

/* Storage index of the element at logical place p: rank 4 is stored channels-last. */
static inline int64_t ref_at(const ebb_type *t, const int64_t p[EBB_MAX_RANK]) {
    if (t->rank == 4) return ref_at4(t, p[0], p[1], p[2], p[3]);
    int64_t at = 0;
    for (uint32_t d = 0; d < t->rank; d++) at = at * t->dim[d] + p[d];
    return at;
}
/* The same for a tensor that is broadcast to `to`, of which p is a place. */
static inline int64_t ref_broadcast_at(const ebb_type *t, const ebb_type *to,
                                       const int64_t p[EBB_MAX_RANK]) {
    int64_t own[EBB_MAX_RANK] = {0};
    for (uint32_t d = 0; d < t->rank; d++) own[d] = t->dim[d] == 1 ? 0 : p[d + to->rank - t->rank];
    return ref_at(t, own);
}
/* The next logical place, the last axis first; false after the last place. */
static inline bool ref_next(const ebb_type *t, int64_t p[EBB_MAX_RANK]) {
    for (uint32_t d = t->rank; d-- > 0;) {
        if (++p[d] < t->dim[d]) return true;
        p[d] = 0;
    }
    return false;
}

/* The low 32 bits, as two's complement. */
static inline double ref_wrapped(int64_t x) {
    const int64_t low = x & INT64_C(0xFFFFFFFF);
    return (double)(low > INT32_MAX ? low - INT64_C(0x100000000) : low);
}

/* Begins a kernel whose result at each place is an expression of its broadcast operands' numbers a, b
 * there: `real` of two doubles, `whole` of two int64_t, of which 32 bits are kept. Unary kernels have b =
 * 0. */
#define REF_PLACES(name, real, whole)                      \
    static double name##_real(double a, double b) {        \
        (void)a, (void)b;                                  \
        return (real);                                     \
    }                                                      \
    static int64_t name##_whole(int64_t a, int64_t b) {    \
        (void)a, (void)b;                                  \
        return (whole);                                    \
    }                                                      \
    REF_KERNEL(name) {                                     \
        return ref_places(run, name##_real, name##_whole); \
    }
ebb_status ref_places(const ebb_kernel_run *run, double (*real)(double, double),
                      int64_t (*whole)(int64_t, int64_t));

/* A tensor [n,c,...] of rank >= 2 seen as outer x channels x inner, whatever its storage order:
 * rank 4 is n*h*w x c x 1, others n x c x (the rest). */
typedef struct ref_split {
    int64_t outer, channels, inner;
} ref_split;

static inline ref_split ref_split_of(const ebb_type *t) {
    if (t->rank == 4) return (ref_split){t->dim[0] * t->dim[2] * t->dim[3], t->dim[1], 1};
    ref_split s = {t->dim[0], t->dim[1], 1};
    for (uint32_t d = 2; d < t->rank; d++) s.inner *= t->dim[d];
    return s;
}
static inline int64_t ref_split_at(const ref_split *s, int64_t outer, int64_t channel, int64_t inner) {
    return (outer * s->channels + channel) * s->inner + inner;
}

#endif
