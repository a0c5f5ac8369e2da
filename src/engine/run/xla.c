/* Programs that XLA runs: where their tensors are, and what the engine's calls are for them.
 *
 *     engine     givens: params, states, constants: one set, which every program's step replaces
 *     program    tensors: inputs, outputs: its own
 *
 * Given persistent values stand in one order in all programs of an engine (ebb_engine_check_shared). */
#include <stdio.h>
#include <stdlib.h>

#include "ebb/device.h"
#include "engine/run/run.h"

enum { TARGET_BYTES = 1 << 20 };

/* The file that describes a device to the plugin; NULL: none is named. */
static const char *described(void) {
    const char *path = getenv("EBB_PJRT_TARGET");
    return path && *path ? path : NULL;
}

ebb_status ebb_xla_plugin_open(ebb_env *env, ebb_pjrt **out) {
    char path[EBB_PJRT_PATH], *target;
    size_t n;
    *out = NULL;
    ebb_status status = ebb_pjrt_find(env, path);
    if (status != EBB_OK) return status;
    if (!described()) return ebb_pjrt_open(env, path, out);
    status = ebb_file_read(env, described(), TARGET_BYTES, &target, &n);
    if (status != EBB_OK) return status;
    status = ebb_pjrt_open_described(env, path, target, out);
    ebb_file_free(env, target, n);
    return status;
}

bool ebb_xla_here(ebb_env *env, char what[EBB_XLA_WHAT]) {
    char path[EBB_PJRT_PATH];
    ebb_pjrt_facts facts;
    ebb_status status = ebb_pjrt_find(env, path);
    if (status == EBB_OK) status = ebb_pjrt_look(env, path, &facts);
    if (status == EBB_OK)
        (void)snprintf(what, EBB_XLA_WHAT, "PJRT C API %d.%d, %s", facts.major, facts.minor, path);
    else
        (void)snprintf(what, EBB_XLA_WHAT, "%s", ebb_env_error(env));
    return status == EBB_OK;
}

ebb_status ebb_xla_engine_open(ebb_engine *engine) {
    if (!engine->options.xla) return EBB_OK;
    if (described())
        return ebb_fail(engine->env, EBB_UNAVAILABLE,
                        "backend xla: EBB_PJRT_TARGET describes a device: steps are compiled for it, but a "
                        "description runs nothing: unset it");
    return ebb_xla_plugin_open(engine->env, &engine->plugin);
}

void ebb_xla_engine_close(ebb_engine *engine) {
    for (uint32_t i = 0; i < engine->n_givens; i++)
        ebb_pjrt_buffer_destroy(engine->plugin, engine->givens[i]);
    ebb_pjrt_close(engine->plugin);
    engine->plugin = NULL;
    engine->n_givens = 0;
}

static bool is_shared(const ebb_value *value) {
    return value->producer == EBB_NONE && ebb_role_persistent(value->role);
}

ebb_status ebb_xla_bind(ebb_program *program) {
    ebb_engine *engine = program->engine;
    const ebb_graph *graph = program->compiled.graph;
    static const ebb_hlo_options options = {.no_barriers = false};
    uint32_t n_givens = 0;
    program->tensors = EBB_NEW(&program->arena, ebb_pjrt_buffer *, graph->n_values);
    if (!program->tensors) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < graph->n_values; v++) n_givens += is_shared(&graph->values[v]);
    if (!engine->givens && !(engine->givens = EBB_NEW(&engine->arena, ebb_pjrt_buffer *, n_givens)))
        return EBB_NO_MEMORY;
    engine->n_givens = n_givens;
    return ebb_xla_program_create(engine->env, engine->plugin, graph, program->compiled.plan, &options,
                                  &program->xla);
}

void ebb_xla_unbind(ebb_program *program) {
    const uint32_t n = program->tensors ? program->compiled.graph->n_values : 0;
    for (uint32_t v = 0; v < n; v++) ebb_pjrt_buffer_destroy(program->engine->plugin, program->tensors[v]);
    ebb_xla_program_destroy(program->xla);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Where a value's tensor is held. */
static ebb_pjrt_buffer **tensor_of(ebb_program *program, ebb_id value) {
    const ebb_graph *graph = program->compiled.graph;
    uint32_t place = 0;
    if (!is_shared(&graph->values[value])) return &program->tensors[value];
    for (uint32_t v = 0; v < value; v++) place += is_shared(&graph->values[v]);
    return &program->engine->givens[place];
}

ebb_status ebb_xla_put(ebb_program *program, ebb_id value, const void *data) {
    ebb_engine *engine = program->engine;
    const ebb_type *type = &program->compiled.graph->values[value].type;
    ebb_pjrt_buffer **tensor = tensor_of(program, value);
    const size_t bytes = (size_t)ebb_type_bytes(type);
    if (type->rank != 4) return ebb_xla_tensor_write(engine->plugin, type, data, tensor);
    void *stored = ebb_calloc(engine->env, bytes, 1);
    if (!stored) return EBB_NO_MEMORY;
    ebb_tensor_to_storage(type, data, stored);
    const ebb_status status = ebb_xla_tensor_write(engine->plugin, type, stored, tensor);
    ebb_cfree(engine->env, stored, bytes, 1);
    return status;
}

ebb_status ebb_xla_get(ebb_program *program, ebb_id value, void *data) {
    ebb_engine *engine = program->engine;
    const ebb_value *v = &program->compiled.graph->values[value];
    const ebb_type *type = &v->type;
    const size_t bytes = (size_t)ebb_type_bytes(type);
    ebb_pjrt_buffer *tensor = *tensor_of(program, value);
    if (!tensor) return ebb_fail(engine->env, EBB_USAGE, "%s has no bytes yet: run a step first", v->name);
    if (type->rank != 4) return ebb_pjrt_buffer_read(engine->plugin, tensor, data, (int64_t)bytes);
    void *stored = ebb_calloc(engine->env, bytes, 1);
    if (!stored) return EBB_NO_MEMORY;
    const ebb_status status = ebb_pjrt_buffer_read(engine->plugin, tensor, stored, (int64_t)bytes);
    if (status == EBB_OK) ebb_tensor_to_logical(type, stored, data);
    ebb_cfree(engine->env, stored, bytes, 1);
    return status;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Shared tensors go into the program's table for a step, and back. */
static void lend(ebb_program *program, bool back) {
    const ebb_graph *graph = program->compiled.graph;
    for (uint32_t v = 0, place = 0; v < graph->n_values; v++) {
        if (!is_shared(&graph->values[v])) continue;
        ebb_pjrt_buffer **given = &program->engine->givens[place++], **here = &program->tensors[v];
        if (back)
            *given = *here, *here = NULL;
        else
            *here = *given;
    }
}

ebb_status ebb_xla_step(ebb_program *program, uint64_t step) {
    lend(program, false);
    const ebb_status status = ebb_xla_program_run(program->xla, program->tensors,
                                                  program->engine->options.seed, step, &program->touched);
    lend(program, true);
    return status;
}

ebb_status ebb_program_xla_memory(const ebb_program *program, ebb_xla_memory *out) {
    *out = (ebb_xla_memory){0};
    if (!program->xla)
        return ebb_fail(program->engine->env, EBB_USAGE,
                        "this program is not XLA's: see the block's bytes");
    const ebb_pjrt_memory *m = ebb_xla_program_memory(program->xla);
    *out = (ebb_xla_memory){m->arguments, m->outputs, m->alias, m->temp};
    return EBB_OK;
}

/* ---- a step to be looked at ------------------------------------------------------------------ */

typedef struct filling {
    ebb_program *program;
    ebb_pjrt *plugin;
    ebb_pjrt_buffer **tensors; /* [n_values] */
    char *room;                /* of the largest buffer */
} filling;

/* Buffers as they lie to tensors: of what is given; or back: of what was computed. */
static ebb_status move_tensors(filling *f, bool computed) {
    const ebb_plan *plan = f->program->compiled.plan;
    ebb_backend *b = f->program->engine->backend;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < plan->n_buffers && status == EBB_OK; i++) {
        const ebb_id v = plan->buffers[i].value;
        const ebb_value *value = &f->program->compiled.graph->values[v];
        int64_t bytes;
        void *at = ebb_exec_buffer(f->program->exec, i, &bytes);
        if (computed != (value->producer != EBB_NONE)) continue;
        bytes = ebb_type_bytes(&value->type);
        if (computed) {
            status = ebb_pjrt_buffer_read(f->plugin, f->tensors[v], f->room, bytes);
            if (status == EBB_OK) status = b->api->copy_in(b, at, f->room, bytes);
        } else {
            status = b->api->copy_out(b, f->room, at, bytes);
            if (status == EBB_OK)
                status = ebb_xla_tensor_write(f->plugin, &value->type, f->room, &f->tensors[v]);
        }
    }
    return status;
}

static ebb_status fill(filling *f) {
    static const ebb_hlo_options options = {.keep_all = true};
    const ebb_compiled *compiled = &f->program->compiled;
    const ebb_engine *engine = f->program->engine;
    ebb_xla_program *step = NULL;
    bool spent;
    ebb_status status =
        ebb_xla_program_create(engine->env, f->plugin, compiled->graph, compiled->plan, &options, &step);
    if (status == EBB_OK) status = move_tensors(f, false);
    if (status == EBB_OK)
        status = ebb_xla_program_run(step, f->tensors, engine->options.seed, engine->step, &spent);
    if (status == EBB_OK) status = move_tensors(f, true);
    ebb_xla_program_destroy(step);
    return status;
}

ebb_status ebb_xla_fill(ebb_program *program) {
    ebb_env *env = program->engine->env;
    const ebb_graph *graph = program->compiled.graph;
    char path[EBB_PJRT_PATH];
    ebb_arena arena;
    int64_t most = 0;
    filling f = {.program = program};
    for (uint32_t v = 0; v < graph->n_values; v++)
        most = ebb_max_i64(most, ebb_type_bytes(&graph->values[v].type));
    ebb_arena_init(&arena, env);
    f.tensors = EBB_NEW(&arena, ebb_pjrt_buffer *, graph->n_values);
    f.room = EBB_NEW(&arena, char, most);
    ebb_status status = f.tensors && f.room ? ebb_pjrt_find(env, path) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = ebb_pjrt_open(env, path, &f.plugin);
    if (status == EBB_OK) status = fill(&f);
    for (uint32_t v = 0; f.plugin && v < graph->n_values; v++)
        ebb_pjrt_buffer_destroy(f.plugin, f.tensors[v]);
    ebb_pjrt_close(f.plugin);
    ebb_arena_deinit(&arena);
    return status;
}
