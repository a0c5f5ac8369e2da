/* What types do not show of a gradient: the attributes that its ops carry. */
#include "ops.h"

static ebb_env *env;
static void setup(void) {
    env = graph_env();
}
static void teardown(void) {
    graph_env_end(env);
}
TestSuite(ops_carried, .init = setup, .fini = teardown);

#define BATCH_NORM                                                                                      \
    "%x = param f32[2,3]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n%v = state f32[3]\n" \
    "%y = batch_norm %x, %g, %b, %m, %v eps=0.25"

/* What types do not show: attributes of the nth node of an op. */
static const struct {
    const char *body;
    ebb_mode mode;
    const ebb_op_info *op;
    uint32_t nth, attr;
    int64_t i[2];
    double f; /* where it is not 0, the real */
} carried[] = {
    {"%x = input f32[2,6,9,9]\n%w = param f32[4,3,3,3]\n"
     "%y = conv2d %x, %w stride=[2,3] pad=[1,2] dilation=[3,1] groups=2",
     EBB_TRAIN,
     &ebb_op_conv2d_wgrad,
     0,
     EBB_CONV_STRIDE,
     {2, 3},
     0},
    {"%x = input f32[2,6,9,9]\n%w = param f32[4,3,3,3]\n"
     "%y = conv2d %x, %w stride=[2,3] pad=[1,2] dilation=[3,1] groups=2",
     EBB_TRAIN,
     &ebb_op_conv2d_wgrad,
     0,
     EBB_CONV_PAD,
     {1, 2},
     0},
    {"%x = param f32[2,6,9,9]\n%w = input f32[4,3,3,3]\n"
     "%y = conv2d %x, %w stride=[2,3] pad=[1,2] dilation=[3,1] groups=2",
     EBB_TRAIN,
     &ebb_op_conv2d_dgrad,
     0,
     EBB_CONV_DILATION,
     {3, 1},
     0},
    {"%x = param f32[2,6,9,9]\n%w = input f32[4,3,3,3]\n"
     "%y = conv2d %x, %w stride=[2,3] pad=[1,2] dilation=[3,1] groups=2",
     EBB_TRAIN,
     &ebb_op_conv2d_dgrad,
     0,
     EBB_CONV_GROUPS,
     {2, 0},
     0},
    {"%x = param f32[2,4,3,3]\n%w = param f32[4,3,2,3]\n"
     "%y = conv2d_transpose %x, %w stride=[2,3] pad=[1,0] groups=2 out_pad=[1,2]",
     EBB_TRAIN,
     &ebb_op_conv2d_dgrad,
     0,
     EBB_CONV_SIZE,
     {5, 11},
     0},
    {"%x = param f32[2,4,3,3]\n%w = param f32[4,3,2,3]\n"
     "%y = conv2d_transpose %x, %w stride=[2,3] pad=[1,0] groups=2 out_pad=[1,2]",
     EBB_TRAIN,
     &ebb_op_conv2d,
     0,
     EBB_CONV_STRIDE,
     {2, 3},
     0},
    {"%x = param f32[2,4,3,3]\n%w = param f32[4,3,2,3]\n"
     "%y = conv2d_transpose %x, %w stride=[2,3] pad=[1,0] groups=2 out_pad=[1,2]",
     EBB_TRAIN,
     &ebb_op_conv2d_wgrad,
     0,
     EBB_CONV_SIZE,
     {2, 3},
     0},
    {"%x = param f32[2,3,7,9]\n%y = avg_pool %x kernel=[3,2] stride=[1,3] pad=[2,0] count_pad=false",
     EBB_TRAIN,
     &ebb_op_avg_pool_grad,
     0,
     EBB_POOL_COUNT_PAD,
     {0, 0},
     0},
    {"%x = param f32[2,3,7,9]\n%y = avg_pool %x kernel=[3,2] stride=[1,3] pad=[2,0] count_pad=false",
     EBB_TRAIN,
     &ebb_op_avg_pool_grad,
     0,
     EBB_POOL_STRIDE,
     {1, 3},
     0},
    {"%x = param f32[2,3,7,9]\n%y = max_pool %x kernel=[3,2] stride=[1,3] pad=[2,0]",
     EBB_TRAIN,
     &ebb_op_max_pool_at_grad,
     0,
     EBB_POOL_AT_SIZE,
     {7, 9},
     0},
    {"%x = param f32[2,3]\n%y = rescale %x times=-2.5 plus=3",
     EBB_TRAIN,
     &ebb_op_rescale,
     1,
     EBB_RESCALE_TIMES,
     {0, 0},
     -2.5},
    {"%x = param f32[2,3,5,7]\n%y = upsample %x factor=[2,3]",
     EBB_TRAIN,
     &ebb_op_upsample_grad,
     0,
     EBB_UPSAMPLE_FACTOR,
     {2, 3},
     0},
    {"%q = param f32[2,5,12]\n%y, %l = attention %q heads=2 causal=true",
     EBB_TRAIN,
     &ebb_op_attention_grad,
     0,
     EBB_ATTENTION_HEADS,
     {2, 0},
     0},
    {"%q = param f32[2,5,12]\n%y, %l = attention %q heads=2 causal=true",
     EBB_TRAIN,
     &ebb_op_attention_grad,
     0,
     EBB_ATTENTION_CAUSAL,
     {1, 0},
     0},
    {"%x = param f32[2,3]\n%g = param f32[3]\n%y = layer_norm %x, %g, %g eps=0.25",
     EBB_TRAIN,
     &ebb_op_ln_apply,
     0,
     EBB_LN_EPS,
     {0, 0},
     0.25},
    {"%x = param f32[2,3]\n%g = param f32[3]\n%y = layer_norm %x, %g, %g eps=0.25",
     EBB_TRAIN,
     &ebb_op_ln_grad_sums,
     0,
     EBB_LN_EPS,
     {0, 0},
     0.25},
    {"%x = param f32[2,3]\n%g = param f32[3]\n%y = layer_norm %x, %g, %g eps=0.25",
     EBB_TRAIN,
     &ebb_op_ln_grad,
     0,
     EBB_LN_EPS,
     {0, 0},
     0.25},
    {"%x = param f32[2,3]\n%y = clip %x min=-2.5 max=6",
     EBB_TRAIN,
     &ebb_op_clip_grad,
     0,
     EBB_CLIP_MIN,
     {0, 0},
     -2.5},
    {"%x = param f32[2,3]\n%y = clip %x min=-2.5 max=6",
     EBB_TRAIN,
     &ebb_op_clip_grad,
     0,
     EBB_CLIP_MAX,
     {0, 0},
     6},
    {"%a = param f32[2,3]\n%b = input f32[2,1]\n%c = param f32[2,7]\n%y = concat %a, %b, %c",
     EBB_TRAIN,
     &ebb_op_slice,
     1,
     EBB_SLICE_BEGIN,
     {4, 0},
     0},
    {"%a = param f32[2,3]\n%b = input f32[2,1]\n%c = param f32[2,7]\n%y = concat %a, %b, %c",
     EBB_TRAIN,
     &ebb_op_slice,
     0,
     EBB_SLICE_BEGIN,
     {0, 0},
     0},
    {"%x = param f32[2,7]\n%y = slice %x begin=2 size=3",
     EBB_TRAIN,
     &ebb_op_slice_grad,
     0,
     EBB_SLICE_GRAD_BEGIN,
     {2, 0},
     0},
    {BATCH_NORM, EBB_TRAIN, &ebb_op_bn_grad_sums, 0, EBB_BN_EPS, {0, 0}, 0.25},
    {BATCH_NORM, EBB_TRAIN, &ebb_op_bn_grad, 0, EBB_BN_EPS, {0, 0}, 0.25},
    {BATCH_NORM, EBB_TRAIN, &ebb_op_bn_apply, 0, EBB_BN_BATCH, {1, 0}, 0},
    {BATCH_NORM, EBB_EVAL, &ebb_op_bn_apply, 0, EBB_BN_BATCH, {0, 0}, 0},
    {BATCH_NORM, EBB_EVAL, &ebb_op_bn_apply, 1, EBB_BN_EPS, {0, 0}, 0.25},
};

Test(ops_carried, gradients_carry_the_attributes) {
    for (size_t i = 0; i < EBB_COUNT(carried); i++) {
        ebb_graph *low, *grad;
        cr_assert_eq(rule_lower(env, carried[i].body, carried[i].mode, &low), EBB_OK, "%s",
                     ebb_env_error(env));
        cr_assert_eq(ebb_grad(env, low, &grad), EBB_OK, "%s", ebb_env_error(env));
        const ebb_node *node = rule_node(grad, carried[i].op, carried[i].nth);
        cr_assert_not_null(node, "%s", carried[i].op->name);
        const ebb_attr *attr = &node->attr[carried[i].attr];
        const char *name = carried[i].op->attrs[carried[i].attr].name;
        if (carried[i].f != 0) {
            cr_expect_eq(attr->f, carried[i].f, "%s %s=%g", node->op->name, name, attr->f);
        } else {
            cr_expect(attr->i[0] == carried[i].i[0] && attr->i[1] == carried[i].i[1], "%s %s=%d,%d",
                      node->op->name, name, (int)attr->i[0], (int)attr->i[1]);
        }
        ebb_graph_destroy(grad);
        ebb_graph_destroy(low);
    }
}
