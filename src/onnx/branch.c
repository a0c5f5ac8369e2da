/* branch: ops with graphs of their own. An If whose condition is known is the branch that it chooses: that
 * one's nodes stand in its place, and its outputs are the If's results. What the other one reads is made,
 * too, where the file has it, as it was not known yet which of them would be taken. Loops: loops.c.
 *
 * The names in such a graph are its own: they are hidden at its end, so that others may have them. */
#include <stdio.h>

#include "onnx/stages.h"

static const onnx_graph *chosen(onnx_import *im) {
    const onnx_value *v = onnx_operand(im, 0);
    const double *at[2];
    int64_t n;
    if (!onnx_stopped(im) && v->kind == ONNX_GRAPH)
        onnx_refuse(im, "its condition is computed from data: which branch is taken must be known");
    if (!onnx_numbers(im, 0, at, &n)) return NULL;
    if (n != 1) onnx_refuse(im, "a condition of %lld elements", (long long)n);
    if (!onnx_stopped(im) && v->of_batch)
        onnx_refuse(im, "its condition depends on the batch: export it for a number of samples");
    if (onnx_stopped(im)) return NULL;
    const onnx_attribute *a = onnx_attr(im, at[0][0] != 0 ? "then_branch" : "else_branch");
    const onnx_graph *branch = a ? a->branch : NULL;
    if (!branch || branch->n_outputs != im->node->n_out || branch->n_inputs > 0)
        onnx_refuse(im, "its branch is missing, has inputs, or other outputs than the If");
    return onnx_stopped(im) ? NULL : branch;
}

/* ---- the names of a graph ---- */

static void want(onnx_import *im, const char *name) {
    if (onnx_names_find(&im->wanted, name) != EBB_NONE ||
        onnx_names_put(im->env, &im->wanted, name, ONNX_MAY_BE_PLACE))
        return;
    im->fatal = true;
    im->status = EBB_NO_MEMORY;
}

/* The place of a value that is there once, however often its graph is made: by what the file has for it. */
static uint32_t place_of(onnx_import *im, const void *what) {
    char key[32];
    (void)snprintf(key, sizeof key, "%p", what);
    return onnx_names_find(&im->once, key);
}

static void keep_place(onnx_import *im, const void *what, const char *name) {
    char key[32];
    (void)snprintf(key, sizeof key, "%p", what);
    const char *kept = ebb_arena_text(im->arena, key);
    const uint32_t at = onnx_names_find(&im->by_name, name);
    if (at == EBB_NONE || (kept && onnx_names_put(im->env, &im->once, kept, at))) return;
    im->fatal = true;
    im->status = EBB_NO_MEMORY;
}

void onnx_bind(onnx_import *im, const char *name, uint32_t at) {
    if (onnx_names_find(&im->by_name, name) != EBB_NONE)
        onnx_refuse(im, "%.80s is there already", name);
    else if (!onnx_names_put(im->env, &im->by_name, name, at))
        im->fatal = true, im->status = EBB_NO_MEMORY;
}

static void make_tensor(onnx_import *im, const onnx_tensor *t) {
    const uint32_t at = place_of(im, t);
    if (at != EBB_NONE)
        onnx_bind(im, t->name, at);
    else if (onnx_add_tensor(im, t, onnx_meaning_of(im, t)))
        keep_place(im, t, t->name);
    else
        im->fatal = true;
}

static void make_constant(onnx_import *im, const onnx_node *node) {
    const uint32_t at = place_of(im, node);
    if (at != EBB_NONE)
        onnx_bind(im, node->out[0], at);
    else
        onnx_make_node(im, node);
    if (at == EBB_NONE && !im->fatal) keep_place(im, node, node->out[0]);
}

/* A further result that is no node's is bound to nothing: a name outside that it has would be hidden at the
 * end. The first result is refused when it is given. */
static void refuse_names_outside(onnx_import *im, const onnx_graph *body) {
    for (uint32_t i = 0; i < body->n_nodes; i++)
        for (uint32_t k = 1; k < body->nodes[i].n_out && !onnx_stopped(im); k++) {
            const char *name = body->nodes[i].out[k];
            if (name[0] && onnx_names_find(&im->by_name, name) != EBB_NONE)
                onnx_refuse(im, "%.80s is there already", name);
        }
}

bool onnx_body_make(onnx_import *im, const onnx_graph *body) {
    refuse_names_outside(im, body);
    if (onnx_stopped(im)) return false;
    for (uint32_t i = 0; i < body->n_nodes && !im->fatal; i++)
        for (uint32_t k = 0; k < body->nodes[i].n_read; k++) want(im, body->nodes[i].in[k]);
    for (uint32_t k = 0; k < body->n_outputs && !im->fatal; k++) want(im, body->outputs[k].name);
    for (uint32_t i = 0; i < body->n_tensors && !onnx_stopped(im); i++) make_tensor(im, &body->tensors[i]);
    for (uint32_t i = 0; i < body->n_nodes && !onnx_stopped(im); i++) {
        const onnx_node *node = &body->nodes[i];
        const bool constant = strcmp(node->op, "Constant") == 0 && node->n_out == 1;
        (constant ? make_constant : onnx_make_node)(im, node);
    }
    return true;
}

void onnx_name_hide(onnx_import *im, const char *name, size_t first) {
    const uint32_t at = onnx_names_find(&im->by_name, name);
    /* After a refusal it may be another's, which was there before. */
    if (at == EBB_NONE || ((im->n_refused > 0 || onnx_stopped(im)) && at < first)) return;
    if (!onnx_names_put(im->env, &im->by_name, name, EBB_NONE))
        im->fatal = true, im->status = EBB_NO_MEMORY;
}

void onnx_body_end(onnx_import *im, const onnx_graph *body, size_t first) {
    for (uint32_t i = 0; i < body->n_tensors; i++) onnx_name_hide(im, body->tensors[i].name, first);
    for (uint32_t i = 0; i < body->n_nodes; i++)
        for (uint32_t k = 0; k < body->nodes[i].n_out; k++)
            onnx_name_hide(im, body->nodes[i].out[k], first);
}

/* ---- If ---- */

/* Output k of the branch by the name of result k. */
static void give_as(onnx_import *im, const onnx_node *node, const onnx_graph *branch, uint32_t k,
                    onnx_node *same) {
    const char **name = EBB_NEW(im->arena, const char *, 1);
    if (!name) {
        im->fatal = true;
        im->status = EBB_NO_MEMORY;
        return;
    }
    *name = branch->outputs[k].name;
    *same = (onnx_node){.name = node->name,
                        .op = "Identity",
                        .domain = "",
                        .in = name,
                        .out = node->out + k,
                        .n_in = 1,
                        .n_out = 1,
                        .n_read = 1};
    if (node->out[k][0] != '\0') onnx_make_node(im, same);
}

static void take_branch(onnx_import *im) {
    const onnx_node *node = im->node;
    const onnx_graph *branch = chosen(im);
    const size_t first = im->values.n;
    if (!branch) return;
    const int64_t n = (int64_t)branch->n_nodes + branch->n_tensors + branch->n_outputs;
    if (im->unrolled.depth > 0 && !onnx_unroll_more(im, n)) return;
    onnx_node *same = EBB_NEW(im->arena, onnx_node, node->n_out);
    if (!same) im->fatal = true, im->status = EBB_NO_MEMORY;
    if (im->fatal || !onnx_body_make(im, branch)) return;
    for (uint32_t k = 0; k < node->n_out && !im->fatal; k++) give_as(im, node, branch, k, &same[k]);
    onnx_body_end(im, branch, first);
    im->node = node;
}

bool onnx_graphs_take(onnx_import *im) {
    static const onnx_rule rules[] = {
        {"If", take_branch}, {"Loop", onnx_loop_take}, {"Scan", onnx_scan_take}, {NULL, NULL}};
    const onnx_rule *rule = rules;
    while (rule->op && strcmp(rule->op, im->node->op) != 0) rule++;
    if (!rule->op) return false;
    const bool loop = strcmp(rule->op, "If") != 0;
    if (loop) onnx_unroll_begin(im);
    rule->make(im);
    if (loop) onnx_unroll_end(im);
    return true;
}
