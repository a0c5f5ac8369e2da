/* Programs of an engine: compiled once per set of dimensions, sharing the parameters and one block of
 * memory. */
#include <stdlib.h>

#include "engine/run/run.h"

void ebb_program_destroy(ebb_program *program) {
    if (!program) return;
    ebb_env *env = program->engine->env;
    ebb_profile_destroy(program->profile);
    ebb_exec_destroy(program->exec);
    ebb_xla_unbind(program);
    ebb_compiled_deinit(env, &program->compiled);
    ebb_arena_deinit(&program->arena);
    ebb_cfree(env, program, 1, sizeof *program);
}

/* NULL when memory is out. */
static const char *const *copy_names(ebb_arena *arena, const char *const *names, uint32_t n) {
    const char **copy = EBB_NEW(arena, const char *, n);
    for (uint32_t i = 0; copy && i < n; i++)
        if (!(copy[i] = ebb_arena_text(arena, names[i]))) return NULL;
    return copy;
}

static ebb_status copy_options(ebb_engine *engine, const ebb_options *options) {
    ebb_options *to = &engine->options;
    *to = *options;
    to->fetch = copy_names(&engine->arena, options->fetch, options->n_fetch);
    to->keep = copy_names(&engine->arena, options->keep, options->n_keep);
    to->drop = copy_names(&engine->arena, options->drop, options->n_drop);
    if (!to->fetch || !to->keep || !to->drop ||
        !(to->device = ebb_arena_text(&engine->arena, options->device)))
        return EBB_NO_MEMORY;
    if (options->cache && !(to->cache = ebb_arena_text(&engine->arena, options->cache)))
        return EBB_NO_MEMORY;
    if (options->dump && !(to->dump = ebb_arena_text(&engine->arena, options->dump))) return EBB_NO_MEMORY;
    return EBB_OK;
}

ebb_status ebb_engine_create(ebb_env *env, const ebb_model *model, const ebb_options *options,
                             ebb_engine **out) {
    *out = NULL;
    if (model->planning)
        return ebb_fail(env, EBB_USAGE, "%s is a planning graph: it can be planned, not run", model->name);
    if (ebb_device_is_file(options->device))
        return ebb_fail(
            env, EBB_UNAVAILABLE,
            "%.200s describes a device: plans can be made for it, but a description runs nothing: run on "
            "the device cuda",
            options->device);
    ebb_status status = ebb_options_check(env, options);
    if (status != EBB_OK) return status;
    ebb_engine *engine = ebb_calloc(env, 1, sizeof *engine);
    if (!engine) return EBB_NO_MEMORY;
    engine->env = env;
    engine->model = model;
    ebb_arena_init(&engine->arena, env);
    status = copy_options(engine, options);
    if (status == EBB_OK) status = ebb_open_backend(env, &engine->options, &engine->backend);
    if (status == EBB_OK) status = ebb_finite_open(engine);
    if (status == EBB_OK) status = ebb_xla_engine_open(engine);
    if (status != EBB_OK) {
        ebb_engine_destroy(engine);
        return status;
    }
    *out = engine;
    return EBB_OK;
}

void ebb_engine_destroy(ebb_engine *engine) {
    if (!engine) return;
    ebb_env *env = engine->env;
    ebb_env_hold_error(env, true);
    if (ebb_engine_save_end(engine) != EBB_OK) { /* who wants to know asks before */
    }
    ebb_env_hold_error(env, false);
    for (size_t i = 0; i < engine->programs.n; i++) ebb_program_destroy(engine->programs.at[i]);
    EBB_ARRAY_FREE(env, &engine->programs);
    ebb_engine_drop_block(engine);
    ebb_xla_engine_close(engine);
    ebb_finite_close(engine);
    if (engine->backend) engine->backend->api->destroy(engine->backend);
    ebb_arena_deinit(&engine->arena);
    ebb_cfree(env, engine, 1, sizeof *engine);
}

void ebb_engine_set_threads(ebb_engine *engine, uint32_t n_threads) {
    engine->n_run_threads = n_threads;
}

/* ---- compile --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const ebb_dim_binding *)a)->name, ((const ebb_dim_binding *)b)->name);
}

static bool same_dims(const ebb_program *program, const ebb_dim_binding *dims, uint32_t n) {
    if (program->n_dims != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (program->dims[i].size != dims[i].size || strcmp(program->dims[i].name, dims[i].name) != 0)
            return false;
    return true;
}

/* Sorted by name, with copied names, in the arena. */
static ebb_status sort_dims(ebb_arena *arena, const ebb_dim_binding *dims, uint32_t n,
                            ebb_dim_binding **out) {
    ebb_dim_binding *sorted = EBB_NEW(arena, ebb_dim_binding, n);
    if (!sorted) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = dims[i];
        if (!(sorted[i].name = ebb_arena_text(arena, dims[i].name))) return EBB_NO_MEMORY;
    }
    if (n > 1) qsort(sorted, n, sizeof *sorted, by_name);
    *out = sorted;
    return EBB_OK;
}

static ebb_status list_params(ebb_program *program) {
    const ebb_graph *graph = program->compiled.graph;
    program->params = EBB_NEW(&program->arena, ebb_id, graph->n_values);
    if (!program->params) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        const ebb_value *value = &graph->values[v];
        bool kept = value->role == EBB_ROLE_PARAM || value->role == EBB_ROLE_STATE;
        if (kept && !value->within_step && value->producer == EBB_NONE)
            program->params[program->n_params++] = v;
    }
    return EBB_OK;
}

ebb_status ebb_program_bind(ebb_program *program) {
    ebb_engine *engine = program->engine;
    ebb_env *env = engine->env;
    ebb_status status = ebb_engine_check_shared(engine, program);
    if (status == EBB_OK) status = list_params(program);
    if (status == EBB_OK) status = ebb_integers_find(program);
    if (status == EBB_OK) status = ebb_feeds_find(program);
    if (status == EBB_OK && engine->programs.n == 0) status = ebb_stale_open(engine, program);
    ebb_exec_options options = {.graph = program->compiled.graph,
                                .plan = program->compiled.plan,
                                .backend = engine->backend,
                                .poison = engine->options.poison,
                                .no_record = engine->options.no_record};
    if (status == EBB_OK)
        status = engine->plugin ? ebb_xla_bind(program) : ebb_exec_create(env, &options, &program->exec);
    if (status != EBB_OK) return status;
    bool first = engine->programs.n == 0;
    if (!EBB_RESERVE(env, &engine->programs, engine->programs.n + 1)) return EBB_NO_MEMORY;
    status = ebb_engine_grow_block(engine, program->compiled.plan);
    if (status != EBB_OK) return status;
    engine->programs.at[engine->programs.n++] = program;
    engine->fed = NULL; /* the block may be another one */
    ebb_engine_bind_all(engine);
    if (!first) return EBB_OK;
    status = ebb_init_params(engine, program);
    if (status == EBB_OK) return EBB_OK;
    engine->programs.n = 0; /* as if never compiled: the next program lays the block out anew */
    ebb_engine_drop_block(engine);
    return status;
}

ebb_program *ebb_program_find(const ebb_program *like) {
    const ebb_engine *engine = like->engine;
    for (size_t i = 0; i < engine->programs.n; i++)
        if (engine->programs.at[i]->evaluates == like->evaluates &&
            same_dims(engine->programs.at[i], like->dims, like->n_dims))
            return engine->programs.at[i];
    return NULL;
}

ebb_status ebb_program_create(ebb_engine *engine, const ebb_dim_binding *dims, uint32_t n_dims,
                              ebb_program **out) {
    *out = NULL;
    ebb_program *program = ebb_calloc(engine->env, 1, sizeof *program);
    if (!program) return EBB_NO_MEMORY;
    program->engine = engine;
    program->n_dims = n_dims;
    ebb_arena_init(&program->arena, engine->env);
    ebb_status status = sort_dims(&program->arena, dims, n_dims, &program->dims);
    if (status == EBB_OK)
        *out = program;
    else
        ebb_program_destroy(program);
    return status;
}

const ebb_plan *ebb_program_plan(const ebb_program *program) {
    return program->compiled.plan;
}

uint64_t ebb_program_n_replayed(const ebb_program *program) {
    return program->exec ? ebb_exec_n_replayed(program->exec) : 0;
}
