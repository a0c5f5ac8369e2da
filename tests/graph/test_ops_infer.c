/* Shape rules: for every op, operands and attributes with the results that they must give, or with what the
 * error must say. An op of ops.def without a row of each kind fails. The rows also stand in for all
 * calls in the checks of the facts that the planner relies on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/ir/ir.h"
#include "graph/ops/rule.h"

#include "ops.h"

/* ---- reading rows ------------------------------------------------------------------------------- */

static ebb_type type_read(const char **at) {
    ebb_type type = {0};
    type.dtype = strncmp(*at, "f64", 3) == 0 ? EBB_F64
                 : **at == 'i'               ? EBB_I32
                 : **at == 'u'               ? EBB_U8
                                             : EBB_F32;
    *at = strchr(*at, '[') + 1;
    while (**at != ']') {
        char *end;
        type.dim[type.rank++] = strtoll(*at, &end, 10);
        *at = *end == ',' ? end + 1 : end;
    }
    (*at)++;
    if (**at == ' ') (*at)++;
    return type;
}

static uint32_t types_read(const char *text, ebb_type types[EBB_MAX_OPERANDS]) {
    uint32_t n = 0;
    while (*text) types[n++] = type_read(&text);
    return n;
}

static ebb_attr attr_read(const ebb_attr_info *info, const char *text) {
    ebb_attr attr = {.i = {0}};
    if (info->kind == EBB_ATTR_REAL) {
        attr.f = strtod(text, NULL);
        return attr;
    }
    if (info->kind == EBB_ATTR_BOOL) {
        attr.i[0] = *text == 't';
        return attr;
    }
    uint32_t n = 0;
    for (bool more = true; more; n++) {
        char *end;
        attr.i[n] = strtoll(text, &end, 10);
        more = *end == ',';
        text = end + 1;
    }
    for (; n < info->count; n++) attr.i[n] = attr.i[0];
    return attr;
}

/* "stride=2 pad=1,0" by the op's schema; what is not named has its default. */
static void attrs_read(const ebb_op_info *op, const char *text, ebb_attr attrs[8]) {
    for (uint32_t a = 0; a < op->n_attrs; a++) attrs[a] = ebb_attr_default(&op->attrs[a]);
    while (*text) {
        size_t n_name = strcspn(text, "="), n = strcspn(text, " ");
        uint32_t a = 0;
        while (a < op->n_attrs &&
               (strlen(op->attrs[a].name) != n_name || strncmp(op->attrs[a].name, text, n_name)))
            a++;
        cr_assert_lt(a, op->n_attrs, "%s has no attribute %s", op->name, text);
        attrs[a] = attr_read(&op->attrs[a], text + n_name + 1);
        text += n + (text[n] == ' ');
    }
}

typedef struct read_row {
    ebb_call call;
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_attr attrs[8];
} read_row;

static void row_read(const row *r, read_row *out) {
    const ebb_op_info *op = ebb_op_find(r->op, strlen(r->op));
    cr_assert_not_null(op, "%s", r->op);
    uint32_t n_in = types_read(r->in, out->in);
    attrs_read(op, r->attrs, out->attrs);
    memset(out->out, 0, sizeof out->out);
    out->call = (ebb_call){
        .op = op, .in = out->in, .out = out->out, .n_in = n_in, .n_out = op->n_out, .attr = out->attrs};
}

/* What a builder does with the row, up to the shape rule. */
static ebb_status row_infer(ebb_env *env, read_row *r) {
    const ebb_call *call = &r->call;
    if (call->n_in < call->op->min_in || call->n_in > call->op->max_in)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %u operands", call->op->name, call->n_in);
    for (uint32_t a = 0; a < call->op->n_attrs; a++) {
        ebb_status status = ebb_attr_check(env, call->op, &call->op->attrs[a], &call->attr[a]);
        if (status) return status;
    }
    return call->op->infer(env, call, r->out);
}

static ebb_env *env;
static void setup(void) {
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
}
static void teardown(void) {
    ebb_env_destroy(env);
}
TestSuite(ops, .init = setup, .fini = teardown);

/* ---- the rules ---------------------------------------------------------------------------------- */

Test(ops, every_row_gives_its_types_or_its_error) {
    for (size_t i = 0; i < n_rows; i++) {
        const row *r = &rows[i];
        read_row got;
        row_read(r, &got);
        ebb_status status = row_infer(env, &got);
        if (r->want[0] == '!') {
            cr_expect_eq(status, EBB_BAD_INPUT, "%s %s %s: %s", r->op, r->in, r->attrs,
                         ebb_status_name(status));
            cr_expect(strstr(ebb_env_error(env), r->want + 1), "%s %s %s: %s", r->op, r->in, r->attrs,
                      ebb_env_error(env));
            continue;
        }
        cr_expect_eq(status, EBB_OK, "%s %s %s: %s", r->op, r->in, r->attrs, ebb_env_error(env));
        ebb_type want[EBB_MAX_OPERANDS];
        cr_assert_eq(types_read(r->want, want), got.call.op->n_out, "%s", r->op);
        for (uint32_t o = 0; o < got.call.op->n_out; o++) {
            char text[EBB_TYPE_TEXT];
            cr_expect(ebb_type_equal(&got.out[o], &want[o]), "%s %s %s: result %u is %s", r->op, r->in,
                      r->attrs, o, ebb_type_text(&got.out[o], text));
        }
    }
}

Test(ops, every_op_has_good_and_bad_rows) {
    for (uint32_t op = 0; op < EBB_N_OPS; op++) {
        uint32_t n_good = 0, n_bad = 0;
        for (size_t i = 0; i < n_rows; i++) {
            if (strcmp(rows[i].op, ebb_ops[op]->name) != 0) continue;
            n_good += rows[i].want[0] != '!';
            n_bad += rows[i].want[0] == '!';
        }
        cr_expect_gt(n_good, 0, "%s has no good row", ebb_ops[op]->name);
        cr_expect_gt(n_bad, 0, "%s has no bad row", ebb_ops[op]->name);
    }
}

/* A concat as wide as it may be, and one wider. */
Test(ops, concat_takes_64_operands) {
    ebb_type in[EBB_MAX_OPERANDS], out;
    for (uint32_t i = 0; i < EBB_MAX_OPERANDS; i++) in[i] = (ebb_type){.rank = 2, .dim = {3, i + 1}};
    ebb_call call = {.op = &ebb_op_concat, .in = in, .out = &out, .n_in = EBB_MAX_OPERANDS, .n_out = 1};
    cr_assert_eq(ebb_op_concat.infer(env, &call, &out), EBB_OK);
    cr_expect_eq(out.dim[1], 64 * 65 / 2);
    cr_expect_eq(ebb_op_concat.max_in, 64);
}

/* ---- the facts ---------------------------------------------------------------------------------- */

Test(ops, facts_are_in_range) {
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        const ebb_op_info *op = ebb_ops[i];
        cr_expect_eq((uint32_t)op->code, i, "%s", op->name);
        cr_expect_eq(ebb_op_find(op->name, strlen(op->name)), op, "%s", op->name);
        cr_expect(op->infer && op->cost, "%s", op->name);
        cr_expect(op->min_in <= op->max_in && op->max_in <= EBB_MAX_OPERANDS, "%s", op->name);
        cr_expect(op->n_out >= 1 && op->n_out <= EBB_MAX_RESULTS, "%s", op->name);
        cr_expect(!op->composite || op->lower, "%s", op->name);
        cr_expect_eq(op->n_update > 0 && !op->composite, op->effect == EBB_STATEFUL && !op->composite, "%s",
                     op->name);
        for (uint32_t p = 0; p < op->n_may_overwrite; p++) {
            cr_expect(op->may_overwrite[p].out < op->n_out && op->may_overwrite[p].in < op->max_in, "%s",
                      op->name);
        }
        for (uint32_t p = 0; p < op->n_update; p++) {
            cr_expect(op->update[p].out < op->n_out && op->update[p].in < op->min_in, "%s", op->name);
        }
        for (uint32_t a = 0; a < op->n_attrs; a++) {
            const ebb_attr_info *info = &op->attrs[a];
            ebb_attr fallback = ebb_attr_default(info);
            cr_expect(info->required || ebb_attr_check(env, op, info, &fallback) == EBB_OK, "%s", op->name);
            cr_expect(info->name && info->count <= EBB_MAX_RANK && info->min < info->max, "%s", op->name);
            cr_expect(info->count == 1 || info->kind == EBB_ATTR_INT, "%s", op->name);
        }
    }
}

/* The operands and results that a rule names, in each of its forms, are as many as the op says. */
Test(ops, rules_have_the_operands_and_results_that_their_ops_have) {
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        const ebb_op_info *op = ebb_ops[i];
        for (const char *form = op->rule; form;) {
            uint32_t n_in = 0, n_out = 0;
            const char *next = strstr(form, " or "), *arrow = strstr(form, "-> ");
            for (const char *at = form; *at && at != next; at++) {
                if (*at == '[') *(at < arrow ? &n_in : &n_out) += 1;
            }
            cr_expect(n_in == op->max_in && n_out == op->n_out, "%s: %u to %u in %s", op->name, n_in, n_out,
                      form);
            form = next ? next + 4 : NULL;
        }
        cr_expect_eq(op->rule != NULL, op->infer == ebb_infer_by_rule, "%s", op->name);
        cr_expect(!op->bind || op->rule, "%s", op->name);
    }
}

/* Every dtype keeps each of these to its precision, and its neighbours as they were. */
Test(ops, dtypes_load_what_they_store) {
    static const double values[] = {0, 1, 7, 100, 255};
    for (uint32_t d = 0; d < EBB_N_DTYPES; d++) {
        const ebb_dtype_info *info = &ebb_dtypes[d];
        unsigned char at[3 * 8];
        ebb_dtype found;
        cr_assert(info->bytes > 0 && info->bytes <= 8, "%s", info->name);
        cr_expect(ebb_dtype_find(info->name, strlen(info->name), &found) && found == d, "%s", info->name);
        for (size_t k = 0; k < EBB_COUNT(values); k++) {
            memset(at, 0xA5, sizeof at);
            info->store(at, 1, values[k]);
            cr_expect_eq(info->load(at, 1), values[k], "%s %g", info->name, values[k]);
            for (int64_t b = 0; b < info->bytes; b++)
                cr_expect(at[b] == 0xA5 && at[2 * info->bytes + b] == 0xA5, "%s", info->name);
        }
    }
    ebb_dtype none;
    cr_expect_not(ebb_dtype_find("f3", 2, &none) || ebb_dtype_find("f322", 4, &none));
}

/* In place, updates and views put a result where an operand is: on every good row the types must agree. */
Test(ops, results_fit_the_bytes_that_they_take) {
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].want[0] == '!') continue;
        read_row r;
        row_read(&rows[i], &r);
        const ebb_op_info *op = r.call.op;
        cr_assert_eq(row_infer(env, &r), EBB_OK);
        for (uint32_t p = 0; p < op->n_may_overwrite; p++) {
            if (op->may_overwrite[p].in >= r.call.n_in) continue;
            cr_expect(ebb_type_equal(&r.out[op->may_overwrite[p].out], &r.in[op->may_overwrite[p].in]),
                      "%s", op->name);
        }
        for (uint32_t p = 0; p < op->n_update; p++) {
            cr_expect(ebb_type_equal(&r.out[op->update[p].out], &r.in[op->update[p].in]), "%s", op->name);
        }
        if (op->view) cr_expect_eq(ebb_type_bytes(&r.out[0]), ebb_type_bytes(&r.in[0]), "%s", op->name);
    }
}

/* ---- costs -------------------------------------------------------------------------------------- */

static const struct {
    const char *op, *in, *attrs;
    int64_t flops, bytes;
} costs[] = {
    /* y is 1*5*5*5 and each of its elements has 3*3*3 taps */
    {"conv2d", "f32[1,3,7,7] f32[5,3,3,3]", "", 2 * 125 * 27, 4 * (147 + 135 + 125)},
    {"conv2d", "f32[1,6,5,5] f32[9,2,1,1]", "groups=3", 2 * 225 * 2, 4 * (150 + 18 + 225)},
    {"conv2d_dgrad", "f32[1,5,5,5] f32[5,3,3,3]", "size=7", 2 * 125 * 27, 4 * (147 + 135 + 125)},
    {"conv2d_wgrad", "f64[1,3,7,7] f64[1,5,5,5]", "size=3", 2 * 125 * 27, 8 * (147 + 135 + 125)},
    {"conv2d_transpose", "f32[1,5,5,5] f32[5,3,3,3]", "", 2 * 125 * 27, 4 * (147 + 135 + 125)},
    {"linear", "f32[3,7] f32[33,7]", "", 2 * 3 * 7 * 33, 4 * (21 + 231 + 99)},
    {"linear_dgrad", "f32[3,33] f32[33,7]", "", 2 * 3 * 7 * 33, 4 * (21 + 231 + 99)},
    {"linear_wgrad", "f32[3,7] f32[3,33]", "", 2 * 3 * 7 * 33, 4 * (21 + 231 + 99)},
    {"relu", "f64[33]", "", 33, 8 * 66},
    {"bn_apply", "f32[3,7] f32[7] f32[7] f32[7] f32[7]", "", 42, 4 * (42 + 28)},
    {"ln_apply", "f32[3,7] f32[3] f32[3] f32[7] f32[7]", "", 84, 4 * (42 + 20)},
    {"embedding", "f32[1000,7] i32[3]", "", 0, 4 * (42 + 3)},
    {"embedding_grad", "f32[3,7] i32[3]", "rows=1000", 21, 4 * (21 + 3 + 7000)},
    /* 49 pairs in each of 2 * 2 heads, two products of 7 and 20 more */
    {"attention", "f32[2,7,42]", "heads=2", 4 * 49 * (28 + 20), 4 * (588 + 196 + 28)},
    {"attention", "f32[2,7,42]", "heads=2 causal=true", 4 * 28 * (28 + 20), 4 * (588 + 196 + 28)},
    {"attention", "f32[2,8,42]", "heads=2 causal=true", 4 * 36 * (28 + 20), 4 * (672 + 224 + 32)},
    {"attention_grad", "f32[2,7,42] f32[2,7,14] f32[2,2,7] f32[2,7,14]", "heads=2", 4 * 49 * (70 + 20),
     4 * (588 + 196 + 28 + 196 + 588)},
    {"attention", "f32[1,1,2305843009213693950]", "heads=1", INT64_C(3074457345618258620), INT64_MAX},
    {"matmul", "f32[3,5,7] f32[3,33,5]", "transpose_a=true transpose_b=true", 2 * 3 * 5 * 7 * 33,
     4 * (105 + 495 + 693)},
    {"reduce_sum", "f32[3,7]", "axis=0", 21, 4 * 28},
    {"upsample", "f32[3,7,5,1]", "factor=2", 0, 4 * (105 + 420)},
    {"max_pool", "f32[1,3,8,8]", "kernel=2", 48 * 4, 4 * (192 + 48)},
    {"reshape", "f32[3,7]", "shape=21", 0, 0},
    {"to_planes", "f32[3,2,5,7]", "", 0, 4 * 420},
    {"slice", "f32[3,7]", "size=1", 0, 4 * 6},
    {"softmax_xent", "f32[3,7] i32[3]", "", 84, 4 * (21 + 3 + 1)},
    {"softmax_xent", "f32[3,7,5,1] i32[3,5,1]", "", 420, 4 * (105 + 15 + 1)},
    {"fill", "", "value=1 shape=33", 0, 4 * 33},
    /* 2^21 * 2^21 * 2^21 products do not fit: the most that does */
    {"linear", "f32[2097152,2097152] f32[2097152,2097152]", "", INT64_MAX, 3 * (INT64_C(1) << 44)},
};

Test(ops, costs_are_counted) {
    for (size_t i = 0; i < EBB_COUNT(costs); i++) {
        row as_row = {costs[i].op, costs[i].in, costs[i].attrs, ""};
        read_row r;
        row_read(&as_row, &r);
        cr_assert_eq(row_infer(env, &r), EBB_OK, "%s", costs[i].op);
        ebb_cost cost;
        r.call.op->cost(&r.call, &cost);
        cr_expect_eq(cost.flops, costs[i].flops, "%s %s: %lld flops", as_row.op, as_row.in,
                     (long long)cost.flops);
        cr_expect_eq(cost.bytes, costs[i].bytes, "%s %s: %lld bytes", as_row.op, as_row.in,
                     (long long)cost.bytes);
    }
}

Test(ops, costs_are_not_negative) {
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].want[0] == '!') continue;
        read_row r;
        row_read(&rows[i], &r);
        cr_assert_eq(row_infer(env, &r), EBB_OK);
        ebb_cost cost = {-1, -1};
        r.call.op->cost(&r.call, &cost);
        cr_expect(cost.flops >= 0 && cost.bytes >= 0 && (cost.bytes > 0 || r.call.op->view), "%s",
                  rows[i].op);
    }
}
