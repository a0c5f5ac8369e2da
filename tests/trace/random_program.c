/* Random training functions: draws depend on the seed alone, so that every run of one takes the same way.
 */
#include "trace/random_program.h"

#include "base/base.h"

typedef struct body {
    program *p;
    ebb_rng rng;
    uint32_t call;
    ebb_tensor *have[PROGRAM_MOST]; /* owned; f32 */
    uint32_t n;
    ebb_tape *tape;
} body;

/* ---- calls that must succeed
 * ------------------------------------------------------------------------------ */

static ebb_tensor *apply(program *p, const char *op, ebb_tensor *const *in, uint32_t n,
                         const ebb_build_attribute *attr, uint32_t n_attr) {
    ebb_tensor *out[4] = {NULL};
    TEST_OK(p->env, ebb_apply(p->eager, ebb_op_named(op), in, n, attr, n_attr, out));
    for (uint32_t i = 1; i < ebb_op_n_results(ebb_op_named(op)); i++) ebb_tensor_destroy(out[i]);
    return out[0];
}

static ebb_tensor *apply1(program *p, const char *op, ebb_tensor *x) {
    return apply(p, op, &x, 1, NULL, 0);
}

static ebb_tensor *apply2(program *p, const char *op, ebb_tensor *a, ebb_tensor *b) {
    return apply(p, op, (ebb_tensor *[]){a, b}, 2, NULL, 0);
}

static ebb_tensor *mean_of(program *p, ebb_tensor *x) {
    const int64_t keep[] = {0};
    return apply(p, "reduce_mean", &x, 1, &(ebb_build_attribute){"keep", keep, 1, 0}, 1);
}

static ebb_tensor *number(program *p, double x) {
    ebb_tensor *out;
    TEST_OK(p->env, ebb_tensor_number(p->eager, EBB_FLOAT32, x, &out));
    return out;
}

static ebb_tensor *made(program *p, const ebb_tensor_type *type, uint64_t stream) {
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

static ebb_tensor_type type_of(const ebb_tensor *t) {
    ebb_tensor_type type;
    ebb_tensor_type_of(t, &type);
    return type;
}

static void digest(program *p, const ebb_tensor *t) {
    uint8_t bytes[16384];
    const size_t n = (size_t)ebb_tensor_size_bytes(t);
    cr_assert(n <= sizeof bytes);
    TEST_OK(p->env, ebb_tensor_read(t, bytes, n));
    for (size_t i = 0; i < n; i++) p->digest = (p->digest ^ bytes[i]) * UINT64_C(1099511628211);
}

/* ---- one act of a body
 * ------------------------------------------------------------------------------------ */

static uint32_t draw(body *b, uint32_t n) {
    return ebb_rng_below(&b->rng, n);
}

static ebb_tensor *any(body *b) {
    return b->have[draw(b, b->n)];
}

static void put(body *b, ebb_tensor *t) {
    if (b->n < PROGRAM_MOST) {
        b->have[b->n++] = t;
        return;
    }
    const uint32_t at = draw(b, b->n);
    ebb_tensor_destroy(b->have[at]);
    b->have[at] = t;
}

static void act_unary(body *b) {
    static const char *const ops[] = {"relu", "tanh", "neg",  "sigmoid",
                                      "abs",  "sin",  "silu", "stop_gradient"};
    put(b, apply1(b->p, ops[draw(b, EBB_COUNT(ops))], any(b)));
}

static void act_binary(body *b) {
    static const char *const ops[] = {"add", "sub", "mul", "maximum", "minimum"};
    ebb_tensor *x = any(b), *y = any(b);
    const char *op = ops[draw(b, EBB_COUNT(ops))];
    const ebb_tensor_type tx = type_of(x), ty = type_of(y);
    if (tx.rank == ty.rank && memcmp(tx.dim, ty.dim, tx.rank * sizeof *tx.dim) == 0)
        put(b, apply2(b->p, op, x, y));
    else if (ty.rank == 0)
        put(b, apply2(b->p, op, x, y));
}

static void act_number(body *b) {
    const double changes = draw(b, 3) == 0 ? 0.125 * b->call : 0;
    ebb_tensor *n = number(b->p, 0.5 + ebb_rng_unit(&b->rng) + changes);
    put(b, apply2(b->p, draw(b, 2) ? "mul" : "add", any(b), n));
    ebb_tensor_destroy(n);
}

/* param 0 is [6,6]; 1 is [6]. */
static void act_linear(body *b) {
    ebb_tensor *x = any(b);
    const ebb_tensor_type type = type_of(x);
    if (type.rank != 2 || type.dim[1] != 6) return;
    ebb_tensor *y = apply2(b->p, "linear", x, b->p->param[0]);
    put(b, apply2(b->p, "bias", y, b->p->param[1]));
    ebb_tensor_destroy(y);
}

/* params 2 to 5: gamma, beta, running mean and variance. Twice in one body updates the latter twice. */
static void act_norm(body *b) {
    ebb_tensor *x = any(b), *const *p = b->p->param;
    const ebb_tensor_type type = type_of(x);
    if (type.rank != 2 || type.dim[1] != 6) return;
    put(b, apply(b->p, "batch_norm", (ebb_tensor *[]){x, p[2], p[3], p[4], p[5]}, 5, NULL, 0));
}

static void act_shape(body *b) {
    ebb_tensor *x = any(b);
    const ebb_tensor_type type = type_of(x);
    if (type.rank != 2) return;
    const int64_t flat[] = {type.dim[0] * type.dim[1]}, order[] = {1, 0}, one[] = {1};
    switch (draw(b, 4)) {
    case 0:
        put(b, apply(b->p, "reshape", &x, 1, &(ebb_build_attribute){"shape", flat, 1, 0}, 1));
        break;
    case 1:
        put(b, apply(b->p, "permute", &x, 1, &(ebb_build_attribute){"order", order, 2, 0}, 1));
        break;
    case 2:
        put(b, apply(b->p, "reduce_sum", &x, 1, &(ebb_build_attribute){"axis", one, 1, 0}, 1));
        break;
    default:
        put(b, mean_of(b->p, x));
        break;
    }
}

static void act_compare(body *b) {
    ebb_tensor *x = any(b), *zero = number(b->p, 0);
    ebb_tensor *less = apply2(b->p, "less", zero, x);
    put(b, apply(b->p, "where", (ebb_tensor *[]){less, x, zero}, 3, NULL, 0));
    ebb_tensor_destroy(less);
    ebb_tensor_destroy(zero);
}

static void act_dropout(body *b) {
    ebb_tensor *x = any(b);
    put(b, apply(b->p, "dropout", &x, 1, &(ebb_build_attribute){"p", NULL, 0, 0.25}, 1));
}

/* What the host reads comes back as a number. */
static void act_read(body *b) {
    ebb_tensor *mean = mean_of(b->p, any(b));
    float x;
    TEST_OK(b->p->env, ebb_tensor_read(mean, &x, sizeof x));
    b->p->digest = b->p->digest * 31 + (uint64_t)(int64_t)(x * 4096);
    ebb_tensor_destroy(mean);
    mean = number(b->p, 0.5 + 0.25 * (double)(x > 0));
    put(b, apply2(b->p, "mul", any(b), mean));
    ebb_tensor_destroy(mean);
}

static void act_fresh(body *b) {
    const ebb_tensor_type type = {EBB_FLOAT32, 2, {3, 6}};
    put(b, made(b->p, &type, 100 + b->call));
}

static void act_assign(body *b) {
    ebb_tensor *to = b->p->param[draw(b, 2)], *n = number(b->p, 0.75), *y = apply2(b->p, "mul", to, n);
    TEST_OK(b->p->env, ebb_tensor_assign(to, y));
    ebb_tensor_destroy(y);
    ebb_tensor_destroy(n);
}

static void act_excluded(body *b) {
    if (b->p->trace) TEST_OK(b->p->env, ebb_trace_exclude_begin(b->p->trace));
    ebb_tensor *y = apply1(b->p, "neg", any(b));
    if (b->call % 2) {
        ebb_tensor *z = apply1(b->p, "neg", y);
        ebb_tensor_destroy(y);
        y = z;
    }
    if (b->p->trace) TEST_OK(b->p->env, ebb_trace_exclude_end(b->p->trace));
    put(b, y);
}

static void act_drop(body *b) {
    if (b->n < 4) return;
    const uint32_t at = draw(b, b->n);
    ebb_tensor_destroy(b->have[at]);
    b->have[at] = b->have[--b->n];
}

static void act(body *b) {
    static void (*const often[])(body *) = {act_unary,  act_binary, act_number,
                                            act_linear, act_shape,  act_norm};
    static void (*const rarely[])(body *) = {act_compare, act_dropout,  act_read, act_fresh,
                                             act_assign,  act_excluded, act_drop, act_drop};
    if (draw(b, 3))
        often[draw(b, EBB_COUNT(often))](b);
    else
        rarely[draw(b, EBB_COUNT(rarely))](b);
}

/* ---- training
 * --------------------------------------------------------------------------------------------- */

static ebb_tensor *loss_of(body *b) {
    ebb_tensor *loss = mean_of(b->p, b->have[b->n - 1]);
    for (uint32_t i = 0; i < 2; i++) {
        ebb_tensor *part = mean_of(b->p, any(b)), *sum = apply2(b->p, "add", loss, part);
        ebb_tensor_destroy(part);
        ebb_tensor_destroy(loss);
        loss = sum;
    }
    return loss;
}

static void update(body *b, uint32_t i, ebb_tensor *grad, ebb_tensor *rate) {
    program *p = b->p;
    ebb_tensor *out[2];
    const ebb_build_attribute momentum = {"momentum", NULL, 0, 0.9};
    TEST_OK(p->env,
            ebb_apply(p->eager, ebb_op_named("sgd_momentum"),
                      (ebb_tensor *[]){p->param[i], grad, p->momentum[i], rate}, 4, &momentum, 1, out));
    ebb_tensor_destroy(out[0]);
    ebb_tensor_destroy(out[1]);
}

/* Gradients of the first four params; now and then one of them outlives the call. */
static void train(body *b) {
    program *p = b->p;
    ebb_tensor *loss = loss_of(b), *grads[4];
    TEST_OK(p->env, ebb_tape_gradients(b->tape, &loss, NULL, 1, p->param, 4, false, grads));
    ebb_tape_destroy(b->tape);
    b->tape = NULL;
    ebb_tensor *rate = number(p, 0.0625 / (1 + b->call));
    for (uint32_t i = 0; i < 4; i++) {
        if (grads[i]) update(b, i, grads[i], rate);
        if (grads[i] && draw(b, 3) == 0)
            put(b, grads[i]);
        else
            ebb_tensor_destroy(grads[i]);
    }
    ebb_tensor_destroy(rate);
    put(b, loss);
}

static void run(body *b, ebb_tensor *x, int fail_at) {
    program *p = b->p;
    TEST_OK(p->env, ebb_tape_create(p->eager, &b->tape));
    for (uint32_t i = 0; i < 4; i++) TEST_OK(p->env, ebb_tape_watch(b->tape, p->param[i]));
    put(b, apply1(p, "tanh", x));
    const int n = 4 + (int)draw(b, 20);
    for (int i = 0; i < n; i++) {
        ebb_tensor *out[1];
        act(b);
        if (i == fail_at)
            cr_assert_neq(ebb_apply(p->eager, ebb_op_named("linear"), (ebb_tensor *[]){x, p->param[1]}, 2,
                                    NULL, 0, out),
                          EBB_OK);
        if (i == fail_at) return;
    }
    if (draw(b, 4)) train(b);
}

void program_call(program *p, uint32_t call, int fail_at) {
    body b = {.p = p, .call = call};
    const ebb_tensor_type type = {EBB_FLOAT32, 2, {call % 3 == 2 ? 5 : 3, 6}};
    ebb_tensor *x = made(p, &type, call);
    ebb_rng_init(&b.rng, p->seed, 7);
    if (p->trace) TEST_OK(p->env, ebb_trace_begin(p->trace, NULL, 0, &x, 1));
    run(&b, x, fail_at);
    ebb_tape_destroy(b.tape);
    if (fail_at >= 0 && p->trace)
        ebb_trace_abort(p->trace);
    else if (p->trace)
        TEST_OK(p->env, ebb_trace_end(p->trace, b.have, b.n));
    for (uint32_t i = 0; i < b.n; i++) {
        if (fail_at < 0) digest(p, b.have[i]);
        ebb_tensor_destroy(b.have[i]);
    }
    ebb_tensor_destroy(x);
}

/* ---- life
 * ------------------------------------------------------------------------------------------------- */

void program_open(program *p, ebb_env *env, uint64_t seed, const char *device, uint32_t n_threads,
                  const ebb_trace_options *trace) {
    static const ebb_tensor_type types[PROGRAM_PARAMS] = {{EBB_FLOAT32, 2, {6, 6}}, {EBB_FLOAT32, 1, {6}},
                                                          {EBB_FLOAT32, 1, {6}},    {EBB_FLOAT32, 1, {6}},
                                                          {EBB_FLOAT32, 1, {6}},    {EBB_FLOAT32, 1, {6}}};
    ebb_options options;
    ebb_options_init(&options);
    options.device = device;
    options.n_threads = n_threads;
    *p = (program){.env = env, .seed = seed, .digest = UINT64_C(14695981039346656037)};
    TEST_OK(env, ebb_eager_create(env, &options, &p->eager));
    for (uint32_t i = 0; i < PROGRAM_PARAMS; i++) {
        p->param[i] = made(p, &types[i], 500 + i);
        TEST_OK(env, ebb_tensor_create(p->eager, &types[i], NULL, &p->momentum[i]));
    }
    ebb_tensor *variance = apply1(p, "abs", p->param[5]);
    TEST_OK(env, ebb_tensor_assign(p->param[5], variance));
    ebb_tensor_destroy(variance);
    if (trace) TEST_OK(env, ebb_trace_create(p->eager, trace, &p->trace));
}

void program_look(program *p) {
    for (uint32_t i = 0; i < PROGRAM_PARAMS; i++) {
        digest(p, p->param[i]);
        digest(p, p->momentum[i]);
    }
}

void program_close(program *p) {
    ebb_eager_memory memory;
    ebb_trace_destroy(p->trace);
    for (uint32_t i = 0; i < PROGRAM_PARAMS; i++) {
        ebb_tensor_destroy(p->param[i]);
        ebb_tensor_destroy(p->momentum[i]);
    }
    ebb_eager_memory_now(p->eager, &memory);
    cr_expect_eq(memory.n_values, 0, "%lld values are left", (long long)memory.n_values);
    cr_expect_eq(memory.live_bytes, 0);
    ebb_eager_destroy(p->eager);
}
