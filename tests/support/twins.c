/* Models that are made by calls, each with its text. */
#include "support/twins.h"

static const char mlp_text[] = "ebb 1\n"
                               "graph mlp\n"
                               "dim N = 6\n"
                               "dim H = 16\n"
                               "%x = input f32[N,12]\n"
                               "%labels = input i32[N]\n"
                               "%w1 = param f32[H,12] init=uniform\n"
                               "%b1 = param f32[H]\n"
                               "%w2 = param f32[H/4,H] init=uniform\n"
                               "%l1 = linear %x, %w1\n"
                               "%h1 = bias %l1, %b1\n"
                               "%r1 = relu %h1\n"
                               "%d1 = dropout %r1 p=0.25\n"
                               "%y = linear %d1, %w2\n"
                               "%loss = softmax_xent %y, %labels\n"
                               "output %y\n"
                               "loss %loss\n";

static void mlp_say(ebb_build *b) {
    ebb_build_dim(b, "N", 6);
    ebb_build_dim(b, "H", 16);
    const uint32_t x = ebb_build_input(b, "x", "f32[N,12]"),
                   labels = ebb_build_input(b, "labels", "i32[N]");
    const uint32_t w1 = ebb_build_param(b, "w1", "f32[H,12]", "uniform");
    const uint32_t b1 = ebb_build_param(b, "b1", "f32[H]", NULL);
    const uint32_t w2 = ebb_build_param(b, "w2", "f32[H/4,H]", "uniform");
    const double p = 0.25;
    uint32_t h = ebb_build_op(b, "l1", "linear", (uint32_t[]){x, w1}, 2, NULL);
    h = ebb_build_op(b, "h1", "bias", (uint32_t[]){h, b1}, 2, NULL);
    h = ebb_build_op(b, "r1", "relu", &h, 1, NULL);
    h = ebb_build_op_with(b, "d1", "dropout", &h, 1, &(ebb_build_attribute){.name = "p", .real = p}, 1);
    const uint32_t y = ebb_build_op(b, "y", "linear", (uint32_t[]){h, w2}, 2, NULL);
    const uint32_t loss = ebb_build_op(b, "loss", "softmax_xent", (uint32_t[]){y, labels}, 2, NULL);
    ebb_build_output(b, y);
    ebb_build_loss(b, loss);
}

static const char conv_text[] = "ebb 1\n"
                                "graph small_conv\n"
                                "dim N = 4\n"
                                "dim S = 8\n"
                                "%x = input f32[N,3,S,S]\n"
                                "%labels = input i32[N]\n"
                                "%w1 = param f32[8,3,3,3] init=kaiming\n"
                                "%g1 = param f32[8] init=one\n"
                                "%b1 = param f32[8]\n"
                                "%m1 = state f32[8]\n"
                                "%v1 = state f32[8] init=one\n"
                                "%w2 = param f32[8,4,3,3] init=kaiming\n"
                                "%half = constant f32[N,8,S/2,S/2] fill=0.5\n"
                                "%w3 = param f32[5,8*S*S/4] init=uniform\n"
                                "%c1 = conv2d %x, %w1 stride=2 pad=1\n"
                                "%n1 = batch_norm %c1, %g1, %b1, %m1, %v1 eps=0.001\n"
                                "%r1 = relu %n1\n"
                                "%c2 = conv2d %r1, %w2 pad=[1,1] groups=2\n"
                                "%s2 = add %c2, %r1\n"
                                "%h2 = mul %s2, %half\n"
                                "%f = flatten %h2\n"
                                "%e = reshape %f shape=[N,-1]\n"
                                "%y = linear %e, %w3\n"
                                "%mean, %variance = ln_stats %y\n"
                                "%loss = softmax_xent %y, %labels\n"
                                "output %mean\n"
                                "loss %loss\n";

static void conv_say(ebb_build *b) {
    ebb_build_dim(b, "N", 4);
    ebb_build_dim(b, "S", 8);
    const uint32_t x = ebb_build_input(b, "x", "f32[N,3,S,S]");
    const uint32_t labels = ebb_build_input(b, "labels", "i32[N]");
    const uint32_t w1 = ebb_build_param(b, "w1", "f32[8,3,3,3]", "kaiming");
    const uint32_t g1 = ebb_build_param(b, "g1", "f32[8]", "one");
    const uint32_t b1 = ebb_build_param(b, "b1", "f32[8]", "zero");
    const uint32_t m1 = ebb_build_state(b, "m1", "f32[8]", NULL);
    const uint32_t v1 = ebb_build_state(b, "v1", "f32[8]", "one");
    const uint32_t w2 = ebb_build_param(b, "w2", "f32[8,4,3,3]", "kaiming");
    const uint32_t half = ebb_build_constant(b, "half", "f32[N,8,S/2,S/2]", 0.5);
    const uint32_t w3 = ebb_build_param(b, "w3", "f32[5,8*S*S/4]", "uniform");
    const int64_t two = 2, one_one[] = {1, 1};
    const ebb_build_attribute conv1[] = {{.name = "stride", .sizes = &two, .n = 1},
                                         {.name = "pad", .sizes = one_one, .n = 1}};
    const ebb_build_attribute conv2[] = {{.name = "pad", .sizes = one_one, .n = 2},
                                         {.name = "groups", .sizes = &two, .n = 1}};
    const uint32_t c1 = ebb_build_op_with(b, "c1", "conv2d", (uint32_t[]){x, w1}, 2, conv1, 2);
    const uint32_t n1 =
        ebb_build_op(b, "n1", "batch_norm", (uint32_t[]){c1, g1, b1, m1, v1}, 5, "eps=0.001");
    const uint32_t r1 = ebb_build_op(b, "r1", "relu", &n1, 1, NULL);
    const uint32_t c2 = ebb_build_op_with(b, "c2", "conv2d", (uint32_t[]){r1, w2}, 2, conv2, 2);
    const uint32_t s2 = ebb_build_op(b, "s2", "add", (uint32_t[]){c2, r1}, 2, NULL);
    const uint32_t h2 = ebb_build_op(b, "h2", "mul", (uint32_t[]){s2, half}, 2, NULL);
    const uint32_t f = ebb_build_op(b, "f", "flatten", &h2, 1, NULL);
    const uint32_t e = ebb_build_op(b, "e", "reshape", &f, 1, "shape=[N,-1]");
    const uint32_t y = ebb_build_op(b, "y", "linear", (uint32_t[]){e, w3}, 2, NULL);
    const uint32_t mean = ebb_build_op(b, "mean, variance", "ln_stats", &y, 1, NULL);
    const uint32_t loss = ebb_build_op(b, "loss", "softmax_xent", (uint32_t[]){y, labels}, 2, NULL);
    ebb_build_output(b, mean);
    ebb_build_loss(b, loss);
}

const twin_model twin_models[N_TWIN_MODELS] = {{"mlp", mlp_text, mlp_say},
                                               {"small_conv", conv_text, conv_say}};
