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

static void layer_norm(onnx_out *o) {
    const char *in[3] = {onnx_arg(o, 0), onnx_arg(o, 1), onnx_arg(o, 2)};
    onnx_set_int(o, "axis", -1);
    onnx_set_real(o, "epsilon", onnx_out_attr(o, 0, EBB_LN_EPS)->f);
    (void)onnx_make(o, "LayerNormalization", NULL, in, 3);
}

static void group_norm(onnx_out *o) {
    const char *in[3] = {onnx_arg(o, 0), onnx_arg(o, 1), onnx_arg(o, 2)};
    if (onnx_out_type(o, 0, onnx_out_node(o)->in[0])->rank != 4) onnx_out_refuse(o, "of rank 2");
    onnx_set_int(o, "num_groups", onnx_out_attr(o, 0, EBB_GN_GROUPS)->i[0]);
    onnx_set_real(o, "epsilon", onnx_out_attr(o, 0, EBB_GN_EPS)->f);
    (void)onnx_make(o, "GroupNormalization", NULL, in, 3);
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
    };
    return rules[op];
}
