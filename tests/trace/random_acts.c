/* What a random function does, act by act. */
#include "trace/random_body.h"

/* ---- calls that must succeed ---------------------------------------------------------------- */

ebb_tensor *body_apply(program *p, const char *op, ebb_tensor *const *in, uint32_t n,
                       const ebb_build_attribute *attr, uint32_t n_attr) {
    ebb_tensor *out[4] = {NULL};
    TEST_OK(p->env, ebb_apply(p->eager, ebb_op_named(op), in, n, attr, n_attr, out));
    for (uint32_t i = 1; i < ebb_op_n_results(ebb_op_named(op)); i++) ebb_tensor_destroy(out[i]);
    return out[0];
}

ebb_tensor *body_mean(program *p, ebb_tensor *x) {
    const int64_t keep[] = {0};
    return body_apply(p, "reduce_mean", &x, 1, &(ebb_build_attribute){"keep", keep, 1, 0}, 1);
}

ebb_tensor *body_number(program *p, double x) {
    ebb_tensor *out;
    TEST_OK(p->env, ebb_tensor_number(p->eager, EBB_FLOAT32, x, &out));
    return out;
}

ebb_tensor *body_made(program *p, const ebb_tensor_type *type, uint64_t stream) {
    float data[1024];
    int64_t n = 1;
    ebb_rng rng;
    ebb_tensor *out;
    ebb_rng_init(&rng, p->seed, 1000 + stream);
    for (uint32_t d = 0; d < type->rank; d++) n *= type->dim[d];
    cr_assert(n <= 1024);
    for (int64_t i = 0; i < n; i++) data[i] = (float)(2 * ebb_rng_unit(&rng) - 1);
    TEST_OK(p->env, ebb_tensor_create(p->eager, type, data, &out));
    return out;
}

/* ---- one act of a body ---------------------------------------------------------------------- */

static ebb_tensor_type type_of(const ebb_tensor *t) {
    ebb_tensor_type type;
    ebb_tensor_type_of(t, &type);
    return type;
}

void body_put(body *b, ebb_tensor *t) {
    if (b->n < PROGRAM_MOST) {
        b->have[b->n++] = t;
        return;
    }
    const uint32_t at = body_draw(b, b->n);
    ebb_tensor_destroy(b->have[at]);
    b->have[at] = t;
}

static void act_unary(body *b) {
    static const char *const ops[] = {"relu", "tanh", "neg",  "sigmoid",
                                      "abs",  "sin",  "silu", "stop_gradient"};
    body_put(b, body_apply1(b->p, ops[body_draw(b, EBB_COUNT(ops))], body_any(b)));
}

static void act_binary(body *b) {
    static const char *const ops[] = {"add", "sub", "mul", "maximum", "minimum"};
    ebb_tensor *x = body_any(b), *y = body_any(b);
    const char *op = ops[body_draw(b, EBB_COUNT(ops))];
    const ebb_tensor_type tx = type_of(x), ty = type_of(y);
    if (tx.rank == ty.rank && memcmp(tx.dim, ty.dim, tx.rank * sizeof *tx.dim) == 0)
        body_put(b, body_apply2(b->p, op, x, y));
    else if (ty.rank == 0)
        body_put(b, body_apply2(b->p, op, x, y));
}

static void act_number(body *b) {
    const double changes = body_draw(b, 3) == 0 ? 0.125 * b->call : 0;
    ebb_tensor *n = body_number(b->p, 0.5 + ebb_rng_unit(&b->rng) + changes);
    body_put(b, body_apply2(b->p, body_draw(b, 2) ? "mul" : "add", body_any(b), n));
    ebb_tensor_destroy(n);
}

/* param 0 is [6,6]; 1 is [6]. */
static void act_linear(body *b) {
    ebb_tensor *x = body_any(b);
    const ebb_tensor_type type = type_of(x);
    if (type.rank != 2 || type.dim[1] != 6) return;
    ebb_tensor *y = body_apply2(b->p, "linear", x, b->p->param[0]);
    body_put(b, body_apply2(b->p, "bias", y, b->p->param[1]));
    ebb_tensor_destroy(y);
}

/* params 2 to 5: gamma, beta, running mean and variance. Twice in one body updates the latter twice. */
static void act_norm(body *b) {
    ebb_tensor *x = body_any(b), *const *p = b->p->param;
    const ebb_tensor_type type = type_of(x);
    if (type.rank != 2 || type.dim[1] != 6) return;
    body_put(b, body_apply(b->p, "batch_norm", (ebb_tensor *[]){x, p[2], p[3], p[4], p[5]}, 5, NULL, 0));
}

static void act_shape(body *b) {
    ebb_tensor *x = body_any(b);
    const ebb_tensor_type type = type_of(x);
    if (type.rank != 2) return;
    const int64_t flat[] = {type.dim[0] * type.dim[1]}, order[] = {1, 0}, one[] = {1};
    switch (body_draw(b, 4)) {
    case 0:
        body_put(b, body_apply(b->p, "reshape", &x, 1, &(ebb_build_attribute){"shape", flat, 1, 0}, 1));
        break;
    case 1:
        body_put(b, body_apply(b->p, "permute", &x, 1, &(ebb_build_attribute){"order", order, 2, 0}, 1));
        break;
    case 2:
        body_put(b, body_apply(b->p, "reduce_sum", &x, 1, &(ebb_build_attribute){"axis", one, 1, 0}, 1));
        break;
    default:
        body_put(b, body_mean(b->p, x));
        break;
    }
}

static void act_compare(body *b) {
    ebb_tensor *x = body_any(b), *zero = body_number(b->p, 0);
    ebb_tensor *less = body_apply2(b->p, "less", zero, x);
    body_put(b, body_apply(b->p, "where", (ebb_tensor *[]){less, x, zero}, 3, NULL, 0));
    ebb_tensor_destroy(less);
    ebb_tensor_destroy(zero);
}

static void act_dropout(body *b) {
    ebb_tensor *x = body_any(b);
    body_put(b, body_apply(b->p, "dropout", &x, 1, &(ebb_build_attribute){"p", NULL, 0, 0.25}, 1));
}

/* What the host reads comes back as a number. */
static void act_read(body *b) {
    ebb_tensor *mean = body_mean(b->p, body_any(b));
    float x;
    TEST_OK(b->p->env, ebb_tensor_read(mean, &x, sizeof x));
    b->p->digest = b->p->digest * 31 + (uint64_t)(int64_t)(x * 4096);
    ebb_tensor_destroy(mean);
    mean = body_number(b->p, 0.5 + 0.25 * (double)(x > 0));
    body_put(b, body_apply2(b->p, "mul", body_any(b), mean));
    ebb_tensor_destroy(mean);
}

static void act_fresh(body *b) {
    const ebb_tensor_type type = {EBB_FLOAT32, 2, {3, 6}};
    body_put(b, body_made(b->p, &type, 100 + b->call));
}

static void act_assign(body *b) {
    ebb_tensor *to = b->p->param[body_draw(b, 2)], *n = body_number(b->p, 0.75),
               *y = body_apply2(b->p, "mul", to, n);
    TEST_OK(b->p->env, ebb_tensor_assign(to, y));
    ebb_tensor_destroy(y);
    ebb_tensor_destroy(n);
}

static void act_excluded(body *b) {
    if (b->p->trace) TEST_OK(b->p->env, ebb_trace_exclude_begin(b->p->trace));
    ebb_tensor *y = body_apply1(b->p, "neg", body_any(b));
    if (b->call % 2) {
        ebb_tensor *z = body_apply1(b->p, "neg", y);
        ebb_tensor_destroy(y);
        y = z;
    }
    if (b->p->trace) TEST_OK(b->p->env, ebb_trace_exclude_end(b->p->trace));
    body_put(b, y);
}

static void act_drop(body *b) {
    if (b->n < 4) return;
    const uint32_t at = body_draw(b, b->n);
    ebb_tensor_destroy(b->have[at]);
    b->have[at] = b->have[--b->n];
}

void body_act(body *b) {
    static void (*const often[])(body *) = {act_unary,  act_binary, act_number,
                                            act_linear, act_shape,  act_norm};
    static void (*const rarely[])(body *) = {act_compare, act_dropout,  act_read, act_fresh,
                                             act_assign,  act_excluded, act_drop, act_drop};
    if (body_draw(b, 3))
        often[body_draw(b, EBB_COUNT(often))](b);
    else
        rarely[body_draw(b, EBB_COUNT(rarely))](b);
}
