/* Configurations as numbers: they make the very plan that cuDNN's heuristics mean, and have the same names
 * each time. */
#include <stdlib.h>

#include "conv_calls.h"
#include "exec/cuda/cudnn/graph.h"

static const char *const some_models[] = {"mobilenet_v2", "resnet50"};

enum { MOST_TEXT = 1 << 14 };

/* The plan's JSON from its engine on: ids of tensors before it are cuDNN's count. */
static void plan_text(cudnnBackendDescriptor_t plan, char text[MOST_TEXT]) {
    memset(text, 0, MOST_TEXT);
    const int64_t n =
        dnn_get(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, NULL);
    cr_assert(n > 0 && n < MOST_TEXT, "%lld", (long long)n);
    cr_assert_eq(dnn_get(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, n, text), n);
    const char *engine = strstr(text, "\"engine\":");
    cr_assert_not_null(engine, "%s", text);
    memmove(text, engine, strlen(engine) + 1);
}

/* The heuristics' own plans of mode A in order, as text; those without one are left out. */
static size_t plans_of_heuristics(ebb_env *env, cudnnBackendDescriptor_t graph,
                                  cudnnBackendDescriptor_t device, char (*texts)[MOST_TEXT], size_t most) {
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    cudnnBackendDescriptor_t found[DNN_MOST_CONFIGS];
    dnn_set set;
    dnn_set_init(&set, env);
    cudnnBackendDescriptor_t h = dnn_new(&set, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    dnn_put_one(&set, h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    dnn_put(&set, h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    dnn_put_one(&set, h, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
    dnn_finish(&set, h);
    for (size_t i = 0; i < DNN_MOST_CONFIGS; i++)
        found[i] = dnn_new(&set, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    TEST_OK(env, dnn_set_status(&set, EBB_DEVICE, "heuristics"));
    const int64_t n =
        dnn_get(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, DNN_MOST_CONFIGS, found);
    size_t n_texts = 0;
    for (int64_t i = 0; i < n && n_texts < most; i++) {
        dnn_set one;
        dnn_set_init(&one, env);
        cudnnBackendDescriptor_t plan = dnn_new(&one, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        dnn_put_one(&one, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
        dnn_put_one(&one, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, found[i]);
        dnn_finish(&one, plan);
        if (dnn_ok(&one)) plan_text(plan, texts[n_texts++]);
        dnn_set_deinit(&one);
    }
    dnn_set_deinit(&set);
    return n_texts;
}

/* Every configuration that was read is, made anew, one of the heuristics' plans, in their order. Returns
 * how many. */
static uint32_t check_anew(ebb_env *env, const ebb_call *call, const char *name,
                           cudnnBackendDescriptor_t device) {
    static char theirs[DNN_MOST_CONFIGS][MOST_TEXT], ours[MOST_TEXT];
    dnn_configs *configs = calloc(1, sizeof *configs);
    dnn_set set;
    dnn_set_init(&set, env);
    cudnnBackendDescriptor_t graph = dnn_conv_graph(&set, call, false, NULL);
    TEST_OK(env, dnn_set_status(&set, EBB_BAD_INPUT, name));
    TEST_OK(env, dnn_configs_find(env, graph, device, CUDNN_HEUR_MODE_A,
                                  &(dnn_allowed){.tensor_cores = true, .winograd = true}, configs));
    const size_t n_theirs = plans_of_heuristics(env, graph, device, theirs, DNN_MOST_CONFIGS);
    size_t at = 0;
    for (uint32_t i = 0; i < configs->n; i++) {
        cudnnBackendDescriptor_t plan = dnn_config_plan(&set, graph, &configs->at[i], NULL, device);
        TEST_OK(env, dnn_set_status(&set, EBB_DEVICE, name));
        cr_assert_eq(dnn_plan_scratch(plan), configs->at[i].scratch_bytes, "%s", name);
        plan_text(plan, ours);
        while (at < n_theirs && strcmp(theirs[at], ours) != 0) at++;
        cr_assert_lt(at, n_theirs, "%s: configuration %u is none of cuDNN's: %s", name, i, ours);
    }
    const uint32_t n = configs->n;
    free(configs);
    dnn_set_deinit(&set);
    return n;
}

Test(products, tf32_is_refused_where_a_device_has_none) {
    ebb_env *env = test_env_open();
    cuda_description description;
    cuda_products *products = (cuda_products *)env;
    TEST_OK(env, cuda_description_read(env, EBB_DEVICES_DIR "/rtx2080ti.json", &description));
    cr_expect_eq(
        cuda_products_open(env, &description, NULL, &(cuda_products_options){.tf32 = true}, &products),
        EBB_USAGE);
    cr_expect_null(products);
    cr_expect(strstr(ebb_env_error(env), "2080 Ti does not multiply in TF32"), "%s", ebb_env_error(env));
    cuda_description_deinit(env, &description);
    test_env_close(env);
}

Test(products, a_configuration_kept_as_numbers_makes_the_plan_that_was_offered) {
    static const char *const devices[] = {"h200.json", "rtx2080ti.json"};
    static const bool tf32[] = {true, false};
    ebb_env *env = test_env_open();
    for (size_t d = 0; d < EBB_COUNT(devices); d++) {
        test_device device;
        test_calls calls;
        dnn_set set;
        int64_t n = 0, n_knobs_seen = 0;
        test_device_open(env, devices[d], tf32[d], &device);
        test_calls_init(&calls, env);
        for (size_t m = 0; m < EBB_COUNT(some_models); m++) test_calls_add(&calls, some_models[m], 64);
        dnn_set_init(&set, env);
        cudnnBackendDescriptor_t described = dnn_device(&set, device.description.properties);
        for (size_t i = 0; i < calls.calls.n; i += 5) {
            if (!test_is_convolution(&calls.calls.at[i])) continue;
            n += check_anew(env, &calls.calls.at[i], calls.texts.at[i], described);
            n_knobs_seen++;
        }
        cr_expect_gt(n, 100, "%lld of %lld", (long long)n, (long long)n_knobs_seen);
        dnn_set_deinit(&set);
        test_calls_deinit(&calls);
        test_device_close(env, &device);
    }
    test_env_close(env);
}

/* All facts of all choices into text. */
static void print_choices(ebb_text *text, cuda_products *products, const ebb_call *call) {
    ebb_call asked = *call;
    ebb_op_facts facts = {.n_choices = 1};
    for (asked.choice = 0; asked.choice < facts.n_choices; asked.choice++) {
        TEST_OK(products->env, products->api->facts(products, &asked, &facts));
        ebb_text_add(text, "%s %s %lld %lld;", facts.choice, facts.kind, (long long)facts.scratch_bytes,
                     (long long)facts.time_ns);
    }
}

Test(products, choices_are_the_same_whoever_asks_and_in_whatever_order) {
    ebb_env *env = test_env_open();
    test_calls calls;
    ebb_text first, second;
    test_calls_init(&calls, env);
    test_calls_add(&calls, "resnet18", 64);
    for (int tf32 = 0; tf32 < 2; tf32++) {
        test_device a, b;
        test_device_open(env, "h200.json", tf32 != 0, &a);
        test_device_open(env, "h200.json", tf32 != 0, &b);
        for (size_t i = calls.calls.n; i-- > 0;) { /* b is asked for all of them before, backwards */
            ebb_op_facts facts;
            TEST_OK(env, b.products->api->facts(b.products, &calls.calls.at[i], &facts));
        }
        for (size_t i = 0; i < calls.calls.n; i++) {
            ebb_text_init(&first, env);
            ebb_text_init(&second, env);
            print_choices(&first, a.products, &calls.calls.at[i]);
            print_choices(&second, b.products, &calls.calls.at[i]);
            cr_expect_str_eq(first.at, second.at);
            ebb_text_deinit(&first);
            ebb_text_deinit(&second);
        }
        test_device_close(env, &a);
        test_device_close(env, &b);
    }
    test_calls_deinit(&calls);
    test_env_close(env);
}

Test(products, strict_f32_never_takes_tensor_cores) {
    ebb_env *env = test_env_open();
    test_calls calls;
    test_device strict, rounded;
    int64_t n_tf32 = 0;
    test_calls_init(&calls, env);
    test_calls_add(&calls, "resnet50", 64);
    test_device_open(env, "h200.json", false, &strict);
    test_device_open(env, "h200.json", true, &rounded);
    for (size_t i = 0; i < calls.calls.n; i++) {
        ebb_call call = calls.calls.at[i];
        ebb_op_facts facts = {.n_choices = 1};
        for (call.choice = 0; call.choice < facts.n_choices; call.choice++) {
            TEST_OK(env, strict.products->api->facts(strict.products, &call, &facts));
            cr_expect_null(strstr(facts.kind, "tf32"), "%s: %s", calls.texts.at[i], facts.choice);
        }
        call.choice = 0;
        TEST_OK(env, rounded.products->api->facts(rounded.products, &call, &facts));
        n_tf32 += strstr(facts.kind, "tf32") != NULL;
    }
    cr_expect_gt(n_tf32, (int64_t)calls.calls.n * 3 / 4, "%lld of %zu", (long long)n_tf32, calls.calls.n);
    test_device_close(env, &strict);
    test_device_close(env, &rounded);
    test_calls_deinit(&calls);
    test_env_close(env);
}

/* Other engines round in another order: without free_engines a call has one, which the budget cannot
 * change, among those that there are and not the one with the most scratch wherever that is out of
 * proportion. */
Test(choices, without_free_engines_a_call_has_one) {
    ebb_env *env = test_env_open();
    test_calls calls;
    test_device free;
    cuda_products *fixed;
    uint32_t n_several = 0, n_of_cublaslt = 0;
    test_calls_init(&calls, env);
    test_calls_add(&calls, "resnet50", 64);
    test_device_open(env, "h200.json", false, &free);
    TEST_OK(env, cuda_products_open(env, &free.description, NULL, &(cuda_products_options){0}, &fixed));
    for (size_t i = 0; i < calls.calls.n; i++) {
        ebb_call call = calls.calls.at[i];
        ebb_op_facts one, other = {.n_choices = 1};
        bool among = false;
        TEST_OK(env, fixed->api->facts(fixed, &call, &one));
        cr_assert_eq(one.n_choices, 1, "%s", calls.texts.at[i]);
        for (call.choice = 0; call.choice < other.n_choices; call.choice++) {
            TEST_OK(env, free.products->api->facts(free.products, &call, &other));
            among = among ||
                    (strcmp(one.choice, other.choice) == 0 && one.scratch_bytes == other.scratch_bytes);
        }
        cr_assert(among, "%s", calls.texts.at[i]);
        n_several += other.n_choices > 1;
        n_of_cublaslt += test_is_convolution(&call) && strcmp(one.choice, "f32") == 0;
        call.choice = one.n_choices;
        cr_assert_eq(fixed->api->facts(fixed, &call, &other), EBB_USAGE, "%s", calls.texts.at[i]);
    }
    cr_assert_gt(n_several, 10);
    cr_assert_gt(n_of_cublaslt, 10);
    fixed->api->close(fixed);
    test_device_close(env, &free);
    test_calls_deinit(&calls);
    test_env_close(env);
}
