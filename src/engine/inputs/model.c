/* A model: the text of a graph in IR form, a planning graph, or the declarations that calls made. */
#include "engine/inputs/inputs.h"

#define MAX_MODEL_BYTES ((size_t)1 << 30)

static bool looks_like_json(const char *text, size_t n) {
    size_t i = 0;
    while (i < n && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r')) i++;
    return i < n && text[i] == '{';
}

/* A model is checked when it is opened, so that errors come early and name the file. */
static ebb_status check_text(ebb_model *model) {
    ebb_graph *graph;
    ebb_status status =
        ebb_graph_parse(model->env, model->name, model->text, model->n, &(ebb_parse_options){0}, &graph);
    if (status == EBB_OK) ebb_graph_destroy(graph);
    return status;
}

ebb_status ebb_model_parse(ebb_env *env, const char *name, const char *text, size_t n, ebb_model **out) {
    *out = NULL;
    ebb_model *model = ebb_calloc(env, 1, sizeof *model);
    if (!model) return EBB_NO_MEMORY;
    model->env = env;
    ebb_arena_init(&model->arena, env);
    ebb_status status = EBB_NO_MEMORY;
    if ((model->name = ebb_arena_text(&model->arena, name))) {
        if (looks_like_json(text, n)) {
            status = ebb_pgraph_parse(env, model->name, text, n, &model->planning);
        } else if ((model->text = EBB_NEW(&model->arena, char, n + 1))) {
            memcpy(model->text, text, n);
            model->n = n;
            status = check_text(model);
        }
    }
    if (status != EBB_OK) {
        ebb_model_destroy(model);
        return status;
    }
    *out = model;
    return EBB_OK;
}

ebb_status ebb_model_open(ebb_env *env, const char *path, ebb_model **out) {
    *out = NULL;
    char *text;
    size_t n;
    ebb_status status = ebb_file_read(env, path, MAX_MODEL_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_model_parse(env, strcmp(path, "-") == 0 ? "(standard input)" : path, text, n, out);
    ebb_file_free(env, text, n);
    return status;
}

ebb_status ebb_build_model(ebb_build *build, ebb_model **out) {
    *out = NULL;
    ebb_env *env = ebb_build_env(build);
    const ebb_status status = ebb_build_end(build);
    ebb_model *model = status == EBB_OK ? ebb_calloc(env, 1, sizeof *model) : NULL;
    if (!model) {
        ebb_build_destroy(build);
        return status ? status : EBB_NO_MEMORY;
    }
    *model = (ebb_model){.env = env, .name = ebb_build_name(build), .built = build};
    ebb_arena_init(&model->arena, env);
    *out = model;
    return EBB_OK;
}

void ebb_model_destroy(ebb_model *model) {
    if (!model) return;
    ebb_env *env = model->env;
    ebb_pgraph_destroy(model->planning);
    ebb_build_destroy(model->built);
    ebb_arena_deinit(&model->arena);
    ebb_cfree(env, model, 1, sizeof *model);
}

bool ebb_model_is_planning_graph(const ebb_model *model) {
    return model->planning != NULL;
}
