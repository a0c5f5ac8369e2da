/* exec/kernels.h: defines a kernel of a backend: its dtypes, its cost and its code, in one place.
 *
 * A backend (ref, cpu, cuda) has a table of these indexed by opcode, made from ops.def, and a kernel's file
 * is <backend>/<family>.c. A listed op without a kernel does not link; a kernel without its dtypes or its
 * cost does not compile.
 */
#ifndef EBB_EXEC_KERNELS_H
#define EBB_EXEC_KERNELS_H

#include "exec/backend.h"

/* One run of a kernel: the arguments of its launch. */
typedef struct ebb_kernel_run {
    ebb_backend *backend;
    const ebb_call *call;
    void *state;              /* the result of prepare */
    uint64_t seed_key;        /* of SEEDED ops */
    const ebb_launch *launch; /* addresses, and what changes from run to run */
} ebb_kernel_run;

/* A kernel's speed in its backend's own units, which the backend turns into a roofline. */
typedef struct ebb_kernel_rate {
    int64_t flops, bytes; /* ref, cpu: per microsecond (cpu: of one thread); cuda: percent of the device's
                           * peak */
    int64_t start_ns;     /* of every run */
} ebb_kernel_rate;

typedef struct ebb_kernel_info {
    uint32_t takes;       /* EBB_TAKES(...): every operand and result has one of these dtypes */
    ebb_kernel_rate rate; /* of its calls, unless there is rate_of */
    /* For kernels whose rate depends on the call: writes the rate and the name of its kind of calls (static
     * text). NULL: rate, and the op's name. */
    void (*rate_of)(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                    const char **kind);
    /* EBB_OK, or EBB_BAD_INPUT, whose text says what is supported. NULL: every call that infer allows. */
    ebb_status (*supports)(ebb_backend *backend, const ebb_call *call);
    /* Scratch bytes for this call at the backend's n_threads. NULL: none. */
    ebb_status (*scratch)(ebb_backend *backend, const ebb_call *call, int64_t *bytes);
    /* For kernels with several implementations: all facts of call->choice, in place of the backend's cost
     * and of scratch. NULL: one implementation. */
    ebb_status (*facts)(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out);
    /* Does the work that launch should not repeat; stored in *state, freed by release. NULL: none. */
    ebb_status (*prepare)(ebb_backend *backend, const ebb_call *call, void **state);
    void (*release)(ebb_backend *backend, void *state);
    ebb_status (*launch)(const ebb_kernel_run *run);
    /* For conditional ops: launch obeys the call's condition itself. Else ebb_kernel_launch reads it. */
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

/* A rate as a macro's argument, and its initializer. */
#define EBB_RATE(flops, bytes, start_ns)                  (flops, bytes, start_ns)
#define EBB_RATE_INIT(rate)                               EBB_RATE_BRACED rate
#define EBB_RATE_BRACED(flops, bytes, start_ns) \
    { flops, bytes, start_ns }

/* Defines a backend's kernel: EBB_KERNEL(cpu, relu, EBB_TAKES(F32), EBB_RATE(...), .launch = relu_launch).
 * Backends give it shorter names. */
#define EBB_KERNEL(backend, name, dtypes, rate_, ...) \
    const ebb_kernel_info ebb_##backend##_##name = {  \
        .takes = (dtypes), .rate = EBB_RATE_INIT(rate_), __VA_ARGS__}

/* A kernel object of such a backend: the call, with its tables copied, and the result of prepare. */
struct ebb_kernel {
    const ebb_kernel_info *info;
    void *state;
    ebb_call call; /* its tables follow this struct */
    uint64_t seed_key;
    size_t bytes;
};

/* Finds the call's kernel in a backend's table, indexed by opcode. EBB_BAD_INPUT: there is none, it does
 * not take an operand's dtype, or it does not support the call. */
EBB_CHECKED ebb_status ebb_kernel_find(ebb_backend *backend, const ebb_kernel_info *const table[EBB_N_OPS],
                                       const ebb_call *call, const ebb_kernel_info **out);
/* The `fuses` of an api that needs no generated code for it. */
bool ebb_fuses_always(ebb_backend *backend);
/* The rate of a call, with the name of its kind in *kind. Call it after the call's scratch is known. */
ebb_kernel_rate ebb_kernel_rate_of(const ebb_backend *backend, const ebb_kernel_info *info,
                                   const ebb_call *call, const char **kind);
/* The prepare, release and launch of such a backend. */
EBB_CHECKED ebb_status ebb_kernel_make(ebb_backend *backend, const ebb_kernel_info *info,
                                       const ebb_call *call, uint64_t seed_key, ebb_kernel **out);
void ebb_kernel_release(ebb_backend *backend, ebb_kernel *kernel); /* NULL is allowed */
ebb_status ebb_kernel_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch);

#endif
