/* cpu/cost.c: how long an op takes, by a roofline for each kind of op.
 *
 * The rates are those of one thread of a present server core with 512-bit vectors, on tensors beyond the
 * caches, rounded. They are constants so that a plan is the same wherever it is made; what a search needs
 * of them is their ratios. Arithmetic grows with the threads, traffic with the first eight: then memory is
 * busy.
 */
#include "exec/cpu/cpu.h"
#include "exec/roofline.h"

enum { BUSY_THREADS = 8 };

/* Elementwise ops and everything that only moves elements. */
static const ebb_roofline stream = {.flops_per_us = 20000, .bytes_per_us = 25000, .start_ns = 1000};
/* Other ops whose rate is their own; {0}: stream. */
static const ebb_roofline others[EBB_N_OPS] = {
    [EBB_OP_bn_stats] = {60000, 23000, 1000},
    [EBB_OP_bn_grad_sums] = {60000, 23000, 1000},
    [EBB_OP_bias_grad] = {60000, 23000, 1000},
    [EBB_OP_bn_act] = {40000, 25000, 1000},
    [EBB_OP_bn_add] = {40000, 25000, 1000},
    [EBB_OP_bn_act_grad_sums] = {60000, 23000, 1000},
    [EBB_OP_bn_act_grad] = {60000, 25000, 1000},
    [EBB_OP_bn_add_grad_sums] = {60000, 21000, 1000},
    [EBB_OP_bn_add_bits] = {40000, 23000, 1000},
    [EBB_OP_bn_add_bits_grad_sums] = {60000, 24000, 1000},
    [EBB_OP_max_pool] = {8000, 20000, 1000},
    [EBB_OP_max_pool_grad] = {2300, 20000, 1000},
    [EBB_OP_max_pool_at] = {4000, 20000, 1000},
    [EBB_OP_max_pool_at_grad] = {3500, 20000, 1000},
    [EBB_OP_relu_mask] = {20000, 24000, 1000},
    [EBB_OP_avg_pool] = {6000, 25000, 1000},
    [EBB_OP_avg_pool_grad] = {2400, 20000, 1000},
    [EBB_OP_global_avg_pool] = {8000, 23000, 1000},
    [EBB_OP_to_planes] = {20000, 17000, 1000},
    [EBB_OP_from_planes] = {20000, 17000, 1000},
    [EBB_OP_dropout] = {300, 25000, 1000}, /* ten rounds of the generator for four elements */
    [EBB_OP_dropout_grad] = {300, 25000, 1000},
    [EBB_OP_softmax_xent] = {700, 25000, 1000}, /* an exponential in double for each element */
    [EBB_OP_softmax_xent_grad] = {700, 25000, 1000},
    [EBB_OP_ln_stats] = {10000, 23000, 1000},
    [EBB_OP_ln_grad_sums] = {12000, 23000, 1000},
    [EBB_OP_gelu] = {32000, 25000, 1000},
    [EBB_OP_gelu_grad] = {32000, 25000, 1000},
    [EBB_OP_embedding_grad] = {20000, 12500, 1000},
    [EBB_OP_attention] = {64000, 12500, 3000},
    [EBB_OP_attention_grad] = {68000, 12500, 3000},
    [EBB_OP_exp] = {3000, 25000, 1000}, /* the C library's */
    [EBB_OP_softmax] = {45000, 25000, 1000},
    [EBB_OP_upsample_grad] = {2500, 20000, 1000},
    [EBB_OP_reduce_sum] = {60000, 23000, 1000},
    [EBB_OP_matmul] = {190000, 12500, 3000},
    [EBB_OP_linear] = {200000, 12500, 3000},
    [EBB_OP_linear_dgrad] = {190000, 12500, 3000},
    [EBB_OP_linear_wgrad] = {200000, 12500, 3000},
};

/* Convolutions by how many channels stand side by side in a vector: forward, dgrad, wgrad. */
static const ebb_roofline dense[3] = {{215000, 17000, 3000}, {195000, 17000, 3000}, {170000, 17000, 3000}};
static const ebb_roofline thin[3] = {{200000, 17000, 3000}, {150000, 15000, 3000}, {110000, 12000, 3000}};
static const ebb_roofline grouped[3] = {{180000, 15000, 3000}, {90000, 15000, 3000}, {120000, 12000, 3000}};
static const ebb_roofline narrow[3] = {{40000, 17000, 3000}, {35000, 15000, 3000}, {20000, 12000, 3000}};

enum { THIN = 16, NARROW = 8 }; /* fewer input channels of an image or of a group */

typedef struct conv_class {
    const char *kind[3];
    const ebb_roofline *line; /* [3] */
} conv_class;
static const conv_class classes[4] = {
    {{"conv2d", "conv2d_dgrad", "conv2d_wgrad"}, dense},
    {{"conv2d thin", "conv2d_dgrad thin", "conv2d_wgrad thin"}, thin},
    {{"conv2d grouped", "conv2d_dgrad grouped", "conv2d_wgrad grouped"}, grouped},
    {{"conv2d narrow", "conv2d_dgrad narrow", "conv2d_wgrad narrow"}, narrow},
};

static void conv_line(const ebb_call *call, int which, ebb_op_facts *out) {
    const ebb_type *x = which == 1 ? &call->out[0] : &call->in[0];
    const int64_t groups = call->attr[EBB_CONV_GROUPS].i[0], channels = x->dim[1] / groups;
    const conv_class *c = &classes[groups == 1 ? channels < THIN : channels < NARROW ? 3 : 2];
    out->kind = c->kind[which];
    out->line = c->line[which];
}

static void line_of(const ebb_call *call, ebb_op_facts *out) {
    switch (call->op->code) {
    case EBB_OP_conv2d:
        conv_line(call, 0, out);
        return;
    case EBB_OP_conv2d_dgrad:
        conv_line(call, 1, out);
        return;
    case EBB_OP_conv2d_wgrad:
        conv_line(call, 2, out);
        return;
    default:
        out->kind = call->op->name;
        out->line = others[call->op->code].flops_per_us ? others[call->op->code] : stream;
    }
}

void cpu_cost(const ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    const int64_t n = backend->n_threads, busy = ebb_min_i64(n, BUSY_THREADS);
    line_of(call, out);
    out->line.flops_per_us *= n;
    out->line.bytes_per_us *= busy;
    ebb_cost cost = {0};
    call->op->cost(call, &cost);
    out->time_ns = ebb_roofline_ns(&out->line, &cost);
}
