/* Plans that are made with a device's handle: they may want more scratch than the description's, and fail
 * where the device is full. */
#include "conv_calls.h"
#include "exec/cuda/cudnn/graph.h"
#include "libraries.h"

enum { MORE = 1 << 20 };

typedef struct row {
    const ebb_op_info *op;
    test_geometry geometry;
    bool tf32;
} row;

static const row rows[] = {
    {&ebb_op_conv2d, {{64, 64, 28, 28}, {64, 64, 3, 3}, {1, 1}, 1}, false},
    {&ebb_op_conv2d_dgrad, {{257, 64, 56, 56}, {64, 64, 3, 3}, {1, 1}, 1}, false}, /* in pieces */
    {&ebb_op_conv2d_wgrad, {{1027, 3, 224, 224}, {64, 3, 7, 7}, {2, 2}, 3}, true}, /* that add */
};
static const row *const in_adding_pieces = &rows[2];

/* A call, what the description alone says of it, and a device. */
typedef struct setting {
    ebb_env *env;
    test_conv conv;
    ebb_op_facts described;
    test_machine machine;
    dnn_set set; /* owns what plans with a handle are made of */
} setting;

static void begin(setting *s, const row *r, test_handles handles) {
    test_device device;
    s->env = test_env_open();
    test_conv_make(s->env, r->op, &r->geometry, &s->conv);
    test_device_open(s->env, "h200.json", r->tf32, &device);
    TEST_OK(s->env, device.products->api->facts(device.products, &s->conv.call, &s->described));
    cr_assert_gt(s->described.scratch_bytes, 0);
    test_device_close(s->env, &device);
    test_machine_open(s->env, "h200.json", r->tf32, true, NULL, &s->machine);
    dnn_set_init(&s->set, s->env);
    memset(&test_fake, 0, sizeof test_fake);
    test_fake.described = dnn_device(&s->set, s->machine.description.properties);
    TEST_OK(s->env, dnn_set_status(&s->set, EBB_UNAVAILABLE, "description"));
    test_fake.handles = handles;
    test_fake.on = true;
}

static void end(setting *s) {
    test_machine_close(&s->machine);
    dnn_set_deinit(&s->set);
    test_env_close(s->env);
}

static ebb_status facts_of(setting *s, ebb_op_facts *out) {
    return s->machine.products->api->facts(s->machine.products, &s->conv.call, out);
}

static ebb_status prepare(setting *s, void **object) {
    return s->machine.products->api->prepare(s->machine.products, &s->conv.call, object);
}

/* What the facts say and what is executed: by the description's choice, within the facts' scratch, of which
 * some plan wants all. */
static void check_run(setting *s, int64_t more, bool by_handle) {
    static char places[4];
    void *in[] = {&places[0], &places[1]}, *out[] = {&places[2]}, *object;
    const ebb_launch launch = {.in = in, .out = out, .scratch = &places[3]};
    ebb_op_facts facts;
    int64_t most = 0;
    TEST_OK(s->env, facts_of(s, &facts));
    cr_expect_str_eq(facts.choice, s->described.choice);
    cr_expect_eq(facts.scratch_bytes, s->described.scratch_bytes + more, "%lld, not %lld + %lld",
                 (long long)facts.scratch_bytes, (long long)s->described.scratch_bytes, (long long)more);
    TEST_OK(s->env, prepare(s, &object));
    TEST_OK(s->env, s->machine.products->api->launch(s->machine.products, object, &launch));
    cr_assert(test_fake.n_executed > 0 && test_fake.n_executed <= TEST_MOST_EXECUTED);
    for (int i = 0; i < test_fake.n_executed; i++) {
        const test_executed *e = &test_fake.executed[i];
        cr_expect_eq(e->by_handle, by_handle);
        cr_expect_eq(e->scratch, launch.scratch);
        most = ebb_max_i64(most, dnn_plan_scratch(e->plan));
    }
    cr_expect_eq(most, facts.scratch_bytes);
    s->machine.products->api->release(s->machine.products, object);
}

Test(handles, plans_of_a_device_are_given_the_scratch_that_they_want) {
    setting s;
    for (size_t i = 0; i < 2 * EBB_COUNT(rows); i++) {
        begin(&s, &rows[i / 2], i % 2 ? TEST_PLAN_HANDLES : TEST_PLAN_AND_GRAPH_HANDLES);
        test_fake.more_scratch = MORE;
        check_run(&s, MORE, true);
        cr_expect_gt(test_fake.n_handle_plans, 0);
        cr_expect_eq(test_fake.n_handle_graphs, test_fake.n_handle_plans);
        end(&s);
    }
}

Test(handles, the_scratch_is_that_of_the_plan_among_the_pieces_that_wants_most) {
    setting s;
    begin(&s, in_adding_pieces, TEST_PLAN_AND_GRAPH_HANDLES);
    test_fake.more_adding = MORE;
    check_run(&s, MORE, true);
    cr_expect_gt(test_fake.n_executed, 1);
    end(&s);
}

/* A plan that wants more when it is made than when it was asked about. */
Test(handles, a_plan_that_wants_more_than_was_told_is_refused) {
    setting s;
    ebb_op_facts facts;
    for (size_t i = 0; i < EBB_COUNT(rows) + 1; i++) {
        const bool adding = i == EBB_COUNT(rows);
        void *object = &s;
        begin(&s, adding ? in_adding_pieces : &rows[i], TEST_PLAN_AND_GRAPH_HANDLES);
        TEST_OK(s.env, facts_of(&s, &facts));
        if (adding)
            test_fake.more_adding = MORE;
        else
            test_fake.more_scratch = 1;
        cr_expect_eq(prepare(&s, &object), EBB_DEVICE);
        cr_expect_null(object);
        cr_expect(strstr(ebb_env_error(s.env), "wants") && strstr(ebb_env_error(s.env), facts.choice), "%s",
                  ebb_env_error(s.env));
        test_fake.more_scratch = test_fake.more_adding = 0;
        check_run(&s, 0, true);
        end(&s);
    }
}

Test(handles, a_full_device_is_told_and_no_other_engine_taken_for_it) {
    static const cudnnStatus_t full[] = {CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
                                         CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED};
    setting s;
    ebb_op_facts facts;
    for (size_t i = 0; i < EBB_COUNT(full) * EBB_COUNT(rows); i++) {
        void *object = &s;
        begin(&s, &rows[i % EBB_COUNT(rows)], TEST_PLAN_AND_GRAPH_HANDLES);
        test_fake.plan_status = full[i / EBB_COUNT(rows)];
        cr_expect_eq(facts_of(&s, &facts), EBB_DEVICE);
        cr_expect(strstr(ebb_env_error(s.env), "ALLOCATION_FAILED"), "%s", ebb_env_error(s.env));
        cr_expect_eq(test_fake.n_handle_plans, 1);
        test_fake.plan_status = CUDNN_STATUS_SUCCESS;
        TEST_OK(s.env, facts_of(&s, &facts)); /* nothing was kept of it */
        test_fake.plan_status = full[i / EBB_COUNT(rows)];
        cr_expect_eq(prepare(&s, &object), EBB_DEVICE);
        cr_expect_null(object);
        test_fake.plan_status = CUDNN_STATUS_SUCCESS;
        check_run(&s, 0, true);
        end(&s);
    }
}

Test(handles, where_no_plan_has_one_the_descriptions_is_run) {
    /* The driver's troubles, too: the engine stays, and the launch will tell. */
    static const cudnnStatus_t refusals[] = {CUDNN_STATUS_NOT_SUPPORTED,
                                             CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER,
                                             CUDNN_STATUS_EXECUTION_FAILED_CUDART};
    setting s;
    for (size_t i = 0; i < EBB_COUNT(rows) * EBB_COUNT(refusals); i++) {
        begin(&s, &rows[i % EBB_COUNT(rows)], TEST_PLAN_AND_GRAPH_HANDLES);
        test_fake.plan_status = refusals[i / EBB_COUNT(rows)];
        check_run(&s, 0, false);
        cr_expect_gt(test_fake.n_handle_graphs, 0);
        cr_expect_eq(test_fake.n_handle_plans, 2 * test_fake.n_handle_graphs); /* both ways */
        end(&s);
    }
}
