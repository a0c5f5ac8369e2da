/* rules_places: ops that move or repeat elements, put zeros around them, or make them. */
#include "onnx/export/state.h"

/* ---- shapes ---- */

/* The result's shape for Reshape: one size that grows with N is left open. */
static void reshape(onnx_out *o) {
    const onnx_sizes sizes = onnx_shape_sizes(o, onnx_out_node(o)->out[0]);
    const char *x = onnx_arg(o, 0);
    int64_t dim[EBB_MAX_RANK];
    uint32_t n_open = 0;
    for (uint32_t d = 0; d < sizes.n; d++) {
        const bool grows = sizes.at[0][d] != sizes.at[1][d];
        dim[d] = grows ? -1 : sizes.at[0][d];
        n_open += grows;
    }
    const char *to = n_open <= 1 ? onnx_known_ints(o, dim, sizes.n) : onnx_known_sizes(o, &sizes);
    (void)onnx_make2(o, "Reshape", NULL, x, to);
}

static void flatten(onnx_out *o) {
    const char *x = onnx_arg(o, 0);
    onnx_set_int(o, "axis", 1);
    (void)onnx_make1(o, "Flatten", NULL, x);
}

static void permute(onnx_out *o) {
    const char *x = onnx_arg(o, 0);
    onnx_set_ints(o, "perm", onnx_out_attr(o, 0, EBB_PERMUTE_ORDER)->i,
                  onnx_out_type(o, 0, onnx_out_node(o)->in[0])->rank);
    (void)onnx_make1(o, "Transpose", NULL, x);
}

static void concat(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    const char *in[EBB_MAX_OPERANDS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = onnx_arg(o, i);
    onnx_set_int(o, "axis", node->attr[EBB_CONCAT_AXIS].i[0]);
    (void)onnx_make(o, "Concat", NULL, in, node->n_in);
}

/* The end of a slice whose last place is `last`: beside it, on the far side. ONNX counts an end below 0
 * from the back; the least number stands before place 0. */
static int64_t end_after(int64_t last, int64_t step) {
    return step > 0 ? last + 1 : last > 0 ? last - 1 : INT64_MIN;
}

/* Places begin, begin + step, ..., size of them, along axes from the first on. */
static void cut(onnx_out *o, const onnx_sizes *begin, const onnx_sizes *size, const int64_t *step,
                const int64_t *axes) {
    onnx_sizes end = {.n = size->n};
    const char *in[5] = {onnx_arg(o, 0), onnx_known_sizes(o, begin)};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < size->n; d++)
            end.at[k][d] = end_after(begin->at[k][d] + (size->at[k][d] - 1) * step[d], step[d]);
    in[2] = onnx_known_sizes(o, &end);
    in[3] = onnx_known_ints(o, axes, size->n);
    in[4] = onnx_known_ints(o, step, size->n);
    (void)onnx_make(o, "Slice", NULL, in, 5);
}

static void slice(onnx_out *o) {
    onnx_sizes begin = {.n = 1}, size = {.n = 1};
    for (uint32_t k = 0; k < 2; k++) {
        begin.at[k][0] = onnx_out_attr(o, k, EBB_SLICE_BEGIN)->i[0];
        size.at[k][0] = onnx_out_attr(o, k, EBB_SLICE_SIZE)->i[0];
    }
    cut(o, &begin, &size, (const int64_t[]){1}, onnx_out_attr(o, 0, EBB_SLICE_AXIS)->i);
}

static void strided_slice(onnx_out *o) {
    int64_t axes[EBB_MAX_RANK];
    onnx_sizes begin = {.n = onnx_out_type(o, 0, onnx_out_node(o)->in[0])->rank}, size = begin;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < begin.n; d++) {
            begin.at[k][d] = onnx_out_attr(o, k, EBB_STRIDED_BEGIN)->i[d];
            size.at[k][d] = onnx_out_attr(o, k, EBB_STRIDED_SIZE)->i[d];
        }
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) axes[d] = d;
    cut(o, &begin, &size, onnx_out_attr(o, 0, EBB_STRIDED_STEP)->i, axes);
}

/* ---- among zeros ---- */

/* step - 1 zeros behind each place of an axis of x, whose sizes grow with it. */
static const char *apart(onnx_out *o, const char *x, onnx_sizes *sizes, uint32_t axis, int64_t step) {
    const int64_t pads[8] = {[6] = step - 1};
    onnx_sizes four = {.n = 4};
    for (uint32_t k = 0; k < 2; k++) {
        four.at[k][0] = four.at[k][2] = four.at[k][3] = 1;
        four.at[k][1] = sizes->at[k][axis];
        for (uint32_t d = 0; d < sizes->n; d++)
            if (d != axis) four.at[k][d < axis ? 0 : 3] *= sizes->at[k][d];
        sizes->at[k][axis] *= step;
    }
    x = onnx_make2(o, "Reshape", "places", x, onnx_known_sizes(o, &four));
    x = onnx_make2(o, "Pad", "apart", x, onnx_known_ints(o, pads, 8));
    return onnx_make2(o, "Reshape", "apart", x, onnx_known_sizes(o, sizes));
}

/* x, of these sizes, from begin on. Zeros of its own that reach beyond the result are cut off. */
static void surround(onnx_out *o, const char *x, const onnx_sizes *sizes, const onnx_sizes *begin) {
    const onnx_sizes whole = onnx_shape_sizes(o, onnx_out_node(o)->out[0]);
    const uint32_t n = sizes->n;
    int64_t pads[2][2 * EBB_MAX_RANK];
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < n; d++) {
            pads[k][d] = begin->at[k][d];
            pads[k][n + d] = whole.at[k][d] - sizes->at[k][d] - begin->at[k][d];
        }
    if (memcmp(pads[0], pads[1], 2 * n * sizeof **pads) != 0)
        onnx_out_refuse(o, "as many zeros as grow with N: give --dim N=SIZE");
    (void)onnx_make2(o, "Pad", NULL, x, onnx_known_ints(o, pads[0], 2 * n));
}

static void slice_grad(onnx_out *o) {
    const onnx_sizes sizes = onnx_shape_sizes(o, onnx_out_node(o)->in[0]);
    const int64_t axis = onnx_out_attr(o, 0, EBB_SLICE_GRAD_AXIS)->i[0];
    onnx_sizes begin = {.n = sizes.n};
    for (uint32_t k = 0; k < 2; k++) begin.at[k][axis] = onnx_out_attr(o, k, EBB_SLICE_GRAD_BEGIN)->i[0];
    surround(o, onnx_arg(o, 0), &sizes, &begin);
}

static void strided_slice_grad(onnx_out *o) {
    const int64_t *step = onnx_out_attr(o, 0, EBB_STRIDED_STEP)->i;
    onnx_sizes sizes = onnx_shape_sizes(o, onnx_out_node(o)->in[0]), begin = {.n = sizes.n};
    const char *x = onnx_arg(o, 0);
    for (uint32_t d = 0; d < sizes.n; d++) {
        const bool one = sizes.at[0][d] == 1 && sizes.at[1][d] == 1; /* its step does not matter */
        for (uint32_t k = 0; k < 2; k++) begin.at[k][d] = onnx_out_attr(o, k, EBB_STRIDED_BEGIN)->i[d];
        if (!one && step[d] < 1) onnx_out_refuse(o, "by a step of %lld", (long long)step[d]);
        if (!one && step[d] > 1) x = apart(o, x, &sizes, d, step[d]);
    }
    surround(o, x, &sizes, &begin);
}

/* ---- repetition ---- */

/* To the result's shape, after axes that x lacks. */
static void repeat(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    const onnx_sizes sizes = onnx_shape_sizes(o, node->out[0]);
    const char *x = onnx_arg(o, 0);
    uint32_t n = 0;
    const int64_t *axes = node->op == &ebb_op_broadcast_to ? node->attr[EBB_BROADCAST_AXIS].i : NULL;
    while (axes && n < EBB_MAX_RANK && axes[n] >= 0) n++;
    if (n > 0) x = onnx_make2(o, "Unsqueeze", "axes", x, onnx_known_ints(o, axes, n));
    (void)onnx_make2(o, "Expand", NULL, x, onnx_known_sizes(o, &sizes));
}

static void fill(onnx_out *o) {
    (void)onnx_filled(o, NULL, onnx_out_node(o)->out[0], onnx_out_attr(o, 0, EBB_FILL_VALUE)->f);
}

/* A line of numbers, repeated. */
static void iota(onnx_out *o) {
    const ebb_id out = onnx_out_node(o)->out[0];
    const uint32_t axis = (uint32_t)onnx_out_attr(o, 0, EBB_IOTA_AXIS)->i[0];
    const onnx_sizes sizes = onnx_shape_sizes(o, out);
    ebb_type line = {.dtype = EBB_I32, .rank = sizes.n};
    for (uint32_t d = 0; d < sizes.n; d++) line.dim[d] = d == axis ? sizes.at[0][d] : 1;
    if (sizes.at[1][axis] != line.dim[axis]) {
        onnx_out_refuse(o, "as many numbers as grow with N: give --dim N=SIZE");
        return;
    }
    int32_t *at = EBB_NEW(&o->arena, int32_t, line.dim[axis]);
    if (!at) {
        onnx_out_no_memory(o);
        return;
    }
    for (int64_t i = 0; i < line.dim[axis]; i++) at[i] = (int32_t)i;
    const char *name = onnx_known(o, &line, at, (size_t)line.dim[axis] * sizeof *at);
    (void)onnx_make2(o, "Expand", NULL, name, onnx_known_sizes(o, &sizes));
}

/* ---- by indices ---- */

static void take(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    const char *x = onnx_arg(o, 0), *i = onnx_arg(o, 1);
    onnx_set_int(o, "axis", node->op == &ebb_op_embedding ? 0 : node->attr[EBB_TAKE_AXIS].i[0]);
    (void)onnx_make2(o, "Gather", NULL, x, i);
}

static void pick(onnx_out *o) {
    const int64_t axis = onnx_out_attr(o, 0, EBB_TAKE_AXIS)->i[0];
    const char *x = onnx_arg(o, 0), *axes = onnx_known_ints(o, &axis, 1);
    const char *i = onnx_make2(o, "Unsqueeze", "places", onnx_arg(o, 1), axes);
    onnx_set_int(o, "axis", axis);
    const char *y = onnx_make2(o, "GatherElements", "picked", x, i);
    (void)onnx_make2(o, "Squeeze", NULL, y, axes);
}

onnx_out_rule *onnx_rule_places(ebb_opcode op) {
    static onnx_out_rule *const rules[EBB_N_OPS] = {
        [EBB_OP_reshape] = reshape,
        [EBB_OP_from_planes] = reshape,
        [EBB_OP_flatten] = flatten,
        [EBB_OP_to_planes] = flatten,
        [EBB_OP_permute] = permute,
        [EBB_OP_concat] = concat,
        [EBB_OP_slice] = slice,
        [EBB_OP_strided_slice] = strided_slice,
        [EBB_OP_slice_grad] = slice_grad,
        [EBB_OP_strided_slice_grad] = strided_slice_grad,
        [EBB_OP_broadcast_to] = repeat,
        [EBB_OP_expand] = repeat,
        [EBB_OP_fill] = fill,
        [EBB_OP_iota] = iota,
        [EBB_OP_take] = take,
        [EBB_OP_embedding] = take,
        [EBB_OP_pick] = pick,
    };
    return rules[op];
}
