/* What the gradient of a call reads, found once by asking for it: its rule is played on a graph of the node
 * and of the nodes that made its operands, for rules look at those (bn_apply's at bn_stats). */
#include "eager/tape.h"

enum { MOST = 256 }; /* values of such a graph; with more nothing is known */
typedef struct small_graph {
    ebb_builder *b;
    uint32_t n;
    ebb_id of[MOST], as[MOST]; /* the tape's value, and what it is here */
} small_graph;

static ebb_id value_of(small_graph *g, ebb_id of) {
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->of[i] == of) return g->as[i];
    }
    return EBB_NONE;
}

static ebb_id value_add(small_graph *g, ebb_id of, ebb_id as) {
    if (g->n == MOST) ebb_builder_fail(g->b, EBB_INTERNAL, "too many values");
    if (g->n < MOST) g->of[g->n] = of, g->as[g->n++] = as;
    return as;
}

static ebb_id given_add(small_graph *g, const ebb_tape *tape, ebb_id of) {
    const ebb_id as = value_of(g, of);
    if (as != EBB_NONE) return as;
    const ebb_type *type = &tape->values.at[of].type;
    return value_add(g, of, ebb_builder_given(g->b, NULL, EBB_ROLE_INPUT, type, EBB_INIT_ZERO, 0));
}

static void node_add(small_graph *g, const ebb_tape *tape, const ebb_taped *node) {
    ebb_id in[EBB_MAX_OPERANDS];
    if (value_of(g, node->out) != EBB_NONE) return;
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = given_add(g, tape, tape->operands.at[node->in + i]);
    const ebb_id *out = ebb_builder_node(g->b, node->op, in, node->n_in, node->attr, NULL, EBB_FORWARD,
                                         node->op->effect == EBB_SEEDED ? EBB_DRAW_KEY(0) : 0);
    for (uint32_t i = 0; i < node->op->n_out; i++) value_add(g, node->out + i, out[i]);
}

/* Marks what the backward nodes read of the node's operands and results. */
static void saves_mark(const ebb_graph *graph, const ebb_id *in, uint32_t n_in, const ebb_id *out,
                       ebb_known_call *call) {
    for (uint32_t n = 0; n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n];
        for (uint32_t k = 0; node->phase == EBB_BACKWARD && k < node->n_in; k++) {
            for (uint32_t i = 0; i < n_in && i < EBB_MAX_OPERANDS; i++)
                call->saves_in |= (uint64_t)(in[i] == node->in[k]) << i;
            for (uint32_t i = 0; i < call->call.n_out && i < EBB_MAX_RESULTS; i++)
                call->saves_out |= (uint64_t)(out[i] == node->in[k]) << i;
        }
    }
}

/* The gradient of every real result by every operand. */
static ebb_status play_rule(ebb_env *env, small_graph *g, const ebb_id *in, uint32_t n_in,
                            const ebb_id *out, ebb_known_call *call) {
    ebb_id ys[EBB_MAX_RESULTS], dys[EBB_MAX_RESULTS], grads[EBB_MAX_OPERANDS];
    ebb_graph *graph, *whole = NULL;
    uint32_t n_y = 0;
    for (uint32_t i = 0; i < call->call.n_out; i++) {
        if (!ebb_dtype_real(call->out[i].dtype)) continue;
        ys[n_y] = out[i];
        dys[n_y++] = ebb_builder_given(g->b, NULL, EBB_ROLE_INPUT, &call->out[i], EBB_INIT_ZERO, 0);
    }
    ebb_status status = ebb_builder_seal(g->b, &graph);
    g->b = NULL;
    if (!status) status = ebb_grad_of(env, graph, ys, dys, n_y, in, n_in, grads, &whole);
    if (!status) saves_mark(whole, in, n_in, out, call);
    ebb_graph_destroy(whole);
    ebb_graph_destroy(graph);
    return status;
}

void ebb_saves_find(const ebb_tape *tape, const ebb_taped *node, ebb_known_call *call) {
    ebb_env *env = tape->eager->env;
    small_graph g = {.n = 0};
    ebb_id in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_status status = ebb_builder_create(env, "saves", &g.b);
    for (uint32_t i = 0; !status && i < node->n_in; i++) {
        const ebb_id maker = tape->values.at[tape->operands.at[node->in + i]].maker;
        if (maker != EBB_NONE) node_add(&g, tape, &tape->nodes.at[maker]);
    }
    if (!status) node_add(&g, tape, node);
    for (uint32_t i = 0; !status && i < node->n_in; i++)
        in[i] = value_of(&g, tape->operands.at[node->in + i]);
    for (uint32_t i = 0; !status && i < call->call.n_out; i++) out[i] = value_of(&g, node->out + i);
    if (!status) status = ebb_builder_status(g.b);
    if (!status) status = play_rule(env, &g, in, node->n_in, out, call);
    ebb_builder_destroy(g.b);
    /* A rule that refuses here may do so for what is not seen of the graph: then all may be read. */
    if (status) call->saves_in = call->saves_out = UINT64_MAX;
    call->saves_known = true;
}
