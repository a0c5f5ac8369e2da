/* ebb/model.h: reads a model: text IR (*.ebb), or a planning graph (ebb.graph/1), which can be planned but
 * not run.
 *
 * Threads: as ebb/base.h. Ownership: `**out` is the caller's, to be destroyed.
 */
#ifndef EBB_MODEL_H
#define EBB_MODEL_H

#include "ebb/base.h"
#include "ebb/options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_model ebb_model;
/* Reads path ("-" is standard input) and checks it at its default dimensions. EBB_IO, EBB_BAD_INPUT. */
EBB_API EBB_CHECKED ebb_status ebb_model_open(ebb_env *env, const char *path, ebb_model **out);
/* Parses a model from n bytes of text, which are copied; name is used in error texts. */
EBB_API EBB_CHECKED ebb_status ebb_model_parse(ebb_env *env, const char *name, const char *text, size_t n,
                                               ebb_model **out);
EBB_API void ebb_model_destroy(ebb_model *model);
EBB_API bool ebb_model_is_planning_graph(const ebb_model *model);

/* A symbolic dimension of a model and its size, >= 1. A name that the model lacks is EBB_USAGE; planning
 * graphs have no dimensions. */
typedef struct ebb_dim_binding {
    const char *name;
    int64_t size;
} ebb_dim_binding;

/* The contents of a training step of the model at these dimensions (`ebb inspect`). Bytes are unrounded
 * sums over the values of a role. */
typedef struct ebb_model_facts {
    const char *name;         /* borrowed from the model */
    uint32_t n_ops, n_values; /* of the compiled graph: forward, backward, update */
    uint32_t n_forward, n_backward, n_update;
    int64_t n_param_elements, param_bytes, state_bytes, input_bytes, activation_bytes, gradient_bytes;
    int64_t scratch_bytes_max; /* the most needed by one op */
    int64_t time_ns;           /* of a step, by the device's cost model */
} ebb_model_facts;
EBB_API EBB_CHECKED ebb_status ebb_model_inspect(ebb_env *env, const ebb_model *model,
                                                 const ebb_dim_binding *dims, uint32_t n_dims,
                                                 const ebb_options *options, ebb_model_facts *out);

#ifdef __cplusplus
}
#endif
#endif
