/* exec/backend.h: defines the interface of a backend: facts about ops for the planner, and kernels for the
 * executor.
 *
 * A backend is a table of functions and a table of kernels, one per op of ops.def; a listed op without a
 * kernel is a link error. Backends see calls (types and attributes) and addresses, never graphs or plans,
 * and never each other.
 *
 * Rules that keep results bit-identical under any recomputation and reuse:
 *   - a kernel object is made once per op of the planned graph and used for every run of it;
 *   - it computes the same bits for the same input bits, at any address of the declared alignment, with
 *     any number of threads up to n_threads, and in place where its op's may_overwrite says so;
 *   - parallel reductions are split by n_threads (the plan's width) or by shape, never by the
 *     actual team; it uses only the scratch that it asked for, and launch allocates nothing.
 */
#ifndef EBB_EXEC_BACKEND_H
#define EBB_EXEC_BACKEND_H

#include "exec/roofline.h"
#include "graph/op.h"

typedef struct ebb_backend ebb_backend;
typedef struct ebb_kernel ebb_kernel; /* each backend defines its own */

typedef struct ebb_backend_options {
    uint32_t n_threads; /* width of parallel reductions, >= 1 */
    /* For backends with several devices: which one, "0", "1", ...; or the path of a device's description.
     * NULL: the first. */
    const char *which;
    bool tf32;         /* factors of products may be rounded to TF32 where that is faster */
    bool direct_conv;  /* of cpu: no convolution is computed in transformed tiles (cpu/conv.h) */
    const char *jit;   /* of cpu and cuda: the code generator for `fused`, "INTERP", "LLVM", "NVRTC", ...;
                          NULL: the best one available */
    bool native_bf16;  /* of cpu: products of bf16 by the processor's own instructions */
    bool free_engines; /* plans may choose among implementations that round differently */
    /* For backends with their own memory. cap_bytes > 0: all free memory except this much is taken at
     * creation, so that requests beyond it fail. watch_memory: count allocations by libraries, where
     * possible. */
    int64_t cap_bytes;
    bool watch_memory;
} ebb_backend_options;

/* The parameters that change from run to run. */
typedef struct ebb_run {
    uint32_t n_threads;  /* to run with; 0: the width */
    uint64_t seed, step; /* of SEEDED ops, as in each launch: for backends whose launches are recorded */
} ebb_run;

enum { EBB_EMITTER_TEXT = 64 };

/* A recorded run of steps; each backend defines its own. */
typedef struct ebb_recording ebb_recording;

/* The facts of one op for the planner. */
typedef struct ebb_op_facts {
    int64_t time_ns;       /* by the backend's cost model; >= 0 */
    int64_t scratch_bytes; /* asked before planning */
    /* A backend may have several implementations of a call: these are the facts of call->choice, and
     * n_choices (>= 1) is the number of implementations, whichever is asked about. `choice` is its name, if
     * there are several or the call is not computed as its kind's others are. */
    uint32_t n_choices;
    char choice[24];
    /* Above 0: it is computed in transformed tiles. Its results may be so far from the reference, relative
     * to the largest, and what is not finite reaches its neighbours. */
    double tile_tolerance;
    /* The line of the cost model behind the time, at this width, and the name of its kind of calls, for
     * which a calibration (exec/costs.h) can measure another line. */
    const char *kind;
    ebb_roofline line;
} ebb_op_facts;

/* For checkers only: which step this is, what it may do to memory, and names for error texts. Pairs
 * and views hold positions, as in the planning graph. The call after the last step, with
 * step == n_steps and no outputs, reads everything that must have survived. */
typedef struct ebb_launch_check {
    uint32_t step;
    uint32_t n_in, n_out;
    const ebb_pair *in_place, *update;
    const ebb_view *views;
    uint32_t n_in_place, n_update, n_views;
    const char *const *step_names;   /* [n_steps + 1] the op of each step */
    const char *const *buffer_names; /* by buffer id: the value it holds */
} ebb_launch_check;

/* One run of a kernel, at the plan's addresses. */
typedef struct ebb_launch {
    void *const *in;
    void *const *out;
    void *scratch;                        /* aligned; NULL for 0 bytes */
    const ebb_id *in_buffer, *out_buffer; /* the plan's buffers, for checkers */
    const int64_t *in_bytes, *out_bytes;
    int64_t scratch_bytes;
    uint64_t seed, step;           /* of SEEDED ops, beside the kernel's own seed_key */
    const ebb_launch_check *check; /* NULL for a backend that computes */
} ebb_launch;

typedef struct ebb_backend_api {
    const char *name;
    bool host_memory; /* addresses in the block can be read and written by the host */
    bool computes;    /* false: tracks only (shadow): steps need no kernels and regions no memory */
    /* Whether it has kernels here for ops with `fuses` (graph/op_info.h); else passes make none for it.
     * NULL: it has none. */
    bool (*fuses)(ebb_backend *backend);
    int64_t alignment; /* of offsets, scratch and regions */

    /* Errors: EBB_UNAVAILABLE (the text names the absent part), EBB_NO_MEMORY, EBB_USAGE. */
    ebb_status (*create)(ebb_env *env, const ebb_backend_options *options, ebb_backend **out);
    void (*destroy)(ebb_backend *backend);

    /* EBB_BAD_INPUT when this op cannot run here with these types (op, types, what is supported). */
    ebb_status (*facts)(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out);
    /* The call's tables are copied as needed. */
    ebb_status (*prepare)(ebb_backend *backend, const ebb_call *call, uint64_t seed_key, ebb_kernel **out);
    void (*release)(ebb_backend *backend, ebb_kernel *kernel);
    ebb_status (*launch)(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch);

    /* Writes what the times depend on: its device, and other factors. NULL: they are this machine's. */
    void (*machine)(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]);

    /* Writes what limits the kernels of a backend on this machine: a library's version, the vectors that it
     * may use. NULL: only the machine. */
    void (*limits)(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]);

    /* One aligned block of device memory, of exactly `bytes`. */
    ebb_status (*block_alloc)(ebb_backend *backend, int64_t bytes, void **out);
    void (*block_free)(ebb_backend *backend, void *block, int64_t bytes);
    /* Between host memory and a block; complete on return. */
    ebb_status (*copy_in)(ebb_backend *backend, void *to, const void *from, int64_t bytes);
    ebb_status (*copy_out)(ebb_backend *backend, void *to, const void *from, int64_t bytes);
    ebb_status (*fill)(ebb_backend *backend, void *to, int byte, int64_t bytes);
    /* Between blocks; complete on return. NULL with host_memory, which uses copy_in. */
    ebb_status (*move)(ebb_backend *backend, void *to, const void *from, int64_t bytes);
    /* The device's memory. NULL with host_memory. Only between runs. */
    ebb_status (*memory)(ebb_backend *backend, ebb_memory_facts *out);

    /* Around each run of steps. May be NULL. After end all work is done; it returns the status of
     * asynchronous launches, and it is called after failed launches too. */
    ebb_status (*begin)(ebb_backend *backend, const ebb_run *run);
    ebb_status (*end)(ebb_backend *backend);

    /* For backends that can record, else all four are NULL. Within a run: launches and fills between
     * record_begin and record_end are not run but recorded, with their current addresses, and run at each
     * replay. After an error nothing was recorded and *out is NULL. */
    ebb_status (*record_begin)(ebb_backend *backend);
    ebb_status (*record_end)(ebb_backend *backend, ebb_recording **out);
    ebb_status (*replay)(ebb_backend *backend, ebb_recording *recording);
    void (*record_free)(ebb_backend *backend, ebb_recording *recording);

    /* For backends with asynchronous launches, else all three are NULL: time marks. After end, marks_read
     * gives the nanoseconds from mark i to mark i + 1, for i < n_marks - 1. */
    ebb_status (*marks_reserve)(ebb_backend *backend, uint32_t n_marks);
    ebb_status (*mark)(ebb_backend *backend, uint32_t i);
    ebb_status (*marks_read)(ebb_backend *backend, uint32_t n_marks, uint64_t *ns);

    /* The name of code generator i for bodies of `fused`, and the version that it works with.
     * EBB_UNAVAILABLE: it is not available; the error says why. *name NULL: there are no more. NULL: there
     * are none. */
    ebb_status (*emitter)(ebb_env *env, uint32_t i, const char **name, char version[EBB_EMITTER_TEXT]);

    /* For checkers only, else NULL: called when a buffer's bytes get its value from outside (a feed, an
     * initial param). A checker is launched for every step, those of views too, with kernel NULL and
     * launch->check set; before the first step the transient region is filled, which removes its bytes'
     * owners. */
    ebb_status (*given)(ebb_backend *backend, const void *at, int64_t bytes, ebb_id buffer);
} ebb_backend_api;

struct ebb_backend { /* first member of every backend's own struct */
    const ebb_backend_api *api;
    ebb_env *env;
    uint32_t n_threads;
};
static inline bool ebb_backend_fuses(ebb_backend *backend) {
    return backend->api->fuses && backend->api->fuses(backend);
}

/* The backends of this build (backends.def). */
typedef struct ebb_backend_row {
    const char *name;
    const ebb_backend_api *api; /* NULL: in its own module (exec/module.h) */
} ebb_backend_row;
extern const ebb_backend_row ebb_backends[];
extern const uint32_t ebb_n_backends;

extern const ebb_backend_api ebb_backend_ref, ebb_backend_shadow;
/* NULL when no built-in backend has that name. */
const ebb_backend_api *ebb_backend_find(const char *name);
/* The row of a device, "cpu" or "cuda:1", with the part after the colon in *which (NULL: no colon). NULL:
 * no row has that name, or it does not number its devices. */
const ebb_backend_row *ebb_backend_of_device(const char *device, const char **which);
/* Opens the backend of a device: "cpu", "cuda:1", or a device's description, which is cuda's. It sets the
 * option `which` itself, and one thread for a device that is not the host. EBB_UNAVAILABLE: not in this
 * build (the error lists those that are) or not on this machine; EBB_USAGE: the backend lacks an option. */
EBB_CHECKED ebb_status ebb_backend_open(ebb_env *env, const char *device,
                                        const ebb_backend_options *options, ebb_backend **out);
/* Gets a row's functions; opens its module, if any, with the statuses of ebb_module_find. */
EBB_CHECKED ebb_status ebb_backend_load(ebb_env *env, const ebb_backend_row *row,
                                        const ebb_backend_api **out);

#endif
