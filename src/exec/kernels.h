/* exec/kernels.h: one kernel of a backend: what it takes, what it costs, its code, in one place.
 *
 * A backend (ref, cpu, cuda) has a table of these indexed by opcode, made from ops.def, and a kernel's file
 * is <backend>/<family>.c. A listed op without a kernel does not link; a kernel that says nothing of its
 * dtypes or of its cost does not compile.
 */
#ifndef EBB_EXEC_KERNELS_H
#define EBB_EXEC_KERNELS_H

#include "exec/backend.h"

/* One run of a kernel: all that its launch is told. */
typedef struct ebb_kernel_run {
    ebb_backend *backend;
    const ebb_call *call;
    void *state;              /* what prepare made */
    uint64_t seed_key;        /* of SEEDED ops */
    const ebb_launch *launch; /* addresses, and what changes from run to run */
} ebb_kernel_run;

/* How fast a kernel is, in its backend's own terms, which the backend turns into a roofline. */
typedef struct ebb_kernel_rate {
    int64_t flops,
        bytes;        /* ref, cpu: a microsecond (cpu: of one thread); cuda: percent of the device's peak */
    int64_t start_ns; /* of every run */
} ebb_kernel_rate;

typedef struct ebb_kernel_info {
    uint32_t takes;       /* EBB_TAKES(...): every operand and result is of one of these dtypes */
    ebb_kernel_rate rate; /* of its calls, unless rate_of says otherwise */
    /* For kernels whose rate depends on the call: writes the rate and the name of the kind of calls that it
     * is for (static text). NULL: rate, and the op's name. */
    void (*rate_of)(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                    const char **kind);
    /* EBB_OK, or EBB_BAD_INPUT with what is supported. NULL: every call that infer allows. */
    ebb_status (*supports)(ebb_backend *backend, const ebb_call *call);
    /* Scratch bytes for this call at the backend's n_threads. NULL: none. */
    ebb_status (*scratch)(ebb_backend *backend, const ebb_call *call, int64_t *bytes);
    /* For kernels with several implementations: all facts of call->choice, in place of the backend's cost
     * and of scratch. NULL: one implementation. */
    ebb_status (*facts)(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out);
    /* Whatever launch should not do twice: stored in *state, freed by release. NULL: nothing. */
    ebb_status (*prepare)(ebb_backend *backend, const ebb_call *call, void **state);
    void (*release)(ebb_backend *backend, void *state);
    ebb_status (*launch)(const ebb_kernel_run *run);
    /* Of conditional ops: launch obeys the call's condition. Else ebb_kernel_launch does, by reading it. */
    bool obeys;
} ebb_kernel_info;

/* EBB_TAKES(F32, I32): the dtypes that a kernel takes, five at most. */
#define EBB_TAKES(...)                                    EBB_TAKES_OF(__VA_ARGS__, 5, 4, 3, 2, 1, )(__VA_ARGS__)
#define EBB_TAKES_OF(one, two, three, four, five, n, ...) EBB_TAKES_##n
#define EBB_TAKES_1(a)                                    (UINT32_C(1) << EBB_##a)
#define EBB_TAKES_2(a, b)                                 (EBB_TAKES_1(a) | EBB_TAKES_1(b))
#define EBB_TAKES_3(a, b, c)                              (EBB_TAKES_2(a, b) | EBB_TAKES_1(c))
#define EBB_TAKES_4(a, b, c, d)                           (EBB_TAKES_2(a, b) | EBB_TAKES_2(c, d))
#define EBB_TAKES_5(a, b, c, d, e)                        (EBB_TAKES_4(a, b, c, d) | EBB_TAKES_1(e))

#define EBB_TAKES_ALL                                     ((UINT32_C(1) << EBB_N_DTYPES) - 1)

/* A rate to be given to macros, and the initializer that it becomes. */
#define EBB_RATE(flops, bytes, start_ns)                  (flops, bytes, start_ns)
#define EBB_RATE_INIT(rate)                               EBB_RATE_BRACED rate
#define EBB_RATE_BRACED(flops, bytes, start_ns) \
    { flops, bytes, start_ns }

/* Defines a backend's kernel: EBB_KERNEL(cpu, relu, EBB_TAKES(F32), EBB_RATE(...), .launch = relu_launch).
 * Backends give it shorter names. */
#define EBB_KERNEL(backend, name, dtypes, rate_, ...) \
    const ebb_kernel_info ebb_##backend##_##name = {  \
        .takes = (dtypes), .rate = EBB_RATE_INIT(rate_), __VA_ARGS__}

/* A kernel object of such a backend: the call, its tables copied, and what prepare made. */
struct ebb_kernel {
    const ebb_kernel_info *info;
    void *state;
    ebb_call call; /* its tables follow this struct */
    uint64_t seed_key;
    size_t bytes;
};

/* The kernel of this call in a backend's table, indexed by opcode. EBB_BAD_INPUT: there is none, it does
 * not take the dtype of an operand, or it does not support the call. */
EBB_CHECKED ebb_status ebb_kernel_find(ebb_backend *backend, const ebb_kernel_info *const table[EBB_N_OPS],
                                       const ebb_call *call, const ebb_kernel_info **out);
/* For an api's `fuses`, where code is not needed for it. */
bool ebb_fuses_always(ebb_backend *backend);
/* The rate of a call, and into *kind the name of its kind. Asked after the call's scratch. */
ebb_kernel_rate ebb_kernel_rate_of(const ebb_backend *backend, const ebb_kernel_info *info,
                                   const ebb_call *call, const char **kind);
/* What a backend's prepare, release and launch are. */
EBB_CHECKED ebb_status ebb_kernel_make(ebb_backend *backend, const ebb_kernel_info *info,
                                       const ebb_call *call, uint64_t seed_key, ebb_kernel **out);
void ebb_kernel_release(ebb_backend *backend, ebb_kernel *kernel); /* NULL is allowed */
ebb_status ebb_kernel_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch);

#endif
