/* import: the graph from its inputs to its loss. */
#include "onnx/fold/fold.h"
#include "onnx/stages.h"

#include <stdio.h>

#include "onnx/emit.h"

static bool add(onnx_import *im, onnx_value value) {
    if (onnx_names_find(&im->by_name, value.name) != EBB_NONE) {
        im->status = onnx_damaged(im->file, "a name that is defined twice");
        return false;
    }
    value.same = EBB_NONE;
    im->status = EBB_NO_MEMORY;
    if (!EBB_PUSH(im->env, &im->values, value) ||
        !onnx_names_put(im->env, &im->by_name, value.name, (uint32_t)im->values.n - 1))
        return false;
    im->status = EBB_OK;
    return true;
}

bool onnx_add_tensor(onnx_import *im, const onnx_tensor *t, onnx_meaning meaning) {
    onnx_value v = {
        .name = t->name, .kind = ONNX_INITIAL, .id = EBB_BUILD_NONE, .type = t->type, .tensor = t};
    v.buffer = meaning == ONNX_IS_BUFFER;
    v.shape.rank = t->rank;
    for (uint32_t d = 0; d < t->rank; d++) v.shape.dim[0][d] = v.shape.dim[1][d] = t->dim[d];
    double *at = meaning == ONNX_IS_NUMBER ? onnx_folded(im, 1) : NULL;
    if (im->fatal) return false;
    if (at) {
        *at = onnx_tensor_at(t, 0);
        v.kind = ONNX_FOLDED;
        v.at[0] = v.at[1] = at;
    }
    return add(im, v);
}

static ebb_status add_tensors(onnx_import *im) {
    ebb_status status = onnx_numbers_find(im);
    for (uint32_t i = 0; status == EBB_OK && i < im->file->graph.n_tensors; i++) {
        const onnx_tensor *t = &im->file->graph.tensors[i];
        if (!onnx_add_tensor(im, t, onnx_meaning_of(im, t))) status = im->status;
    }
    return status;
}

/* ---- inputs ---- */

static ebb_status add_input(onnx_import *im, const onnx_port *port) {
    char type[ONNX_SHAPE_TEXT + 8], text[ONNX_SHAPE_TEXT];
    const char *dtype = onnx_is_f32(port->type)                                ? "f32"
                        : port->type == ONNX_DOUBLE                            ? "f64"
                        : port->type == ONNX_BOOL                              ? "bool"
                        : port->type == ONNX_UINT8                             ? "u8"
                        : port->type == ONNX_INT64 || port->type == ONNX_INT32 ? "i32"
                                                                               : NULL;
    onnx_shape shape;
    if (!dtype || !port->shaped)
        return ebb_fail(
            im->env, EBB_BAD_INPUT,
            "%.200s: input %.100s of %s, rank %u: floats of 16 to 64 bits, int32, int64, uint8 or "
            "bool of a known rank up to %d are read",
            im->file->path, port->name, onnx_type_name(port->type), port->rank, ONNX_MAX_RANK);
    ebb_status status = onnx_port_shape(im, port, &shape);
    if (status != EBB_OK) return status;
    (void)snprintf(type, sizeof type, "%s%s", dtype, onnx_shape_text(im, &shape, text));
    const uint32_t id = onnx_declare(im, "input", port->name, type, 0);
    if (im->why[0])
        return ebb_fail(im->env, EBB_BAD_INPUT, "%.200s: input %.100s: %s", im->file->path, port->name,
                        im->why);
    if (id == EBB_BUILD_NONE) return im->status;
    return add(im, (onnx_value){.name = port->name, .kind = ONNX_GRAPH, .id = id}) ? EBB_OK : im->status;
}

static ebb_status add_inputs(onnx_import *im) {
    for (uint32_t i = 0; i < im->file->graph.n_inputs; i++) {
        const onnx_port *port = &im->file->graph.inputs[i];
        if (onnx_names_find(&im->by_name, port->name) != EBB_NONE)
            continue; /* opsets below 9 list initializers, too */
        const ebb_status status = add_input(im, port);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

/* ---- nodes ---- */

static const onnx_rule *find_in(const onnx_rule *rule, const char *op) {
    while (rule->op && strcmp(rule->op, op) != 0) rule++;
    return rule->op ? rule : NULL;
}

static const onnx_rule *find_rule(const onnx_node *node) {
    static const onnx_rule *const tables[] = {
        onnx_rules_pointwise, onnx_rules_products,   onnx_rules_norms,  onnx_rules_shapes,
        onnx_rules_windows,   onnx_rules_reductions, onnx_rules_places, onnx_rules_resize,
        onnx_rules_attention, onnx_rules_choices,    onnx_rules_slices, onnx_rules_activations,
        onnx_rules_einsum,    onnx_rules_gathers,    onnx_rules_tuples, onnx_rules_draws,
        onnx_rules_cells,     onnx_rules_scatters};
    const onnx_rule *rule = NULL;
    if (strcmp(node->domain, "ai.onnx.ml") == 0) return find_in(onnx_rules_learners, node->op);
    if (node->domain[0] && strcmp(node->domain, "ai.onnx") != 0) return NULL;
    for (size_t t = 0; t < EBB_COUNT(tables) && !rule; t++) rule = find_in(tables[t], node->op);
    return rule;
}

static void make_node(onnx_import *im) {
    const onnx_node *node = im->node;
    const onnx_rule *rule = find_rule(node);
    const bool own = node->domain[0] == '\0' || strcmp(node->domain, "ai.onnx") == 0;
    bool graphs = false;
    im->why[0] = '\0';
    for (uint32_t i = 0; i < node->n_attributes; i++) graphs |= node->attributes[i].has_graph;
    if (!own && !rule)
        onnx_refuse(im, "no op of domain %.60s is read", node->domain);
    else if (own && onnx_graphs_take(im))
        return;
    else if (own && !rule && onnx_why_not(node->op))
        onnx_refuse(im, "%s", onnx_why_not(node->op));
    else if (graphs)
        onnx_refuse(im, "it has a graph of its own: only straight graphs are read");
    else if (node->n_out == 0)
        onnx_refuse(im, "it has no result");
    else if (onnx_head_left_out(im))
        onnx_give(im, 0, onnx_in(im, 0));
    else if ((!own || !onnx_fold(im)) && !onnx_stopped(im)) {
        if (!rule)
            onnx_refuse(im, "no op of Ebb does this");
        else
            rule->make(im);
    }
}

/* What a lost operand made unknown is not refused once more. */
static bool operands_there(onnx_import *im) {
    for (uint32_t i = 0; i < im->node->n_read; i++) {
        if (im->node->in[i][0] == '\0') continue;
        const uint32_t at = onnx_names_find(&im->by_name, im->node->in[i]);
        if (at == EBB_NONE && onnx_measures(im, i)) continue;
        if (at == EBB_NONE)
            onnx_refuse(im, "operand %.100s is not defined before it", im->node->in[i]);
        else if (im->values.at[at].kind == ONNX_LOST && i < im->node->n_in)
            return false; /* what a branch reads is asked for where it is taken */
    }
    return true;
}

static void lose_results(onnx_import *im) {
    for (uint32_t k = 0; k < im->node->n_out && !im->fatal; k++) {
        const char *name = im->node->out[k];
        if (name[0] == '\0' || onnx_names_find(&im->by_name, name) != EBB_NONE) continue;
        if (!add(im, (onnx_value){.name = name, .kind = ONNX_LOST, .id = EBB_BUILD_NONE})) im->fatal = true;
    }
}

void onnx_make_node(onnx_import *im, const onnx_node *node) {
    im->node = node;
    im->why[0] = '\0';
    if (operands_there(im) && !im->why[0]) make_node(im);
    if (im->why[0]) onnx_note_refused(im);
    im->why[0] = '\0';
    lose_results(im);
}

static ebb_status make_nodes(onnx_import *im) {
    bool *live;
    const ebb_status status = onnx_live_find(im, &live);
    if (status != EBB_OK) return status;
    for (uint32_t i = 0; i < im->file->graph.n_nodes && !im->fatal; i++)
        if (live[i]) onnx_make_node(im, &im->file->graph.nodes[i]);
    im->node = NULL;
    if (im->n_refused == 0) return im->fatal ? im->status : EBB_OK;
    if (im->fatal && im->status != EBB_BAD_INPUT && im->status != EBB_OK) return im->status;
    return onnx_tell_refused(im);
}

/* ---- outputs ---- */

/* An output is made by an op: one that is an input or a weight as it is, by one that changes nothing. */
static void copy_given(onnx_import *im, onnx_value *v) {
    if (!im->id_given.at[v->id]) return;
    char text[ONNX_SHAPE_TEXT];
    const onnx_shape shape = onnx_shape_of(im, v->id);
    im->node = v->maker;
    if (onnx_is_real(im, v->id))
        v->id = onnx_op(im, "stop_gradient", &v->id, 1, NULL);
    else
        v->id = onnx_op1(im, "broadcast_to", v->id, "shape=%s", onnx_shape_text(im, &shape, text));
    im->node = NULL;
}

/* Whether an output that has as many places as the file has samples no longer has N: something on the way
 * took a number of samples as it was exported. Of the file's tensors alone, as anchors, it never had N. */
static ebb_status has_lost_batch(onnx_import *im, const onnx_port *port, const onnx_shape *shape,
                                 bool *out) {
    *out = im->rebind && im->batch > 0 && port->shaped && port->rank == shape->rank && shape->rank > 0 &&
           port->dim[0] == im->batch && shape->dim[0][0] == shape->dim[1][0];
    return *out ? onnx_reads_inputs(im, port->name, out) : EBB_OK;
}

static ebb_status add_outputs(onnx_import *im) {
    const bool with_loss = !(im->options && im->options->no_loss);
    for (uint32_t i = 0; i < im->file->graph.n_outputs; i++) {
        const uint32_t at = onnx_names_find(&im->by_name, im->file->graph.outputs[i].name);
        if (at == EBB_NONE) return onnx_damaged(im->file, "an output that no node makes");
        onnx_value *v = &im->values.at[at];
        const bool computed = v->kind == ONNX_GRAPH && v->maker;
        if (!computed)
            return ebb_fail(im->env, EBB_BAD_INPUT, "%.200s: output %.100s is not computed from the inputs",
                            im->file->path, v->name);
        const uint32_t source = v->id;
        const onnx_shape shape = onnx_shape_of(im, source);
        bool lost;
        const ebb_status status = has_lost_batch(im, &im->file->graph.outputs[i], &shape, &lost);
        if (status != EBB_OK) return status;
        if (lost)
            return ebb_fail(im->env, EBB_BAD_INPUT,
                            "%.200s: output %.100s: its %lld samples would stay as many", im->file->path,
                            v->name, (long long)im->batch);
        copy_given(im, v);
        const uint32_t id = v->id;
        if (!onnx_stopped(im)) {
            for (int k = 0; k < 2; k++) ebb_build_output(im->build[k], id);
            ebb_text_add(&im->text, "output %%%s\n", im->id_name.at[id]);
            if (with_loss && i == onnx_loss_output(im)) onnx_loss_add(im, source);
        }
        if (onnx_stopped(im))
            return im->why[0] ? ebb_fail(im->env, EBB_BAD_INPUT, "%.200s: %s %.100s: %.300s",
                                         im->file->path, id == EBB_BUILD_NONE ? "output" : "its loss of",
                                         im->file->graph.outputs[i].name, im->why)
                              : im->status;
    }
    for (int k = 0; k < 2; k++) {
        const ebb_status status = ebb_build_status(im->build[k]);
        if (status != EBB_OK) return status;
    }
    return ebb_text_status(&im->text);
}

/* ---- the whole ---- */

/* The first number among the inputs' first sizes, where all of them are numbers. Tensors are known by name.
 */
static void batch_find(onnx_import *im) {
    for (uint32_t i = 0; i < im->file->graph.n_inputs; i++) {
        const onnx_port *port = &im->file->graph.inputs[i];
        if (port->rank == 0 || onnx_names_find(&im->by_name, port->name) != EBB_NONE) continue;
        if (port->dim[0] <= 0) {
            im->batch = 0;
            return;
        }
        if (im->batch == 0) im->batch = port->dim[0];
    }
}

static ebb_status begin(onnx_import *im) {
    const char *name = "model", *slash = strrchr(im->file->path, '/');
    const char *base = slash ? slash + 1 : im->file->path;
    char graph[64] = "";
    size_t n = 0;
    if (!onnx_keep_rate(im)) return EBB_NO_MEMORY;
    for (const char *c = base; *c != '\0' && *c != '.' && n + 1 < sizeof graph; c++)
        graph[n++] = (*c >= '0' && *c <= '9') || ((*c | 32) >= 'a' && (*c | 32) <= 'z') ? *c : '_';
    if (n > 0) name = graph;
    batch_find(im);
    const int64_t asked = onnx_bound(im, "N"), size = asked > 0 ? asked : im->batch > 1 ? im->batch : 32;
    ebb_text_add(&im->text, "ebb 1\ngraph %s\ndim N = %lld\n", name, (long long)size);
    for (int k = 0; k < 2; k++) {
        const ebb_status status = ebb_build_create(im->env, name, &im->build[k]);
        if (status != EBB_OK) return status;
        ebb_build_dim(im->build[k], "N", k == 0 ? ONNX_BATCH_A : ONNX_BATCH_B);
    }
    for (uint32_t i = 0; im->options && i < im->options->n_dims; i++) {
        const ebb_dim_binding *dim = &im->options->dims[i];
        bool used = false;
        for (uint32_t p = 0; p < im->file->graph.n_inputs; p++)
            for (uint32_t d = im->rebind; d < im->file->graph.inputs[p].rank; d++)
                used |= strcmp(im->file->graph.inputs[p].symbol[d], dim->name) == 0;
        if (strcmp(dim->name, "N") == 0) continue;
        if (!used) return onnx_refuse_dim(im, dim->name);
        ebb_text_add(&im->text, "dim %s = %lld\n", dim->name, (long long)dim->size);
    }
    return EBB_OK;
}

ebb_status onnx_import_run(onnx_import *im) {
    ebb_text_init(&im->text, im->env);
    im->arena = &im->file->arena;
    ebb_status status = add_tensors(im);
    if (status == EBB_OK) status = begin(im);
    if (status == EBB_OK) status = add_inputs(im);
    if (status == EBB_OK) onnx_head_find(im);
    if (status == EBB_OK) status = make_nodes(im);
    if (status == EBB_OK) status = add_outputs(im);
    return status;
}
