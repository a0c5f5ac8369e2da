/* Products of a description alone: without memory, and without a device. */
#include "conv_calls.h"
#include "support/scarce.h"

static ebb_status ask_all(ebb_env *env, const cuda_description *description, const test_calls *calls) {
    cuda_products *products;
    ebb_status status = cuda_products_open(
        env, description, NULL, &(cuda_products_options){.tf32 = true, .free_engines = true}, &products);
    for (size_t i = 0; i < calls->calls.n && status == EBB_OK; i += calls->calls.n / 3) {
        ebb_op_facts facts;
        status = products->api->facts(products, &calls->calls.at[i], &facts);
    }
    if (products) products->api->close(products);
    return status;
}

Test(products, without_memory_nothing_is_made_and_nothing_left) {
    ebb_env *env = test_env_open();
    test_calls calls;
    test_device d;
    uint32_t n_failed = 0;
    int64_t n = 1;
    test_calls_init(&calls, env);
    test_calls_add(&calls, "mobilenet_v2", 1);
    test_device_open(env, "h200.json", true, &d);
    const uint64_t before = ebb_env_allocation_count(env);
    TEST_OK(env, ask_all(env, &d.description, &calls));
    const int64_t n_needed = (int64_t)(ebb_env_allocation_count(env) - before);
    for (;; n++) {
        scarce_memory memory = {.fail_at = UINT64_MAX, .once = true};
        ebb_env *poor = scarce_env(&memory);
        memory.fail_at = memory.n_calls + (uint64_t)n;
        const ebb_status status = ask_all(poor, &d.description, &calls);
        cr_assert_eq(ebb_env_allocated_bytes(poor), 0);
        ebb_env_destroy(poor);
        n_failed += status != EBB_OK;
        if (status == EBB_OK) break;
        cr_assert_eq(status, EBB_NO_MEMORY, "%s", ebb_status_name(status));
    }
    cr_expect_gt(n_failed, 10, "%u", n_failed);
    cr_expect_geq(n, n_needed, "%lld blocks were enough for %lld", (long long)n, (long long)n_needed);
    test_device_close(env, &d);
    test_calls_deinit(&calls);
    test_env_close(env);
}

Test(products, nothing_can_be_prepared_without_a_device) {
    ebb_env *env = test_env_open();
    test_calls calls;
    test_device d;
    test_calls_init(&calls, env);
    test_calls_add(&calls, "resnet18", 1);
    test_device_open(env, "h200.json", false, &d);
    for (size_t i = 0; i < calls.calls.n; i++) {
        void *object = &d;
        cr_expect_eq(d.products->api->prepare(d.products, &calls.calls.at[i], &object), EBB_UNAVAILABLE);
        cr_expect_null(object);
        cr_expect_not_null(strstr(ebb_env_error(env), "NVIDIA H200 is a description"), "%s",
                           ebb_env_error(env));
    }
    test_device_close(env, &d);
    test_calls_deinit(&calls);
    test_env_close(env);
}
