/* ebb/eager.h: runs ops as they are called, and computes their gradients.
 *
 *     ebb_eager_create(env, &options, &eager);
 *     ebb_tensor_create(eager, &type, data, &x);
 *     const ebb_op *relu = ebb_op_named("relu");
 *     ebb_tape_create(eager, &tape);
 *     ebb_tape_watch(tape, x);
 *     ebb_apply(eager, relu, &x, 1, NULL, 0, &y);
 *     ebb_tape_gradients(tape, &y, NULL, 1, &x, 1, &dx);
 *
 * A tensor is a handle on an immutable value: two handles may share a value, an assignment gives a handle
 * another value, and an in-place update reuses the bytes when nothing else holds the value. Ops run on the
 * same kernels as plans, so the bits are the same (ebb/trace.h makes plans from such calls).
 *
 * Values take their bytes from the eager's pool, which keeps freed blocks for later values of about the
 * same size. A kernel is prepared once for each combination of op, types and attributes, and kept.
 *
 * Threads: an eager and everything made with it are used by one thread at a time. Ownership: `**out` is the
 * caller's. Destroy tensors, tapes and traces before their eager.
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

/* Uses these options: device, n_threads, seed, jit, direct_conv, and those for cuda. EBB_USAGE,
 * EBB_UNAVAILABLE, EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_eager_create(ebb_env *env, const ebb_options *options, ebb_eager **out);
EBB_API void ebb_eager_destroy(ebb_eager *eager); /* NULL is allowed */

/* Sets the seed. Random ops draw from the seed and the number of draws since it was set, so the same seed
 * repeats the same draws. */
EBB_API void ebb_eager_seed(ebb_eager *eager, uint64_t seed);
/* Returns the number of draws since the seed was set, and the seed in *seed (may be NULL).
 * ebb_eager_draw_on continues from such a point, as a run that was never interrupted does. */
EBB_API uint64_t ebb_eager_draws(const ebb_eager *eager, uint64_t *seed);
EBB_API void ebb_eager_draw_on(ebb_eager *eager, uint64_t seed, uint64_t draws);
/* Switches batch_norm and dropout to evaluation or back to training, the default. */
EBB_API void ebb_eager_evaluate(ebb_eager *eager, bool evaluate);

typedef struct ebb_eager_memory {
    int64_t pool_bytes;      /* device memory held by the pool, in use or free */
    int64_t live_bytes;      /* of values: each rounded up to the size of its block */
    int64_t peak_live_bytes; /* since the eager was made, or since ebb_eager_reset_peak */
    int64_t arena_bytes;     /* of the block that traced programs share */
    int64_t peak_bytes;      /* peak of live_bytes + arena_bytes since the same moment */
    int64_t n_values;        /* values that exist now */
    int64_t n_launches;      /* kernel launches by ops called one by one */
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
 * below 1, too many axes or too many bytes. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_create(ebb_eager *eager, const ebb_tensor_type *type,
                                                 const void *data, ebb_tensor **out);
#define EBB_TENSOR_ALIGNMENT 64
/* Makes a tensor on the caller's memory without a copy, in the layout of ebb_tensor_bytes. The library
 * never writes to it, and it must not change before release(ctx), which is called once, during any call
 * with the eager, when the last value in it is gone. EBB_USAGE, without a call of release: data is not
 * aligned to EBB_TENSOR_ALIGNMENT, or the device has its own memory. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_borrow(ebb_eager *eager, const ebb_tensor_type *type,
                                                 const void *data, void (*release)(void *ctx), void *ctx,
                                                 ebb_tensor **out);
/* Makes a scalar, for literal numbers of the program: the first call of a symbolic trace takes no memory
 * for it. For integers and booleans, value must be a whole number in the element's range, else
 * EBB_BAD_INPUT. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_number(ebb_eager *eager, ebb_element element, double value,
                                                 ebb_tensor **out);
/* Makes another handle on the same value. O(1). */
EBB_API EBB_CHECKED ebb_status ebb_tensor_share(const ebb_tensor *tensor, ebb_tensor **out);
EBB_API void ebb_tensor_destroy(ebb_tensor *tensor); /* NULL is allowed */
/* Gives `to` the value of `from`. EBB_BAD_INPUT: their types differ. O(1). */
EBB_API EBB_CHECKED ebb_status ebb_tensor_assign(ebb_tensor *to, const ebb_tensor *from);

/* The tensor's type, shape and size, without waiting for its value. */
EBB_API void ebb_tensor_type_of(const ebb_tensor *tensor, ebb_tensor_type *out);
EBB_API int64_t ebb_tensor_size_bytes(const ebb_tensor *tensor);
/* Copies all elements to host memory, in logical order; waits for them. EBB_USAGE: bytes is not the
 * tensor's size. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_read(const ebb_tensor *tensor, void *data, size_t bytes);
/* The address of the value on a host device: in logical order, except that rank 4 is stored as [n,h,w,c].
 * Valid while the handle keeps the value; read-only. EBB_USAGE: the device has its own memory. */
EBB_API EBB_CHECKED ebb_status ebb_tensor_bytes(const ebb_tensor *tensor, const void **data);

/* ---- ops ---- */

/* Finds an op of docs/ir.md, composite ops included; NULL: there is none of that name. */
EBB_API const ebb_op *ebb_op_named(const char *name);
EBB_API uint32_t ebb_op_n_results(const ebb_op *op);
/* Whether the op only moves elements, so that it takes every dtype. */
EBB_API bool ebb_op_moves(const ebb_op *op);

/* Runs an op: out[i] is the handle of its result i. An op that updates operands (sgd, bn_track, ...) also
 * assigns the results to those handles. attributes: as in ebb/build.h. On a failure nothing is assigned and
 * out is all NULL: EBB_BAD_INPUT with the op, the shapes and the rule; EBB_NO_MEMORY; EBB_DEVICE. */
EBB_API EBB_CHECKED ebb_status ebb_apply(ebb_eager *eager, const ebb_op *op, ebb_tensor *const *in,
                                         uint32_t n_in, const ebb_build_attribute *attributes,
                                         uint32_t n_attributes, ebb_tensor **out);

/* ---- gradients ---- */

/* Starts to record ops on watched tensors and on values computed from them. Tapes nest: all existing tapes
 * record, and the ops of a tape's backward pass are recorded by the tapes made before it, which gives
 * second derivatives. */
EBB_API EBB_CHECKED ebb_status ebb_tape_create(ebb_eager *eager, ebb_tape **out);
EBB_API void ebb_tape_destroy(ebb_tape *tape); /* NULL is allowed */
EBB_API EBB_CHECKED ebb_status ebb_tape_watch(ebb_tape *tape, const ebb_tensor *tensor);
/* Whether the tape watches the tensor's value, or recorded how it was made. */
EBB_API bool ebb_tape_sees(const ebb_tape *tape, const ebb_tensor *tensor);
/* While paused, nothing is recorded. */
EBB_API void ebb_tape_pause(ebb_tape *tape, bool paused);
/* Computes the gradients of the n_y tensors ys, each weighted by its dy, with respect to the n_of tensors
 * `of`, which the tape watches or has recorded. dys NULL, or an entry NULL: ones. out[i] is NULL where no y
 * depends on of[i]. Tensors are looked up by their current value. Frees the recording unless `keep`.
 * EBB_BAD_INPUT: an op on the way has no gradient, or a dy does not have its y's type. EBB_USAGE: a tensor
 * belongs to another eager. */
EBB_API EBB_CHECKED ebb_status ebb_tape_gradients(ebb_tape *tape, ebb_tensor *const *ys,
                                                  ebb_tensor *const *dys, uint32_t n_y,
                                                  ebb_tensor *const *of, uint32_t n_of, bool keep,
                                                  ebb_tensor **out);

/* ebb_tape_gradients in parts, from the last op to the first, for callers that compute some of the
 * gradients themselves. A sweep begins after the last op. ebb_sweep_back goes back through the ops recorded
 * since the tape had n_nodes (ebb_tape_length at that time); between two such calls ebb_sweep_get and
 * ebb_sweep_set read and replace the gradient collected for a value. Sums are added in the order of
 * ebb_tape_gradients. During a sweep the tape records nothing and keeps its recording; once the tape is
 * destroyed, a sweep can only be destroyed. EBB_BAD_INPUT as for ebb_tape_gradients; EBB_USAGE: the tape
 * has no such value. */
typedef struct ebb_sweep ebb_sweep;
EBB_API uint32_t ebb_tape_length(const ebb_tape *tape);
EBB_API EBB_CHECKED ebb_status ebb_sweep_create(ebb_tape *tape, ebb_tensor *const *ys,
                                                ebb_tensor *const *dys, uint32_t n_y, ebb_tensor *const *of,
                                                uint32_t n_of, ebb_sweep **out);
EBB_API void ebb_sweep_destroy(ebb_sweep *sweep); /* NULL is allowed */
EBB_API EBB_CHECKED ebb_status ebb_sweep_back(ebb_sweep *sweep, uint32_t n_nodes);
/* *out is NULL when no gradient has reached the value. */
EBB_API EBB_CHECKED ebb_status ebb_sweep_get(const ebb_sweep *sweep, const ebb_tensor *tensor,
                                             ebb_tensor **out);
EBB_API EBB_CHECKED ebb_status ebb_sweep_set(ebb_sweep *sweep, const ebb_tensor *tensor,
                                             const ebb_tensor *gradient);

#ifdef __cplusplus
}
#endif
#endif
