/* exec/backend.h: what a backend is: facts about ops for the planner, and kernels for the executor.
 *
 * A backend is a table of functions and a table of kernels, one per op of ops.def; a listed op without a
 * kernel is a link error. Backends see calls (types and attributes) and addresses, never graphs or plans,
 * and never one another.
 *
 * Rules that keep results bit-identical, whatever is recomputed or reused:
 *   - a kernel object is made once per op of the planned graph and used for every run of it;
 *   - it computes the same bits for the same input bits, at any address of the declared alignment, with
 *     any number of threads up to n_threads, and in place where its op's may_overwrite says so;
 *   - parallel reductions are split by n_threads (the plan's width) or by shape, never by the team that
 *     happens to run; scratch is only what it asked for; no memory is allocated in launch.
 */
#ifndef EBB_EXEC_BACKEND_H
#define EBB_EXEC_BACKEND_H

#include "exec/roofline.h"
#include "graph/op.h"

typedef struct ebb_backend ebb_backend;
typedef struct ebb_kernel ebb_kernel; /* each backend defines its own */

/* What transformed tiles may differ from the reference by, as a part of the largest magnitude in a result.
 */
#define EBB_WINOGRAD_TOLERANCE 1e-5

typedef struct ebb_backend_options {
    uint32_t n_threads; /* width of parallel reductions, >= 1 */
    /* Of backends that have several devices: which one, "0", "1", ...; or a device's description, the path
     * of a file. NULL: the first. */
    const char *which;
    bool tf32;         /* factors of products may be rounded to TF32 where that is faster */
    bool winograd;     /* of cpu: 3x3 convolutions may be computed in transformed tiles (cpu/conv.h) */
    const char *jit;   /* of cpu and cuda: who makes code for `fused`, "INTERP", "LLVM", "NVRTC", ...; NULL:
                          the best one that is there */
    bool native_bf16;  /* of cpu: products of bf16 by the processor's own instructions */
    bool free_engines; /* plans may choose among implementations that round differently */
    /* Of backends with memory of their own. cap_bytes > 0: all of it that is free, but for so many bytes,
     * is taken at creation, so that what this process asks for beyond them fails. watch_memory: allocations
     * that libraries make are counted, where that can be done. */
    int64_t cap_bytes;
    bool watch_memory;
} ebb_backend_options;

/* What changes from run to run. */
typedef struct ebb_run {
    uint32_t n_threads;  /* to run with; 0: the width */
    uint64_t seed, step; /* of SEEDED ops, as in each launch: for backends whose launches are recorded */
} ebb_run;

enum { EBB_EMITTER_TEXT = 64 };

/* A run of steps that was recorded; each backend defines its own. */
typedef struct ebb_recording ebb_recording;

/* What the planner must know of one op. */
typedef struct ebb_op_facts {
    int64_t time_ns;       /* by the backend's cost model; >= 0 */
    int64_t scratch_bytes; /* asked before planning */
    /* A backend may have several implementations of a call: these are the facts of call->choice, and there
     * are so many (>= 1), the same ones whichever is asked for. Its name, where there are several or
     * options ask for it. */
    uint32_t n_choices;
    char choice[24];
    /* The line of the cost model that gave the time, at this width, and the name of the kind of calls that
     * it is for: a calibration (exec/costs.h) measures another line for them. */
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

/* One run of a kernel. Addresses are where the plan says. */
typedef struct ebb_launch {
    void *const *in;
    void *const *out;
    void *scratch;                        /* aligned; NULL when 0 bytes were asked for */
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
    /* Whether it has kernels of ops that are `fuses` (graph/op_info.h) here; else passes make none for it.
     * NULL: it has not. */
    bool (*fuses)(ebb_backend *backend);
    int64_t alignment; /* of offsets, scratch and regions */

    /* Errors: EBB_UNAVAILABLE (says which part is absent), EBB_NO_MEMORY, EBB_USAGE. */
    ebb_status (*create)(ebb_env *env, const ebb_backend_options *options, ebb_backend **out);
    void (*destroy)(ebb_backend *backend);

    /* EBB_BAD_INPUT when this op cannot run here with these types (op, types, what is supported). */
    ebb_status (*facts)(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out);
    /* The call's tables are copied as needed. */
    ebb_status (*prepare)(ebb_backend *backend, const ebb_call *call, uint64_t seed_key, ebb_kernel **out);
    void (*release)(ebb_backend *backend, ebb_kernel *kernel);
    ebb_status (*launch)(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch);

    /* Whose times costs are of: a device of its own, and what else changes them. NULL: this machine's. */
    void (*machine)(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]);

    /* What limits the kernels of a backend of this machine's: a library's version, the vectors that it may
     * use. NULL: nothing else than the machine. */
    void (*limits)(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]);

    /* One block of device memory, aligned; exactly `bytes` are asked for. */
    ebb_status (*block_alloc)(ebb_backend *backend, int64_t bytes, void **out);
    void (*block_free)(ebb_backend *backend, void *block, int64_t bytes);
    /* Between host memory and a block; complete on return. */
    ebb_status (*copy_in)(ebb_backend *backend, void *to, const void *from, int64_t bytes);
    ebb_status (*copy_out)(ebb_backend *backend, void *to, const void *from, int64_t bytes);
    ebb_status (*fill)(ebb_backend *backend, void *to, int byte, int64_t bytes);
    /* Between blocks; complete on return. NULL with host_memory: copy_in does it. */
    ebb_status (*move)(ebb_backend *backend, void *to, const void *from, int64_t bytes);
    /* NULL with host_memory. Between runs. */
    ebb_status (*memory)(ebb_backend *backend, ebb_memory_facts *out);

    /* Around each run of steps. May be NULL. After end all work is done; its status is that of work which
     * launch only began, and it is called after failed launches too. */
    ebb_status (*begin)(ebb_backend *backend, const ebb_run *run);
    ebb_status (*end)(ebb_backend *backend);

    /* Backends that can record, else NULL, all four. Between begin and end of a run: what is launched and
     * filled between record_begin and record_end is not run but recorded, for the addresses of then, and
     * runs whenever it is replayed. After an error nothing was recorded and *out is NULL. */
    ebb_status (*record_begin)(ebb_backend *backend);
    ebb_status (*record_end)(ebb_backend *backend, ebb_recording **out);
    ebb_status (*replay)(ebb_backend *backend, ebb_recording *recording);
    void (*record_free)(ebb_backend *backend, ebb_recording *recording);

    /* Backends whose launches return before their work is done, else NULL, all three: points in its time.
     * After end, marks_read gives the nanoseconds from mark i to mark i + 1, for i < n_marks - 1. */
    ebb_status (*marks_reserve)(ebb_backend *backend, uint32_t n_marks);
    ebb_status (*mark)(ebb_backend *backend, uint32_t i);
    ebb_status (*marks_read)(ebb_backend *backend, uint32_t n_marks, uint64_t *ns);

    /* Who may make code for bodies of `fused`: the name of the i-th, and what it would be made with.
     * EBB_UNAVAILABLE: it is not there, and why. *name NULL: there are no more. NULL: nobody does. */
    ebb_status (*emitter)(ebb_env *env, uint32_t i, const char **name, char version[EBB_EMITTER_TEXT]);

    /* Checkers only, else NULL: a buffer's bytes now hold its value (a feed, an initial param). A checker
     * is launched for every step, those of views too, with kernel NULL and launch->check set; before the
     * first step the transient region is filled, which makes its bytes nobody's. */
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
    const ebb_backend_api *api; /* NULL: in a module of its own (exec/module.h) */
} ebb_backend_row;
extern const ebb_backend_row ebb_backends[];
extern const uint32_t ebb_n_backends;

extern const ebb_backend_api ebb_backend_ref, ebb_backend_shadow;
/* NULL when there is none of that name that is built in. */
const ebb_backend_api *ebb_backend_find(const char *name);
/* The row of a device, "cpu" or "cuda:1": and in *which what follows the colon, NULL where there is none.
 * NULL: none has that name, or the one that has it knows no devices by number. */
const ebb_backend_row *ebb_backend_of_device(const char *device, const char **which);
/* The backend of a device: "cpu", "cuda:1", or the file of a device's description, which is cuda's. Of the
 * options, `which` is found here, and a device that is not the host has one thread. EBB_UNAVAILABLE: not in
 * this build (lists those that are) or not on this machine; EBB_USAGE: an option that it does not have. */
EBB_CHECKED ebb_status ebb_backend_open(ebb_env *env, const char *device,
                                        const ebb_backend_options *options, ebb_backend **out);
/* A row's functions: a module is opened, with the statuses of ebb_module_find. */
EBB_CHECKED ebb_status ebb_backend_load(ebb_env *env, const ebb_backend_row *row,
                                        const ebb_backend_api **out);

#endif
