/* ebb/eager.h: ops that run when they are called, and gradients of what was run.
 *
 *     ebb_eager_create(env, &options, &eager);
 *     ebb_tensor_create(eager, &type, data, &x);
 *     const ebb_op *relu = ebb_op_named("relu");
 *     ebb_tape_create(eager, &tape);
 *     ebb_tape_watch(tape, x);
 *     ebb_apply(eager, relu, &x, 1, NULL, 0, &y);
 *     ebb_tape_gradients(tape, &y, NULL, 1, &x, 1, &dx);
 *
 * A tensor is a handle on a value that never changes: two handles may share one, an assignment gives a
 * handle another one, and an update in place is done in place when nobody else holds the value. Ops run on
 * the kernels that plans run on, so that the bits are the same (ebb/trace.h makes plans of what was run).
 *
 * Values take their bytes from the eager's pool, which keeps freed blocks for later values of about the
 * size. Kernels are prepared once for each call of other types or attributes, and kept.
 *
 * Threads: an eager and all that is made with it are used by one thread at a time. Ownership: what `**out`
 * gives is the caller's. Destroy tensors, tapes and traces before their eager.
 */
#ifndef EBB_EAGER_H
#define EBB_EAGER_H

#include "ebb/base.h"
#include "ebb/build.h"
#include "ebb/options.h"
#include "ebb/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_eager ebb_eager;
typedef struct ebb_tensor ebb_tensor;
typedef struct ebb_tape ebb_tape;
typedef struct ebb_op_info ebb_op;

/* Of the options: device, n_threads, seed, and those of cuda. EBB_USAGE, EBB_UNAVAILABLE, EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_eager_create(ebb_env *env, const ebb_options *options, ebb_eager **out);
EBB_API void ebb_eager_destroy(ebb_eager *eager); /* NULL is allowed */

/* Random ops draw from the seed and how many have drawn since: the same seed draws the same again. */
EBB_API void ebb_eager_seed(ebb_eager *eager, uint64_t seed);
/* How many have drawn since the seed, which *seed gets (NULL: not asked). draw_on: draws continue from such
 * a point, as those of a run that was never interrupted. */
EBB_API uint64_t ebb_eager_draws(const ebb_eager *eager, uint64_t *seed);
EBB_API void ebb_eager_draw_on(ebb_eager *eager, uint64_t seed, uint64_t draws);
/* What batch_norm and dropout mean from now on: evaluation or (the default) training. */
EBB_API void ebb_eager_evaluate(ebb_eager *eager, bool evaluate);

typedef struct ebb_eager_memory {
    int64_t pool_bytes;      /* that the pool holds of the device, in use or free */
    int64_t live_bytes;      /* of values: each rounded up to the size of its block */
    int64_t peak_live_bytes; /* since the eager was made, or since ebb_eager_reset_peak */
    int64_t arena_bytes;     /* of the block that traced programs share */
    int64_t peak_bytes;      /* the most of both at one time, since the same moment */
    int64_t n_values;        /* that exist now */
    int64_t n_launches;      /* of kernels, by ops called one by one */
} ebb_eager_memory;
EBB_API void ebb_eager_memory_now(const ebb_eager *eager, ebb_eager_memory *out);
EBB_API void ebb_eager_reset_peak(ebb_eager *eager);
/* Gives the pool's free blocks back to the device. */
EBB_API void ebb_eager_trim(ebb_eager *eager);

/* ---- tensors ---- */

typedef struct ebb_tensor_type {
    ebb_element element;
    uint32_t rank;
    int64_t dim[EBB_TENSOR_MAX_RANK];
} ebb_tensor_type;

/* data: elements in logical order (row-major), which are copied; NULL: all zero. EBB_BAD_INPUT: a size
 * below 1, or too many. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_create(ebb_eager *eager, const ebb_tensor_type *type,
                                                 const void *data, ebb_tensor **out);
#define EBB_TENSOR_ALIGNMENT 64
/* The same on memory of the caller's, without a copy, laid out as ebb_tensor_bytes says. Nothing writes to
 * it, and it must not change before release(ctx), which is called once, when the last value in it is gone,
 * in any call with the eager. EBB_USAGE, and release is not called: data is not aligned to
 * EBB_TENSOR_ALIGNMENT, or the device has memory of its own. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_borrow(ebb_eager *eager, const ebb_tensor_type *type,
                                                 const void *data, void (*release)(void *ctx), void *ctx,
                                                 ebb_tensor **out);
/* A scalar of that value, for numbers of the program itself: the first call of a symbolic trace takes no
 * memory for it. Of integers and truth values, value is whole. EBB_BAD_INPUT: it is not in the range. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_number(ebb_eager *eager, ebb_element element, double value,
                                                 ebb_tensor **out);
/* Another handle on the same value. O(1). */
EBB_API EBB_CHECKED ebb_status ebb_tensor_share(const ebb_tensor *tensor, ebb_tensor **out);
EBB_API void ebb_tensor_destroy(ebb_tensor *tensor); /* NULL is allowed */
/* `to` gets the value of `from`, which must have its type. EBB_BAD_INPUT. O(1). */
EBB_API EBB_CHECKED ebb_status ebb_tensor_assign(ebb_tensor *to, const ebb_tensor *from);

/* Its type, shape and size, without waiting for its value. */
EBB_API void ebb_tensor_type_of(const ebb_tensor *tensor, ebb_tensor_type *out);
EBB_API int64_t ebb_tensor_size_bytes(const ebb_tensor *tensor);
/* Copies all elements to host memory, in logical order; waits for them. EBB_USAGE: bytes are not the
 * tensor's. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_read(const ebb_tensor *tensor, void *data, size_t bytes);
/* Where a host device keeps the value: in logical order but for rank 4, which lies as [n,h,w,c]. Valid
 * while the handle keeps the value; not to be written to. EBB_USAGE: the memory is a device's own. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_bytes(const ebb_tensor *tensor, const void **data);

/* ---- ops ---- */

/* An op of docs/ir.md, composite ones too, or NULL. */
EBB_API const ebb_op *ebb_op_named(const char *name);
EBB_API uint32_t ebb_op_n_results(const ebb_op *op);
/* Does it only move elements, so that it takes those of every dtype? */
EBB_API bool ebb_op_moves(const ebb_op *op);

/* Runs an op: out[i] is the handle of its result i. An op that updates operands (sgd, bn_track, ...) also
 * assigns the results to those handles. attributes: as in ebb/build.h. On a failure nothing is assigned and
 * out is all NULL: EBB_BAD_INPUT with the op, the shapes and the rule; EBB_NO_MEMORY; EBB_DEVICE. */
EBB_API EBB_CHECKED ebb_status ebb_apply(ebb_eager *eager, const ebb_op *op, ebb_tensor *const *in,
                                         uint32_t n_in, const ebb_build_attribute *attributes,
                                         uint32_t n_attributes, ebb_tensor **out);

/* ---- gradients ---- */

/* From now on ops on what the tape watches, and on what comes of it, are recorded. Tapes nest: all that
 * exist record, and the ops of one's backward are recorded by those that were made before it, which is how
 * second derivatives are had. */
EBB_API EBB_CHECKED ebb_status ebb_tape_create(ebb_eager *eager, ebb_tape **out);
EBB_API void ebb_tape_destroy(ebb_tape *tape); /* NULL is allowed */
EBB_API EBB_CHECKED ebb_status ebb_tape_watch(ebb_tape *tape, const ebb_tensor *tensor);
/* Whether it watches the tensor's value, or has seen it made. */
EBB_API bool ebb_tape_sees(const ebb_tape *tape, const ebb_tensor *tensor);
/* While paused, nothing is recorded. */
EBB_API void ebb_tape_pause(ebb_tape *tape, bool paused);
/* The gradients of ys (n_y of them), each weighed by its dy, by tensors that the tape watches or has seen.
 * dys NULL, or one of them NULL: ones. out[i] is NULL where no y depends on of[i]. Each tensor is looked up
 * by the value that it has now. What was recorded is freed, unless `keep`. EBB_BAD_INPUT: an op on the way
 * has no gradient; a dy is not of its y's type. EBB_USAGE: a tensor is another eager's. */
EBB_API EBB_CHECKED ebb_status ebb_tape_gradients(ebb_tape *tape, ebb_tensor *const *ys,
                                                  ebb_tensor *const *dys, uint32_t n_y,
                                                  ebb_tensor *const *of, uint32_t n_of, bool keep,
                                                  ebb_tensor **out);

/* The same piece by piece, from the last op to the first, for callers with gradients of their own for a
 * part of what was done: a sweep begins behind all ops; ebb_sweep_back goes back through those that were
 * recorded since the tape had n_nodes (ebb_tape_length then); between, what has come to a value is had, and
 * replaced. Sums are added in the order of ebb_tape_gradients. Nothing is recorded on the tape meanwhile,
 * and it keeps what it has; without it a sweep can only be destroyed. EBB_BAD_INPUT as there; EBB_USAGE:
 * the tape has no such value. */
typedef struct ebb_sweep ebb_sweep;
EBB_API uint32_t ebb_tape_length(const ebb_tape *tape);
EBB_API EBB_CHECKED ebb_status ebb_sweep_create(ebb_tape *tape, ebb_tensor *const *ys,
                                                ebb_tensor *const *dys, uint32_t n_y, ebb_tensor *const *of,
                                                uint32_t n_of, ebb_sweep **out);
EBB_API void ebb_sweep_destroy(ebb_sweep *sweep); /* NULL is allowed */
EBB_API EBB_CHECKED ebb_status ebb_sweep_back(ebb_sweep *sweep, uint32_t n_nodes);
/* *out NULL: nothing has come to it. */
EBB_API EBB_CHECKED ebb_status ebb_sweep_get(const ebb_sweep *sweep, const ebb_tensor *tensor,
                                             ebb_tensor **out);
EBB_API EBB_CHECKED ebb_status ebb_sweep_set(ebb_sweep *sweep, const ebb_tensor *tensor,
                                             const ebb_tensor *gradient);

#ifdef __cplusplus
}
#endif
#endif
