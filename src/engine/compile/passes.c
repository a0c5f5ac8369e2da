/* The passes of ebb_compile_graph that need more of the options than one line. */
#include "engine/compile/compile.h"

ebb_status ebb_compile_next(ebb_env *env, const ebb_options *o, const char *pass, ebb_status status,
                            ebb_graph **made, ebb_graph **graph) {
    if (status != EBB_OK) return status;
    ebb_graph_destroy(*graph);
    *graph = *made;
    status = o->verify ? ebb_graph_verify(env, *graph) : EBB_OK;
    return status == EBB_OK ? ebb_dump_graph(env, o, pass, *graph) : status;
}

ebb_status ebb_compile_parse(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, ebb_graph **out) {
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_dim *bound = EBB_NEW(&arena, ebb_dim, n_dims);
    for (uint32_t i = 0; bound && i < n_dims; i++) bound[i] = (ebb_dim){dims[i].name, dims[i].size};
    const ebb_parse_options options = {.dims = bound, .n_dims = n_dims};
    ebb_status status = EBB_NO_MEMORY;
    if (bound)
        status = model->built ? ebb_build_graph(env, model->built, &options, out)
                              : ebb_graph_parse(env, model->name, model->text, model->n, &options, out);
    ebb_arena_deinit(&arena);
    return status;
}

ebb_status ebb_compile_outputs(ebb_env *env, const ebb_options *o, const ebb_graph *graph,
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

ebb_status ebb_compile_optimizer(ebb_env *env, const ebb_options *o, const ebb_graph *graph,
                                 ebb_graph **out) {
    if (o->optimizer == EBB_ADAMW) {
        const ebb_adamw adamw = {o->beta1, o->beta2, o->adam_eps, o->weight_decay, o->decay_weights};
        return ebb_add_adamw(env, graph, &adamw, ebb_options_phased(o), out);
    }
    const ebb_sgd sgd = {.momentum = o->momentum,
                         .weight_decay = o->weight_decay,
                         .nesterov = o->nesterov,
                         .decay_weights = o->decay_weights};
    return ebb_add_sgd(env, graph, &sgd, ebb_options_phased(o), out);
}
