/* The story of a compilation, one chapter a function. */
#include "engine/engine.h"

static bool wants_dump(const ebb_options *o, const char *pass) {
    return o->dump && o->on_dump && strcmp(o->dump, pass) == 0;
}

static ebb_status dump_graph(ebb_env *env, const ebb_options *o, const char *pass, const ebb_graph *graph) {
    if (!wants_dump(o, pass)) return EBB_OK;
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_graph_print(&text, graph);
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) o->on_dump(o->dump_ctx, pass, text.at ? text.at : "");
    ebb_text_deinit(&text);
    return status;
}

ebb_status ebb_dump_pgraph(ebb_env *env, const ebb_options *o, const char *pass, const ebb_pgraph *graph) {
    if (!wants_dump(o, pass)) return EBB_OK;
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_pgraph_print(&json, NULL, graph);
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) o->on_dump(o->dump_ctx, pass, text.at ? text.at : "");
    ebb_text_deinit(&text);
    return status;
}

/* Takes over *graph: replaces it by a pass's result, checks and dumps it. */
static ebb_status next(ebb_env *env, const ebb_options *o, const char *pass, ebb_status status,
                       ebb_graph **made, ebb_graph **graph) {
    if (status != EBB_OK) return status;
    ebb_graph_destroy(*graph);
    *graph = *made;
    status = o->verify ? ebb_graph_verify(env, *graph) : EBB_OK;
    return status == EBB_OK ? dump_graph(env, o, pass, *graph) : status;
}

static ebb_status mark_outputs(ebb_env *env, const ebb_options *o, const ebb_graph *graph,
                               ebb_graph **out) {
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    const char **names = EBB_NEW(&arena, const char *, o->n_fetch + 1);
    uint32_t n = 0;
    if (names) {
        for (; n < o->n_fetch; n++) names[n] = o->fetch[n];
        if (graph->loss != EBB_NONE) names[n++] = graph->values[graph->loss].name;
    }
    ebb_status status = names ? ebb_mark_outputs(env, graph, names, n, out) : EBB_NO_MEMORY;
    ebb_arena_deinit(&arena);
    return status;
}

static ebb_status add_optimizer(ebb_env *env, const ebb_options *o, const ebb_graph *graph,
                                ebb_graph **out) {
    if (o->optimizer == EBB_ADAMW) {
        const ebb_adamw adamw = {o->beta1, o->beta2, o->adam_eps, o->weight_decay};
        return ebb_add_adamw(env, graph, &adamw, o->phased, out);
    }
    const ebb_sgd sgd = {.momentum = o->momentum, .weight_decay = o->weight_decay, .nesterov = o->nesterov};
    return ebb_add_sgd(env, graph, &sgd, o->phased, out);
}

static ebb_status run_passes(ebb_env *env, const ebb_options *o, ebb_graph **graph) {
    ebb_graph *made = NULL;
    bool train = !o->evaluate && (*graph)->loss != EBB_NONE;
    ebb_status status = ebb_lower(env, *graph, o->evaluate ? EBB_EVAL : EBB_TRAIN, &made);
    status = next(env, o, "lower", status, &made, graph);
    if (status == EBB_OK && !o->unfused)
        status = next(env, o, "fuse", ebb_fuse(env, *graph, o->fetch, o->n_fetch, &made), &made, graph);
    if (status == EBB_OK && train)
        status = next(env, o, "grad", ebb_grad(env, *graph, &made), &made, graph);
    if (status == EBB_OK && train && o->clip_norm > 0)
        status = next(env, o, "clip", ebb_clip_gradients(env, *graph, o->clip_norm, &made), &made, graph);
    if (status == EBB_OK)
        status = next(env, o, "outputs", mark_outputs(env, o, *graph, &made), &made, graph);
    if (status == EBB_OK && train)
        status = next(env, o, "optimizer", add_optimizer(env, o, *graph, &made), &made, graph);
    if (status == EBB_OK) status = next(env, o, "simplify", ebb_simplify(env, *graph, &made), &made, graph);
    if (status == EBB_OK && !o->unfused)
        status = next(env, o, "bits", ebb_keep_bits(env, *graph, &made), &made, graph);
    return status;
}

ebb_status ebb_chapter_graph(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *o, ebb_graph **out) {
    *out = NULL;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_dim *bound = EBB_NEW(&arena, ebb_dim, n_dims);
    ebb_status status = bound ? EBB_OK : EBB_NO_MEMORY;
    for (uint32_t i = 0; bound && i < n_dims; i++) bound[i] = (ebb_dim){dims[i].name, dims[i].size};
    ebb_graph *graph = NULL;
    if (status == EBB_OK)
        status = ebb_graph_parse(env, model->name, model->text, model->n,
                                 &(ebb_parse_options){.dims = bound, .n_dims = n_dims}, &graph);
    if (status == EBB_OK) status = dump_graph(env, o, "parse", graph);
    if (status == EBB_OK) status = run_passes(env, o, &graph);
    ebb_arena_deinit(&arena);
    if (status == EBB_OK)
        *out = graph;
    else
        ebb_graph_destroy(graph);
    return status;
}

ebb_status ebb_chapter_facts(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *o, ebb_backend *backend, ebb_compiled *out,
                             const ebb_pgraph **out_facts) {
    *out = (ebb_compiled){0};
    ebb_status status = EBB_OK;
    const ebb_pgraph *facts = model->planning;
    if (!facts) {
        status = ebb_chapter_graph(env, model, dims, n_dims, o, &out->graph);
        if (status == EBB_OK) status = ebb_chapter_query(env, out->graph, backend, o->costs, &out->facts);
        facts = out->facts;
        if (status == EBB_OK && facts->n_ops == 0)
            status = ebb_fail(env, EBB_BAD_INPUT,
                              "%s: nothing to run: add `loss %%x`, `output %%x` or a fetch", model->name);
    } else if (n_dims > 0) {
        status =
            ebb_fail(env, EBB_USAGE, "%s: a planning graph has no dimension \"%.60s\"; its bytes are fixed",
                     model->name, dims[0].name);
    } else if (o->costs) {
        status = ebb_fail(env, EBB_USAGE, "%s: a planning graph has times of its own: leave the costs out",
                          model->name);
    }
    if (status == EBB_OK) status = ebb_dump_pgraph(env, o, "query", facts);
    *out_facts = facts;
    return status;
}

ebb_status ebb_compile_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *o, ebb_backend *backend,
                             const ebb_hint *hint, ebb_compiled *out) {
    const ebb_pgraph *facts;
    ebb_status status = ebb_chapter_facts(env, model, dims, n_dims, o, backend, out, &facts);
    if (status == EBB_OK)
        status = ebb_chapter_plan(env, facts, model->planning ? NULL : backend, o, hint, out);
    if (status == EBB_OK && o->verify) status = ebb_plan_audit(env, out->plan);
    if (status != EBB_OK && status != EBB_INTERRUPTED) ebb_compiled_deinit(env, out);
    return status;
}

void ebb_compiled_deinit(ebb_env *env, ebb_compiled *compiled) {
    ebb_plan_destroy(compiled->plan);
    ebb_pgraph_destroy(compiled->facts);
    ebb_graph_destroy(compiled->graph);
    ebb_cfree(env, compiled->genes, compiled->n_genes, 1);
    *compiled = (ebb_compiled){0};
}

ebb_status ebb_plan_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                          uint32_t n_dims, const ebb_options *options, ebb_plan **out) {
    *out = NULL;
    ebb_status status = ebb_options_check(env, options);
    ebb_backend *backend = NULL;
    if (status == EBB_OK && !model->planning) status = ebb_open_backend(env, options, &backend);
    if (status != EBB_OK) return status;
    ebb_compiled compiled;
    ebb_hint hint = {.log = options->log ? ebb_search_log_begin(options->log) : NULL};
    status = ebb_compile_model(env, model, dims, n_dims, options, backend, &hint, &compiled);
    if (options->log && compiled.plan)
        ebb_search_log_end(options->log, dims, n_dims, options, compiled.plan);
    if (status == EBB_OK || status == EBB_INTERRUPTED) {
        *out = compiled.plan;
        compiled.plan = NULL;
        ebb_compiled_deinit(env, &compiled);
    }
    if (backend) backend->api->destroy(backend);
    return status;
}
