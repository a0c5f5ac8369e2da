/* Random training functions: draws depend on the seed alone, so that every run of one takes the same way.
 */
#include "trace/random_body.h"

static void digest(program *p, const ebb_tensor *t) {
    uint8_t bytes[16384];
    const size_t n = (size_t)ebb_tensor_size_bytes(t);
    cr_assert(n <= sizeof bytes);
    TEST_OK(p->env, ebb_tensor_read(t, bytes, n));
    for (size_t i = 0; i < n; i++) p->digest = (p->digest ^ bytes[i]) * UINT64_C(1099511628211);
}

/* ---- training ------------------------------------------------------------------------------- */

static ebb_tensor *loss_of(body *b) {
    ebb_tensor *loss = body_mean(b->p, b->have[b->n - 1]);
    for (uint32_t i = 0; i < 2; i++) {
        ebb_tensor *part = body_mean(b->p, body_any(b)), *sum = body_apply2(b->p, "add", loss, part);
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
    ebb_tensor *rate = body_number(p, 0.0625 / (1 + b->call));
    for (uint32_t i = 0; i < 4; i++) {
        if (grads[i]) update(b, i, grads[i], rate);
        if (grads[i] && body_draw(b, 3) == 0)
            body_put(b, grads[i]);
        else
            ebb_tensor_destroy(grads[i]);
    }
    ebb_tensor_destroy(rate);
    body_put(b, loss);
}

static void run(body *b, ebb_tensor *x, int fail_at) {
    program *p = b->p;
    TEST_OK(p->env, ebb_tape_create(p->eager, &b->tape));
    for (uint32_t i = 0; i < 4; i++) TEST_OK(p->env, ebb_tape_watch(b->tape, p->param[i]));
    body_put(b, body_apply1(p, "tanh", x));
    const int n = 4 + (int)body_draw(b, 20);
    for (int i = 0; i < n; i++) {
        ebb_tensor *out[1];
        body_act(b);
        if (i == fail_at)
            cr_assert_neq(ebb_apply(p->eager, ebb_op_named("linear"), (ebb_tensor *[]){x, p->param[1]}, 2,
                                    NULL, 0, out),
                          EBB_OK);
        if (i == fail_at) return;
    }
    if (body_draw(b, 4)) train(b);
}

void program_call(program *p, uint32_t call, int fail_at) {
    body b = {.p = p, .call = call};
    const ebb_tensor_type type = {EBB_FLOAT32, 2, {call % 3 == 2 ? 5 : 3, 6}};
    ebb_tensor *x = body_made(p, &type, call);
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

/* ---- life ----------------------------------------------------------------------------------- */

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
        p->param[i] = body_made(p, &types[i], 500 + i);
        TEST_OK(env, ebb_tensor_create(p->eager, &types[i], NULL, &p->momentum[i]));
    }
    ebb_tensor *variance = body_apply1(p, "abs", p->param[5]);
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
