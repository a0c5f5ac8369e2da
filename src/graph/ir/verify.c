/* Verify: takes a sealed graph; finds again, from nothing, everything that must hold of it; gives a status.
 * It shares the ops' facts with the builder and no other code. Cost: O(values + operands). */
#include "graph/ir/ir.h"

typedef struct verifier {
    ebb_env *env;
    const ebb_graph *graph;
    ebb_names names;
    ebb_id *root;    /* [n_values] whose bytes a value is */
    ebb_id *updater; /* [n_values] node that has updated it, or EBB_NONE; of roots */
} verifier;

/* "node 12 (conv2d %c1): " before the fault. */
#define FAULT(c, n, ...) fault((c), (n), ebb_fail((c)->env, EBB_INTERNAL, __VA_ARGS__))

static ebb_status fault(const verifier *c, ebb_id n, ebb_status status) {
    char text[512];
    size_t used = 0;
    for (const char *p = ebb_env_error(c->env); *p && used + 1 < sizeof text; p++) text[used++] = *p;
    text[used] = 0;
    const ebb_node *node = &c->graph->nodes[n];
    ebb_id out = node->n_out ? node->out[0] : EBB_NONE;
    return ebb_fail(c->env, status, "graph %s is broken at node %u (%s %%%.200s): %s", c->graph->name, n,
                    node->op->name, out < c->graph->n_values ? c->graph->values[out].name : "", text);
}

/* ---- values -------------------------------------------------------------------------------------- */

static ebb_status value_fault(const verifier *c, ebb_id id, const char *what) {
    const char *name = c->graph->values[id].name;
    return ebb_fail(c->env, EBB_INTERNAL, "graph %s is broken at value %u (%%%.200s): %s", c->graph->name,
                    id, name ? name : "", what);
}

static bool role_given(ebb_role role) {
    return role <= EBB_ROLE_STATE;
}

static ebb_status value_verify(verifier *c, ebb_id id) {
    const ebb_value *v = &c->graph->values[id];
    if (!v->name || !ebb_name_valid(v->name)) return value_fault(c, id, "its name is not one");
    if (ebb_names_find(&c->names, v->name, strlen(v->name)) != EBB_NONE) {
        return value_fault(c, id, "its name is taken by an earlier value");
    }
    ebb_status status = ebb_names_add(c->env, &c->names, v->name, id);
    if (status) return status;
    if (!ebb_type_valid(&v->type)) return value_fault(c, id, "its type is not valid");
    if (!ebb_role_name(v->role)) return value_fault(c, id, "its role is not one");
    c->root[id] = id;
    c->updater[id] = EBB_NONE;
    if (v->producer == EBB_NONE)
        return role_given(v->role) ? EBB_OK : value_fault(c, id, "nothing makes it");
    if (v->producer >= c->graph->n_nodes) return value_fault(c, id, "its producer is no node");
    const ebb_node *node = &c->graph->nodes[v->producer];
    if (v->result >= node->n_out || node->out[v->result] != id) {
        return value_fault(c, id, "its producer does not list it");
    }
    return EBB_OK;
}

/* ---- nodes --------------------------------------------------------------------------------------- */

static ebb_status operands_verify(const verifier *c, ebb_id n) {
    const ebb_node *node = &c->graph->nodes[n];
    if (node->n_in < node->op->min_in || node->n_in > node->op->max_in || node->n_in > EBB_MAX_OPERANDS ||
        node->n_out > node->op->n_out || node->n_out > EBB_MAX_RESULTS) {
        return FAULT(c, n, "it has %u operands and %u results", node->n_in, node->n_out);
    }
    if (!ebb_phase_name(node->phase)) return FAULT(c, n, "phase %d is not one", (int)node->phase);
    if (node->seed_key && node->op->effect != EBB_SEEDED)
        return FAULT(c, n, "it has a seed key and no seed");
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (node->in[i] >= c->graph->n_values) return FAULT(c, n, "operand %u is no value", i);
        const ebb_value *v = &c->graph->values[node->in[i]];
        ebb_id updater = c->updater[c->root[node->in[i]]];
        if (updater != EBB_NONE)
            return FAULT(c, n, "it reads %%%.200s after node %u's update", v->name, updater);
        if (v->producer == EBB_NONE) continue;
        if (v->producer >= n) return FAULT(c, n, "it reads %%%.200s before it is made", v->name);
        if (c->graph->nodes[v->producer].phase > node->phase) {
            return FAULT(c, n, "it reads %%%.200s of a later phase", v->name);
        }
    }
    return EBB_OK;
}

static ebb_status types_verify(const verifier *c, ebb_id n) {
    const ebb_node *node = &c->graph->nodes[n];
    for (uint32_t i = 0; i < node->op->n_attrs; i++) {
        ebb_status status = ebb_attr_check(c->env, node->op, &node->op->attrs[i], &node->attr[i]);
        if (status) return fault(c, n, EBB_INTERNAL);
    }
    if (node->n_out != ebb_op_results(node->op, node->attr))
        return FAULT(c, n, "it has %u results", node->n_out);
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS] = {{0}};
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = c->graph->values[node->in[i]].type;
    ebb_call call = {
        .op = node->op, .in = in, .out = out, .n_in = node->n_in, .n_out = node->n_out, .attr = node->attr};
    ebb_status status = node->op->infer(c->env, &call, out);
    if (status) return status == EBB_NO_MEMORY ? status : fault(c, n, EBB_INTERNAL);
    for (uint32_t i = 0; i < node->n_out; i++) {
        const ebb_type *type = &c->graph->values[node->out[i]].type;
        char is[EBB_TYPE_TEXT], rule[EBB_TYPE_TEXT];
        if (ebb_type_equal(type, &out[i])) continue;
        return FAULT(c, n, "result %u is %s, by its rule %s", i, ebb_type_text(type, is),
                     ebb_type_text(&out[i], rule));
    }
    return EBB_OK;
}

/* The role that result i must have; an activation or gradient may be an output instead. */
static ebb_status role_verify(const verifier *c, ebb_id n, uint32_t i, ebb_id target) {
    const ebb_node *node = &c->graph->nodes[n];
    ebb_role role = c->graph->values[node->out[i]].role;
    ebb_role due = node->phase == EBB_FORWARD ? EBB_ROLE_ACTIVATION : EBB_ROLE_GRADIENT;
    if (target != EBB_NONE) {
        if (role == c->graph->values[target].role) return EBB_OK;
        return FAULT(c, n, "result %u updates a %s and is %s", i,
                     ebb_role_name(c->graph->values[target].role), ebb_role_name(role));
    }
    if (role == due || role == EBB_ROLE_OUTPUT) return EBB_OK;
    return FAULT(c, n, "result %u of the %s phase has role %s", i, ebb_phase_name(node->phase),
                 ebb_role_name(role));
}

static ebb_status results_verify(verifier *c, ebb_id n, ebb_id *expected) {
    const ebb_node *node = &c->graph->nodes[n];
    for (uint32_t i = 0; i < node->n_out; i++) {
        ebb_id id = node->out[i], target = EBB_NONE;
        if (id >= c->graph->n_values) return FAULT(c, n, "result %u is no value", i);
        const ebb_value *v = &c->graph->values[id];
        if (v->producer != n || v->result != i) return FAULT(c, n, "%%%.200s is made elsewhere", v->name);
        if (id < *expected || (i && id != *expected))
            return FAULT(c, n, "results are not in the order of nodes");
        *expected = id + 1;
        for (uint32_t u = 0; u < node->op->n_update; u++) {
            const ebb_id in = node->in[node->op->update[u].in];
            if (node->op->update[u].out == i && c->graph->values[in].producer == EBB_NONE) target = in;
        }
        ebb_status status = role_verify(c, n, i, target);
        if (status) return status;
        if (target == EBB_NONE) continue;
        const ebb_value *t = &c->graph->values[target];
        if (t->role != EBB_ROLE_PARAM && t->role != EBB_ROLE_STATE) {
            return FAULT(c, n, "it updates %%%.200s, which is not a given param or state", t->name);
        }
        c->updater[target] = n;
    }
    if (node->op->view) c->root[node->out[0]] = c->root[node->in[0]];
    return EBB_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static ebb_status ends_verify(const verifier *c) {
    const ebb_graph *graph = c->graph;
    for (ebb_id id = 0; id < graph->n_values; id++) {
        if (graph->values[id].role == EBB_ROLE_OUTPUT && c->updater[c->root[id]] != EBB_NONE) {
            return value_fault(c, id, "an output's bytes are updated");
        }
    }
    if (graph->loss == EBB_NONE) return EBB_OK;
    if (graph->loss >= graph->n_values) {
        return ebb_fail(c->env, EBB_INTERNAL, "graph %s is broken: its loss is no value", graph->name);
    }
    const ebb_value *loss = &graph->values[graph->loss];
    if (loss->type.rank == 0 && ebb_dtype_real(loss->type.dtype) && loss->producer != EBB_NONE)
        return EBB_OK;
    return value_fault(c, graph->loss, "the loss is not a computed real scalar");
}

static ebb_status verify(verifier *c) {
    ebb_status status = EBB_OK;
    for (ebb_id id = 0; !status && id < c->graph->n_values; id++) status = value_verify(c, id);
    ebb_id expected = 0;
    for (ebb_id n = 0; !status && n < c->graph->n_nodes; n++) {
        status = operands_verify(c, n);
        if (!status) status = results_verify(c, n, &expected);
        if (!status) status = types_verify(c, n);
    }
    return status ? status : ends_verify(c);
}

ebb_status ebb_graph_verify(ebb_env *env, const ebb_graph *graph) {
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    verifier c = {.env = env, .graph = graph};
    c.root = EBB_NEW(&arena, ebb_id, graph->n_values);
    c.updater = EBB_NEW(&arena, ebb_id, graph->n_values);
    ebb_status status = EBB_NO_MEMORY;
    if (!ebb_name_valid(graph->name)) {
        status = ebb_fail(env, EBB_INTERNAL, "a graph's name is not one");
    } else if (c.root && c.updater) {
        status = verify(&c);
    }
    ebb_names_deinit(env, &c.names);
    ebb_arena_deinit(&arena);
    return status;
}
