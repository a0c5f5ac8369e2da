/* Late: finds the nodes of a backward that had better stand behind it, for passes that read every gradient
 * at its end. Until then either a gradient waits or what it is made of: where the operands take fewer bytes
 * (a convolution of many channels on a small picture, a cast to f32), they wait. Changes no graph. Cost:
 * O(graph).
 *
 *     right away    x, dy -> dw . . . . . . . . . . . dw is read        dw waits
 *     late          x, dy . . . . . . . . . . . . x, dy -> dw is read   x and dy wait, if they are smaller
 */
#include "graph/passes/passes.h"

typedef struct late_search {
    ebb_rewriter *rw;
    const bool *held;
    ebb_id *root;      /* [old values] the value whose bytes they are */
    bool *waits;       /* [old values] nothing reads it before the backward's end but what is late */
    uint32_t *n_reads; /* [old values] by nodes that are neither held nor late */
    bool *updated;     /* [old values] given ones that a node updates */
    bool *is_there;    /* [old values] at the end of the backward, whoever reads it there */
} late_search;

static void facts_find(late_search *s) {
    const ebb_graph *old = s->rw->old;
    for (ebb_id v = 0; v < old->n_values; v++) {
        s->root[v] = v;
        s->is_there[v] = ebb_role_persistent(old->values[v].role);
    }
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        if (node->op->view) s->root[node->out[0]] = s->root[node->in[0]];
        for (uint32_t i = 0; i < node->n_in && !s->held[n]; i++) s->n_reads[node->in[i]]++;
        for (uint32_t i = 0; i < node->op->n_update; i++)
            if (node->op->update[i].in < node->n_in)
                s->updated[s->root[node->in[node->op->update[i].in]]] = true;
    }
}

/* Nothing but what waits, of operands that nobody changes. */
static bool may_wait(const late_search *s, const ebb_node *node) {
    if (node->phase != EBB_BACKWARD || node->op->effect != EBB_PURE || node->op->view) return false;
    for (uint32_t i = 0; i < node->n_out; i++)
        if (!s->waits[node->out[i]] || s->n_reads[node->out[i]] > 0) return false;
    for (uint32_t i = 0; i < node->n_in; i++)
        if (s->updated[s->root[node->in[i]]]) return false;
    return true;
}

static int64_t bytes_of(const late_search *s, ebb_id value) {
    return ebb_type_bytes(&s->rw->old->values[value].type);
}

/* Of what a node reads: bytes that would wait for it. */
static int64_t waiting_bytes(const late_search *s, const ebb_node *node) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        const ebb_id root = s->root[node->in[i]];
        bool counted = s->is_there[root];
        for (uint32_t k = 0; k < i; k++) counted = counted || s->root[node->in[k]] == root;
        if (!counted) bytes += bytes_of(s, root);
    }
    return bytes;
}

/* Its operands are there at the end. What it alone is made of, as a cast is, waits like a gradient. */
static void wait_for(late_search *s, const ebb_node *node) {
    for (uint32_t i = 0; i < node->n_in; i++) {
        s->is_there[s->root[node->in[i]]] = true;
        s->n_reads[node->in[i]]--;
    }
    if (node->n_in == 1) s->waits[node->in[0]] = true;
}

bool *ebb_rw_late(ebb_rewriter *rw, const bool *waits, const bool *held) {
    const ebb_graph *old = rw->old;
    late_search s = {.rw = rw,
                     .held = held,
                     .root = ebb_rw_scratch(rw, old->n_values, sizeof *s.root),
                     .waits = ebb_rw_scratch(rw, old->n_values, sizeof *s.waits),
                     .n_reads = ebb_rw_scratch(rw, old->n_values, sizeof *s.n_reads),
                     .updated = ebb_rw_scratch(rw, old->n_values, sizeof *s.updated),
                     .is_there = ebb_rw_scratch(rw, old->n_values, sizeof *s.is_there)};
    bool *late = ebb_rw_scratch(rw, old->n_nodes, sizeof *late);
    if (ebb_rw_failed(rw)) return NULL;
    memcpy(s.waits, waits, old->n_values * sizeof *waits);
    facts_find(&s);
    for (ebb_id n = old->n_nodes; n-- > 0;) {
        const ebb_node *node = &old->nodes[n];
        int64_t made = 0;
        if (held[n] || !may_wait(&s, node)) continue;
        for (uint32_t i = 0; i < node->n_out; i++) made += bytes_of(&s, node->out[i]);
        late[n] = waiting_bytes(&s, node) < made;
        if (late[n]) wait_for(&s, node);
    }
    return late;
}
