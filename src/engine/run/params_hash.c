/* A hash of what training has made: whether two runs give the same bits. */
#include "ebb/check.h"

#include "engine/run/run.h"

static ebb_status add_param(ebb_program *program, uint32_t i, ebb_hash *hash) {
    ebb_env *env = program->engine->env;
    ebb_tensor_info info;
    ebb_status status = ebb_program_param(program, i, &info);
    if (status != EBB_OK) return status;
    void *room = ebb_calloc(env, (size_t)info.bytes, 1);
    if (!room) return EBB_NO_MEMORY;
    status = ebb_fetch(program, info.name, room, (size_t)info.bytes);
    ebb_hash_add(hash, info.name, strlen(info.name) + 1);
    ebb_hash_add(hash, room, (size_t)info.bytes);
    ebb_cfree(env, room, (size_t)info.bytes, 1);
    return status;
}

ebb_status ebb_program_hash(ebb_program *program, char text[EBB_PROGRAM_HASH_TEXT]) {
    ebb_hash hash;
    ebb_status status = EBB_OK;
    text[0] = '\0';
    if (!program->engine->backend->api->computes)
        return ebb_fail(program->engine->env, EBB_USAGE,
                        "device %s computes nothing: there is nothing to hash",
                        program->engine->backend->api->name);
    ebb_hash_init(&hash);
    for (uint32_t i = 0; i < ebb_program_n_params(program) && status == EBB_OK; i++)
        status = add_param(program, i, &hash);
    if (status == EBB_OK) (void)ebb_hash_text(&hash, text);
    return status;
}
