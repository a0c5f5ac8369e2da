/* Printer of the text IR: any graph; parsing the text gives an equal graph. Values stand in the order of
 * their ids, which is what gives them the same ids again. */
#include "graph/text/text.h"

#include "graph/ir/ir.h"

#include <inttypes.h>

static void attr_print(ebb_text *text, const ebb_attr_info *info, const ebb_attr *a) {
    char real[EBB_REAL_TEXT];
    uint32_t n = ebb_attr_length(info, a);
    ebb_text_add(text, " %s=", info->name);
    if (info->kind == EBB_ATTR_REAL) {
        ebb_text_add(text, "%s", ebb_real_text(a->f, real));
        return;
    }
    if (info->kind == EBB_ATTR_DTYPE) {
        ebb_text_add(text, "%s", ebb_dtype_name((ebb_dtype)a->i[0]));
        return;
    }
    if (info->kind == EBB_ATTR_TEXT) {
        ebb_text_add(text, "\"%s\"", a->text);
        return;
    }
    if (info->kind == EBB_ATTR_BOOL) {
        ebb_text_add(text, "%s", a->i[0] ? "true" : "false");
        return;
    }
    bool same = info->count > 0; /* a list as long as given has brackets always */
    for (uint32_t i = 1; i < n; i++) same = same && a->i[i] == a->i[0];
    if (same) {
        ebb_text_add(text, "%" PRId64, a->i[0]);
        return;
    }
    for (uint32_t i = 0; i < n; i++) ebb_text_add(text, "%s%" PRId64, i ? "," : "[", a->i[i]);
    ebb_text_add(text, n ? "]" : "[]");
}

static void attrs_print(ebb_text *text, const ebb_op_info *op, const ebb_attr *attr) {
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const ebb_attr_info *info = &op->attrs[i];
        ebb_attr fallback = ebb_attr_default(info);
        if (!info->required && ebb_attr_equal(info, &attr[i], &fallback)) continue;
        attr_print(text, info, &attr[i]);
    }
}

void ebb_call_print(ebb_text *text, const ebb_call *call) {
    char type[EBB_TYPE_TEXT];
    ebb_text_add(text, "%s", call->op->name);
    for (uint32_t i = 0; i < call->n_in; i++) ebb_text_add(text, " %s", ebb_type_text(&call->in[i], type));
    attrs_print(text, call->op, call->attr);
    for (uint32_t i = 0; i < call->n_out; i++)
        ebb_text_add(text, "%s%s", i ? " " : " : ", ebb_type_text(&call->out[i], type));
}

static void given_print(ebb_text *text, const ebb_value *v) {
    char type[EBB_TYPE_TEXT], real[EBB_REAL_TEXT];
    ebb_text_add(text, "%%%s = %s %s", v->name, ebb_role_name(v->role), ebb_type_text(&v->type, type));
    if (v->role == EBB_ROLE_CONSTANT) ebb_text_add(text, " fill=%s", ebb_real_text(v->fill, real));
    if (v->role == EBB_ROLE_PARAM || v->role == EBB_ROLE_STATE) {
        ebb_text_add(text, " init=%s",
                     v->init == EBB_INIT_FILL ? ebb_real_text(v->fill, real) : ebb_init_name(v->init));
    }
    ebb_text_add(text, "\n");
}

static void node_print(ebb_text *text, const ebb_graph *graph, const ebb_node *node) {
    for (uint32_t i = 0; i < node->n_out; i++) {
        ebb_text_add(text, "%s%%%s", i ? ", " : "", graph->values[node->out[i]].name);
    }
    ebb_text_add(text, " = %s", node->op->name);
    for (uint32_t i = 0; i < node->n_in; i++) {
        ebb_text_add(text, "%s%%%s", i ? ", " : " ", graph->values[node->in[i]].name);
    }
    attrs_print(text, node->op, node->attr);
    if (node->phase != EBB_FORWARD) ebb_text_add(text, " phase=%s", ebb_phase_name(node->phase));
    if (node->op->effect == EBB_SEEDED) {
        const char *name = graph->values[node->out[0]].name;
        if (node->seed_key != ebb_name_hash(name, strlen(name))) {
            ebb_text_add(text, " seed=%" PRIu64, node->seed_key);
        }
    }
    for (uint32_t i = 0; i < node->n_out; i++) {
        char type[EBB_TYPE_TEXT];
        ebb_text_add(text, "%s%s", i ? ", " : " : ",
                     ebb_type_text(&graph->values[node->out[i]].type, type));
    }
    ebb_text_add(text, "\n");
}

void ebb_graph_print(ebb_text *text, const ebb_graph *graph) {
    ebb_text_add(text, "ebb 1\ngraph %s\n", graph->name);
    for (ebb_id id = 0; id < graph->n_values; id++) {
        const ebb_value *v = &graph->values[id];
        if (v->producer == EBB_NONE) {
            given_print(text, v);
        } else if (v->result == 0) {
            node_print(text, graph, &graph->nodes[v->producer]);
        }
    }
    for (ebb_id id = 0; id < graph->n_values; id++) {
        if (graph->values[id].role == EBB_ROLE_OUTPUT)
            ebb_text_add(text, "output %%%s\n", graph->values[id].name);
    }
    if (graph->loss != EBB_NONE) ebb_text_add(text, "loss %%%s\n", graph->values[graph->loss].name);
}
