/* export: what the outputs depend on, op by op. */
#include "onnx/export/export.h"

#include <stdio.h>

#include "engine/engine.h"
#include "onnx/export/state.h"

/* ---- the graph, for two sizes of N ---- */

static ebb_status parse_at(onnx_out *o, const ebb_model *model, int64_t n, ebb_graph **out) {
    const uint32_t n_dims = o->options->n_dims;
    ebb_dim_binding *dims = EBB_NEW(&o->arena, ebb_dim_binding, n_dims + 1U);
    if (!dims) return EBB_NO_MEMORY;
    if (n_dims > 0) memcpy(dims, o->options->dims, n_dims * sizeof *dims);
    dims[n_dims] = (ebb_dim_binding){"N", n};
    return ebb_compile_parse(o->env, model, dims, n_dims + (n > 0 ? 1 : 0), out);
}

static bool same_nodes(const ebb_graph *a, const ebb_graph *b) {
    if (a->n_nodes != b->n_nodes || a->n_values != b->n_values) return false;
    for (uint32_t i = 0; i < a->n_nodes; i++)
        if (a->nodes[i].op != b->nodes[i].op) return false;
    return true;
}

/* N is open unless a size was asked for or the model has no N. */
static ebb_status open_graphs(onnx_out *o, const ebb_model *model) {
    bool asked = false;
    for (uint32_t i = 0; i < o->options->n_dims; i++) asked |= strcmp(o->options->dims[i].name, "N") == 0;
    ebb_status status = parse_at(o, model, 0, &o->graph[0]); /* tells a dim that is not there */
    if (status != EBB_OK || asked) return status;
    ebb_graph *a = NULL, *b = NULL;
    o->model = o->graph[0]->name;
    status = parse_at(o, model, ONNX_BATCH_A, &a);
    if (status == EBB_USAGE) return EBB_OK; /* there is no N */
    if (status == EBB_OK) status = parse_at(o, model, ONNX_BATCH_B, &b);
    if (status == EBB_OK && !same_nodes(a, b))
        status = ebb_fail(o->env, EBB_INTERNAL, "%.200s: another graph for another N", o->model);
    if (status == EBB_BAD_INPUT) {
        char why[512];
        (void)snprintf(why, sizeof why, "%s", ebb_env_error(o->env));
        status = ebb_fail(o->env, EBB_BAD_INPUT,
                          "%.200s cannot be exported for every N: give --dim N=SIZE (N=%d: %s)", o->model,
                          a ? ONNX_BATCH_B : ONNX_BATCH_A, why);
    }
    if (status != EBB_OK) {
        ebb_graph_destroy(a);
        ebb_graph_destroy(b);
        return status;
    }
    ebb_graph_destroy(o->graph[0]);
    o->graph[0] = a;
    o->graph[1] = b;
    return EBB_OK;
}

/* ---- what is written ---- */

/* Facts: which nodes the outputs need, what these read, and which of them alone. Requires outputs. */
static ebb_status find_needed(onnx_out *o) {
    const ebb_graph *g = o->graph[0];
    uint32_t *n_readers = EBB_NEW(&o->arena, uint32_t, g->n_values);
    o->needed = EBB_NEW(&o->arena, bool, g->n_nodes);
    o->done = EBB_NEW(&o->arena, bool, g->n_nodes);
    o->read = EBB_NEW(&o->arena, bool, g->n_values);
    o->reader = EBB_NEW(&o->arena, ebb_id, g->n_values);
    o->name = EBB_NEW(&o->arena, const char *, g->n_values);
    if (!n_readers || !o->needed || !o->done || !o->read || !o->reader || !o->name) return EBB_NO_MEMORY;
    for (ebb_id v = 0; v < g->n_values; v++) o->reader[v] = EBB_NONE;
    for (size_t i = 0; i < o->outputs.n; i++) {
        const ebb_id v = o->outputs.at[i].value;
        n_readers[v] = 2; /* whoever else reads it */
        o->needed[g->values[v].producer] = true;
    }
    for (ebb_id i = g->n_nodes; i-- > 0;) {
        for (uint32_t k = 0; o->needed[i] && k < g->nodes[i].n_in; k++) {
            const ebb_id v = g->nodes[i].in[k];
            o->read[v] = true;
            o->reader[v] = n_readers[v]++ == 0 ? i : EBB_NONE;
            if (g->values[v].producer != EBB_NONE) o->needed[g->values[v].producer] = true;
        }
    }
    return EBB_OK;
}

static onnx_out_rule *rule_of(ebb_opcode op) {
    onnx_out_rule *const rules[] = {onnx_rule_pointwise(op), onnx_rule_products(op), onnx_rule_windows(op),
                                    onnx_rule_places(op), onnx_rule_reductions(op)};
    for (size_t i = 0; i < EBB_COUNT(rules); i++)
        if (rules[i]) return rules[i];
    return NULL;
}

/* What is f32 beside 16 bits: ONNX's ops take one type of reals. */
static void check_reals(onnx_out *o, const ebb_node *node) {
    bool low = false, wide = false;
    for (uint32_t k = 0; k < node->n_in; k++) {
        const ebb_dtype dtype = onnx_out_type(o, 0, node->in[k])->dtype;
        low = low || ebb_dtype_low(dtype);
        wide = wide || dtype == EBB_F32;
    }
    if (low && wide) onnx_out_refuse(o, "it reads 16 bits and f32: export the model in f32");
}

/* All nodes that ONNX has nothing for are told in one answer; what reads their results is no new fault. */
static void write_node(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    onnx_out_rule *rule = rule_of(node->op->code);
    o->why[0] = '\0';
    o->result = node->out[0];
    for (uint32_t k = 0; k < node->n_in && o->n_refused > 0; k++) {
        const ebb_value *v = &o->graph[0]->values[node->in[k]];
        if (v->producer != EBB_NONE && !o->name[node->in[k]]) rule = NULL, o->result = EBB_NONE;
    }
    if (o->result == EBB_NONE) return;
    check_reals(o, node);
    if (!rule)
        onnx_out_refuse(o, "ONNX has no op for it");
    else
        rule(o);
    for (uint32_t k = 1; k < node->n_out; k++)
        if (o->reader[node->out[k]] != EBB_NONE && !o->name[node->out[k]])
            onnx_out_refuse(o, "its result %u is read", k);
    o->done[o->id] = true;
    if (o->why[0] == '\0') return;
    ebb_text_add(&o->refused, "; %s (%s): %s", o->graph[0]->values[node->out[0]].name, node->op->name,
                 o->why);
    o->n_refused++;
    o->why[0] = '\0';
}

static ebb_status write_nodes(onnx_out *o) {
    for (o->id = 0; o->id < o->graph[0]->n_nodes && !o->no_memory && o->status == EBB_OK; o->id++)
        if (o->needed[o->id] && !o->done[o->id]) write_node(o);
    if (o->status != EBB_OK) return o->status;
    if (o->no_memory) return EBB_NO_MEMORY;
    const ebb_status status = ebb_text_status(&o->refused);
    if (status != EBB_OK) return status;
    if (o->n_refused > 0)
        return ebb_fail(o->env, EBB_BAD_INPUT, "%.200s: %u %s be exported%s", o->model, o->n_refused,
                        o->n_refused == 1 ? "op cannot" : "ops cannot", o->refused.at);
    return onnx_border_close(o);
}

/* ---- the whole ---- */

static ebb_status run(onnx_out *o, const ebb_model *model, const onnx_source *source,
                      const onnx_border *border, const char *path) {
    ebb_status status = open_graphs(o, model);
    if (!o->graph[1]) o->graph[1] = o->graph[0];
    if (status == EBB_OK) o->model = o->graph[0]->name;
    if (status == EBB_OK) status = onnx_border_open(o, border);
    if (status == EBB_OK) status = find_needed(o);
    if (status == EBB_OK) status = onnx_weights_open(o, source);
    if (status == EBB_OK) status = onnx_weights_check(o);
    if (status == EBB_OK) status = write_nodes(o);
    return status == EBB_OK ? onnx_finish(o, path) : status;
}

ebb_status onnx_export_run(ebb_env *env, const ebb_model *model, const ebb_onnx_export_options *options,
                           const onnx_source *source, const onnx_border *border, const char *path) {
    onnx_out o = {.env = env, .options = options, .model = "the model", .result = EBB_NONE};
    ebb_text *const texts[] = {&o.nodes, &o.attributes, &o.room, &o.room2, &o.refused};
    ebb_arena_init(&o.arena, env);
    for (size_t i = 0; i < EBB_COUNT(texts); i++) ebb_text_init(texts[i], env);
    const ebb_status status = run(&o, model, source, border, path);
    for (size_t i = 0; i < EBB_COUNT(texts); i++) ebb_text_deinit(texts[i]);
    if (o.graph[1] != o.graph[0]) ebb_graph_destroy(o.graph[1]);
    ebb_graph_destroy(o.graph[0]);
    ebb_tensors_close(o.file);
    EBB_ARRAY_FREE(env, &o.inputs);
    EBB_ARRAY_FREE(env, &o.outputs);
    EBB_ARRAY_FREE(env, &o.stored);
    ebb_arena_deinit(&o.arena);
    return status;
}
