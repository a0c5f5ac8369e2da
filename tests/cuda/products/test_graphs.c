/* What cuDNN is told of a convolution: dimensions, channels-last strides and geometry, of each of the three
 * ops, in sizes that are all different, as its own print of a plan has them. And where a launch's addresses
 * go. */
#include <stdio.h>

#include "conv_calls.h"
#include "exec/cuda/cudnn/graph.h"

enum { MOST_TEXT = 1 << 14 };

/* x[2,6,11,13] * w[9,2,3,5] in 3 groups, stride 2,1, pad 1,3, dilation 1,2 -> y[2,9,6,11] */
static const ebb_type x = {.dtype = EBB_F32, .rank = 4, .dim = {2, 6, 11, 13}};
static const ebb_type w = {.dtype = EBB_F32, .rank = 4, .dim = {9, 2, 3, 5}};
static const ebb_type y = {.dtype = EBB_F32, .rank = 4, .dim = {2, 9, 6, 11}};

typedef struct row {
    const ebb_op_info *op;
    const ebb_type *in[2], *out;
    const char *operation;
} row;

static const row rows[] = {
    {&ebb_op_conv2d, {&x, &w}, &y, "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR"},
    {&ebb_op_conv2d_dgrad, {&y, &w}, &x, "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR"},
    {&ebb_op_conv2d_wgrad, {&x, &y}, &w, "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR"},
};

static void expect(const char *text, const char *part) {
    cr_expect_not_null(strstr(text, part), "%s is not in %s", part, text);
}

static void check_row(ebb_env *env, const row *r, const cuda_description *description) {
    static char text[MOST_TEXT];
    ebb_type in[2] = {*r->in[0], *r->in[1]}, out = {0};
    ebb_attr attr[EBB_CONV_SIZE + 1] = {[EBB_CONV_STRIDE] = {.i = {2, 1}},
                                        [EBB_CONV_PAD] = {.i = {1, 3}},
                                        [EBB_CONV_DILATION] = {.i = {1, 2}},
                                        [EBB_CONV_GROUPS] = {.i = {3}},
                                        [EBB_CONV_SIZE] = {.i = {r->out->dim[2], r->out->dim[3]}}};
    const ebb_call call = {.op = r->op, .in = in, .out = &out, .n_in = 2, .n_out = 1, .attr = attr};
    TEST_OK(env, r->op->infer(env, &call, &out));
    cr_assert_arr_eq(out.dim, r->out->dim, 4 * sizeof *out.dim);
    dnn_configs *configs = ebb_calloc(env, 1, sizeof *configs);
    dnn_set set;
    dnn_set_init(&set, env);
    cudnnBackendDescriptor_t device = dnn_device(&set, description->properties);
    cudnnBackendDescriptor_t graph = dnn_conv_graph(&set, &call, false, NULL);
    TEST_OK(env, dnn_set_status(&set, EBB_BAD_INPUT, r->op->name));
    TEST_OK(env, dnn_configs_find(env, graph, device, CUDNN_HEUR_MODE_FALLBACK,
                                  &(dnn_allowed){.winograd = true, .uncompared = true}, configs));
    cr_assert_gt(configs->n, 0);
    cudnnBackendDescriptor_t plan = dnn_config_plan(&set, graph, &configs->at[0], NULL, device);
    cr_assert_not_null(plan);
    memset(text, 0, sizeof text);
    (void)dnn_get(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, MOST_TEXT - 1,
                  text);
    expect(text, r->operation);
    expect(text,
           "{\"name\":\"1\",\"dataType\":\"CUDNN_DATA_FLOAT\",\"dim\":[2,6,11,13],\"stride\":[858,1,78,6]");
    expect(text,
           "{\"name\":\"2\",\"dataType\":\"CUDNN_DATA_FLOAT\",\"dim\":[9,2,3,5],\"stride\":[30,1,10,2]");
    expect(text,
           "{\"name\":\"3\",\"dataType\":\"CUDNN_DATA_FLOAT\",\"dim\":[2,9,6,11],\"stride\":[594,1,99,9]");
    expect(text, "\"ptrAlignment\":16");
    expect(
        text,
        "\"mode\":\"CUDNN_CROSS_CORRELATION\",\"mathPrec\":\"CUDNN_DATA_FLOAT\",\"alpha\":1.0,\"beta\":0.0,"
        "\"pad\":[1,3],\"stride\":[2,1],\"dilation\":[1,2]");
    dnn_set_deinit(&set);
    ebb_cfree(env, configs, 1, sizeof *configs);
}

Test(products, cudnn_is_told_dimensions_strides_and_geometry_as_ours_are) {
    ebb_env *env = test_env_open();
    test_device device;
    test_device_open(env, "h200.json", false, &device);
    for (size_t i = 0; i < EBB_COUNT(rows); i++) check_row(env, &rows[i], &device.description);
    test_device_close(env, &device);
    test_env_close(env);
}

Test(products, a_launchs_addresses_are_x_w_and_y) {
    char a, b, c;
    void *in[] = {&a, &b}, *out[] = {&c};
    const ebb_launch launch = {.in = in, .out = out};
    void *const wanted[][3] = {{&a, &b, &c}, {&c, &b, &a}, {&a, &c, &b}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        const ebb_call call = {.op = rows[i].op, .n_in = 2, .n_out = 1};
        void *at[3];
        dnn_conv_pointers(&call, &launch, at);
        for (int k = 0; k < 3; k++) cr_expect_eq(at[k], wanted[i][k], "%s %d", rows[i].op->name, k);
    }
}

Test(products, what_cudnn_does_not_take_is_refused_in_one_line) {
    ebb_env *env = test_env_open();
    test_device device;
    ebb_op_facts facts;
    test_device_open(env, "h200.json", false, &device);
    ebb_type in[2] = {x, w};
    ebb_type wrong = y; /* not what the convolution gives */
    wrong.dim[3] = 7;
    const ebb_attr attr[EBB_CONV_SIZE] = {{.i = {2, 1}}, {.i = {1, 3}}, {.i = {1, 2}}, {.i = {3}}};
    const ebb_call call = {
        .op = &ebb_op_conv2d, .in = in, .out = &wrong, .n_in = 2, .n_out = 1, .attr = attr};
    for (int again = 0; again < 2; again++) { /* by the library, then from memory */
        cr_expect_eq(device.products->api->facts(device.products, &call, &facts), EBB_BAD_INPUT);
        cr_expect_not_null(strstr(ebb_env_error(env), "conv2d f32[2,6,11,13] f32[9,2,3,5]"), "%s",
                           ebb_env_error(env));
        cr_expect_not_null(strstr(ebb_env_error(env), "NVIDIA H200"), "%s", ebb_env_error(env));
    }
    test_device_close(env, &device);
    test_env_close(env);
}
