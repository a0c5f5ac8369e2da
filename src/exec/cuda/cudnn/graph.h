/* cuda/cudnn/graph.h: cuDNN's graph interface, as far as one convolution needs it: descriptors, the
 * operation, its engines' configurations, and execution plans made of them, with a device or from its
 * description alone.
 *
 *     operation graph -> heuristics -> configurations (engine and knobs) -> one of them -> execution plan
 *
 * A configuration is kept as numbers, not as a descriptor: the same numbers make a plan with a device and
 * without one, today and in a file's name for it; on the device it may want more scratch. Not thread-safe.
 */
#ifndef EBB_EXEC_CUDA_CUDNN_GRAPH_H
#define EBB_EXEC_CUDA_CUDNN_GRAPH_H

#include <cudnn.h>

#include "exec/kernels.h"

/* ---- descriptors ---------------------------------------------------------------------------------- */

/* The descriptors of one piece of work, destroyed together. The first failure latches: what comes after it
 * does nothing, and dnn_set_status tells. */
typedef struct dnn_set {
    ebb_env *env;
    EBB_ARRAY(cudnnBackendDescriptor_t) made;
    cudnnStatus_t failure;
    bool no_memory;
} dnn_set;

void dnn_set_init(dnn_set *set, ebb_env *env);
void dnn_set_deinit(dnn_set *set);
/* Room for so many descriptors: making them allocates nothing of ours then. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status dnn_set_reserve(dnn_set *set, size_t n);
/* As after init, but the room stays. */
void dnn_set_reset(dnn_set *set);
/* NULL when something failed before. */
cudnnBackendDescriptor_t dnn_new(dnn_set *set, cudnnBackendDescriptorType_t type);
void dnn_put(dnn_set *set, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t n, const void *values);
void dnn_put_i64(dnn_set *set, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name, int64_t value);
void dnn_put_one(dnn_set *set, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                 cudnnBackendDescriptor_t value);
void dnn_finish(dnn_set *set, cudnnBackendDescriptor_t d);
static inline bool dnn_ok(const dnn_set *set) {
    return set->failure == CUDNN_STATUS_SUCCESS && !set->no_memory;
}
/* Of a failed set: `status`, with "what: cuDNN's words"; EBB_NO_MEMORY. EBB_OK where nothing failed. */
EBB_CHECKED ebb_status dnn_set_status(const dnn_set *set, ebb_status status, const char *what);
/* The failure is not about what was asked: a part of the library is absent, of another version, or does not
 * start. */
static inline bool dnn_broken(const dnn_set *set) {
    return set->failure == CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE ||
           CUDNN_STATUS_CATEGORY(set->failure) == CUDNN_STATUS_CATEGORY(CUDNN_STATUS_NOT_INITIALIZED);
}
/* The device is full: the same question may have another answer later, so none is taken from it. */
static inline bool dnn_full(cudnnStatus_t status) {
    return status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
           status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}
static inline bool dnn_no_room(const dnn_set *set) {
    return dnn_full(set->failure);
}
/* Of a set that failed for no fault of what was asked: EBB_NO_MEMORY, EBB_UNAVAILABLE (dnn_broken),
 * EBB_DEVICE (dnn_no_room). EBB_OK: it did not, or it was refused, which is an answer. */
EBB_CHECKED ebb_status dnn_set_trouble(const dnn_set *set, const char *what);
/* How many elements an attribute has, at most `most` of them copied; 0 where it cannot be had. */
int64_t dnn_get(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t most, void *values);

/* A device from its description's text. */
cudnnBackendDescriptor_t dnn_device(dnn_set *set, const char *properties);

/* ---- one convolution (conv.c) --------------------------------------------------------------- */

/* What plans keep to: cuDNN may choose loads by it. Operands begin at multiples of 256, pieces of them at
 * multiples of this (notes: loads go by the declared alignment, not by the addresses that come). */
enum { DNN_ALIGNMENT = 16 };

enum { DNN_X = 1, DNN_W, DNN_Y }; /* unique ids: in gradients x or w is the gradient by it, y that of y */

/* The operation graph of a conv2d, conv2d_dgrad or conv2d_wgrad: f32 or 16 bits, sums in f32, channels
 * last. accumulate: the result is added to what is there. */
cudnnBackendDescriptor_t dnn_conv_graph(dnn_set *set, const ebb_call *call, bool accumulate,
                                        cudnnHandle_t handle);
/* The launch's addresses of x, w and y, in that order. */
void dnn_conv_pointers(const ebb_call *call, const ebb_launch *launch, void *at[3]);
/* Byte offsets of x, w and y, n_images further on. */
void dnn_conv_steps(const ebb_call *call, int64_t n_images, const int64_t from[3], int64_t to[3]);

/* ---- pieces of a batch (pieces.c) ----------------------------------------------------------- */

/* So many images of a call as a call of its own, which points into it: not to be copied. */
typedef struct dnn_piece {
    ebb_type in[2], out[1];
    ebb_call call;
} dnn_piece;
void dnn_piece_make(const ebb_call *call, int64_t n_images, dnn_piece *out);
int64_t dnn_images(const ebb_call *call);
/* A weight gradient's pieces behind the first add to it: in 16 bits each would round the sum, and the batch
 * is not cut (choices.c). */
bool dnn_pieces_add(const ebb_call *call);
/* Pieces share plans: one of the larger pieces, one of the smaller ones, and one of each that adds. */
enum { DNN_PLAN_ADDS = 1, DNN_PLAN_SMALLER = 2, DNN_N_PLANS = 4 };
/* The plan of piece i, a sum of these; its images into *n_images. */
uint32_t dnn_piece_plan(const ebb_call *call, int64_t n_pieces, int64_t i, int64_t *n_images);

/* ---- configurations (engines.c) ------------------------------------------------------------- */

enum { DNN_MOST_KNOBS = CUDNN_KNOB_TYPE_COUNTS, DNN_MOST_CONFIGS = 96 };

typedef struct dnn_config {
    int64_t engine;
    int64_t value[DNN_MOST_KNOBS];
    int32_t knob[DNN_MOST_KNOBS]; /* cudnnBackendKnobType_t */
    uint32_t n_knobs;
    int64_t scratch_bytes;
    bool tensor_cores; /* f32 factors are rounded to TF32; of 16 bits, exact */
    bool generic;      /* the engine that does everything, and nothing fast */
} dnn_config;

typedef struct dnn_configs {
    dnn_config at[DNN_MOST_CONFIGS];
    uint32_t n;
} dnn_configs;

/* Reads the knobs of a heuristics' answer; false: they cannot be had. */
bool dnn_config_knobs(dnn_set *set, cudnnBackendDescriptor_t from, dnn_config *to);
/* Which engines may do a call. */
typedef struct dnn_allowed {
    bool tensor_cores; /* TF32 factors may be, or all are of 16 bits */
    bool winograd;     /* transformed tiles, which round on their way: not in 16 bits */
    bool uncompared;   /* those that nothing but their notes speaks for (engines.c) */
} dnn_allowed;

/* What the heuristics offer for the graph on the device, best first, of those that may be used: the same
 * bits each time, f32 sums, no compiling at run time. Those beyond DNN_MOST_CONFIGS are left out. A mode
 * without an answer has none; EBB_NO_MEMORY, EBB_UNAVAILABLE (cuDNN does not work here). */
EBB_CHECKED ebb_status dnn_configs_find(ebb_env *env, cudnnBackendDescriptor_t graph,
                                        cudnnBackendDescriptor_t device, cudnnBackendHeurMode_t mode,
                                        const dnn_allowed *allowed, dnn_configs *out);
/* The configuration's plan: for a device that is there (handle) or for a described one (device); the other
 * is NULL. NULL: it is refused, as the set then tells. */
cudnnBackendDescriptor_t dnn_config_plan(dnn_set *set, cudnnBackendDescriptor_t graph,
                                         const dnn_config *config, cudnnHandle_t handle,
                                         cudnnBackendDescriptor_t device);
/* The plan that a call runs by: with the handle, in the graph, too, as programs do for which that is not
 * deprecated yet; where cuDNN wants it so, or there is no handle, from the device's description. The set
 * holds nothing else. */
cudnnBackendDescriptor_t dnn_call_plan(dnn_set *set, const ebb_call *call, bool accumulate,
                                       const dnn_config *config, cudnnHandle_t handle,
                                       cudnnBackendDescriptor_t device);
int64_t dnn_plan_scratch(cudnnBackendDescriptor_t plan); /* bytes; -1: it does not tell */

#endif
