/* Graphs, node by node; and the public call of an op, which may be a graph. */
#include "eager/eager.h"

/* ---- graphs --------------------------------------------------------------------------------- */

static void values_drop(ebb_eager *eager, const ebb_node *node, ebb_id n, const uint32_t *last,
                        const bool *kept, ebb_datum **values) {
    for (uint32_t i = 0; i < node->n_in + node->n_out; i++) {
        const ebb_id v = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        if (last[v] > n || (kept && kept[v])) continue;
        ebb_datum_drop(eager, values[v]);
        values[v] = NULL;
    }
}

static ebb_status play_node(ebb_eager *eager, const ebb_graph *graph, const ebb_node *node,
                            ebb_datum **values, uint64_t draw) {
    ebb_datum *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) {
        in[i] = values[node->in[i]];
        if (!in[i])
            return ebb_fail(eager->env, EBB_INTERNAL, "%s reads %%%.200s, which was not kept for it",
                            node->op->name, graph->values[node->in[i]].name);
    }
    if (node->op->effect == EBB_SEEDED) draw += node->seed_key - EBB_DRAW_KEY(0);
    const ebb_status status = ebb_apply_data(eager, node->op, in, node->n_in, node->attr, draw, 0, out);
    for (uint32_t i = 0; !status && i < node->n_out; i++) values[node->out[i]] = out[i];
    return status;
}

ebb_status ebb_play(ebb_eager *eager, const ebb_graph *graph, ebb_id first, ebb_datum **values,
                    const bool *kept, uint64_t draw) {
    uint32_t *last = ebb_calloc(eager->env, graph->n_values, sizeof *last);
    if (!last) return EBB_NO_MEMORY;
    for (ebb_id n = first; n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n];
        for (uint32_t i = 0; i < node->n_in; i++) last[node->in[i]] = n;
        for (uint32_t i = 0; i < node->n_out; i++) last[node->out[i]] = n;
    }
    ebb_status status = EBB_OK;
    for (ebb_id n = first; !status && n < graph->n_nodes; n++) {
        status = play_node(eager, graph, &graph->nodes[n], values, draw);
        if (!status) values_drop(eager, &graph->nodes[n], n, last, kept, values);
    }
    ebb_cfree(eager->env, last, graph->n_values, sizeof *last);
    return status;
}

/* ---- an op of the caller's ------------------------------------------------------------------ */

typedef struct applied {
    ebb_datum *out[EBB_MAX_RESULTS];     /* held */
    ebb_datum *update[EBB_MAX_OPERANDS]; /* held: what operand i becomes, or NULL */
    bool drew;
} applied;

static ebb_status assign(ebb_eager *eager, ebb_tensor *to, ebb_datum *datum) {
    const ebb_recorder *recorder = eager->recorder;
    const ebb_status status = recorder ? recorder->assign(eager->recorder_ctx, to, datum) : EBB_OK;
    if (!status) ebb_tensor_set(to, ebb_datum_hold(datum));
    return status;
}

/* Takes from the values what the node updates among the graph's first n_in values, which are given. */
static void updates_take(const ebb_node *node, uint32_t n_in, ebb_datum *const *values, applied *to) {
    for (uint32_t u = 0; u < node->op->n_update; u++) {
        const ebb_id target = node->in[node->op->update[u].in];
        ebb_datum *datum = values[node->out[node->op->update[u].out]];
        if (target < n_in && datum) to->update[target] = ebb_datum_hold(datum);
    }
}

/* A call that is a graph: its given values are the operands, and its outputs, by name, the results. */
static ebb_status apply_graph(ebb_eager *eager, const ebb_graph *graph, ebb_datum *const *in, uint32_t n_in,
                              applied *to) {
    const uint32_t n = graph->n_values;
    ebb_datum **values = ebb_calloc(eager->env, n, sizeof *values);
    bool *kept = ebb_calloc(eager->env, n, sizeof *kept);
    ebb_status status = values && kept ? EBB_OK : EBB_NO_MEMORY;
    for (uint32_t i = 0; !status && i < n; i++) {
        if (i < n_in) values[i] = ebb_datum_hold(in[i]);
        kept[i] =
            i < n_in || graph->values[i].role == EBB_ROLE_OUTPUT || graph->values[i].role == EBB_ROLE_STATE;
    }
    if (!status) status = ebb_play(eager, graph, 0, values, kept, eager->draws);
    uint32_t n_out = 0;
    for (ebb_id v = 0; !status && v < n; v++) {
        if (graph->values[v].role == EBB_ROLE_OUTPUT) to->out[n_out++] = ebb_datum_hold(values[v]);
    }
    for (ebb_id k = 0; !status && k < graph->n_nodes; k++) {
        updates_take(&graph->nodes[k], n_in, values, to);
        to->drew |= graph->nodes[k].op->effect == EBB_SEEDED;
    }
    for (uint32_t i = 0; values && i < n; i++) ebb_datum_drop(eager, values[i]);
    ebb_cfree(eager->env, values, n, sizeof *values);
    ebb_cfree(eager->env, kept, n, sizeof *kept);
    return status;
}

static ebb_status apply_one(ebb_eager *eager, const ebb_op_info *op, ebb_datum *const *in, uint32_t n_in,
                            const ebb_attr *attr, applied *to) {
    const ebb_status status = ebb_apply_data(eager, op, in, n_in, attr, eager->draws, 1, to->out);
    for (uint32_t u = 0; !status && u < op->n_update; u++)
        to->update[op->update[u].in] = ebb_datum_hold(to->out[op->update[u].out]);
    to->drew = op->effect == EBB_SEEDED;
    return status;
}

static ebb_status apply_any(ebb_eager *eager, const ebb_op_info *op, ebb_datum *const *in, uint32_t n_in,
                            const ebb_attr *attr, applied *to) {
    if (!op->lower || !(op->composite || eager->evaluate)) return apply_one(eager, op, in, n_in, attr, to);
    const ebb_type *types[EBB_MAX_OPERANDS];
    ebb_known_call *call;
    for (uint32_t i = 0; i < n_in; i++) types[i] = &in[i]->type;
    const ebb_status status = ebb_call_know(eager, op, types, n_in, attr, &call);
    return status ? status : apply_graph(eager, call->lowered, in, n_in, to);
}

/* Handles on the results, and the updates. */
static ebb_status hand_out(ebb_eager *eager, const ebb_op_info *op, ebb_tensor *const *in, uint32_t n_in,
                           applied *from, ebb_tensor **out) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < op->n_out && !status; i++) {
        out[i] = ebb_tensor_of(eager, ebb_datum_hold(from->out[i]));
        if (!out[i]) status = EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; i < n_in && !status; i++) {
        if (from->update[i]) status = assign(eager, in[i], from->update[i]);
    }
    for (uint32_t i = 0; i < op->n_out && status; i++) {
        ebb_tensor_destroy(out[i]);
        out[i] = NULL;
    }
    if (!status && from->drew) eager->draws++;
    return status;
}

ebb_status ebb_apply(ebb_eager *eager, const ebb_op *op, ebb_tensor *const *in, uint32_t n_in,
                     const ebb_build_attribute *attributes, uint32_t n_attributes, ebb_tensor **out) {
    ebb_datum *data[EBB_MAX_OPERANDS];
    ebb_attr attr[EBB_MAX_ATTRS];
    applied made;
    if (!op)
        return ebb_fail(eager->env, EBB_USAGE,
                        "no op: ebb_op_named knows none of the name that it was asked for");
    for (uint32_t i = 0; i < op->n_out; i++) out[i] = NULL;
    if (n_in > EBB_MAX_OPERANDS || n_in < op->min_in || n_in > op->max_in)
        return ebb_fail(eager->env, EBB_BAD_INPUT, "%s takes %u to %u operands, not %u", op->name,
                        op->min_in, op->max_in, n_in);
    for (uint32_t i = 0; i < n_in; i++) {
        if (!in[i]) return ebb_fail(eager->env, EBB_USAGE, "%s: operand %u is no tensor", op->name, i);
        if (in[i]->eager != eager)
            return ebb_fail(eager->env, EBB_USAGE, "%s: operand %u is of another device's eager", op->name,
                            i);
        data[i] = in[i]->datum;
    }
    if (eager->calls.n >= EBB_MAX_CALLS) ebb_calls_forget(eager); /* here, where nobody looks at one */
    ebb_status status = ebb_attrs_fill(eager->env, op, attributes, n_attributes, attr);
    if (status) return status;
    memset(made.out, 0, sizeof made.out);
    memset(made.update, 0, n_in * sizeof *made.update);
    made.drew = false;
    eager->handles = in;
    eager->n_handles = n_in;
    status = apply_any(eager, op, data, n_in, attr, &made);
    eager->n_handles = 0;
    if (!status) status = hand_out(eager, op, in, n_in, &made, out);
    for (uint32_t i = 0; i < op->n_out; i++) ebb_datum_drop(eager, made.out[i]);
    for (uint32_t i = 0; i < n_in; i++) ebb_datum_drop(eager, made.update[i]);
    return status;
}

const ebb_op *ebb_op_named(const char *name) {
    return ebb_op_find(name, strlen(name));
}

uint32_t ebb_op_n_results(const ebb_op *op) {
    return op->n_out;
}

bool ebb_op_moves(const ebb_op *op) {
    return op->moves;
}
