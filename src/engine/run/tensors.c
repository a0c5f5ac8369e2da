/* Feeds, fetches and initial values: logical order outside, storage order inside. */
#include <math.h>

#include "engine/run/run.h"

_Static_assert((int)EBB_MAX_RANK == EBB_TENSOR_MAX_RANK && EBB_TENSOR_MAX_RANK == EBB_TENSORS_MAX_RANK,
               "a value's axes are told and saved as they are");

static ebb_type slice_of(const ebb_type *type, int64_t *n_slices) {
    ebb_type slice = *type;
    *n_slices = 1;
    if (type->rank ==
        4) { /* only rank 4 changes its order, and then within one index of the outermost dimension */
        *n_slices = type->dim[0];
        slice.dim[0] = 1;
    }
    return slice;
}

/* Host tensor in logical order to a value's bytes, in slices of the outermost dimension. */
static ebb_status copy_in(ebb_engine *engine, const ebb_type *type, const void *from, void *to) {
    ebb_backend *b = engine->backend;
    if (type->rank != 4) return b->api->copy_in(b, to, from, ebb_type_bytes(type));
    int64_t n;
    ebb_type slice = slice_of(type, &n);
    int64_t bytes = ebb_type_bytes(&slice);
    char *room = ebb_calloc(engine->env, (size_t)bytes, 1);
    if (!room) return EBB_NO_MEMORY;
    ebb_status status = EBB_OK;
    for (int64_t i = 0; status == EBB_OK && i < n; i++) {
        ebb_tensor_to_storage(&slice, (const char *)from + i * bytes, room);
        status = b->api->copy_in(b, (char *)to + i * bytes, room, bytes);
    }
    ebb_cfree(engine->env, room, (size_t)bytes, 1);
    return status;
}

/* And back. */
static ebb_status copy_out(ebb_engine *engine, const ebb_type *type, const void *from, void *to) {
    ebb_backend *b = engine->backend;
    if (type->rank != 4) return b->api->copy_out(b, to, from, ebb_type_bytes(type));
    int64_t n;
    ebb_type slice = slice_of(type, &n);
    int64_t bytes = ebb_type_bytes(&slice);
    char *room = ebb_calloc(engine->env, (size_t)bytes, 1);
    if (!room) return EBB_NO_MEMORY;
    ebb_status status = EBB_OK;
    for (int64_t i = 0; status == EBB_OK && i < n; i++) {
        status = b->api->copy_out(b, room, (const char *)from + i * bytes, bytes);
        if (status == EBB_OK) ebb_tensor_to_logical(&slice, room, (char *)to + i * bytes);
    }
    ebb_cfree(engine->env, room, (size_t)bytes, 1);
    return status;
}

/* ---- values, wherever they are --------------------------------------------------------------- */

bool ebb_value_is_given(const ebb_program *program, ebb_id value) {
    int64_t bytes;
    if (!program->xla) return ebb_exec_given(program->exec, value, &bytes) != NULL;
    return program->compiled.graph->values[value].producer == EBB_NONE;
}

/* Does the value outlive a step? */
static bool is_final(const ebb_program *program, ebb_id value) {
    int64_t bytes;
    if (!program->xla) return ebb_exec_final(program->exec, value, &bytes) != NULL;
    const ebb_value *v = &program->compiled.graph->values[value];
    return v->producer == EBB_NONE ? ebb_role_persistent(v->role) : v->role == EBB_ROLE_OUTPUT;
}

/* A given value, or one that outlives a step, from data in logical order, and to it. */
static ebb_status value_put(ebb_program *program, ebb_id value, const void *data) {
    int64_t bytes;
    if (program->xla) return ebb_xla_put(program, value, data);
    return copy_in(program->engine, &program->compiled.graph->values[value].type, data,
                   ebb_exec_given(program->exec, value, &bytes));
}

static ebb_status value_get(ebb_program *program, ebb_id value, void *data) {
    int64_t bytes;
    if (program->xla) return ebb_xla_get(program, value, data);
    return copy_out(program->engine, &program->compiled.graph->values[value].type,
                    ebb_exec_final(program->exec, value, &bytes), data);
}

/* ---- by name --------------------------------------------------------------------------------- */

static ebb_status find(const ebb_program *program, const char *name, ebb_id *out) {
    *out = ebb_graph_find(program->compiled.graph, name);
    if (*out != EBB_NONE) return EBB_OK;
    return ebb_fail(program->engine->env, EBB_BAD_INPUT, "%s: there is no value \"%.100s\"",
                    program->engine->model->name, name);
}

/* What callers know each dtype as. */
enum {
    ELEMENT_F32 = EBB_FLOAT32,
    ELEMENT_F64 = EBB_FLOAT64,
    ELEMENT_I32 = EBB_INT32,
    ELEMENT_U8 = EBB_UINT8,
    ELEMENT_BOOL = EBB_BOOL8,
    ELEMENT_F16 = EBB_FLOAT16,
    ELEMENT_BF16 = EBB_BFLOAT16,
    ELEMENT_I8 = EBB_INT8,
    ELEMENT_I16 = EBB_INT16
};

static void describe(const ebb_program *program, ebb_id value, ebb_tensor_info *out) {
    const ebb_value *v = &program->compiled.graph->values[value];
    static const ebb_element elements[] = {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) (ebb_element) ELEMENT_##NAME,
#include "graph/dtypes.def"
    };
    *out = (ebb_tensor_info){.name = v->name,
                             .element = elements[v->type.dtype],
                             .rank = v->type.rank,
                             .bytes = ebb_type_bytes(&v->type)};
    for (uint32_t i = 0; i < v->type.rank; i++) out->dim[i] = v->type.dim[i];
    if (v->role == EBB_ROLE_INPUT && v->type.dtype == EBB_I32)
        out->below = ebb_integers_below(program->compiled.graph, value);
}

ebb_status ebb_program_tensor(const ebb_program *program, const char *name, ebb_tensor_info *out) {
    *out = (ebb_tensor_info){0};
    ebb_id value;
    ebb_status status = find(program, name, &value);
    if (status == EBB_OK) describe(program, value, out);
    return status;
}

uint32_t ebb_program_n_params(const ebb_program *program) {
    return program->n_params;
}

ebb_status ebb_program_param(const ebb_program *program, uint32_t i, ebb_tensor_info *out) {
    *out = (ebb_tensor_info){0};
    if (i >= program->n_params)
        return ebb_fail(program->engine->env, EBB_USAGE, "parameter %u of %u", i, program->n_params);
    describe(program, program->params[i], out);
    return EBB_OK;
}

static ebb_status check_bytes(const ebb_program *program, ebb_id value, size_t bytes) {
    const ebb_value *v = &program->compiled.graph->values[value];
    if ((int64_t)bytes == ebb_type_bytes(&v->type)) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(program->engine->env, EBB_BAD_INPUT, "%s is %s, %lld bytes, but %zu were given",
                    v->name, ebb_type_text(&v->type, text), (long long)ebb_type_bytes(&v->type), bytes);
}

static ebb_status find_given(const ebb_program *program, const char *name, ebb_id *value) {
    ebb_status status = find(program, name, value);
    if (status != EBB_OK) return status;
    if (program->engine->lost) return ebb_stale_lost(program->engine);
    if (ebb_value_is_given(program, *value)) return EBB_OK;
    return ebb_fail(program->engine->env, EBB_USAGE, "%s cannot be fed: it is computed", name);
}

ebb_status ebb_feed(ebb_program *program, const char *name, const void *data, size_t bytes) {
    ebb_id value;
    ebb_status status = find_given(program, name, &value);
    if (status == EBB_OK) status = check_bytes(program, value, bytes);
    if (status == EBB_OK) status = ebb_integers_check(program, value, data);
    if (status == EBB_OK) status = value_put(program, value, data);
    if (status != EBB_OK) return status;
    ebb_stale_fed(program, value);
    ebb_feeds_add(program, value);
    return EBB_OK;
}

ebb_status ebb_fetch(ebb_program *program, const char *name, void *data, size_t bytes) {
    ebb_id value;
    ebb_status status = find(program, name, &value);
    if (status == EBB_OK) status = check_bytes(program, value, bytes);
    if (status == EBB_OK) status = ebb_stale_check_value(program, value);
    if (status != EBB_OK) return status;
    if (is_final(program, value)) return value_get(program, value, data);
    return ebb_fail(program->engine->env, EBB_USAGE,
                    "%s does not outlive the step: name it in the option fetch to keep it", name);
}

ebb_status ebb_input_bytes(ebb_program *program, const char *name, void **data, size_t *bytes) {
    *data = NULL;
    *bytes = 0;
    ebb_id value;
    int64_t n;
    const ebb_engine *engine = program->engine;
    const ebb_status status = find_given(program, name, &value);
    if (status != EBB_OK) return status;
    if (engine->plugin || !engine->backend->api->host_memory)
        return ebb_fail(engine->env, EBB_USAGE, "%s \"%s\" has no host bytes: feed %s instead",
                        engine->plugin ? "backend" : "device",
                        engine->plugin ? "xla" : engine->backend->api->name, name);
    *data = ebb_exec_given(program->exec, value, &n);
    *bytes = (size_t)n;
    ebb_feeds_lend(program, value);
    return EBB_OK;
}

ebb_status ebb_param_bytes(ebb_program *program, const char *name, void **data, size_t *bytes) {
    ebb_id value;
    ebb_status status = ebb_input_bytes(program, name, data, bytes);
    if (status == EBB_OK) status = find(program, name, &value);
    if (status != EBB_OK) return status;
    const ebb_role role = program->compiled.graph->values[value].role;
    int64_t n;
    if ((role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE) &&
        ebb_exec_final(program->exec, value, &n) == *data)
        return EBB_OK;
    *data = NULL;
    *bytes = 0;
    return ebb_fail(program->engine->env, EBB_USAGE, "%s is no param or state that keeps its bytes", name);
}

/* ---- initial values -------------------------------------------------------------------------- */

/* FNV-1a: a stream per name, so that a parameter starts alike whatever else the model has. */
static uint64_t stream_of(const char *name) {
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *name; name++) h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return h;
}

/* Box-Muller. */
static double normal(ebb_rng *rng) {
    double u = 1.0 - ebb_rng_unit(rng), v = ebb_rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static double initial(const ebb_value *v, ebb_rng *rng) {
    const ebb_type *t = &v->type;
    int64_t count = ebb_type_count(t), first = t->rank > 0 ? t->dim[0] : 1;
    switch (v->init) {
    case EBB_INIT_ZERO:
        return 0;
    case EBB_INIT_ONE:
        return 1;
    case EBB_INIT_FILL:
        return v->fill;
    case EBB_INIT_KAIMING: { /* fan-out: output channels times the kernel's size */
        int64_t fan = t->rank == 4 ? first * t->dim[2] * t->dim[3] : first;
        return normal(rng) * sqrt(2.0 / (double)fan);
    }
    case EBB_INIT_UNIFORM: {
        int64_t fan = t->rank > 1 ? count / first : count;
        return (2 * ebb_rng_unit(rng) - 1) / sqrt((double)fan);
    }
    }
    return 0;
}

static ebb_status init_value(ebb_engine *engine, ebb_program *program, ebb_id value) {
    const ebb_value *v = &program->compiled.graph->values[value];
    const int64_t bytes = ebb_type_bytes(&v->type), n = ebb_type_count(&v->type);
    if (!ebb_value_is_given(program, value)) return EBB_OK;
    void *room = ebb_calloc(engine->env, (size_t)bytes, 1);
    if (!room) return EBB_NO_MEMORY;
    ebb_rng rng;
    ebb_rng_init(&rng, engine->options.seed, stream_of(v->name));
    for (int64_t i = 0; i < n; i++)
        ebb_dtypes[v->type.dtype].store(room, i, v->role == EBB_ROLE_CONSTANT ? v->fill : initial(v, &rng));
    ebb_status status = value_put(program, value, room);
    ebb_cfree(engine->env, room, (size_t)bytes, 1);
    return status;
}

ebb_status ebb_init_params(ebb_engine *engine, ebb_program *program) {
    if (!engine->backend->api->computes) return EBB_OK;
    const ebb_graph *graph = program->compiled.graph;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        if (graph->values[v].producer != EBB_NONE || !ebb_role_persistent(graph->values[v].role)) continue;
        ebb_status status = init_value(engine, program, v);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}
