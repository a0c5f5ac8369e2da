/* Looks at what each op of a step gives for what is not a finite number. */
#include "engine/run/run.h"
#include "graph/walk.h"

#include <math.h>
#include <stdio.h>

enum { ROOM_BYTES = 1 << 20 }; /* copied from a device at a time */

/* The index of the first that is not finite, or n: whose exponent is all ones. A block at a time, for
 * speed. */
static int64_t first_bad(ebb_dtype dtype, const void *at, int64_t n) {
    enum { BLOCK = 1024 };
    int64_t i = 0;
    for (; dtype == EBB_F32 && n - i >= BLOCK; i += BLOCK) {
        uint32_t bits[BLOCK], bad = 0;
        memcpy(bits, (const float *)at + i, sizeof bits);
        for (int k = 0; k < BLOCK; k++) bad |= (bits[k] & 0x7F800000) == 0x7F800000;
        if (bad) break;
    }
    while (i < n && isfinite(ebb_dtypes[dtype].load(at, i))) i++;
    return i;
}

void ebb_element_text(const ebb_type *type, int64_t i, char text[EBB_ELEMENT_TEXT]) {
    int64_t at[EBB_MAX_RANK];
    size_t n = 0;
    for (uint32_t k = type->rank; k-- > 0;) {
        const uint32_t axis = ebb_stored_axis(type->rank, k);
        at[axis] = i % type->dim[axis];
        i /= type->dim[axis];
    }
    text[n++] = '[';
    for (uint32_t d = 0; d < type->rank; d++)
        n += (size_t)snprintf(text + n, EBB_ELEMENT_TEXT - n, "%s%lld", d ? "," : "", (long long)at[d]);
    (void)snprintf(text + n, EBB_ELEMENT_TEXT - n, "]");
}

static ebb_status refuse(const ebb_program *program, uint32_t step, const ebb_value *v, int64_t i,
                         double x) {
    const ebb_engine *engine = program->engine;
    char element[EBB_ELEMENT_TEXT], type[EBB_TYPE_TEXT];
    ebb_element_text(&v->type, i, element);
    const char *number = isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
    return ebb_fail(
        engine->env, EBB_VIOLATION,
        "not finite: step %u (%s) of training step %llu gives %s at %s of %%%s, %s: the first in "
        "this step; parameters may be half updated",
        step, program->compiled.plan->graph->ops[program->compiled.plan->steps[step].op].name,
        (unsigned long long)engine->step + 1, number, element, v->name, ebb_type_text(&v->type, type));
}

/* Host memory is looked at where it lies; a device's is copied in pieces. */
static ebb_status look_at(const ebb_program *program, uint32_t step, ebb_id buffer) {
    const ebb_engine *engine = program->engine;
    const ebb_backend_api *api = engine->backend->api;
    const ebb_value *v = &program->compiled.graph->values[program->compiled.plan->buffers[buffer].value];
    if (!ebb_dtype_real(v->type.dtype)) return EBB_OK;
    int64_t bytes;
    const char *at = ebb_exec_buffer(program->exec, buffer, &bytes);
    const int64_t element = ebb_dtype_bytes(v->type.dtype), piece = api->host_memory ? bytes : ROOM_BYTES;
    for (int64_t from = 0; from < bytes; from += piece) {
        const int64_t n = ebb_min_i64(piece, bytes - from);
        const char *here = api->host_memory ? at + from : engine->room;
        const ebb_status status =
            api->host_memory ? EBB_OK : api->copy_out(engine->backend, engine->room, at + from, n);
        if (status != EBB_OK) return status;
        const int64_t bad = first_bad(v->type.dtype, here, n / element);
        if (bad == n / element) continue;
        const double x = ebb_dtypes[v->type.dtype].load(here, bad);
        return refuse(program, step, v, from / element + bad, x);
    }
    return EBB_OK;
}

ebb_status ebb_finite_look(void *ctx, uint32_t step) {
    const ebb_program *program = ctx;
    const ebb_plan_step *s = &program->compiled.plan->steps[step];
    ebb_status status = EBB_OK;
    for (uint32_t o = 0; o < s->n_writes && status == EBB_OK; o++)
        status = look_at(program, step, s->writes[o]);
    return status;
}

ebb_status ebb_finite_open(ebb_engine *engine) {
    const ebb_backend_api *api = engine->backend->api;
    if (!engine->options.check_finite) return EBB_OK;
    if (!api->computes)
        return ebb_fail(engine->env, EBB_USAGE, "device %s computes nothing: there is no number to look at",
                        api->name);
    if (api->host_memory) return EBB_OK;
    engine->room = ebb_calloc(engine->env, ROOM_BYTES, 1);
    return engine->room ? EBB_OK : EBB_NO_MEMORY;
}

void ebb_finite_close(ebb_engine *engine) {
    ebb_cfree(engine->env, engine->room, ROOM_BYTES, 1);
    engine->room = NULL;
}
