/* What the ops' rules emit: the backward of each differentiable op, as a list of ops in their order, and
 * what the composite ones become. Whether the numbers are right is the conformance tests' to say; that
 * types and attributes fit is checked here too, for every emitted node passes its own shape rule. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "graph/op.h"

static ebb_env *env;
static void setup(void) {
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
}
static void teardown(void) {
    ebb_env_destroy(env);
}
TestSuite(ops_rules, .init = setup, .fini = teardown);

/* A body that makes %y of 2 rows, and behind it a loss. */
static ebb_status body_lower(const char *body, ebb_mode mode, ebb_graph **out) {
    char text[2000];
    int n = snprintf(text, sizeof text,
                     "ebb 1\ngraph rules\n%s\n%%labels = input i32[2]\n%%flat = flatten %%y\n"
                     "%%loss = softmax_xent %%flat, %%labels\nloss %%loss\n",
                     body);
    cr_assert(n > 0 && (size_t)n < sizeof text);
    ebb_graph *parsed;
    ebb_parse_options options = {0};
    cr_assert_eq(ebb_graph_parse(env, "rules", text, (size_t)n, &options, &parsed), EBB_OK, "%s",
                 ebb_env_error(env));
    ebb_status status = ebb_lower(env, parsed, mode, out);
    ebb_graph_destroy(parsed);
    return status;
}

/* "conv2d_wgrad conv2d_dgrad": the graph's ops of a phase, from the given one on. */
static const char *ops_text(const ebb_graph *graph, ebb_phase phase, uint32_t from, char text[600]) {
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].phase != phase) continue;
        if (from > 0) {
            from--;
            continue;
        }
        n += (size_t)snprintf(text + n, 600 - n, "%s%s", n ? " " : "", graph->nodes[i].op->name);
        cr_assert_lt(n, 600u);
    }
    return text;
}

/* ---- gradients ------------------------------------------------------------------------------------ */

static const struct {
    const char *behaviour, *body;
    ebb_mode mode;
    const char *backward; /* after the fill and softmax_xent_grad */
} gradients[] = {
    {"conv2d: the weight's gradient comes first, so that x may die",
     "%x = param f32[2,6,7,7]\n%w = param f32[4,3,3,1]\n"
     "%c = conv2d %x, %w stride=[2,1] pad=1 dilation=[1,2] groups=2\n%y = global_avg_pool %c",
     EBB_TRAIN, "global_avg_pool_grad conv2d_wgrad conv2d_dgrad"},
    {"conv2d: an input's gradient is not computed",
     "%x = input f32[2,3,7,7]\n%w = param f32[4,3,7,7]\n%y = conv2d %x, %w", EBB_TRAIN,
     "reshape conv2d_wgrad"},
    {"conv2d: nor is that of a constant weight",
     "%x = param f32[2,3,7,7]\n%w = input f32[4,3,7,7]\n%y = conv2d %x, %w", EBB_TRAIN,
     "reshape conv2d_dgrad"},
    {"conv2d_transpose: by the image a convolution, by the weight that of one",
     "%x = param f32[2,4,3,3]\n%w = param f32[4,3,2,3]\n"
     "%c = conv2d_transpose %x, %w stride=[2,1] pad=1 dilation=[1,2] groups=2 out_pad=[1,0]\n"
     "%y = global_avg_pool %c",
     EBB_TRAIN, "global_avg_pool_grad conv2d_wgrad conv2d"},
    {"conv2d_transpose: only what is wanted",
     "%x = input f32[2,4,3,3]\n%w = param f32[4,3,2,3]\n%c = conv2d_transpose %x, %w\n%y = global_avg_pool "
     "%c",
     EBB_TRAIN, "global_avg_pool_grad conv2d_wgrad"},
    {"linear: the weight's gradient comes first",
     "%x = param f32[2,3]\n%w = param f32[7,3]\n%y = linear %x, %w", EBB_TRAIN,
     "linear_wgrad linear_dgrad"},
    {"linear: only what is wanted", "%x = input f32[2,3]\n%w = param f32[7,3]\n%y = linear %x, %w",
     EBB_TRAIN, "linear_wgrad"},
    {"bias: x's gradient is dy itself",
     "%x = param f32[2,3]\n%b = param f32[3]\n%z = bias %x, %b\n%y = relu %z", EBB_TRAIN,
     "relu_grad bias_grad reshape"},
    {"bias: of rank 4", "%x = input f32[2,3,5,7]\n%b = param f32[3]\n%y = bias %x, %b", EBB_TRAIN,
     "from_planes bias_grad"},
    {"clip: by its result", "%x = param f32[2,3]\n%y = clip %x min=0 max=6", EBB_TRAIN, "clip_grad"},
    {"add: dy goes to both",
     "%a = param f32[2,3]\n%b = param f32[2,3]\n%c = relu %a\n%d = relu %b\n%y = add %c, %d", EBB_TRAIN,
     "relu_grad relu_grad"},
    {"add: of one value to itself sums", "%a = param f32[2,3]\n%y = add %a, %a", EBB_TRAIN, "add"},
    {"mul: each by the other", "%a = param f32[2,3]\n%b = param f32[2,3]\n%y = mul %a, %b", EBB_TRAIN,
     "mul mul"},
    {"mul: only what is wanted", "%a = input f32[2,3]\n%b = param f32[2,3]\n%y = mul %a, %b", EBB_TRAIN,
     "mul"},
    {"mul: a square", "%a = param f32[2,3]\n%y = mul %a, %a", EBB_TRAIN, "mul mul add"},
    {"max_pool", "%x = param f32[2,3,7,9]\n%y = max_pool %x kernel=3 stride=2 pad=1", EBB_TRAIN,
     "from_planes max_pool_at_grad"},
    {"max_pool of large windows", "%x = param f32[2,3,19,17]\n%y = max_pool %x kernel=[19,17]", EBB_TRAIN,
     "reshape max_pool_grad"},
    {"avg_pool", "%x = param f32[2,3,7,9]\n%y = avg_pool %x kernel=[3,2] pad=[2,0] count_pad=false",
     EBB_TRAIN, "from_planes avg_pool_grad"},
    {"reshape: back to x's shape", "%x = param f32[2,3,1,5]\n%r = reshape %x shape=[2,3,5,1]\n%y = relu %r",
     EBB_TRAIN, "from_planes relu_grad reshape"},
    {"to_planes and from_planes are each other's",
     "%x = param f32[2,30]\n%p = from_planes %x size=[2,3,5]\n%y = to_planes %p", EBB_TRAIN,
     "from_planes to_planes"},
    {"concat: a slice for each wanted operand, whole ranges",
     "%a = param f32[2,3]\n%b = input f32[2,1]\n%c = param f32[2,7]\n%y = concat %a, %b, %c, %a", EBB_TRAIN,
     "slice slice slice add"},
    {"slice", "%x = param f32[2,7,1,1]\n%y = slice %x begin=2 size=3", EBB_TRAIN, "reshape slice_grad"},
    {"dropout", "%x = param f32[2,7]\n%y = dropout %x p=0.3", EBB_TRAIN, "dropout_grad"},
    {"sub: dy, and dy with the other sign", "%a = param f32[2,3]\n%b = param f32[2,3]\n%y = sub %a, %b",
     EBB_TRAIN, "rescale reshape"},
    {"div: by its result", "%a = param f32[2,3]\n%b = param f32[2,3]\n%y = div %a, %b", EBB_TRAIN,
     "div mul rescale"},
    {"div: only what is wanted", "%a = param f32[2,3]\n%b = input f32[2,3]\n%y = div %a, %b", EBB_TRAIN,
     "div"},
    {"rescale and exp", "%a = param f32[2,3]\n%b = rescale %a times=3 plus=1\n%y = exp %b", EBB_TRAIN,
     "mul rescale"},
    {"stop_gradient: what is behind it gets none",
     "%a = param f32[2,3]\n%b = relu %a\n%s = stop_gradient %b\n%y = mul %s, %a", EBB_TRAIN, "mul mul"},
    {"softmax", "%x = param f32[2,3]\n%y = softmax %x", EBB_TRAIN, "softmax_grad"},
    {"matmul", "%a = param f32[2,3,5]\n%b = param f32[2,5,7]\n%y = matmul %a, %b", EBB_TRAIN,
     "reshape matmul matmul"},
    {"reduce_sum without its axis gets it back by a view",
     "%x = param f32[2,3,5]\n%y = reduce_sum %x axis=2 keep=false", EBB_TRAIN, "reshape expand"},
    {"reduce_sum and expand are each other's",
     "%x = param f32[2,3]\n%s = reduce_sum %x axis=1\n%y = expand %s axis=1 size=7", EBB_TRAIN,
     "reduce_sum expand"},
    {"upsample", "%x = param f32[2,3,5,7]\n%y = upsample %x factor=2", EBB_TRAIN,
     "from_planes upsample_grad"},
    {"gelu: by its operand", "%x = param f32[2,7]\n%y = gelu %x", EBB_TRAIN, "gelu_grad"},
    {"layer_norm: the sums first, then x's, by which x may die",
     "%x = param f32[2,3]\n%g = param f32[3]\n%b = param f32[3]\n%y = layer_norm %x, %g, %b", EBB_TRAIN,
     "ln_grad_sums ln_grad"},
    {"layer_norm: of an input only the sums",
     "%x = input f32[2,3]\n%g = param f32[3]\n%b = input f32[3]\n%y = layer_norm %x, %g, %b", EBB_TRAIN,
     "ln_grad_sums"},
    {"layer_norm: no sums that nobody wants",
     "%x = param f32[2,3]\n%g = input f32[3]\n%b = input f32[3]\n%y = layer_norm %x, %g, %b", EBB_EVAL,
     "ln_grad"},
    {"embedding: of as many rows as the table",
     "%t = param f32[7,3]\n%i = input i32[2]\n%y = embedding %t, %i", EBB_TRAIN, "embedding_grad"},
    {"embedding: one table, read twice",
     "%t = param f32[7,3]\n%i = input i32[2]\n%e = embedding %t, %i\n%y = linear %e, %t", EBB_TRAIN,
     "linear_wgrad linear_dgrad embedding_grad add"},
    {"attention", "%q = param f32[2,5,12]\n%y, %l = attention %q heads=2 causal=true", EBB_TRAIN,
     "reshape attention_grad"},
    {"bn_apply of batch statistics: the whole derivative in one op",
     "%x = param f32[2,3]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n%v = state f32[3]\n"
     "%y = batch_norm %x, %g, %b, %m, %v",
     EBB_TRAIN, "bn_grad_sums bn_grad"},
    {"bn_apply of batch statistics: of an input only the sums",
     "%x = input f32[2,3,5,7]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n%v = state f32[3]\n"
     "%y = batch_norm %x, %g, %b, %m, %v",
     EBB_TRAIN, "from_planes bn_grad_sums"},
    {"bn_apply of batch statistics: the sums are needed for x alone too",
     "%x = param f32[2,3]\n%g = input f32[3]\n%b = input f32[3]\n%m = state f32[3]\n%v = state f32[3]\n"
     "%y = batch_norm %x, %g, %b, %m, %v",
     EBB_TRAIN, "bn_grad_sums bn_grad"},
    {"bn_apply of running statistics: they are constants",
     "%x = param f32[2,3]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n%v = state f32[3]\n"
     "%y = batch_norm %x, %g, %b, %m, %v",
     EBB_EVAL, "bn_grad_sums fill bn_apply"},
    {"bn_apply of running statistics: no sums for x alone",
     "%x = param f64[2,3]\n%g = input f64[3]\n%b = input f64[3]\n%m = state f64[3]\n%v = state f64[3]\n"
     "%y = batch_norm %x, %g, %b, %m, %v",
     EBB_EVAL, "fill bn_apply"},
};

Test(ops_rules, gradients_are_the_ops_expected_in_their_order) {
    for (size_t i = 0; i < EBB_COUNT(gradients); i++) {
        const char *behaviour = gradients[i].behaviour;
        ebb_graph *lowered, *grad;
        cr_assert_eq(body_lower(gradients[i].body, gradients[i].mode, &lowered), EBB_OK, "%s: %s",
                     behaviour, ebb_env_error(env));
        cr_assert_eq(ebb_grad(env, lowered, &grad), EBB_OK, "%s: %s", behaviour, ebb_env_error(env));
        cr_expect_eq(ebb_graph_verify(env, grad), EBB_OK, "%s: %s", behaviour, ebb_env_error(env));
        char text[600];
        cr_expect_str_eq(ops_text(grad, EBB_BACKWARD, 2, text), gradients[i].backward, "%s: %s", behaviour,
                         text);
        ebb_graph_destroy(grad);
        ebb_graph_destroy(lowered);
    }
}

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

static const ebb_node *node_find(const ebb_graph *graph, const ebb_op_info *op, uint32_t nth) {
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].op == op && nth-- == 0) return &graph->nodes[i];
    }
    return NULL;
}

Test(ops_rules, gradients_carry_the_attributes) {
    for (size_t i = 0; i < EBB_COUNT(carried); i++) {
        ebb_graph *low, *grad;
        cr_assert_eq(body_lower(carried[i].body, carried[i].mode, &low), EBB_OK, "%s", ebb_env_error(env));
        cr_assert_eq(ebb_grad(env, low, &grad), EBB_OK, "%s", ebb_env_error(env));
        const ebb_node *node = node_find(grad, carried[i].op, carried[i].nth);
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

static const struct {
    const char *behaviour, *body, *error;
} refused[] = {
    {"statistics that depend on a param are not constants",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m, %v = bn_stats %x\n%y = bn_apply %x, %m, %v, %g, %g",
     "bn_apply: mean and variance depend on a param but are taken for constants"},
    {"batch statistics depend on what x depends on",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m = input f32[3]\n%v = input f32[3]\n"
     "%y = bn_apply %x, %m, %v, %g, %g batch=true",
     "bn_apply: batch=true, but mean and variance are not bn_stats of this x"},
    {"statistics read by anything else have no gradient",
     "%x = param f32[2,3]\n%z = input f32[2,3]\n%m, %v = bn_stats %x\n%y = bias %z, %v",
     "bn_stats: its mean and variance have no gradient of their own"},
    {"statistics of rows are of this x",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m = input f32[2]\n"
     "%y = ln_apply %x, %m, %m, %g, %g",
     "ln_apply: mean and variance are not ln_stats of this x"},
    {"statistics of rows of another x that depends on a param, too",
     "%x = param f32[2,3]\n%o = param f32[2,3]\n%g = param f32[3]\n%m, %v = ln_stats %o\n"
     "%y = ln_apply %x, %m, %v, %g, %g",
     "ln_apply: mean and variance are not ln_stats of this x"},
    {"statistics of rows that are not a pair",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m, %v = ln_stats %x\n%y = ln_apply %x, %v, %m, %g, %g",
     "ln_apply: mean and variance are not ln_stats of this x"},
    {"batch statistics of another x that depends on a param, too",
     "%x = param f32[2,3]\n%o = param f32[2,3]\n%g = param f32[3]\n%m, %v = bn_stats %o\n"
     "%y = bn_apply %x, %m, %v, %g, %g batch=true",
     "bn_apply: batch=true, but mean and variance are not bn_stats of this x"},
    {"statistics of rows read by anything else have no gradient",
     "%x = param f32[3,2]\n%z = input f32[2,3]\n%m, %v = ln_stats %x\n%y = bias %z, %v",
     "ln_stats: its mean and variance have no gradient of their own"},
    {"attention's log-sum-exp is for its backward alone",
     "%q = param f32[2,5,12]\n%z, %l = attention %q heads=2\n%y = relu %l",
     "attention: its log-sum-exp is for its own backward"},
    {"gradient ops have none", "%x = param f32[2,3]\n%y = relu_grad %x, %x",
     "%y = relu_grad has no gradient"},
};

Test(ops_rules, what_has_no_gradient_is_refused) {
    for (size_t i = 0; i < EBB_COUNT(refused); i++) {
        ebb_graph *lowered, *grad;
        cr_assert_eq(body_lower(refused[i].body, EBB_TRAIN, &lowered), EBB_OK, "%s", ebb_env_error(env));
        cr_expect_eq(ebb_grad(env, lowered, &grad), EBB_BAD_INPUT, "%s", refused[i].behaviour);
        cr_expect_null(grad);
        cr_expect(strstr(ebb_env_error(env), refused[i].error), "%s: %s", refused[i].behaviour,
                  ebb_env_error(env));
        ebb_graph_destroy(lowered);
    }
}

/* Every op that is not itself a gradient, an update or without operands has a rule or is replaced. */
Test(ops_rules, every_forward_op_is_differentiable) {
    static const char *const behind[] = {"conv2d_wgrad",
                                         "bn_track",
                                         "bn_grad_sums",
                                         "bn_grad",
                                         "bn_act_grad_sums",
                                         "max_pool_at_grad",
                                         "relu_mask",
                                         "relu_mask_grad",
                                         "relu_grad_choice",
                                         "bn_act_grad",
                                         "bn_add_grad_sums",
                                         "bn_add_bits",
                                         "bn_add_bits_grad_sums",
                                         "bn_add_grad_choice",
                                         "bn_add_grad_parts_choice",
                                         "relu_grad",
                                         "clip_grad",
                                         "bias_grad",
                                         "linear_dgrad",
                                         "linear_wgrad",
                                         "max_pool_grad",
                                         "avg_pool_grad",
                                         "dropout_grad",
                                         "global_avg_pool_grad",
                                         "slice_grad",
                                         "softmax_xent_grad",
                                         "fill",
                                         "sgd",
                                         "sgd_momentum",
                                         "gelu_grad",
                                         "ln_grad_sums",
                                         "ln_grad",
                                         "embedding_grad",
                                         "attention_grad",
                                         "count_step",
                                         "adamw",
                                         "sum_squares",
                                         "clip_factor",
                                         "scale",
                                         "softmax_grad",
                                         "upsample_grad"};
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        bool listed = false;
        for (size_t b = 0; b < EBB_COUNT(behind); b++)
            listed = listed || strcmp(behind[b], ebb_ops[i]->name) == 0;
        bool forward = ebb_ops[i]->grad || ebb_ops[i]->composite;
        cr_expect_neq(forward, listed, "%s", ebb_ops[i]->name);
    }
}

/* ---- lowering --------------------------------------------------------------------------------------- */

static const struct {
    const char *behaviour, *body, *train, *eval;
} lowered[] = {
    {"batch_norm tracks in training and reads in evaluation",
     "%x = input f32[2,3,5,7]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n%v = state f32[3]\n"
     "%y = batch_norm %x, %g, %b, %m, %v",
     "bn_stats bn_track bn_apply to_planes softmax_xent", "bn_apply to_planes softmax_xent"},
    {"conv2d_transpose is the gradient of a convolution",
     "%x = input f32[2,4,3,3]\n%w = param f32[4,3,2,2]\n%y = conv2d_transpose %x, %w stride=2",
     "conv2d_dgrad to_planes softmax_xent", "conv2d_dgrad to_planes softmax_xent"},
    {"layer_norm is the same in both", "%x = input f32[2,3]\n%g = param f32[3]\n%y = layer_norm %x, %g, %g",
     "ln_stats ln_apply softmax_xent", "ln_stats ln_apply softmax_xent"},
    {"dropout vanishes in evaluation", "%x = input f32[2,7]\n%z = dropout %x\n%y = relu %z",
     "dropout relu softmax_xent", "relu softmax_xent"},
    {"flatten of rank 2 is nothing", "%x = input f32[2,7]\n%y = relu %x", "relu softmax_xent",
     "relu softmax_xent"},
    {"flatten of one place is a view", "%x = input f32[2,7,1,1]\n%y = relu %x", "relu reshape softmax_xent",
     "relu reshape softmax_xent"},
    {"flatten of one channel is a view", "%x = input f32[2,1,5,7]\n%y = relu %x",
     "relu reshape softmax_xent", "relu reshape softmax_xent"},
    {"flatten of another rank is a view", "%x = input f32[2,3,5]\n%y = relu %x",
     "relu reshape softmax_xent", "relu reshape softmax_xent"},
    {"flatten of planes is a copy", "%x = input f32[2,3,5,1]\n%y = relu %x", "relu to_planes softmax_xent",
     "relu to_planes softmax_xent"},
};

Test(ops_rules, composites_become_what_the_mode_needs) {
    for (size_t i = 0; i < EBB_COUNT(lowered); i++) {
        for (int mode = EBB_TRAIN; mode <= EBB_EVAL; mode++) {
            ebb_graph *graph;
            char text[600];
            cr_assert_eq(body_lower(lowered[i].body, (ebb_mode)mode, &graph), EBB_OK, "%s",
                         ebb_env_error(env));
            cr_expect_eq(ebb_graph_verify(env, graph), EBB_OK, "%s", ebb_env_error(env));
            const char *want = mode == EBB_TRAIN ? lowered[i].train : lowered[i].eval;
            cr_expect_str_eq(ops_text(graph, EBB_FORWARD, 0, text), want, "%s: %s", lowered[i].behaviour,
                             text);
            ebb_graph_destroy(graph);
        }
    }
}

Test(ops_rules, dropout_and_its_gradient_draw_the_same_mask) {
    ebb_graph *train, *grad;
    cr_assert_eq(
        body_lower("%x = param f32[2,7]\n%z = dropout %x p=0.3\n%y = dropout %z p=0.6", EBB_TRAIN, &train),
        EBB_OK);
    cr_assert_eq(ebb_grad(env, train, &grad), EBB_OK, "%s", ebb_env_error(env));
    const ebb_node *first = node_find(grad, &ebb_op_dropout, 0),
                   *last_back = node_find(grad, &ebb_op_dropout_grad, 0);
    const ebb_node *first_back = last_back + 1;
    cr_assert_eq(first_back->op, &ebb_op_dropout_grad);
    cr_expect_eq(first_back->seed_key, first[0].seed_key);
    cr_expect_eq(last_back->seed_key, first[1].seed_key);
    cr_expect_neq(first[0].seed_key, first[1].seed_key);
    cr_expect_eq(first_back->attr[EBB_DROPOUT_P].f, 0.3);
    cr_expect_eq(last_back->attr[EBB_DROPOUT_P].f, 0.6);
    ebb_graph_destroy(grad);
    ebb_graph_destroy(train);
}

Test(ops_rules, batch_norm_counts_elements_of_a_channel) {
    ebb_graph *graph;
    cr_assert_eq(
        body_lower("%x = input f32[2,3,5,7]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n"
                   "%v = state f32[3]\n%y = batch_norm %x, %g, %b, %m, %v eps=0.25 momentum=0.75",
                   EBB_TRAIN, &graph),
        EBB_OK, "%s", ebb_env_error(env));
    const ebb_node *track = node_find(graph, &ebb_op_bn_track, 0),
                   *apply = node_find(graph, &ebb_op_bn_apply, 0);
    cr_expect_eq(track->attr[EBB_BN_TRACK_COUNT].i[0], 2 * 5 * 7);
    cr_expect_eq(track->attr[EBB_BN_TRACK_MOMENTUM].f, 0.75);
    cr_expect_eq(apply->attr[EBB_BN_EPS].f, 0.25);
    cr_expect_eq(apply->attr[EBB_BN_BATCH].i[0], 1);
    const ebb_node *stats = node_find(graph, &ebb_op_bn_stats, 0);
    cr_expect(apply->in[1] == stats->out[0] && apply->in[2] == stats->out[1],
              "batch statistics are applied");
    ebb_graph_destroy(graph);
}
