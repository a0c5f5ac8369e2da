/* Recast: takes a graph with gradients whose params were cast to 16 bits in forward; gives one whose
 * backward casts them for itself, right before it first reads them. Requires nothing. Cost: O(graph).
 *
 * The param lies there all the time, so that its cast need not live from one end of a step to the other: of
 * a network with small activations these were most of what was kept. What a node of the model updates
 * (`assign`) has another value by then: its cast stays.
 *
 * What makes a gradient right before such a cast is read stands behind the reader, if its operands and what
 * the reader makes are less than half of the gradient: gradient and cast, each of the param's size, then
 * never lie there together. By bytes alone, as in late.c.
 *
 *     %w.grad = linear_wgrad %x, %dy               %w.cast_1 = cast %w
 *     %w.cast_1 = cast %w                  ->      %dx = linear_dgrad %dy, %w.cast_1
 *     %dx = linear_dgrad %dy, %w.cast_1            %w.grad = linear_wgrad %x, %dy
 */
#include "graph/passes/passes.h"

/* Is it such a cast? */
static bool is_cast_param(const ebb_graph *graph, ebb_id id) {
    const ebb_value *v = &graph->values[id];
    if (v->producer == EBB_NONE || !ebb_dtype_low(v->type.dtype)) return false;
    const ebb_node *node = &graph->nodes[v->producer];
    if (node->op != &ebb_op_cast || node->phase != EBB_FORWARD) return false;
    const ebb_value *from = &graph->values[node->in[0]];
    return from->producer == EBB_NONE && ebb_role_persistent(from->role);
}

/* For each given value: does a node update it? NULL on a latched error. */
static bool *find_updated(ebb_rewriter *rw) {
    const ebb_graph *graph = rw->old;
    bool *updated = ebb_rw_scratch(rw, graph->n_values, sizeof *updated);
    for (uint32_t n = 0; updated && n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n];
        for (uint32_t i = 0; i < node->op->n_update; i++)
            if (node->op->update[i].in < node->n_in) updated[node->in[node->op->update[i].in]] = true;
    }
    return updated;
}

typedef struct recast {
    ebb_id *again;       /* [old values] the cast of backward, or EBB_NONE */
    const bool *updated; /* [old values] */
    bool *waits;         /* [old nodes] it stands behind the next one */
} recast;

static bool reads(const ebb_node *node, ebb_id value) {
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] == value) return true;
    return false;
}

static int64_t bytes_of(const ebb_graph *graph, ebb_id value) {
    return ebb_type_bytes(&graph->values[value].type);
}

/* Would its backward's cast be read by this node alone? */
static bool reads_a_cast(const ebb_graph *graph, const recast *r, const uint32_t *n_reads,
                         const ebb_node *node) {
    for (uint32_t i = 0; i < node->n_in; i++) {
        const ebb_id id = node->in[i];
        if (is_cast_param(graph, id) && n_reads[id] == 1 &&
            !r->updated[graph->nodes[graph->values[id].producer].in[0]])
            return true;
    }
    return false;
}

/* May they change places, and does that take fewer bytes? By half of the gradient, since its
 * node's scratch, beside which lies what the reader makes, may be larger than the reader's own. */
static bool goes_behind(const ebb_graph *graph, const ebb_node *node, const ebb_node *reader) {
    int64_t made = 0, held = 0;
    if (node->op->effect != EBB_PURE || node->op->view || reader->op->effect != EBB_PURE) return false;
    for (uint32_t i = 0; i < node->n_out; i++) {
        if (reads(reader, node->out[i])) return false;
        made += bytes_of(graph, node->out[i]);
    }
    for (uint32_t i = 0; i < node->n_in; i++)
        if (!reads(reader, node->in[i])) held += bytes_of(graph, node->in[i]);
    for (uint32_t i = 0; i < reader->n_out; i++) held += bytes_of(graph, reader->out[i]);
    return held < made - held;
}

static void waits_find(ebb_rewriter *rw, recast *r) {
    const ebb_graph *graph = rw->old;
    uint32_t *n_reads = ebb_rw_scratch(rw, graph->n_values, sizeof *n_reads); /* of backward */
    r->waits = ebb_rw_scratch(rw, graph->n_nodes, sizeof *r->waits);
    if (ebb_rw_failed(rw)) return;
    for (ebb_id n = 0; n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n];
        for (uint32_t i = 0; i < node->n_in && node->phase == EBB_BACKWARD; i++) n_reads[node->in[i]]++;
    }
    for (ebb_id n = 1; n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n - 1], *reader = &graph->nodes[n];
        r->waits[n - 1] = node->phase == EBB_BACKWARD && reader->phase == EBB_BACKWARD &&
                          (n < 2 || !r->waits[n - 2]) && reads_a_cast(graph, r, n_reads, reader) &&
                          goes_behind(graph, node, reader);
    }
}

static void copy(ebb_rewriter *rw, const ebb_node *node, const recast *r) {
    ebb_id *again = r->again;
    ebb_id forward[EBB_MAX_OPERANDS];
    const bool backward = node->phase == EBB_BACKWARD;
    for (uint32_t i = 0; i < node->n_in; i++) {
        const ebb_id id = node->in[i];
        forward[i] = rw->map[id];
        if (!backward || !is_cast_param(rw->old, id)) continue;
        const ebb_node *cast = &rw->old->nodes[rw->old->values[id].producer];
        if (r->updated[cast->in[0]]) continue;
        if (again[id] == EBB_NONE) {
            again[id] = ebb_builder_node(rw->builder, cast->op, &rw->map[cast->in[0]], 1, cast->attr, NULL,
                                         EBB_BACKWARD, 0)[0];
            ebb_builder_stem(rw->builder, again[id], rw->old->values[cast->in[0]].name);
        }
        rw->map[id] = again[id];
    }
    ebb_rw_copy_node(rw, node);
    for (uint32_t i = 0; i < node->n_in; i++) rw->map[node->in[i]] = forward[i];
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    const recast *r = ctx;
    const ebb_id n = (ebb_id)(node - rw->old->nodes);
    if (!r->waits[n]) copy(rw, node, r);
    if (n > 0 && r->waits[n - 1]) copy(rw, node - 1, r);
}

ebb_status ebb_recast_params(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        ebb_id *again = ebb_rw_scratch(&rw, graph->n_values, sizeof *again);
        for (uint32_t v = 0; again && v < graph->n_values; v++) again[v] = EBB_NONE;
        recast r = {again, find_updated(&rw), NULL};
        if (!ebb_rw_failed(&rw)) waits_find(&rw, &r);
        ebb_rw_each(&rw, visit, &r);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
