/* Repeats an op on inputs that differ in their last bits: how much its results are worth. */
#include "engine/check/compare.h"

#include <math.h>

/* By chance each element goes up or down; and all lean one way, for so does what is rounded of parts of a
 * sum: where a sum cancels, chance alone makes too little of it. */
enum { N_SHAKES = 12, N_LEANING = 2 };

typedef enum lean { LEAN_NOT, LEAN_UP, LEAN_DOWN } lean;

/* Two units of the last place up or down; what is not finite (a mask), or would not be,
 * stays. */
static void shake(const ebb_type *type, const void *from, void *to, lean way, ebb_rng *rng) {
    const int64_t n = ebb_type_count(type);
    const double unit = 2 * ebb_dtype_unit(type->dtype);
    for (int64_t i = 0; i < n; i++) {
        const double x = ebb_dtypes[type->dtype].load(from, i);
        const double size = way == LEAN_NOT && !(ebb_rng_u32(rng) & 1) ? -fabs(x) : fabs(x);
        const double off = x + unit * (way == LEAN_DOWN ? -size : size);
        const double to_be = ebb_dtype_rounded(type->dtype, off);
        ebb_dtypes[type->dtype].store(to, i, isfinite(to_be) ? to_be : x);
    }
}

/* A step's inputs as they were. */
typedef struct operands {
    ebb_program *program;
    const ebb_plan_step *step;
    char *saved[EBB_MAX_OPERANDS]; /* NULL: integers, which are not shaken */
    char *shaken;
    size_t shaken_bytes;
} operands;

static const ebb_type *type_of(const operands *o, uint32_t i) {
    const ebb_plan *plan = o->program->compiled.plan;
    return &o->program->compiled.graph->values[plan->buffers[o->step->reads[i]].value].type;
}

static void drop(operands *o) {
    ebb_env *env = o->program->engine->env;
    for (uint32_t i = 0; i < o->step->n_reads; i++) {
        ebb_cfree(env, o->saved[i], (size_t)ebb_type_bytes(type_of(o, i)), 1);
    }
    ebb_cfree(env, o->shaken, o->shaken_bytes, 1);
}

static ebb_status save(operands *o) {
    ebb_backend *b = o->program->engine->backend;
    for (uint32_t i = 0; i < o->step->n_reads; i++) {
        int64_t bytes;
        const void *at = ebb_exec_buffer(o->program->exec, o->step->reads[i], &bytes);
        if (!ebb_dtype_real(type_of(o, i)->dtype)) continue;
        o->saved[i] = ebb_calloc(b->env, (size_t)ebb_type_bytes(type_of(o, i)), 1);
        if (!o->saved[i]) return EBB_NO_MEMORY;
        const ebb_status status = b->api->copy_out(b, o->saved[i], at, bytes);
        if (status != EBB_OK) return status;
        if ((size_t)bytes > o->shaken_bytes) o->shaken_bytes = (size_t)bytes;
    }
    const size_t most = o->shaken_bytes;
    o->shaken_bytes = 0;
    o->shaken = ebb_calloc(b->env, most, 1);
    if (!o->shaken) return EBB_NO_MEMORY;
    o->shaken_bytes = most;
    return EBB_OK;
}

/* rng NULL: as they were. */
static ebb_status put(operands *o, lean way, ebb_rng *rng) {
    ebb_backend *b = o->program->engine->backend;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < o->step->n_reads && status == EBB_OK; i++) {
        int64_t bytes;
        void *at = ebb_exec_buffer(o->program->exec, o->step->reads[i], &bytes);
        if (!o->saved[i]) continue;
        if (rng) shake(type_of(o, i), o->saved[i], o->shaken, way, rng);
        status = b->api->copy_in(b, at, rng ? o->shaken : o->saved[i], bytes);
    }
    return status;
}

/* The most that each element was off so far. */
static void widen(const ebb_type *type, const void *now, const void *want, void *noise) {
    const int64_t n = ebb_type_count(type);
    const ebb_dtype_info *of = &ebb_dtypes[type->dtype];
    for (int64_t i = 0; i < n && of->kind == EBB_DTYPE_FLOAT; i++)
        of->store(noise, i, fmax(of->load(noise, i), fabs(of->load(now, i) - of->load(want, i))));
}

static bool all_finite(const operands *o) {
    for (uint32_t i = 0; i < o->step->n_reads; i++) {
        const ebb_type *type = type_of(o, i);
        const int64_t n = o->saved[i] ? ebb_type_count(type) : 0;
        for (int64_t k = 0; k < n; k++)
            if (!isfinite(ebb_dtypes[type->dtype].load(o->saved[i], k))) return false;
    }
    return true;
}

ebb_status ebb_compare_shake(ebb_program *other, uint32_t step, uint32_t output, const void *want,
                             void *noise, bool *finite) {
    ebb_backend *b = other->engine->backend;
    operands o = {.program = other, .step = &other->compiled.plan->steps[step]};
    const ebb_id buffer = o.step->writes[output];
    const ebb_type *type = &other->compiled.graph->values[other->compiled.plan->buffers[buffer].value].type;
    int64_t bytes;
    const void *at = ebb_exec_buffer(other->exec, buffer, &bytes);
    char *now = ebb_calloc(b->env, (size_t)bytes, 1);
    ebb_rng rng;
    ebb_rng_init(&rng, step, output);
    ebb_status status = now ? save(&o) : EBB_NO_MEMORY;
    *finite = status == EBB_OK && all_finite(&o);
    for (int k = 0; k < N_SHAKES + N_LEANING && status == EBB_OK; k++) {
        const lean way = k < N_SHAKES ? LEAN_NOT : k == N_SHAKES ? LEAN_UP : LEAN_DOWN;
        status = put(&o, way, &rng);
        if (status == EBB_OK) status = ebb_exec_again(other->exec, step);
        if (status == EBB_OK) status = b->api->copy_out(b, now, at, bytes);
        if (status == EBB_OK) widen(type, now, want, noise);
    }
    if (status == EBB_OK) status = put(&o, LEAN_NOT, NULL);
    if (status == EBB_OK) status = ebb_exec_again(other->exec, step);
    drop(&o);
    ebb_cfree(b->env, now, (size_t)bytes, 1);
    return status;
}
