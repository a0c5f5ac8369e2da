/* Graphs shown on the way: --dump=PASS. */
#include "engine/inputs/inputs.h"

static bool wants_dump(const ebb_options *o, const char *pass) {
    return o->dump && o->on_dump && strcmp(o->dump, pass) == 0;
}

ebb_status ebb_dump_graph(ebb_env *env, const ebb_options *o, const char *pass, const ebb_graph *graph) {
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
