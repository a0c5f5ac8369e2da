/* cuda/cudnn/engines.c: which configurations of engines may do a convolution.
 *
 * By cuDNN's own notes of an engine. Never: NONDETERMINISTIC (sums by atomics), DOWN_CONVERT_INPUTS and
 * REDUCED_PRECISION_REDUCTION (less than f32 where f32 is meant), FFT and Winograd by tiles of 6 or 13
 * (they lose digits), RUNTIME_COMPILATION (its plans need a device). TENSOR_CORE only where TF32 is
 * allowed, for f32 operands: it means factors that are rounded to TF32. Winograd's not for 16 bits.
 *
 * Notes are what a maker says. Engine 17, Winograd's weight gradient in f32, was never compared with the
 * reference at a batch where it is chosen, so that it is offered to plans that choose engines, and tried
 * there by scripts/gpu-check, and is nobody's default.
 */
#include "exec/cuda/cudnn/graph.h"

/* ---- notes ---------------------------------------------------------------------------------------- */

enum { MOST_NOTES = 32 };

static bool note_allowed(cudnnBackendNumericalNote_t note, const dnn_allowed *allowed) {
    switch (note) {
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        return allowed->tensor_cores;
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
        return allowed->winograd;
    case CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP:
        return true;
    default: /* also what a later cuDNN notes: nobody knows what it means here */
        return false;
    }
}

/* Reads the engine's notes into *config; false: it may not be used. */
static bool engine_allowed(cudnnBackendDescriptor_t engine, const dnn_allowed *may, dnn_config *config) {
    enum { UNCOMPARED = 17 }; /* of weight gradients; it is nothing else's number */
    cudnnBackendNumericalNote_t notes[MOST_NOTES];
    cudnnBackendBehaviorNote_t ways[MOST_NOTES];
    const int64_t n =
        dnn_get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES, notes);
    const int64_t n_ways =
        dnn_get(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, MOST_NOTES, ways);
    bool allowed = config->engine != UNCOMPARED || may->uncompared;
    for (int64_t i = 0; i < n; i++) {
        allowed = allowed && note_allowed(notes[i], may);
        config->tensor_cores = config->tensor_cores || notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
        config->generic = config->generic || notes[i] == CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP;
    }
    for (int64_t i = 0; i < n_ways; i++)
        allowed = allowed && ways[i] != CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    return allowed;
}

/* ---- reading a configuration ---------------------------------------------------------------------- */

/* cuDNN does not count knobs: there is room for one of each type. */
bool dnn_config_knobs(dnn_set *set, cudnnBackendDescriptor_t from, dnn_config *to) {
    cudnnBackendDescriptor_t choice[DNN_MOST_KNOBS];
    int64_t n = 0;
    for (int64_t i = 0; i < DNN_MOST_KNOBS; i++)
        choice[i] = dnn_new(set, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (!dnn_ok(set)) return false;
    if (cudnnBackendGetAttribute(from, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                 DNN_MOST_KNOBS, &n, choice) != CUDNN_STATUS_SUCCESS ||
        n > DNN_MOST_KNOBS)
        return false;
    for (int64_t i = 0; i < n; i++) {
        cudnnBackendKnobType_t knob;
        if (dnn_get(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &knob) != 1 ||
            dnn_get(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &to->value[i]) != 1)
            return false;
        to->knob[i] = (int32_t)knob;
    }
    to->n_knobs = (uint32_t)n;
    return true;
}

static cudnnBackendDescriptor_t plan_of(dnn_set *set, cudnnBackendDescriptor_t config, cudnnHandle_t handle,
                                        cudnnBackendDescriptor_t device) {
    cudnnBackendDescriptor_t plan = dnn_new(set, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if (handle)
        dnn_put(set, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    else
        dnn_put_one(set, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
    dnn_put_one(set, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    dnn_finish(set, plan);
    return plan;
}

int64_t dnn_plan_scratch(cudnnBackendDescriptor_t plan) {
    int64_t bytes = -1;
    const int64_t n = dnn_get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &bytes);
    return n == 1 ? bytes : -1;
}

/* Reads one of the heuristics' answers; false: not one for us, or none that the device can run. */
static bool read_config(dnn_set *set, cudnnBackendDescriptor_t from, cudnnBackendDescriptor_t device,
                        const dnn_allowed *allowed, dnn_config *to) {
    *to = (dnn_config){0};
    cudnnBackendDescriptor_t engine = dnn_new(set, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (!dnn_ok(set)) return false;
    if (dnn_get(from, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine) != 1 ||
        dnn_get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &to->engine) != 1)
        return false;
    if (!engine_allowed(engine, allowed, to) || !dnn_config_knobs(set, from, to)) return false;
    cudnnBackendDescriptor_t plan = plan_of(set, from, NULL, device);
    if (!dnn_ok(set)) return false;
    to->scratch_bytes = dnn_plan_scratch(plan);
    return to->scratch_bytes >= 0;
}

/* ---- heuristics ----------------------------------------------------------------------------------- */

/* Answers into found, which are descriptors of the set; returns how many. */
static int64_t ask(dnn_set *set, cudnnBackendDescriptor_t graph, cudnnBackendDescriptor_t device,
                   cudnnBackendHeurMode_t mode, cudnnBackendDescriptor_t found[DNN_MOST_CONFIGS]) {
    cudnnBackendDescriptor_t heuristics = dnn_new(set, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    dnn_put_one(set, heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    dnn_put(set, heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    dnn_put_one(set, heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
    dnn_finish(set, heuristics);
    if (!dnn_ok(set)) return 0;
    int64_t n = dnn_get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, NULL);
    n = ebb_min_i64(n, DNN_MOST_CONFIGS);
    for (int64_t i = 0; i < n; i++) found[i] = dnn_new(set, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (!dnn_ok(set) || n == 0) return 0;
    return dnn_get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, found);
}

ebb_status dnn_configs_find(ebb_env *env, cudnnBackendDescriptor_t graph, cudnnBackendDescriptor_t device,
                            cudnnBackendHeurMode_t mode, const dnn_allowed *allowed, dnn_configs *out) {
    cudnnBackendDescriptor_t found[DNN_MOST_CONFIGS];
    dnn_set set;
    out->n = 0;
    dnn_set_init(&set, env);
    const int64_t n = ask(&set, graph, device, mode, found);
    ebb_status status = dnn_set_trouble(&set, "heuristics");
    for (int64_t i = 0; i < n && status == EBB_OK; i++) {
        dnn_set one; /* a refused plan fails its own set alone */
        dnn_set_init(&one, env);
        if (read_config(&one, found[i], device, allowed, &out->at[out->n])) out->n++;
        status = dnn_set_trouble(&one, "heuristics");
        dnn_set_deinit(&one);
    }
    dnn_set_deinit(&set);
    return status;
}

/* ---- plans from numbers --------------------------------------------------------------------------- */

cudnnBackendDescriptor_t dnn_config_plan(dnn_set *set, cudnnBackendDescriptor_t graph,
                                         const dnn_config *config, cudnnHandle_t handle,
                                         cudnnBackendDescriptor_t device) {
    cudnnBackendDescriptor_t choice[DNN_MOST_KNOBS];
    cudnnBackendDescriptor_t engine = dnn_new(set, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    dnn_put_one(set, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    dnn_put_i64(set, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, config->engine);
    if (!handle) dnn_put_one(set, engine, CUDNN_ATTR_ENGINE_DEVICEPROP, device);
    dnn_finish(set, engine);
    for (uint32_t i = 0; i < config->n_knobs; i++) {
        const cudnnBackendKnobType_t knob = (cudnnBackendKnobType_t)config->knob[i];
        choice[i] = dnn_new(set, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        dnn_put(set, choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &knob);
        dnn_put_i64(set, choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, config->value[i]);
        dnn_finish(set, choice[i]);
    }
    cudnnBackendDescriptor_t chosen = dnn_new(set, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    dnn_put_one(set, chosen, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (config->n_knobs > 0)
        dnn_put(set, chosen, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                config->n_knobs, choice);
    dnn_finish(set, chosen);
    cudnnBackendDescriptor_t plan = plan_of(set, chosen, handle, device);
    return dnn_ok(set) ? plan : NULL;
}
