/* Saving: params and states are copied between two steps; a job of keep's writes the copy. */
#include <stdio.h>

#include "engine/run/run.h"

/* ---- rows ---- */

/* The format's word for a dtype is ours in capitals. */
static const char *dtype_word(ebb_arena *arena, ebb_dtype dtype) {
    char *word = ebb_arena_text(arena, ebb_dtype_name(dtype));
    if (word) ebb_word_to_upper(word);
    return word;
}

ebb_tensor_row *ebb_engine_rows(ebb_arena *arena, const ebb_program *program) {
    ebb_tensor_row *rows = EBB_NEW(arena, ebb_tensor_row, program->n_params);
    for (uint32_t i = 0; rows && i < program->n_params; i++) {
        const ebb_value *v = &program->compiled.graph->values[program->params[i]];
        rows[i] = (ebb_tensor_row){.name = v->name,
                                   .dtype = dtype_word(arena, v->type.dtype),
                                   .rank = v->type.rank,
                                   .bytes = ebb_type_bytes(&v->type)};
        if (!rows[i].dtype) return NULL;
        for (uint32_t d = 0; d < v->type.rank; d++) rows[i].dim[d] = v->type.dim[d];
    }
    return rows;
}

size_t ebb_engine_rows_bytes(const ebb_tensor_row *rows, uint32_t n) {
    size_t bytes = 0; /* of tensors that are in memory: no overflow */
    for (uint32_t i = 0; i < n; i++) bytes += (size_t)rows[i].bytes;
    return bytes;
}

/* ---- the save ---- */

static ebb_status check_state(const ebb_engine *engine, const char *path) {
    if (engine->programs.n == 0)
        return ebb_fail(engine->env, EBB_USAGE, "cannot save %s: no program is compiled", path);
    if (!engine->backend->api->computes)
        return ebb_fail(engine->env, EBB_USAGE, "cannot save %s: device %s computes nothing", path,
                        engine->backend->api->name);
    for (size_t i = 0; i < engine->programs.n; i++)
        if (engine->programs.at[i]->next_phase != EBB_FORWARD)
            return ebb_fail(engine->env, EBB_USAGE,
                            "cannot save %s: a step is half done: run its %s phase first", path,
                            ebb_phase_name((ebb_phase)engine->programs.at[i]->next_phase));
    if (engine->part > 0)
        return ebb_fail(engine->env, EBB_USAGE,
                        "cannot save %s: %u of %u parts of a step are done: run the others first", path,
                        engine->part, ebb_options_parts(&engine->options));
    return ebb_stale_check(engine->programs.at[0]);
}

static void drop_copy(ebb_engine *engine) {
    if (engine->saved) ebb_free_aligned(engine->env, engine->saved, engine->saved_bytes, 64);
    engine->saved = NULL;
    engine->saved_bytes = 0;
}

/* Fills data with where each row's copy lies. */
static ebb_status copy_rows(ebb_engine *engine, const ebb_tensor_row *rows, const void **data) {
    ebb_program *program = engine->programs.at[0];
    ebb_status status = EBB_OK;
    engine->saved_bytes = ebb_engine_rows_bytes(rows, program->n_params);
    engine->saved = ebb_alloc_aligned(engine->env, engine->saved_bytes, 64);
    if (!engine->saved) return EBB_NO_MEMORY;
    char *to = engine->saved;
    for (uint32_t i = 0; i < program->n_params && status == EBB_OK; i++) {
        status = ebb_fetch(program, rows[i].name, to, (size_t)rows[i].bytes);
        data[i] = to;
        to += rows[i].bytes;
    }
    return status;
}

enum { OWN_FACTS = 4, NUMBER_TEXT = 24 };

static ebb_status join_facts(const ebb_engine *engine, const char *path, const ebb_tensors_fact *facts,
                             uint32_t n, char numbers[2][NUMBER_TEXT], ebb_tensors_fact *out) {
    (void)snprintf(numbers[0], NUMBER_TEXT, "%llu", (unsigned long long)engine->step);
    (void)snprintf(numbers[1], NUMBER_TEXT, "%llu", (unsigned long long)engine->options.seed);
    out[0] = (ebb_tensors_fact){EBB_FACT_FORMAT, "1"};
    out[1] = (ebb_tensors_fact){EBB_FACT_GRAPH, engine->programs.at[0]->compiled.graph->name};
    out[2] = (ebb_tensors_fact){EBB_FACT_STEP, numbers[0]};
    out[3] = (ebb_tensors_fact){EBB_FACT_SEED, numbers[1]};
    for (uint32_t i = 0; i < n; i++) {
        if (strncmp(facts[i].key, "ebb.", 4) == 0)
            return ebb_fail(engine->env, EBB_USAGE,
                            "cannot save %s: facts named ebb.* are Ebb's own: rename %.60s", path,
                            facts[i].key);
        out[OWN_FACTS + i] = facts[i];
    }
    return EBB_OK;
}

static ebb_status begin(ebb_engine *engine, ebb_arena *arena, const char *path,
                        const ebb_tensors_fact *facts, uint32_t n_facts) {
    const ebb_program *program = engine->programs.at[0];
    char numbers[2][NUMBER_TEXT];
    ebb_tensor_row *rows = ebb_engine_rows(arena, program);
    const void **data = EBB_NEW(arena, const void *, program->n_params);
    ebb_tensors_fact *all = EBB_NEW(arena, ebb_tensors_fact, (size_t)OWN_FACTS + n_facts);
    if (!rows || !data || !all) return EBB_NO_MEMORY;
    ebb_status status = join_facts(engine, path, facts, n_facts, numbers, all);
    if (status == EBB_OK) status = copy_rows(engine, rows, data);
    if (status == EBB_OK)
        status = ebb_keep_job_begin(engine->env, path, rows, data, program->n_params, all,
                                    OWN_FACTS + n_facts, &engine->saving);
    return status;
}

ebb_status ebb_engine_save(ebb_engine *engine, const char *path, const ebb_tensors_fact *facts,
                           uint32_t n_facts) {
    ebb_status status = ebb_engine_save_end(engine);
    if (status == EBB_OK) status = check_state(engine, path);
    if (status != EBB_OK) return status;
    ebb_arena arena;
    ebb_arena_init(&arena, engine->env);
    status = begin(engine, &arena, path, facts, n_facts);
    ebb_arena_deinit(&arena);
    if (status != EBB_OK) drop_copy(engine);
    return status;
}

ebb_status ebb_engine_save_end(ebb_engine *engine) {
    const ebb_status status = ebb_keep_job_end(engine->saving);
    engine->saving = NULL;
    drop_copy(engine);
    return status;
}

uint64_t ebb_engine_step(const ebb_engine *engine) {
    return engine->step;
}

uint64_t ebb_engine_seed(const ebb_engine *engine) {
    return engine->options.seed;
}
