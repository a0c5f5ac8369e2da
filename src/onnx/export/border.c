/* border: inputs and outputs of the file, and that nothing else is called as they are. */
#include "onnx/export/state.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- which ---- */

/* An input or output of the model. */
typedef struct named {
    const char *name;
    ebb_id value;
} named;

typedef struct ports {
    named *at; /* by name */
    uint32_t n;
} ports;

static int by_name(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static bool list_ports(onnx_out *o, ports *out) {
    const ebb_graph *g = o->graph[0];
    *out = (ports){EBB_NEW(&o->arena, named, g->n_values), 0};
    if (!out->at) return onnx_out_no_memory(o), false;
    for (ebb_id v = 0; v < g->n_values; v++)
        if (g->values[v].role == EBB_ROLE_INPUT || g->values[v].role == EBB_ROLE_OUTPUT)
            out->at[out->n++] = (named){g->values[v].name, v};
    if (out->n > 1) qsort(out->at, out->n, sizeof *out->at, by_name);
    return true;
}

/* false: the model has no such input or output. */
static bool add_row(onnx_out *o, const ports *all, const onnx_border_row *row, ebb_role role) {
    const named like = {.name = row->value},
                *found = all->n > 0 ? bsearch(&like, all->at, all->n, sizeof *all->at, by_name) : NULL;
    if (!found || o->graph[0]->values[found->value].role != role) return false;
    const bool in = role == EBB_ROLE_INPUT;
    const onnx_out_port port = {.value = found->value,
                                .name = row->name,
                                .wide = row->wide && onnx_out_type(o, 0, found->value)->dtype == EBB_I32,
                                .kept = true};
    if (!(in ? EBB_PUSH(o->env, &o->inputs, port) : EBB_PUSH(o->env, &o->outputs, port)))
        onnx_out_no_memory(o);
    if (in) o->wide[port.value] = port.wide;
    if ((in || !port.wide) && !o->own[port.value]) o->own[port.value] = row->name;
    return true;
}

static void add_border(onnx_out *o, const onnx_border *border) {
    const uint32_t n_values = o->graph[0]->n_values;
    ports all;
    if (!list_ports(o, &all)) return;
    bool fits = true;
    for (uint32_t i = 0; fits && i < border->n_outputs; i++)
        fits = add_row(o, &all, &border->outputs[i], EBB_ROLE_OUTPUT);
    for (uint32_t i = 0; fits && i < border->n_inputs; i++)
        fits = add_row(o, &all, &border->inputs[i], EBB_ROLE_INPUT);
    if (fits) return;
    o->inputs.n = o->outputs.n = 0; /* it is another model's */
    memset((void *)o->own, 0, n_values * sizeof *o->own);
    memset(o->wide, 0, n_values * sizeof *o->wide);
}

/* What the border does not have: a model's labels, or all. */
static bool add_others(onnx_out *o) {
    const ebb_graph *g = o->graph[0];
    const bool outputs = o->outputs.n == 0;
    for (ebb_id v = 0; v < g->n_values; v++) {
        const onnx_out_port port = {.value = v};
        if (g->values[v].role == EBB_ROLE_INPUT && !o->own[v] && !EBB_PUSH(o->env, &o->inputs, port))
            return false;
        if (g->values[v].role == EBB_ROLE_OUTPUT && outputs && !EBB_PUSH(o->env, &o->outputs, port))
            return false;
    }
    return true;
}

/* Of a model without outputs: what its softmax_xent reads, or the loss itself. */
static ebb_status add_logits(onnx_out *o) {
    const ebb_graph *g = o->graph[0];
    if (g->loss == EBB_NONE)
        return ebb_fail(o->env, EBB_BAD_INPUT, "%.200s has no output to export: add a line `output %%NAME`",
                        o->model);
    const ebb_node *node = &g->nodes[g->values[g->loss].producer];
    const bool logits = node->op == &ebb_op_softmax_xent && g->values[node->in[0]].producer != EBB_NONE;
    const onnx_out_port port = {.value = logits ? node->in[0] : g->loss};
    return EBB_PUSH(o->env, &o->outputs, port) ? EBB_OK : EBB_NO_MEMORY;
}

/* ---- names ---- */

static int by_taken_name(const void *a, const void *b) {
    return strcmp(((const onnx_taken *)a)->name, ((const onnx_taken *)b)->name);
}

onnx_taken *onnx_taken_find(const onnx_out *o, const char *name) {
    const onnx_taken like = {.name = name};
    return o->n_taken > 0 ? bsearch(&like, o->taken, o->n_taken, sizeof *o->taken, by_taken_name) : NULL;
}

const char *onnx_own_name(onnx_out *o, ebb_id value) {
    if (o->own[value]) return o->own[value];
    o->own[value] = o->graph[0]->values[value].name;
    if (!onnx_taken_find(o, o->own[value])) return o->own[value];
    const ebb_id result = o->result;
    o->result = value;
    o->own[value] = onnx_part_name(o, "value");
    o->result = result;
    return o->own[value];
}

/* Names that the file has are taken before others are made. */
static ebb_status name_ports(onnx_out *o) {
    onnx_taken *all = EBB_NEW(&o->arena, onnx_taken, o->inputs.n + o->outputs.n);
    uint32_t n = 0;
    if (!all) return EBB_NO_MEMORY;
    for (size_t i = 0; i < o->inputs.n; i++)
        if (o->inputs.at[i].name) all[n++].name = o->inputs.at[i].name;
    for (size_t i = 0; i < o->outputs.n; i++)
        if (o->outputs.at[i].name) all[n++].name = o->outputs.at[i].name;
    if (n > 1) qsort(all, n, sizeof *all, by_taken_name);
    o->taken = all;
    for (uint32_t i = 0; i < n; i++)
        if (o->n_taken == 0 || strcmp(all[o->n_taken - 1].name, all[i].name) != 0)
            all[o->n_taken++] = all[i];
    for (size_t i = 0; i < o->inputs.n; i++)
        if (!o->inputs.at[i].name) o->inputs.at[i].name = onnx_own_name(o, o->inputs.at[i].value);
    for (size_t i = 0; i < o->outputs.n; i++)
        if (!o->outputs.at[i].name) o->outputs.at[i].name = onnx_own_name(o, o->outputs.at[i].value);
    return o->no_memory ? EBB_NO_MEMORY : EBB_OK;
}

ebb_status onnx_border_open(onnx_out *o, const onnx_border *border) {
    o->own = EBB_NEW(&o->arena, const char *, o->graph[0]->n_values);
    o->wide = EBB_NEW(&o->arena, bool, o->graph[0]->n_values);
    if (!o->own || !o->wide) return EBB_NO_MEMORY;
    if (border) add_border(o, border);
    if (o->no_memory || !add_others(o)) return EBB_NO_MEMORY;
    const ebb_status status = o->outputs.n == 0 ? add_logits(o) : EBB_OK;
    return status == EBB_OK ? name_ports(o) : status;
}

/* ---- outputs, at the end ---- */

ebb_status onnx_border_close(onnx_out *o) {
    for (size_t i = 0; i < o->outputs.n; i++) {
        const onnx_out_port *port = &o->outputs.at[i];
        const char *made = o->name[port->value];
        onnx_taken *taken = onnx_taken_find(o, port->name);
        if (!made)
            return ebb_fail(o->env, EBB_BAD_INPUT,
                            "%.200s: output %.100s is a result that ONNX does not have", o->model,
                            port->name);
        if (strcmp(made, port->name) == 0 || (taken && taken->made)) continue;
        if (taken) taken->made = true;
        if (port->wide) onnx_set_int(o, "to", ONNX_INT64);
        (void)onnx_make_named(o, port->wide ? "Cast" : "Identity", port->name, &made, 1);
    }
    return o->no_memory ? EBB_NO_MEMORY : EBB_OK;
}
