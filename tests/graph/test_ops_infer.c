/* Shape rules: for every op, operands and attributes with the results that they must give, or with what the
 * error must say. An op of ops.def without a row of each kind fails. The rows also stand in for all
 * calls in the checks of the facts that the planner relies on. */
#include <criterion/criterion.h>

#include "graph/ir/ir.h"
#include "graph/ops/rule.h"

#include "ops.h"

static ebb_env *env;
static void setup(void) {
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
}
static void teardown(void) {
    ebb_env_destroy(env);
}
TestSuite(ops, .init = setup, .fini = teardown);

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
        cr_assert_eq(types_read(r->want, want), got.call.n_out, "%s", r->op);
        for (uint32_t o = 0; o < got.call.n_out; o++) {
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
    const ebb_attr axis = {.i = {1}};
    ebb_call call = {
        .op = &ebb_op_concat, .in = in, .out = &out, .n_in = EBB_MAX_OPERANDS, .n_out = 1, .attr = &axis};
    cr_assert_eq(ebb_op_concat.infer(env, &call, &out), EBB_OK);
    cr_expect_eq(out.dim[1], 64 * 65 / 2);
    cr_expect_eq(ebb_op_concat.max_in, 64);
}

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
            if (d == EBB_I8 && values[k] > INT8_MAX) continue;
            const double kept = info->kind == EBB_DTYPE_TRUTH ? values[k] != 0 : values[k];
            info->store(at, 1, values[k]);
            cr_expect_eq(info->load(at, 1), kept, "%s %g", info->name, values[k]);
            for (int64_t b = 0; b < info->bytes; b++)
                cr_expect(at[b] == 0xA5 && at[2 * info->bytes + b] == 0xA5, "%s", info->name);
        }
    }
    ebb_dtype none;
    cr_expect_not(ebb_dtype_find("f3", 2, &none) || ebb_dtype_find("f322", 4, &none));
}

/* In place, updates and views put a result where an operand is. Some row holds each op's pairs of
 * may_overwrite: what is broadcast or of another size lies over nothing. */
Test(ops, results_fit_the_bytes_that_they_take) {
    uint32_t held[EBB_N_OPS] = {0}; /* bit p: pair p of the op, on some row */
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].want[0] == '!') continue;
        read_row r;
        row_read(&rows[i], &r);
        const ebb_op_info *op = r.call.op;
        cr_assert_eq(row_infer(env, &r), EBB_OK);
        for (uint32_t p = 0; p < op->n_may_overwrite; p++) {
            if (!ebb_may_lie_over(&r.call, op->may_overwrite[p])) continue;
            held[op->code] |= UINT32_C(1) << p;
            cr_expect_eq(ebb_type_bytes(&r.out[op->may_overwrite[p].out]),
                         ebb_type_bytes(&r.in[op->may_overwrite[p].in]), "%s", op->name);
        }
        for (uint32_t p = 0; p < op->n_update; p++) {
            cr_expect(ebb_type_equal(&r.out[op->update[p].out], &r.in[op->update[p].in]), "%s", op->name);
        }
        if (op->view) cr_expect_eq(ebb_type_bytes(&r.out[0]), ebb_type_bytes(&r.in[0]), "%s", op->name);
    }
    for (uint32_t k = 0; k < EBB_N_OPS; k++)
        cr_expect_eq(held[k], (UINT32_C(1) << ebb_ops[k]->n_may_overwrite) - 1, "%s: no row for a pair",
                     ebb_ops[k]->name);
}
