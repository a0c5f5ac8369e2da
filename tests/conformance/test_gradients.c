/* The gradient of every differentiable op against central differences, in f64 on the reference backend.
 *
 * Each case becomes a graph: loss = sum(op(params) * r) with a random r; ebb_grad makes its gradient; the
 * loss is evaluated at points beside the params, along one random direction of each and along some of its
 * axes.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "support/count.h"
#include "support/interpret.h"

#define STEP      1e-5
#define TOLERANCE 1e-6 /* of 1 + |derivative|: the square of STEP and 1e-16 / STEP are both far below */
#define N_AXES    9

typedef struct problem {
    ebb_env *env;
    const ebb_case_table *cases;
    const ebb_op_info *statistics; /* NULL, or whose results inputs 1 and 2 are */
    uint32_t row, result;          /* result: which is summed */
    test_call call;
    ebb_graph *forward, *both; /* without and with the gradient */
} problem;

/* The statistics of x are params of nothing: they come from x or are constants. What max_pool_grad looks at
 * has ties in its rows, where nothing can be differentiated. */
static bool is_param(const problem *p, uint32_t i) {
    const bool from_x = p->statistics && (i == 1 || i == 2);
    const bool ties = p->cases->op == &ebb_op_max_pool_grad && i == 0;
    return !from_x && !ties && !ebb_case_made(test_fill_of(p->cases, i)) &&
           ebb_dtype_real(p->call.call.in[i].dtype);
}

static void input_name(char name[16], uint32_t i) {
    (void)snprintf(name, 16, "x%u", i);
}

static ebb_id node1(ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                    const ebb_attr *attr) {
    return ebb_builder_node(b, op, in, n_in, attr, NULL, EBB_FORWARD, 11)[0];
}

/* sum(y * r) from ops that are there: a product, and a linear layer with ones. */
static ebb_id build_sum(ebb_builder *b, ebb_id y) {
    const ebb_type type = *ebb_builder_type(b, y);
    const int64_t n = ebb_type_count(&type);
    const ebb_id r = ebb_builder_given(b, "r", EBB_ROLE_INPUT, &type, EBB_INIT_ZERO, 0);
    const ebb_id in[] = {y, r};
    ebb_id sum = node1(b, &ebb_op_mul, in, 2, NULL);
    if (type.rank == 0) return sum;
    if (type.rank == 4) sum = node1(b, &ebb_op_to_planes, &sum, 1, NULL);
    const ebb_attr row[] = {[EBB_RESHAPE_SHAPE] = {.i = {1, n}}},
                   scalar[] = {[EBB_RESHAPE_SHAPE] = {.i = {0}}};
    sum = node1(b, &ebb_op_reshape, &sum, 1, row);
    const ebb_type ones_type = {.dtype = EBB_F64, .rank = 2, .dim = {1, n}};
    const ebb_id ones = ebb_builder_given(b, "ones", EBB_ROLE_INPUT, &ones_type, EBB_INIT_ZERO, 0);
    const ebb_id operands[] = {sum, ones};
    sum = node1(b, &ebb_op_linear, operands, 2, NULL);
    return node1(b, &ebb_op_reshape, &sum, 1, scalar);
}

/* Those that both ops have are the call's. */
static void statistics_attrs(const ebb_op_info *statistics, const ebb_call *call, ebb_attr attr[16]) {
    for (uint32_t i = 0; i < statistics->n_attrs; i++) {
        for (uint32_t k = 0; k < call->op->n_attrs; k++) {
            if (strcmp(call->op->attrs[k].name, statistics->attrs[i].name) == 0) attr[i] = call->attr[k];
        }
    }
}

static void build(problem *p) {
    const ebb_call *call = &p->call.call;
    ebb_builder *b = NULL;
    cr_assert_eq(ebb_builder_create(p->env, "gradient", &b), EBB_OK);
    ebb_id in[EBB_MAX_OPERANDS];
    for (uint32_t i = 0; i < call->n_in; i++) {
        char name[16];
        input_name(name, i);
        const ebb_role role = is_param(p, i) ? EBB_ROLE_PARAM : EBB_ROLE_INPUT;
        in[i] = ebb_builder_given(b, name, role, &call->in[i], EBB_INIT_ZERO, 0);
    }
    if (p->statistics) {
        ebb_attr attr[16];
        statistics_attrs(p->statistics, call, attr);
        const ebb_id *stats = ebb_builder_node(b, p->statistics, in, 1, attr, NULL, EBB_FORWARD, 0);
        in[1] = stats[0];
        in[2] = stats[1];
    }
    const ebb_id *out = ebb_builder_node(b, call->op, in, call->n_in, call->attr, NULL, EBB_FORWARD, 11);
    const ebb_id loss = build_sum(b, out[p->result]);
    ebb_builder_output(b, loss);
    ebb_builder_loss(b, loss);
    ebb_status status = ebb_builder_seal(b, &p->forward);
    cr_assert_eq(status, EBB_OK, "%s: %s", call->op->name, ebb_env_error(p->env));
    status = ebb_grad(p->env, p->forward, &p->both);
    cr_assert_eq(status, EBB_OK, "%s: %s", call->op->name, ebb_env_error(p->env));
}

/* Fills the given values of either graph alike. */
static void fill_given(const problem *p, test_values *values) {
    void *filled[EBB_MAX_OPERANDS];
    for (uint32_t i = 0; i < p->call.call.n_in; i++) {
        char name[16];
        input_name(name, i);
        const ebb_id v = ebb_graph_find(values->graph, name);
        cr_assert_neq(v, EBB_NONE);
        filled[i] = values->at[v];
        test_fill_input(p->cases, &p->call.call, i, 5, filled);
    }
    const char *const others[] = {"r", "ones"};
    for (uint32_t k = 0; k < EBB_COUNT(others); k++) {
        const ebb_id v = ebb_graph_find(values->graph, others[k]);
        if (v == EBB_NONE) continue;
        const ebb_type *type = &values->graph->values[v].type;
        ebb_rng rng;
        ebb_rng_init(&rng, 6, 0);
        for (int64_t i = 0; i < ebb_type_count(type); i++)
            test_set(type, values->at[v], i, k == 1 ? 1 : 2 * ebb_rng_unit(&rng) - 1);
    }
}

static double loss_at(const problem *p, test_values *values) {
    test_interpret(p->env, values, 1, 2);
    return *(double *)values->at[p->forward->loss];
}

/* The derivative of the loss along a direction of input x, by differences. */
static double difference(const problem *p, test_values *values, ebb_id x, const double *direction) {
    double *at = values->at[x], sides[2];
    const int64_t n = ebb_type_count(&p->forward->values[x].type);
    for (int side = 0; side < 2; side++) {
        const double step = side == 0 ? STEP : -STEP;
        for (int64_t i = 0; i < n; i++) at[i] += step * direction[i];
        sides[side] = loss_at(p, values);
        for (int64_t i = 0; i < n; i++) at[i] -= step * direction[i];
    }
    return (sides[0] - sides[1]) / (2 * STEP);
}

static void check_along(const problem *p, test_values *values, uint32_t input, const double *gradient,
                        const double *direction) {
    char name[16];
    input_name(name, input);
    const ebb_id x = ebb_graph_find(p->forward, name);
    double want = 0;
    for (int64_t i = 0; i < ebb_type_count(&p->forward->values[x].type); i++)
        want += gradient[i] * direction[i];
    const double got = difference(p, values, x, direction);
    cr_assert(fabs(got - want) <= TOLERANCE * (1 + fabs(want)),
              "%s %s %s: derivative by input %u is %.10g, differences give %.10g", p->cases->op->name,
              p->cases->rows[p->row].inputs, p->cases->rows[p->row].attrs, input, want, got);
}

static void check_input(const problem *p, test_values *values, const test_values *gradients,
                        uint32_t input) {
    char name[32];
    (void)snprintf(name, sizeof(name), "x%u.grad", input);
    const ebb_id g = ebb_graph_find(p->both, name);
    cr_assert(g != EBB_NONE || p->result > 0, "%s: no value %s", p->cases->op->name, name);
    const int64_t n = ebb_type_count(&p->call.call.in[input]);
    double *none = calloc((size_t)n, sizeof *none); /* of a result that does not depend on it */
    cr_assert_not_null(none);
    const double *gradient = g == EBB_NONE ? none : gradients->at[g];
    double *direction = calloc((size_t)n, sizeof *direction);
    cr_assert_not_null(direction);
    ebb_rng rng;
    ebb_rng_init(&rng, 7, input);
    for (int64_t i = 0; i < n; i++) direction[i] = 2 * ebb_rng_unit(&rng) - 1;
    check_along(p, values, input, gradient, direction);
    for (int k = 0; k < N_AXES; k++) {
        memset(direction, 0, (size_t)n * sizeof *direction);
        direction[n <= N_AXES ? k % n : ebb_rng_below(&rng, (uint32_t)n)] = 1;
        check_along(p, values, input, gradient, direction);
    }
    free(none);
    free(direction);
}

/* Not so where an attribute `batch` is not set. */
static const ebb_op_info *statistics_of(const ebb_op_cases *all, const ebb_call *call) {
    for (uint32_t k = 0; k < call->op->n_attrs; k++) {
        if (strcmp(call->op->attrs[k].name, "batch") == 0 && !call->attr[k].i[0]) return NULL;
    }
    return all->statistics;
}

static void check_row(ebb_env *env, const ebb_op_cases *all, const ebb_case_table *cases, uint32_t row,
                      uint32_t result) {
    problem p = {.env = env, .cases = cases, .row = row, .result = result};
    test_call_read(env, cases, row, EBB_F64, &p.call);
    bool any = false; /* of whole numbers there is nothing to differentiate */
    for (uint32_t i = 0; i < p.call.call.n_in; i++) any = any || is_param(&p, i);
    if (!any || !ebb_dtype_real(p.call.out[result].dtype)) return;
    p.statistics = statistics_of(all, &p.call.call);
    build(&p);
    test_values values, gradients;
    test_values_init(&values, p.forward);
    test_values_init(&gradients, p.both);
    fill_given(&p, &values);
    fill_given(&p, &gradients);
    test_interpret(env, &gradients, 1, 2);
    for (uint32_t i = 0; i < p.call.call.n_in; i++) {
        if (is_param(&p, i)) check_input(&p, &values, &gradients, i);
    }
    test_values_deinit(&values);
    test_values_deinit(&gradients);
    ebb_graph_destroy(p.forward);
    ebb_graph_destroy(p.both);
}

/* Differentiated through the ops that read these results: their own rules only refuse. */
static bool is_refused(const ebb_op_info *op, uint32_t result) {
    return op == &ebb_op_gn_stats || (op == &ebb_op_attention && result == 1);
}

Test(conformance, gradients_of_every_differentiable_op_agree_with_central_differences) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    uint32_t n_ops = 0;
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        const ebb_op_cases *cases = ebb_op_cases_all[k];
        ebb_case_table small = ebb_case_table_of(cases, EBB_SET_SMALL);
        small.n_rows = rows_from_env(small.n_rows);
        for (uint32_t i = 0; cases->op->grad && i < small.n_rows * cases->op->n_out; i++) {
            const uint32_t result = i % cases->op->n_out;
            if (!is_refused(cases->op, result)) check_row(env, cases, &small, i / cases->op->n_out, result);
        }
        n_ops += cases->op->grad != NULL;
    }
    cr_assert_geq(n_ops, 15);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}
