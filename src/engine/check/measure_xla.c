/* Measures a model's steps by XLA beside our own, from the same params and inputs: how far apart the two
 * are, how long they take, and what our plan's recomputation makes of XLA's memory. */
#include "engine/compile/compile.h"

#include <math.h>

typedef struct side {
    ebb_engine *engine;
    ebb_program *program;
    double loss;
} side;

typedef struct pair {
    ebb_env *env;
    ebb_arena arena;
    side own, xla;
    ebb_made_up input;     /* of both */
    const ebb_value *loss; /* NULL: the model has none */
    ebb_xla_measured *out;
} pair;

static ebb_status open_side(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                            uint32_t n_dims, const ebb_options *options, bool xla, side *out) {
    ebb_options o = *options;
    o.xla = xla;
    const ebb_status status = ebb_engine_create(env, model, &o, &out->engine);
    return status ? status : ebb_compile(out->engine, dims, n_dims, &out->program);
}

/* ---- params ---------------------------------------------------------------------------------- */

/* Adds |own - before|^2 and |own - xla|^2 of a tensor. */
static void add_off(const ebb_type *type, const void *before, const void *own, const void *xla,
                    double *change, double *off) {
    for (int64_t i = 0, n = ebb_type_count(type); i < n; i++) {
        const double was = ebb_dtypes[type->dtype].load(before, i),
                     a = ebb_dtypes[type->dtype].load(own, i);
        const double b = ebb_dtypes[type->dtype].load(xla, i);
        *change += (a - was) * (a - was);
        *off += (a - b) * (a - b);
    }
}

/* Params before a step into before[i]; or, after it, how far apart the two sides' changes are. */
static ebb_status look_at_params(pair *p, void **before, bool after) {
    ebb_status status = EBB_OK;
    double change = 0, off = 0;
    for (uint32_t i = 0; i < p->own.program->n_params && status == EBB_OK; i++) {
        const ebb_value *value = &p->own.program->compiled.graph->values[p->own.program->params[i]];
        const size_t bytes = (size_t)ebb_type_bytes(&value->type);
        if (value->role != EBB_ROLE_PARAM) continue;
        if (!after) {
            if (!(before[i] = ebb_arena_alloc(&p->arena, bytes, 1))) return EBB_NO_MEMORY;
            status = ebb_fetch(p->own.program, value->name, before[i], bytes);
            continue;
        }
        char *own = ebb_calloc(p->env, bytes, 1), *xla = ebb_calloc(p->env, bytes, 1);
        if (!own || !xla) status = EBB_NO_MEMORY;
        if (status == EBB_OK) status = ebb_fetch(p->own.program, value->name, own, bytes);
        if (status == EBB_OK) status = ebb_fetch(p->xla.program, value->name, xla, bytes);
        if (status == EBB_OK) add_off(&value->type, before[i], own, xla, &change, &off);
        ebb_cfree(p->env, own, bytes, 1);
        ebb_cfree(p->env, xla, bytes, 1);
    }
    if (after) p->out->param_off = change > 0 ? sqrt(off / change) : off > 0 ? (double)INFINITY : 0;
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static ebb_status step(pair *p, side *s, int64_t *ns) {
    const uint64_t begin = ebb_clock_ns(p->env);
    ebb_status status = ebb_step(s->program);
    const int64_t took = (int64_t)(ebb_clock_ns(p->env) - begin);
    if (*ns < 0 || took < *ns) *ns = took;
    if (status != EBB_OK || !p->loss) return status;
    double bits; /* of f32 or f64 */
    status = ebb_fetch(s->program, p->loss->name, &bits, (size_t)ebb_type_bytes(&p->loss->type));
    if (status == EBB_OK) s->loss = ebb_dtypes[p->loss->type.dtype].load(&bits, 0);
    return status;
}

static ebb_status run_steps(pair *p, uint32_t n) {
    ebb_xla_measured *out = p->out;
    void **before = EBB_NEW(&p->arena, void *, p->own.program->n_params);
    ebb_status status = before ? look_at_params(p, before, false) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = ebb_made_up_draw(&p->arena, p->own.program, &p->input);
    for (uint32_t i = 0; i < n && status == EBB_OK; i++) {
        const bool counts = i > 0 || n == 1; /* the first of several is no measure: pages and caches */
        int64_t first = -1;
        if (ebb_stop_asked(p->env))
            return ebb_fail(p->env, EBB_INTERRUPTED, "interrupted: nothing is measured");
        status = ebb_made_up_feed(p->own.program, &p->input);
        if (status == EBB_OK) status = ebb_made_up_feed(p->xla.program, &p->input);
        if (status == EBB_OK) status = step(p, &p->own, counts ? &out->own_ns : &first);
        if (status == EBB_OK) status = step(p, &p->xla, counts ? &out->xla_ns : &first);
        if (status == EBB_OK && i == 0) status = look_at_params(p, before, true);
        const double off = fabs(p->xla.loss - p->own.loss) / fmax(fabs(p->own.loss), 1e-3);
        if (isnan(off) || off > out->loss_off) out->loss_off = off; /* a NaN stays */
        out->own_loss = p->own.loss;
        out->xla_loss = p->xla.loss;
    }
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static ebb_status temp_of(ebb_pjrt *plugin, const ebb_compiled *compiled, bool merged, ebb_env *env,
                          ebb_xla_memory *out) {
    const ebb_hlo_options options = {.no_barriers = merged};
    ebb_xla_program *program;
    const ebb_status status =
        ebb_xla_program_create(env, plugin, compiled->graph, compiled->plan, &options, &program);
    if (status != EBB_OK) return status;
    const ebb_pjrt_memory *m = ebb_xla_program_memory(program);
    *out = (ebb_xla_memory){m->arguments, m->outputs, m->alias, m->temp};
    ebb_xla_program_destroy(program);
    return EBB_OK;
}

/* Of a compiled step, with and without barriers. */
static ebb_status look_at_memory(ebb_env *env, ebb_pjrt *plugin, const ebb_compiled *compiled,
                                 ebb_xla_measured *out) {
    const ebb_plan *plan = compiled->plan;
    ebb_xla_memory merged;
    out->arena_bytes = plan->arena_bytes;
    out->baseline_arena_bytes = plan->baseline_arena_bytes;
    for (uint32_t s = 0; s < plan->n_steps; s++) out->n_recomputed += plan->steps[s].recompute;
    ebb_status status = temp_of(plugin, compiled, false, env, &out->memory);
    merged = out->memory;
    if (status == EBB_OK && out->n_recomputed > 0) status = temp_of(plugin, compiled, true, env, &merged);
    out->merged_temp_bytes = merged.temp_bytes;
    return status;
}

/* Nothing is run: params are not even made. */
static ebb_status compile_alone(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                uint32_t n_dims, const ebb_options *options, ebb_xla_measured *out) {
    ebb_backend *backend = NULL;
    ebb_pjrt *plugin = NULL;
    ebb_compiled compiled = {0};
    if (model->planning)
        return ebb_fail(env, EBB_USAGE, "%s is a planning graph: XLA cannot compile it", model->name);
    ebb_status status = ebb_options_check(env, options);
    if (status == EBB_OK) status = ebb_xla_plugin_open(env, &plugin);
    if (status == EBB_OK) status = ebb_open_backend(env, options, &backend);
    if (status == EBB_OK)
        status = ebb_compile_model(env, model, dims, n_dims, options, backend, NULL, &compiled);
    if (status == EBB_OK) {
        status = look_at_memory(env, plugin, &compiled, out);
        ebb_compiled_deinit(env, &compiled);
    }
    if (backend) backend->api->destroy(backend);
    ebb_pjrt_close(plugin);
    return status;
}

ebb_status ebb_measure_xla(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                           uint32_t n_dims, const ebb_options *options, uint32_t n_steps,
                           ebb_xla_measured *out) {
    pair p = {.env = env, .out = out};
    ebb_options by_xla = *options;
    by_xla.xla = true;
    *out = (ebb_xla_measured){.own_ns = -1, .xla_ns = -1};
    ebb_status status = compile_alone(env, model, dims, n_dims, &by_xla, out);
    if (status != EBB_OK || n_steps == 0) return status;
    ebb_arena_init(&p.arena, env);
    status = open_side(env, model, dims, n_dims, options, true, &p.xla);
    if (status == EBB_OK) status = open_side(env, model, dims, n_dims, options, false, &p.own);
    if (status == EBB_OK) {
        const ebb_graph *graph = p.own.program->compiled.graph;
        p.loss = graph->loss != EBB_NONE ? &graph->values[graph->loss] : NULL;
        status = run_steps(&p, n_steps);
    }
    ebb_engine_destroy(p.own.engine);
    ebb_engine_destroy(p.xla.engine);
    ebb_arena_deinit(&p.arena);
    return status;
}
