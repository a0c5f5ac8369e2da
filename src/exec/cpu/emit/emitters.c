/* cpu/emit/emitters.c: which emitters there are, which one a backend takes, and the code that it has made.
 */
#include "exec/cpu/emit/emit.h"

typedef struct made {
    ebb_hash of; /* body, dtypes, and how operands lie */
    cpu_fused_code *code;
} made;

struct cpu_jit {
    ebb_env *env;
    bool named, tried;
    cpu_emitter *emitter; /* NULL: the interpreter */
    EBB_ARRAY(made) made;
};

/* In the order in which they are taken where none is named. */
static const cpu_emitter_api *const emitters[] = {&cpu_emitter_llvm, &cpu_emitter_cc, &cpu_emitter_mlir,
                                                  &cpu_emitter_halide};

static ebb_status choose(cpu_jit *jit, const char *name) {
    char version[EBB_EMITTER_TEXT];
    ebb_status status = EBB_OK;
    jit->tried = true;
    if (name && strcmp(name, "INTERP") == 0) return EBB_OK;
    for (size_t k = 0; k < EBB_COUNT(emitters); k++) {
        if (name ? strcmp(name, emitters[k]->name) != 0 : emitters[k]->by_name) continue;
        status = emitters[k]->open(jit->env, emitters[k], &jit->emitter, version);
        if (!status) ebb_shelf_open(&jit->emitter->shelf, jit->env, "code");
        if (name || status == EBB_OK || status == EBB_NO_MEMORY) return status;
        if (status != EBB_UNAVAILABLE)
            ebb_log(jit->env, EBB_LOG_WARN, "%s makes no code: %s", emitters[k]->name,
                    ebb_env_error(jit->env));
    }
    if (!name) return EBB_OK;
    if (strcmp(name, "NVRTC") == 0)
        return ebb_fail(jit->env, EBB_UNAVAILABLE,
                        "jit NVRTC is of the device cuda: the device cpu has LLVM, CC, MLIR, HALIDE and "
                        "INTERP");
    return ebb_fail(
        jit->env, EBB_USAGE,
        "jit \"%.20s\" is not known: it is LLVM, CC, MLIR, HALIDE or INTERP (--jit, MGB_JIT_BACKEND)",
        name);
}

ebb_status cpu_emitter_at(ebb_env *env, uint32_t i, const char **name, char version[EBB_EMITTER_TEXT]) {
    cpu_emitter *emitter = NULL;
    version[0] = '\0';
    *name = i == 0 ? "INTERP" : i <= EBB_COUNT(emitters) ? emitters[i - 1]->name : NULL;
    if (i == 0 || !*name) return EBB_OK;
    const ebb_status status = emitters[i - 1]->open(env, emitters[i - 1], &emitter, version);
    if (emitter) emitter->api->close(emitter);
    return status;
}

ebb_status cpu_jit_create(ebb_env *env, const char *name, cpu_jit **out) {
    cpu_jit *jit = *out = ebb_calloc(env, 1, sizeof *jit);
    if (!jit) return EBB_NO_MEMORY;
    jit->env = env;
    jit->named = name != NULL;
    return name ? choose(jit, name) : EBB_OK;
}

void cpu_jit_destroy(cpu_jit *jit) {
    if (!jit) return;
    cpu_emitter *e = jit->emitter;
    if (e) {
        ebb_log(jit->env, EBB_LOG_INFO, "jit %s: %u compiled in %.1f ms, %u found", e->api->name,
                e->n_compiled, (double)e->compile_ns / 1e6, e->n_found);
        ebb_shelf_close(&e->shelf);
        e->api->close(e);
    }
    EBB_ARRAY_FREE(jit->env, &jit->made);
    ebb_cfree(jit->env, jit, 1, sizeof *jit);
}

static ebb_hash key_of(const ebb_call *call, const cpu_fused *f) {
    ebb_hash hash;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, call->attr[EBB_FUSED_BODY].text, strlen(call->attr[EBB_FUSED_BODY].text) + 1);
    for (uint32_t i = 0; i < f->n_in; i++) {
        const uint32_t row[] = {f->in_dtype[i], f->load[i] == EBB_FUSED_ONE};
        ebb_hash_add(&hash, row, sizeof row);
    }
    return hash;
}

static cpu_fused_code *made_find(const cpu_jit *jit, const ebb_hash *of) {
    for (size_t k = 0; k < jit->made.n; k++) {
        if (memcmp(&jit->made.at[k].of, of, sizeof *of) == 0) return jit->made.at[k].code;
    }
    return NULL;
}

/* Its function's name is its key: alike wherever it is made. */
static emit_unit unit_of(const cpu_fused *f, const ebb_hash *key) {
    emit_unit unit = {.f = f, .name = "body_"};
    (void)ebb_hash_text(key, unit.name + strlen(unit.name));
    return unit;
}

ebb_status cpu_jit_code(cpu_jit *jit, const ebb_call *call, cpu_fused *f) {
    ebb_status status = jit->tried ? EBB_OK : choose(jit, NULL);
    if (status || !jit->emitter) return status;
    made one = {.of = key_of(call, f)};
    if ((f->code = made_find(jit, &one.of)) != NULL) return EBB_OK;
    const emit_unit unit = unit_of(f, &one.of);
    status = jit->emitter->api->compile(jit->emitter, &unit, &one.code);
    if (status && status != EBB_NO_MEMORY && !jit->named) {
        ebb_log(jit->env, EBB_LOG_WARN, "a body is interpreted: %s", ebb_env_error(jit->env));
        return EBB_OK;
    }
    if (!status && !EBB_PUSH(jit->env, &jit->made, one)) status = EBB_NO_MEMORY;
    if (!status) f->code = one.code;
    return status;
}
