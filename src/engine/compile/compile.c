/* The story of a compilation.
 *
 *     model  -> parse, smooth, lower, precision, fuse, grad, recast, accumulate, clip or scale, outputs,
 *               optimizer, simplify, narrow, bits, loss, norm, qkv, pointwise     -> the step's graph
 *     graph  -> query                                                              -> planning graph
 *            -> select, rewrite, live, in place, pack; tightened until the budget holds; certify, check
 *                                                                                  -> plan
 *     plan   -> bind                                                               -> program
 *
 * A chapter takes what the one before it gave and changes nothing else; its own page is where its function
 * is defined: graph/ for the passes, exec/ for query and bind, sublinear/ for select and rewrite, planner/
 * and pack/ for offsets, audit/ for the check.
 */
#include "engine/compile/compile.h"

ebb_status ebb_compile_graph(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *o, ebb_backend *backend, ebb_graph **out) {
    ebb_graph *graph = NULL, *made = NULL;
    *out = NULL;
    ebb_status s = ebb_compile_parse(env, model, dims, n_dims, &graph);
    if (!s) s = ebb_dump_graph(env, o, "parse", graph);
    const bool train = !s && !o->evaluate && graph->loss != EBB_NONE,
               fuse = !o->unfused && !o->xla && o->opt_level >= 2;
    const bool low = o->precision != EBB_PRECISION_F32, scaled = o->precision == EBB_PRECISION_F16;
    const ebb_mode mode = o->evaluate ? EBB_EVAL : EBB_TRAIN;
#define PASS(name, call) \
    if (!s) s = ebb_compile_next(env, o, name, call, &made, &graph)
    if (train && o->label_smoothing > 0)
        PASS("smooth", ebb_smooth_labels(env, graph, o->label_smoothing, &made));
    PASS("lower", ebb_lower(env, graph, mode, &made));
    if (low) PASS("precision", ebb_lower_precision(env, graph, scaled ? EBB_F16 : EBB_BF16, &made));
    if (fuse) PASS("fuse", ebb_fuse(env, graph, o->fetch, o->n_fetch, &made));
    if (train)
        PASS("grad",
             scaled ? ebb_grad_scaled(env, graph, EBB_SCALER_START, &made) : ebb_grad(env, graph, &made));
    if (train && low) PASS("recast", ebb_recast_params(env, graph, &made));
    if (train && ebb_options_parts(o) > 1)
        PASS("accumulate", ebb_accumulate_gradients(env, graph, ebb_options_parts(o), &made));
    if (train && scaled) PASS("scale", ebb_scale_gradients(env, graph, o->clip_norm, &made));
    if (train && !scaled && o->clip_norm > 0)
        PASS("clip", ebb_clip_gradients(env, graph, o->clip_norm, &made));
    PASS("outputs", ebb_compile_outputs(env, o, graph, &made));
    if (train) PASS("optimizer", ebb_compile_optimizer(env, o, graph, &made));
    if (o->opt_level >= 1) PASS("simplify", ebb_simplify(env, graph, &made));
    if (fuse && train && low) PASS("narrow", ebb_narrow_updates(env, graph, &made));
    if (fuse) PASS("bits", ebb_keep_bits(env, graph, &made));
    if (fuse && train && !o->phased) PASS("loss", ebb_join_loss(env, graph, &made));
    if (fuse && train) PASS("norm", ebb_join_norms(env, graph, o->opt_level >= 3, &made));
    if (fuse) PASS("qkv", ebb_join_qkv(env, graph, o->opt_level >= 3, &made));
    if (fuse && o->opt_level >= 3 && backend && ebb_backend_fuses(backend))
        PASS("pointwise", ebb_fuse_pointwise(env, graph, &made));
#undef PASS
    if (s)
        ebb_graph_destroy(graph);
    else
        *out = graph;
    return s;
}

ebb_status ebb_compile_check_planning(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                      uint32_t n_dims, const ebb_options *o) {
    if (n_dims > 0)
        return ebb_fail(env, EBB_USAGE,
                        "%s: a planning graph has no dimension \"%.60s\"; its bytes are fixed", model->name,
                        dims[0].name);
    if (o->costs)
        return ebb_fail(env, EBB_USAGE, "%s: a planning graph has times of its own: leave the costs out",
                        model->name);
    return EBB_OK;
}

ebb_status ebb_compile_facts(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *o, ebb_backend *backend, ebb_compiled *out,
                             const ebb_pgraph **out_facts) {
    *out = (ebb_compiled){0};
    ebb_status status = EBB_OK;
    const ebb_pgraph *facts = model->planning;
    if (!facts) {
        status = ebb_compile_graph(env, model, dims, n_dims, o, backend, &out->graph);
        if (status == EBB_OK) status = ebb_compile_query(env, out->graph, backend, o->costs, &out->facts);
        facts = out->facts;
        if (status == EBB_OK && facts->n_ops == 0)
            status = ebb_fail(env, EBB_BAD_INPUT,
                              "%s: nothing to run: add `loss %%x`, `output %%x` or a fetch", model->name);
    } else {
        status = ebb_compile_check_planning(env, model, dims, n_dims, o);
    }
    if (status == EBB_OK) status = ebb_dump_pgraph(env, o, "query", facts);
    *out_facts = facts;
    return status;
}

/* select; then rewrite, live, in place, pack. May take over *base, the answer without recomputation. */
static ebb_status plan_by_mode(ebb_study *study, ebb_answer *base, ebb_answer *out) {
    const ebb_ask thresholds = {.method = EBB_METHOD_MEGENGINE, .limit_bytes = -1};
    switch (study->options->memory) {
    case EBB_MEMORY_MEGENGINE:
        return ebb_study_answer(study, &thresholds, out);
    case EBB_MEMORY_BUDGET: /* tightened until the packed plan is within it */
        if (study->hint.least) return ebb_study_smallest(study, out);
        return ebb_study_plan_budget(study, base, out);
    case EBB_MEMORY_NONE:
        ebb_plan_destroy(base->plan);
        base->plan = NULL;
        *out = *base;
        *base = (ebb_answer){0};
        return ebb_study_pack(study, out->selection, EBB_REUSE_NONE, EBB_PACK_AT_LENGTH, &out->plan);
    case EBB_MEMORY_IN_PLACE:
        break;
    }
    *out = *base;
    *base = (ebb_answer){0};
    return EBB_OK;
}

/* Plans, and certifies what was found. EBB_INTERRUPTED: out->plan may be the best so far. */
static ebb_status make_plan(ebb_study *study, ebb_answer *base, ebb_compiled *out) {
    ebb_answer answer = {0};
    ebb_status ended = plan_by_mode(study, base, &answer);
    ebb_status status = ended == EBB_INTERRUPTED && answer.plan ? EBB_OK : ended;
    if (!status) status = ebb_study_certify(study, answer.plan);
    if (!status) status = ebb_compiled_take(study->env, out, &answer);
    ebb_answer_drop(&answer);
    return status ? status : ended;
}

ebb_status ebb_compile_plan(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                            const ebb_options *options, const ebb_hint *hint, ebb_compiled *out) {
    ebb_study study;
    ebb_answer base;
    ebb_cache cache = {0};
    if (options->unpacked && backend)
        return ebb_fail(env, EBB_USAGE, "%s: a plan that runs is packed: leave unpacked out", facts->name);
    ebb_status status = ebb_study_open(env, facts, backend, options, hint, &study, &base);
    if (!status) status = ebb_cache_open(&cache, &study);
    if (!status) status = ebb_cache_find_plan(&cache, &out->plan);
    if (!status && !out->plan) {
        status = make_plan(&study, &base, out);
        if (!status) status = ebb_cache_store_plan(&cache, out->plan);
    }
    ebb_status dumped = out->plan ? ebb_study_dump(&study, out->plan) : EBB_OK;
    out->n_scored = study.n_scored;
    out->hurried = study.hurried;
    ebb_cache_close(&cache);
    ebb_answer_drop(&base);
    ebb_study_close(&study);
    return status ? status : dumped;
}

ebb_status ebb_compile_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *o, ebb_backend *backend,
                             const ebb_hint *hint, ebb_compiled *out) {
    const ebb_pgraph *facts;
    ebb_status status = ebb_compile_facts(env, model, dims, n_dims, o, backend, out, &facts);
    if (!status) status = ebb_compile_plan(env, facts, model->planning ? NULL : backend, o, hint, out);
    /* A search that found nothing is told, too. */
    if (facts && hint && hint->log && (out->plan || status == EBB_OVER_BUDGET || status == EBB_INTERRUPTED))
        ebb_search_log_end(o->log, facts->name, dims, n_dims, o, out->plan);
    if (!status && o->verify) status = ebb_plan_audit(env, out->plan);
    if (status && status != EBB_INTERRUPTED) ebb_compiled_deinit(env, out);
    return status;
}

ebb_status ebb_compile(ebb_engine *engine, const ebb_dim_binding *dims, uint32_t n_dims,
                       ebb_program **out) {
    ebb_program *program, *known;
    *out = NULL;
    ebb_status status = ebb_program_create(engine, dims, n_dims, &program);
    if (status) return status;
    known = ebb_program_find(program);
    /* No hint from other programs: a plan must not depend on what was compiled before it. */
    if (!known)
        status = ebb_compile_model(engine->env, engine->model, program->dims, n_dims, &engine->options,
                                   engine->backend, NULL, &program->compiled);
    if (!known && !status) status = ebb_program_bind(program);
    if (known || status) ebb_program_destroy(program);
    if (!status) *out = known ? known : program;
    return status;
}
