/* rules_windows: pools, upsampling, norms. */
#include "onnx/export/state.h"

static void pool(onnx_out *o) {
    const bool max = onnx_out_node(o)->op == &ebb_op_max_pool;
    const ebb_attr *attr = onnx_out_node(o)->attr;
    const int64_t *pad = attr[EBB_POOL_PAD].i,
                  stride[] = {ebb_pool_stride(attr, 0), ebb_pool_stride(attr, 1)};
    const char *x = onnx_arg(o, 0);
    onnx_set_ints(o, "kernel_shape", attr[EBB_POOL_KERNEL].i, 2);
    onnx_set_ints(o, "strides", stride, 2);
    onnx_set_ints(o, "pads", (const int64_t[]){pad[0], pad[1], pad[0], pad[1]}, 4);
    if (!max) onnx_set_int(o, "count_include_pad", attr[EBB_POOL_COUNT_PAD].i[0]);
    (void)onnx_make1(o, max ? "MaxPool" : "AveragePool", NULL, x);
}

static void global_avg_pool(onnx_out *o) {
    const char *y = onnx_make1(o, "GlobalAveragePool", "mean", onnx_arg(o, 0));
    onnx_set_int(o, "axis", 1);
    (void)onnx_make1(o, "Flatten", NULL, y);
}

static void upsample(onnx_out *o) {
    const ebb_type type = {.dtype = EBB_F32, .rank = 1, .dim = {4}};
    const int64_t *factor = onnx_out_attr(o, 0, EBB_UPSAMPLE_FACTOR)->i;
    const float by[4] = {1, 1, (float)factor[0], (float)factor[1]};
    const char *in[3] = {onnx_arg(o, 0), "", onnx_known(o, &type, by, sizeof by)};
    onnx_set_text(o, "mode", "nearest");
    onnx_set_text(o, "nearest_mode", "floor");
    onnx_set_text(o, "coordinate_transformation_mode", "asymmetric");
    (void)onnx_make(o, "Resize", NULL, in, 3);
}

/* ---- norms ---- */

static void batch_norm(onnx_out *o) {
    static const uint32_t order[] = {0, 1, 2, 3, 4}, applied[] = {0, 3, 4, 1, 2};
    const ebb_node *node = onnx_out_node(o);
    const bool whole = node->op == &ebb_op_batch_norm;
    const char *in[5];
    for (uint32_t i = 0; i < 5; i++) in[i] = onnx_arg(o, whole ? order[i] : applied[i]);
    onnx_set_real(o, "epsilon", node->attr[whole ? (uint32_t)EBB_BATCH_NORM_EPS : (uint32_t)EBB_BN_EPS].f);
    if (whole) onnx_set_real(o, "momentum", 1 - node->attr[EBB_BATCH_NORM_MOMENTUM].f);
    (void)onnx_make(o, "BatchNormalization", NULL, in, 5);
}

/* These two may also stand in the two ops that they are lowered to, as in traces. */
enum { X, MEAN, VARIANCE, GAMMA };

static bool is_stats(const ebb_node *node) {
    return node->op == &ebb_op_ln_stats || node->op == &ebb_op_gn_stats;
}

static bool is_apply(const ebb_node *node) {
    return node->op == &ebb_op_ln_apply || node->op == &ebb_op_gn_apply;
}

/* The apply has the statistics of its own x in their places. */
static bool is_whole(const ebb_node *stats, const ebb_node *apply) {
    return is_stats(stats) && is_apply(apply) &&
           (stats->op == &ebb_op_ln_stats) == (apply->op == &ebb_op_ln_apply) &&
           stats->in[0] == apply->in[X] && stats->out[0] == apply->in[MEAN] &&
           stats->out[1] == apply->in[VARIANCE];
}

/* From operand `from` on. */
static bool reads(const ebb_node *node, uint32_t from, const ebb_node *stats) {
    for (uint32_t i = from; i < node->n_in; i++)
        if (node->in[i] == stats->out[0] || node->in[i] == stats->out[1]) return true;
    return false;
}

/* Statistics are part of the norms that apply them; nothing else may read them. */
static void stats(onnx_out *o) {
    const ebb_graph *g = o->graph[0];
    const ebb_node *node = onnx_out_node(o);
    const char *norm = node->op == &ebb_op_ln_stats ? "layer_norm" : "group_norm";
    for (size_t i = 0; i < o->outputs.n; i++)
        if (o->outputs.at[i].value == node->out[0] || o->outputs.at[i].value == node->out[1])
            onnx_out_refuse(o, "%s's mean or variance is an output", norm);
    for (ebb_id i = o->id + 1; i < g->n_nodes; i++) {
        const ebb_node *reader = &g->nodes[i];
        if (o->needed[i] && reads(reader, is_whole(node, reader) ? GAMMA : X, node))
            onnx_out_refuse(o, "%s's mean or variance is also read by %.80s (%s)", norm,
                            g->values[reader->out[0]].name, reader->op->name);
    }
    for (uint32_t k = 0; k < 2; k++)
        if (!onnx_out_stopped(o)) o->name[node->out[k]] = ""; /* no apply asks for it */
}

/* The names of x, gamma and beta. */
static void norm_args(onnx_out *o, const char *in[3]) {
    const ebb_node *node = onnx_out_node(o);
    const bool apply = is_apply(node);
    const ebb_id maker = apply ? o->graph[0]->values[node->in[MEAN]].producer : EBB_NONE;
    if (apply && (maker == EBB_NONE || !is_whole(&o->graph[0]->nodes[maker], node)))
        onnx_out_refuse(o, "its mean and variance are not those of its x");
    in[0] = onnx_arg(o, X);
    for (uint32_t i = 1; i < 3; i++) in[i] = onnx_arg(o, apply ? GAMMA + i - 1 : i);
}

static void layer_norm(onnx_out *o) {
    const char *in[3];
    norm_args(o, in);
    onnx_set_int(o, "axis", -1);
    onnx_set_real(o, "epsilon", onnx_out_attr(o, 0, EBB_LN_EPS)->f);
    (void)onnx_make(o, "LayerNormalization", NULL, in, 3);
}

/* Rows have no places: in ONNX one. */
static void group_norm(onnx_out *o) {
    const bool rows = onnx_out_type(o, 0, onnx_out_node(o)->in[0])->rank == 2;
    const char *in[3];
    norm_args(o, in);
    const char *axis = rows ? onnx_known_ints(o, (const int64_t[]){2}, 1) : "";
    if (rows) in[0] = onnx_make2(o, "Unsqueeze", "rows", in[0], axis);
    onnx_set_int(o, "num_groups", onnx_out_attr(o, 0, EBB_GN_GROUPS)->i[0]);
    onnx_set_real(o, "epsilon", onnx_out_attr(o, 0, EBB_GN_EPS)->f);
    const char *y = onnx_make(o, "GroupNormalization", rows ? "rows" : NULL, in, 3);
    if (rows) (void)onnx_make2(o, "Squeeze", NULL, y, axis);
}

onnx_out_rule *onnx_rule_windows(ebb_opcode op) {
    static onnx_out_rule *const rules[EBB_N_OPS] = {
        [EBB_OP_max_pool] = pool,
        [EBB_OP_avg_pool] = pool,
        [EBB_OP_global_avg_pool] = global_avg_pool,
        [EBB_OP_upsample] = upsample,
        [EBB_OP_batch_norm] = batch_norm,
        [EBB_OP_bn_apply] = batch_norm,
        [EBB_OP_layer_norm] = layer_norm,
        [EBB_OP_group_norm] = group_norm,
        [EBB_OP_ln_stats] = stats,
        [EBB_OP_ln_apply] = layer_norm,
        [EBB_OP_gn_stats] = stats,
        [EBB_OP_gn_apply] = group_norm,
    };
    return rules[op];
}
