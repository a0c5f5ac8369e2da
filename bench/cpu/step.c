/* step: the graph of a training step, and its calls. */
#include "step.h"

enum { MOST_BYTES = 1 << 24 };

ebb_status step_of(ebb_env *env, const char *path, const ebb_parse_options *options, bool unfused,
                   ebb_graph **out) {
    char *text;
    size_t n;
    ebb_graph *made[7] = {0};
    const ebb_sgd sgd = {.momentum = 0.9, .weight_decay = 1e-4};
    ebb_status status = ebb_file_read(env, path, MOST_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_graph_parse(env, path, text, n, options, &made[0]);
    ebb_file_free(env, text, n);
    if (status == EBB_OK) status = ebb_lower(env, made[0], EBB_TRAIN, &made[1]);
    if (status == EBB_OK && !unfused) status = ebb_fuse(env, made[1], NULL, 0, &made[2]);
    if (status == EBB_OK) status = ebb_grad(env, unfused ? made[1] : made[2], &made[3]);
    if (status == EBB_OK) status = ebb_add_sgd(env, made[3], &sgd, false, &made[4]);
    if (status == EBB_OK) status = ebb_simplify(env, made[4], &made[5]);
    if (status == EBB_OK && !unfused) status = ebb_keep_bits(env, made[5], &made[6]);
    *out = unfused ? made[5] : made[6];
    for (size_t i = 0; i < EBB_COUNT(made); i++) {
        if (made[i] != *out) ebb_graph_destroy(made[i]);
    }
    return status;
}

void use_of(const ebb_graph *graph, const ebb_node *node, use *u) {
    ebb_id in[EBB_MAX_OPERANDS];
    uint32_t n_in;
    memset(u, 0, sizeof *u);
    const ebb_op_info *op = ebb_node_way(node, 0, in, &n_in);
    for (uint32_t i = 0; i < n_in; i++) u->in[i] = graph->values[in[i]].type;
    for (uint32_t i = 0; i < node->n_out; i++) u->out[i] = graph->values[node->out[i]].type;
    u->call = (ebb_call){
        .op = op, .in = u->in, .out = u->out, .n_in = n_in, .n_out = node->n_out, .attr = node->attr};
}

bool same_call(const use *a, const use *b) {
    if (a->call.op != b->call.op || a->call.n_in != b->call.n_in) return false;
    for (uint32_t i = 0; i < a->call.n_in; i++) {
        if (!ebb_type_equal(&a->in[i], &b->in[i])) return false;
    }
    for (uint32_t i = 0; i < a->call.n_out; i++) {
        if (!ebb_type_equal(&a->out[i], &b->out[i])) return false;
    }
    return memcmp(a->call.attr, b->call.attr, a->call.op->n_attrs * sizeof *a->call.attr) == 0;
}
