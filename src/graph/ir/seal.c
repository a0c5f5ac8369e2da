/* The seal: makes the missing names, lays the draft out as one graph and verifies it. Cost: O(graph). */
#include "graph/ir/ir.h"

#include <stdio.h>

/* The beginning of a made name, in scratch, with `room` bytes behind it: "%w.next" for an update of %w,
 * else "bn1.bn_stats" with a stem and "bn_stats_12" without. NULL when memory is out. */
static char *name_begin(ebb_builder *b, ebb_id id, size_t room, size_t *n) {
    const ebb_draft_value *draft = b->values.at[id];
    const ebb_value *v = &draft->value;
    const ebb_node *node = v->producer == EBB_NONE ? NULL : &b->nodes.at[v->producer];
    const char *kind = node ? node->op->name : ebb_role_name(v->role), *stem = draft->stem;
    uint32_t target = node ? ebb_result_target(node->op, v->result) : EBB_NONE;
    if (target != EBB_NONE && b->values.at[node->in[target]]->value.producer != EBB_NONE) target = EBB_NONE;
    if (target != EBB_NONE) {
        stem = b->values.at[node->in[target]]->value.name; /* named: it has a smaller id */
        kind = "next";
    }
    size_t most = (stem ? strlen(stem) : 0) + strlen(kind) + 40;
    char *name = EBB_NEW(&b->scratch, char, most + room);
    if (!name) return NULL;
    *n = (size_t)(stem ? snprintf(name, most, "%s.%s", stem, kind)
                       : snprintf(name, most, "%s_%u", kind, id));
    if (stem && v->result && target == EBB_NONE)
        *n += (size_t)snprintf(name + *n, most - *n, ".%u", v->result);
    return name;
}

/* A number follows where that is taken. `suffix` only grows, so that all the seal's tries together are at
 * most the number of names. */
static bool name_make(ebb_builder *b, ebb_id id, uint32_t *suffix) {
    enum { ROOM = 16 };
    size_t n;
    char *name = name_begin(b, id, ROOM, &n);
    if (!name) {
        ebb_builder_fail(b, EBB_NO_MEMORY, "%s", ebb_env_error(b->env));
        return false;
    }
    while (!ebb_builder_rename(b, id, name)) {
        if (b->status) return false;
        snprintf(name + n, ROOM, "_%u", ++*suffix);
    }
    return true;
}

/* An output that is a view of updated bytes would not be intact after the step. */
static bool outputs_check(ebb_builder *b) {
    for (ebb_id id = 0; id < b->values.n; id++) {
        const ebb_draft_value *v = b->values.at[id], *root = b->values.at[v->root];
        if (v->value.role != EBB_ROLE_OUTPUT || root->updater == EBB_NONE) continue;
        ebb_builder_fail(b, EBB_BAD_INPUT, "output %%%.200s is a view of %%%.200s, which %s updates",
                         v->value.name, root->value.name, b->nodes.at[root->updater].op->name);
        return false;
    }
    return true;
}

static ebb_graph *lay_out(ebb_builder *b) {
    ebb_graph *graph = EBB_NEW(&b->arena, ebb_graph, 1);
    ebb_value *values = EBB_NEW(&b->arena, ebb_value, b->values.n);
    ebb_node *nodes = EBB_NEW(&b->arena, ebb_node, b->nodes.n);
    if (!graph || !values || !nodes) {
        ebb_builder_fail(b, EBB_NO_MEMORY, "%s", ebb_env_error(b->env));
        return NULL;
    }
    for (size_t i = 0; i < b->values.n; i++) values[i] = b->values.at[i]->value;
    if (b->nodes.n) memcpy(nodes, b->nodes.at, b->nodes.n * sizeof *nodes);
    *graph = (ebb_graph){.name = b->name,
                         .values = values,
                         .n_values = (uint32_t)b->values.n,
                         .nodes = nodes,
                         .n_nodes = (uint32_t)b->nodes.n,
                         .loss = b->loss};
    return graph;
}

ebb_status ebb_builder_seal(ebb_builder *b, ebb_graph **out) {
    *out = NULL;
    ebb_env *env = b->env;
    uint32_t suffix = 0;
    for (ebb_id id = 0; !b->status && id < b->values.n; id++) {
        if (!ebb_builder_named(b, id)) name_make(b, id, &suffix);
    }
    ebb_graph *graph = NULL;
    if (!b->status && outputs_check(b)) graph = lay_out(b);
    /* A latched text may have been followed by others in the env. */
    ebb_status status = b->status ? ebb_fail(env, b->status, "%s", b->error) : ebb_graph_verify(env, graph);
    if (!status) {
        graph->arena = b->arena;
        ebb_arena_init(&b->arena, env);
        *out = graph;
    }
    ebb_builder_destroy(b);
    return status;
}
