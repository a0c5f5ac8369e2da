/* Random planning graphs as files have them. */
#include "random_pgraph.h"

char *random_pgraph_text(uint64_t seed, const random_pgraph_options *options) {
    ebb_env *env;
    ebb_pgraph *graph = NULL;
    ebb_text text;
    ebb_json_out json;
    char *copy = NULL;
    if (ebb_env_create(NULL, &env) != EBB_OK) return NULL;
    if (random_pgraph(env, seed, options, &graph) == EBB_OK) {
        ebb_text_init(&text, env);
        ebb_json_out_init(&json, &text);
        ebb_pgraph_print(&json, NULL, graph);
        if (text.at) copy = strdup(text.at);
        ebb_text_deinit(&text);
    }
    ebb_pgraph_destroy(graph);
    ebb_env_destroy(env);
    return copy;
}
