/* cpu/low_cut.c: which ops can be run in parts, and how. */
#include "exec/cpu/low.h"

#define IN(i) (UINT32_C(1) << (i))

/* POINTS: each element by those at its place; all that is cut has one shape. ROWS: each place along the
 * first axis by itself, or summed over them. Others are run whole. */
typedef enum way { WHOLE, POINTS, ROWS } way;
typedef struct cut_row {
    uint8_t way, in, out, scaled, summed, weighted;
} cut_row;

#define SAME_2(op)                  [EBB_OP_##op] = {POINTS, 3, 1, 0, 0, 0}
#define SAME_1(op)                  [EBB_OP_##op] = {POINTS, 1, 1, 0, 0, 0}
#define EACH(op, operands, results) [EBB_OP_##op] = {ROWS, operands, results, 0, 0, 0}
static const cut_row rows_of[EBB_N_OPS] = {
    SAME_1(relu),
    SAME_2(relu_grad),
    SAME_1(relu_mask),
    SAME_2(relu_mask_grad),
    SAME_1(clip),
    SAME_2(clip_grad),
    SAME_1(gelu),
    SAME_2(gelu_grad),
    SAME_1(gelu_erf),
    SAME_2(gelu_erf_grad),
    SAME_1(silu),
    SAME_2(silu_grad),
    SAME_2(add),
    SAME_2(sub),
    SAME_2(mul),
    SAME_2(div),
    SAME_2(maximum),
    SAME_2(minimum),
    SAME_1(neg),
    SAME_1(abs),
    SAME_1(sign),
    SAME_1(sqrt),
    SAME_1(tanh),
    SAME_1(sigmoid),
    SAME_1(exp),
    SAME_1(log),
    SAME_1(rescale),
    SAME_1(scale),
    [EBB_OP_sum_squares] = {POINTS, 1, 0, 0, 1, 0},
    [EBB_OP_sgd] = {POINTS, IN(0) | IN(1), 1, 0, 0, 0},
    [EBB_OP_sgd_momentum] = {POINTS, IN(0) | IN(1) | IN(2), 3, 0, 0, 0},
    [EBB_OP_adamw] = {POINTS, IN(0) | IN(1) | IN(2) | IN(3), 7, 0, 0, 0},
    /* first axis: images, groups, rows */
    EACH(conv2d, IN(0), 1),
    EACH(conv2d_dgrad, IN(0), 1),
    EACH(linear, IN(0), 1),
    EACH(linear_dgrad, IN(0), 1),
    EACH(matmul, IN(0) | IN(1), 1),
    EACH(bias, IN(0), 1),
    EACH(bn_apply, IN(0), 1),
    EACH(bn_act, IN(0), 1),
    EACH(bn_add, IN(0) | IN(5), 1),
    EACH(bn_add_bits, IN(0) | IN(5), 1),
    EACH(ln_stats, IN(0), 3),
    EACH(ln_apply, IN(0) | IN(1) | IN(2), 1),
    EACH(ln_grad, IN(0) | IN(1) | IN(2) | IN(4), 1),
    EACH(gn_stats, IN(0), 3),
    EACH(gn_apply, IN(0) | IN(1) | IN(2), 1),
    EACH(gn_grad, IN(0) | IN(1) | IN(2) | IN(4), 1),
    EACH(max_pool, IN(0), 1),
    EACH(max_pool_grad, IN(0) | IN(1), 1),
    EACH(max_pool_at, IN(0), 3),
    EACH(max_pool_at_grad, IN(0) | IN(1), 1),
    EACH(avg_pool, IN(0), 1),
    EACH(avg_pool_grad, IN(0), 1),
    EACH(global_avg_pool, IN(0), 1),
    EACH(global_avg_pool_grad, IN(0), 1),
    EACH(upsample_grad, IN(0), 1),
    EACH(softmax, IN(0), 1),
    EACH(softmax_grad, IN(0) | IN(1), 1),
    EACH(attention, IN(0), 3),
    EACH(attention_grad, IN(0) | IN(1) | IN(2) | IN(3), 1),
    /* sums over it */
    [EBB_OP_conv2d_wgrad] = {ROWS, IN(0) | IN(1), 0, 0, 1, 0},
    [EBB_OP_linear_wgrad] = {ROWS, IN(0) | IN(1), 0, 0, 1, 0},
    [EBB_OP_bias_grad] = {ROWS, IN(0), 0, 0, 1, 0},
    [EBB_OP_bn_stats] = {ROWS, IN(0), 0, 0, 3, 0},
    [EBB_OP_bn_grad_sums] = {ROWS, IN(0) | IN(3), 0, 0, 3, 0},
    [EBB_OP_bn_act_grad_sums] = {ROWS, IN(0) | IN(5), 0, 0, 3, 0},
    [EBB_OP_bn_add_grad_sums] = {ROWS, IN(0) | IN(3) | IN(4) | IN(5), 1, 0, 6, 0},
    [EBB_OP_bn_add_bits_grad_sums] = {ROWS, IN(0) | IN(1) | IN(4) | IN(5), 1, 0, 6, 0},
    [EBB_OP_ln_grad_sums] = {ROWS, IN(0) | IN(1) | IN(2) | IN(3), 0, 0, 3, 0},
    [EBB_OP_gn_grad_sums] = {ROWS, IN(0) | IN(1) | IN(2) | IN(3), 0, 0, 3, 0},
    /* of all rows: a mean's gradient, the sums that bn_grad divides by its own count of them, a mean */
    [EBB_OP_bn_grad] = {ROWS, IN(0) | IN(6), 1, IN(4) | IN(5), 0, 0},
    [EBB_OP_bn_act_grad] = {ROWS, IN(0) | IN(7), 1, IN(5) | IN(6), 0, 0},
    [EBB_OP_softmax_xent] = {ROWS, IN(0) | IN(1), 0, 0, 1, 1},
    [EBB_OP_softmax_xent_grad] = {ROWS, IN(0) | IN(1), 1, IN(2), 0, 0},
};

/* Widened bytes of a part: of what streams through a cache of each thread, with all of its operands;
 * products are large enough to run well, and small beside what they are a part of. */
enum { STREAM_BYTES = 256 << 10, NORM_BYTES = 96 << 10, PRODUCT_BYTES = 8 << 20 };

static bool is_product(ebb_family family) {
    return family == EBB_FAMILY_CONVOLUTION || family == EBB_FAMILY_MATRIX_PRODUCT ||
           family == EBB_FAMILY_ATTENTION;
}

/* Bytes of so many elements in f32, and those so far; saturated. */
static int64_t widened(int64_t so_far, int64_t elements) {
    int64_t bytes;
    return ebb_mul_i64(elements, sizeof(float), &bytes) && ebb_add_i64(so_far, bytes, &bytes) ? bytes
                                                                                              : INT64_MAX;
}

/* Widened bytes of a row; all that is cut. Batch norm's are the same for each of its ops, so that what is
 * fused of several adds the same parts. */
static int64_t row_bytes(const ebb_call *call, const cpu_low_cut *c) {
    int64_t bytes = 0;
    if (call->op->family == EBB_FAMILY_BATCH_NORM)
        return widened(0, ebb_type_count(&call->in[0]) / c->rows);
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++) {
        const uint32_t o = i - call->n_in;
        const ebb_type *type = i < call->n_in ? &call->in[i] : &call->out[o];
        const bool cut = i < call->n_in ? i < 32 && c->in >> i & 1 : c->out >> o & 1;
        if (cut && ebb_dtype_low(type->dtype)) bytes = widened(bytes, ebb_type_count(type) / c->rows);
    }
    return bytes;
}

/* Widened bytes of what every part has whole: a part need not be smaller. */
static int64_t whole_bytes(const ebb_call *call, const cpu_low_cut *c) {
    int64_t most = 0;
    for (uint32_t i = 0; i < call->n_in; i++)
        if (!(c->in >> i & 1)) most = ebb_max_i64(most, widened(0, ebb_type_count(&call->in[i])));
    for (uint32_t o = 0; o < call->n_out; o++)
        if (!(c->out >> o & 1)) most = ebb_max_i64(most, widened(0, ebb_type_count(&call->out[o])));
    return most;
}

/* Do all that are cut have the shape of the first, but for bits of it? */
static bool one_shape(const ebb_call *call, const cut_row *row) {
    const ebb_type *like = &call->in[0];
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++) {
        const uint32_t o = i - call->n_in;
        const ebb_type *type = i < call->n_in ? &call->in[i] : &call->out[o];
        const bool cut = i < call->n_in ? row->in >> i & 1 : row->out >> o & 1;
        const bool bits =
            type->dtype == EBB_U8 && ebb_type_count(type) == ebb_mask_bytes(ebb_type_count(like));
        if (cut && !bits && !ebb_type_same_shape(type, like)) return false;
    }
    return true;
}

/* Its kernel looks at what it is fed, and may refuse it. */
static bool may_fail(const ebb_call *call) {
    for (uint32_t i = 0; i < call->n_in; i++)
        if (call->in[i].dtype == EBB_I32) return true;
    return false;
}

/* Rows of channels, wherever they stand in a picture: batch norm's, and a bias's of pictures. */
static bool by_pixels(const ebb_call *call) {
    return call->op->family == EBB_FAMILY_BATCH_NORM ||
           (call->op->code == EBB_OP_bias && call->in[0].rank == 4);
}

static int64_t rows_in(const ebb_call *call, bool flat) {
    const ebb_type *x = &call->in[0];
    if (flat) return ebb_type_count(x);
    return by_pixels(call) ? ebb_type_count(x) / x->dim[1] : x->dim[0];
}

/* A product of one matrix each has no groups to cut between: its rows are cut, or what is summed, which
 * needs the result once more, for a part's. Where both are turned, neither's rows are along one of these:
 * whole. */
static void cut_matrices(const ebb_call *call, cpu_low_cut *c) {
    const bool a_is_turned = call->attr[EBB_MATMUL_TRANSPOSE_A].i[0] != 0,
               b_is_turned = call->attr[EBB_MATMUL_TRANSPOSE_B].i[0] != 0;
    if (c->rows > 1 || (a_is_turned && b_is_turned)) return;
    const int64_t operands =
        widened(widened(0, ebb_type_count(&call->in[0])), ebb_type_count(&call->in[1]));
    const int64_t result = widened(0, ebb_type_count(&call->out[0]));
    if (a_is_turned && ebb_max_i64(PRODUCT_BYTES, result) >= operands - ebb_min_i64(operands, result))
        return;
    c->rows = call->in[0].dim[1];
    c->in = a_is_turned ? IN(0) | IN(1) : IN(0);
    c->out = !a_is_turned;
    c->summed = a_is_turned;
}

cpu_low_cut cpu_low_cut_of(const ebb_backend *backend, const ebb_call *call) {
    const cut_row *row = &rows_of[call->op->code];
    const bool flat = row->way == POINTS;
    cpu_low_cut c = {.rows = 1, .part = 1, .lanes = 1};
    if (row->way == WHOLE || (flat && !one_shape(call, row))) return c;
    c = (cpu_low_cut){.rows = rows_in(call, flat),
                      .in = row->in,
                      .out = row->out,
                      .scaled = row->scaled,
                      .summed = row->summed,
                      .weighted = row->weighted,
                      .lanes = 1,
                      .flat = flat,
                      .merged = call->op->code == EBB_OP_bn_stats};
    if (call->op->code == EBB_OP_matmul) cut_matrices(call, &c);
    const bool product = is_product(call->op->family), norm = call->op->family == EBB_FAMILY_BATCH_NORM;
    const int64_t most = product ? ebb_max_i64(PRODUCT_BYTES, whole_bytes(call, &c))
                         : norm  ? NORM_BYTES
                                 : STREAM_BYTES;
    c.part = ebb_min_i64(c.rows, ebb_max_i64(1, most / ebb_max_i64(1, row_bytes(call, &c))));
    /* A part's bits begin with a byte: 8 rows, or any of so many elements. */
    const bool bits = norm && ebb_type_count(&call->in[0]) / c.rows % 8 != 0;
    const int64_t unit = flat ? CPU_ALIGNMENT : bits ? 8 : 1;
    if (c.part < c.rows) c.part = ebb_min_i64(c.rows, ebb_align_up(c.part, unit));
    if (!product && !may_fail(call))
        c.lanes = ebb_min_i64(backend->n_threads, cpu_ceil_div(c.rows, c.part));
    return c;
}

static void part_of(const ebb_type *type, const cpu_low_cut *c, bool cut, int64_t rows, ebb_type *to) {
    *to = *type;
    if (ebb_dtype_low(to->dtype)) to->dtype = EBB_F32;
    if (!cut) return;
    if (c->flat) {
        const bool bits = type->dtype == EBB_U8 && ebb_type_count(type) != c->rows;
        *to = (ebb_type){.dtype = to->dtype, .rank = 1, .dim = {bits ? ebb_mask_bytes(rows) : rows}};
    } else {
        const bool picture = c->rows != type->dim[0] && type->rank == 4; /* rows of channels */
        const bool matrix = c->rows != type->dim[0] && type->rank == 3;  /* the only one of a product */
        if (picture) *to = (ebb_type){.dtype = to->dtype, .rank = 2, .dim = {rows, type->dim[1]}};
        to->dim[matrix ? 1 : 0] = rows;
    }
}

/* The op that runs the parts, and which operands it has, by their numbers in the call. */
typedef struct inner {
    const ebb_op_info *op;
    uint8_t n_in, n_out, in[8];
} inner;
static const inner inner_of[EBB_N_OPS] = {
    [EBB_OP_bn_act] = {&ebb_op_bn_apply, 5, 1, {0, 1, 2, 3, 4}},
    [EBB_OP_bn_add] = {&ebb_op_bn_apply, 5, 1, {0, 1, 2, 3, 4}},
    [EBB_OP_bn_add_bits] = {&ebb_op_bn_apply, 5, 1, {0, 1, 2, 3, 4}},
    [EBB_OP_bn_act_grad_sums] = {&ebb_op_bn_grad_sums, 4, 2, {0, 1, 2, 5}},
    [EBB_OP_bn_act_grad] = {&ebb_op_bn_grad, 7, 1, {0, 1, 2, 3, 5, 6, 7}},
    [EBB_OP_bn_add_grad_sums] = {&ebb_op_bn_add_grad_sums, 5, 3, {0, 1, 2, 3, 4}},
    [EBB_OP_bn_add_bits_grad_sums] = {&ebb_op_bn_add_bits_grad_sums, 5, 3, {0, 1, 2, 3, 4}},
};

static void types_set(const ebb_call *call, const cpu_low_cut *c, int64_t rows, cpu_low_call *out) {
    for (uint32_t i = 0; i < out->call.n_in; i++) {
        const uint32_t from = out->from[i];
        part_of(&call->in[from], c, from < 32 && c->in >> from & 1, rows, &out->in[i]);
    }
    for (uint32_t o = 0; o < out->call.n_out; o++)
        part_of(&call->out[o], c, c->out >> o & 1, rows, &out->out[o]);
    if (call->op->code == EBB_OP_bn_add_bits_grad_sums)
        out->in[4].dim[0] = ebb_mask_bytes(ebb_type_count(&out->in[0]));
}

void cpu_low_part(const ebb_call *call, const cpu_low_cut *c, int64_t rows, cpu_low_call *out) {
    const inner *by = &inner_of[call->op->code];
    out->call = *call;
    out->call.in = out->in;
    out->call.out = out->out;
    out->call.attr = out->attr;
    for (uint32_t i = 0; i < call->n_in; i++) out->from[i] = by->op ? by->in[i % 8] : i;
    if (by->op) {
        out->call.op = by->op;
        out->call.n_in = by->n_in;
        out->call.n_out = by->n_out;
    }
    types_set(call, c, rows, out);
    for (uint32_t k = 0; k < call->op->n_attrs; k++) { /* an inner op's are the first of them */
        out->attr[k] = call->attr[k];
        /* But uniform's, which draws less than `high` as it is stored. */
        if (call->op->attrs[k].kind == EBB_ATTR_DTYPE && ebb_dtype_low((ebb_dtype)call->attr[k].i[0]) &&
            call->op != &ebb_op_uniform)
            out->attr[k].i[0] = EBB_F32;
    }
}

bool cpu_low_applied(const ebb_call *call, const cpu_low_cut *c, int64_t rows, cpu_low_call *out) {
    if (call->op->code != EBB_OP_bn_act_grad_sums && call->op->code != EBB_OP_bn_act_grad) return false;
    ebb_call apply = *call;
    ebb_type y = call->in[0];
    apply.op = &ebb_op_bn_act;
    apply.n_in = 5;
    apply.n_out = 1;
    apply.out = &y;
    cpu_low_cut own = *c;
    own.in = own.out = 1;
    cpu_low_part(&apply, &own, rows, out);
    return true;
}
