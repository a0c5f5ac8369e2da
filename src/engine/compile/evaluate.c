/* A program in evaluation mode beside those of training: of the same params and states, at the same places.
 */
#include "engine/compile/compile.h"

/* What belongs to training alone is as if it were not asked for. */
static ebb_options options_of(const ebb_engine *engine, const char *const *fetch, uint32_t n_fetch) {
    ebb_options o = engine->options;
    o.evaluate = true;
    o.phased = false;
    o.accumulate = 1;
    o.n_keep = o.n_drop = 0;
    if (o.budget_share > 0) { /* a share was of the plan that trains */
        o.budget_bytes = engine->programs.at[0]->compiled.plan->budget_bytes;
        o.budget_share = 0;
    }
    o.fetch = fetch;
    o.n_fetch = n_fetch;
    o.dump = NULL;
    return o;
}

static ebb_status compile(ebb_program *program, const ebb_options *o) {
    ebb_engine *engine = program->engine;
    ebb_env *env = engine->env;
    ebb_compiled *to = &program->compiled;
    ebb_graph *graph = NULL;
    ebb_status s =
        ebb_compile_graph(env, engine->model, program->dims, program->n_dims, o, engine->backend, &graph);
    if (!s) s = ebb_share_givens(env, graph, engine->programs.at[0]->compiled.graph, &to->graph);
    ebb_graph_destroy(graph);
    if (!s) s = ebb_compile_query(env, to->graph, engine->backend, o->costs, &to->facts);
    if (!s && to->facts->n_ops == 0)
        s = ebb_fail(env, EBB_BAD_INPUT, "%s: nothing to evaluate: add `loss %%x` or `output %%x`",
                     engine->model->name);
    if (!s) s = ebb_compile_plan(env, to->facts, engine->backend, o, NULL, to);
    return !s && o->verify ? ebb_plan_audit(env, to->plan) : s;
}

ebb_status ebb_compile_evaluation(ebb_engine *engine, const ebb_dim_binding *dims, uint32_t n_dims,
                                  const char *const *fetch, uint32_t n_fetch, ebb_program **out) {
    *out = NULL;
    if (engine->programs.n == 0)
        return ebb_fail(engine->env, EBB_USAGE,
                        "%s: compile for training first: evaluation takes its params as they lie",
                        engine->model->name);
    ebb_program *program, *known;
    ebb_status status = ebb_program_create(engine, dims, n_dims, &program);
    if (status != EBB_OK) return status;
    program->evaluates = true;
    known = ebb_program_find(program);
    const ebb_options options = options_of(engine, fetch, n_fetch);
    if (!known) status = compile(program, &options);
    if (!known && status == EBB_OK) status = ebb_program_bind(program);
    if (known || status != EBB_OK) ebb_program_destroy(program);
    if (status == EBB_OK) *out = known ? known : program;
    return status;
}
