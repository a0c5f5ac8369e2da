/* Kernel objects and launches, up to the libraries' last step. */
#include <cuda_runtime_api.h>

#include "conv_calls.h"
#include "libraries.h"

typedef struct setting {
    ebb_env *env;
    test_calls calls;
    test_machine machine;
    cuda_products *products;
} setting;

static void begin(setting *s) {
    s->env = test_env_open();
    test_calls_init(&s->calls, s->env);
    test_calls_add(&s->calls, "resnet18", 4);
    test_machine_open(s->env, "h200.json", true, true, NULL, &s->machine);
    s->products = s->machine.products;
}

static void end(setting *s) {
    test_machine_close(&s->machine);
    test_calls_deinit(&s->calls);
    test_env_close(s->env);
}

static char places[8][3], scratches[8];

/* Launches at places[i] with scratches[i]: in, in, out. */
static void launch_at(setting *s, void *object, int i) {
    void *in[] = {&places[i][0], &places[i][1]}, *out[] = {&places[i][2]};
    const ebb_launch launch = {.in = in, .out = out, .scratch = &scratches[i]};
    const uint64_t before = ebb_env_allocation_count(s->env);
    TEST_OK(s->env, s->products->api->launch(s->products, object, &launch));
    cr_expect_eq(ebb_env_allocation_count(s->env), before, "a launch allocates");
}

static void check_convolution(setting *s, const ebb_call *call) {
    void *object, *first;
    TEST_OK(s->env, s->products->api->prepare(s->products, call, &object));
    for (int i = 0; i < 8; i++) {
        launch_at(s, object, i);
        char *const in0 = &places[i][0], *const in1 = &places[i][1], *const out = &places[i][2];
        const ebb_opcode code = call->op->code;
        const test_executed *last = test_last_executed();
        cr_expect_eq(test_fake.stream, s->machine.device->stream);
        for (int k = 0; k < 3; k++) cr_expect_eq(last->ids[k], k + 1);
        cr_expect_eq(last->at[0], code == EBB_OP_conv2d_dgrad ? out : in0);
        cr_expect_eq(last->at[1], code == EBB_OP_conv2d_wgrad ? out : in1);
        cr_expect_eq(last->at[2], code == EBB_OP_conv2d ? out : code == EBB_OP_conv2d_dgrad ? in0 : in1);
        cr_expect_eq(last->scratch, &scratches[i]);
    }
    /* An op and its clones take turns: what was made for their addresses is used again, and the plan is
     * one. */
    const cudnnBackendDescriptor_t plan = test_last_executed()->plan;
    launch_at(s, object, 0);
    first = test_last_executed()->pack;
    launch_at(s, object, 1);
    cr_expect_neq(test_last_executed()->pack, first);
    launch_at(s, object, 0);
    cr_expect_eq(test_last_executed()->pack, first);
    cr_expect_eq(test_last_executed()->plan, plan);
    s->products->api->release(s->products, object);
}

Test(launches, of_convolutions_hand_on_their_addresses_and_allocate_nothing) {
    setting s;
    begin(&s);
    test_fake.on = true;
    int n = 0;
    for (size_t i = 0; i < s.calls.calls.n; i += 4) {
        if (!test_is_convolution(&s.calls.calls.at[i])) continue;
        check_convolution(&s, &s.calls.calls.at[i]);
        n++;
    }
    cr_expect_gt(n, 5);
    cr_expect_eq(test_fake.n_executed, 11 * n);
    end(&s);
}

Test(launches, of_matrix_products_take_the_first_algorithm_that_qualifies) {
    setting s;
    int n = 0;
    begin(&s);
    test_fake.on = true;
    for (size_t i = 0; i < s.calls.calls.n; i++) {
        const ebb_call *call = &s.calls.calls.at[i];
        void *object;
        uint32_t scheme;
        size_t written;
        ebb_op_facts facts;
        if (test_is_convolution(call)) continue;
        TEST_OK(s.env, s.products->api->facts(s.products, call, &facts));
        TEST_OK(s.env, s.products->api->prepare(s.products, call, &object));
        launch_at(&s, object, n);
        const test_multiplied *last = test_last_multiplied();
        const bool gradient = call->op->code == EBB_OP_linear_wgrad;
        cr_expect_eq(last->a, &places[n][gradient ? 0 : 1]);
        cr_expect_eq(last->b, &places[n][gradient ? 1 : 0]);
        cr_expect_eq(last->c, &places[n][2]);
        cr_expect_eq(last->scratch, &scratches[n]);
        cr_expect_eq((int64_t)last->scratch_bytes, facts.scratch_bytes);
        cr_expect_eq(test_fake.stream, s.machine.device->stream);
        cr_assert_eq(cublasLtMatmulAlgoConfigGetAttribute(&last->algorithm,
                                                          CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                                          sizeof scheme, &written),
                     CUBLAS_STATUS_SUCCESS);
        cr_expect_eq(scheme, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, "%u", scheme);
        s.products->api->release(s.products, object);
        n++;
    }
    cr_expect_eq(n, 3);
    cr_expect_eq(test_fake.n_multiplied, 3);
    end(&s);
}

/* The library itself, on a machine without a device. */
Test(launches, without_a_device_the_libraries_say_that_they_do_not_start) {
    setting s;
    begin(&s);
    int n_devices = 0;
    if (cudaGetDeviceCount(&n_devices) == cudaSuccess && n_devices > 0) {
        end(&s);
        return; /* they do */
    }
    for (size_t i = 0; i < s.calls.calls.n; i++) {
        const ebb_call *call = &s.calls.calls.at[i];
        void *object = &s;
        cr_expect_eq(s.products->api->prepare(s.products, call, &object), EBB_UNAVAILABLE, "%s",
                     call->op->name);
        cr_expect_null(object);
        cr_expect_not_null(strstr(ebb_env_error(s.env), "does not start"), "%s", ebb_env_error(s.env));
    }
    end(&s);
}
