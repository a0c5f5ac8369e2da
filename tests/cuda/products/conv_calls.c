/* See conv_calls.h. */
#include "conv_calls.h"

#include <stdio.h>

#include "engine/engine.h"

const char *const test_models[] = {"densenet121", "gpt2_small", "mobilenet_v2", "resnet101",
                                   "resnet18",    "resnet50",   "unet",         "vgg16"};
const size_t test_n_models = EBB_COUNT(test_models);

void test_calls_init(test_calls *calls, ebb_env *env) {
    *calls = (test_calls){.env = env};
    ebb_arena_init(&calls->arena, env);
}

void test_calls_deinit(test_calls *calls) {
    EBB_ARRAY_FREE(calls->env, &calls->calls);
    EBB_ARRAY_FREE(calls->env, &calls->texts);
    ebb_arena_deinit(&calls->arena);
}

bool test_is_convolution(const ebb_call *call) {
    const ebb_opcode code = call->op->code;
    return code == EBB_OP_conv2d || code == EBB_OP_conv2d_dgrad || code == EBB_OP_conv2d_wgrad;
}

bool test_is_pixelwise(const ebb_call *call) {
    const ebb_opcode code = call->op->code;
    const ebb_attr *a = call->attr;
    const ebb_type *w = code == EBB_OP_conv2d_wgrad ? call->out : &call->in[1];
    const bool strided = a[EBB_CONV_STRIDE].i[0] * a[EBB_CONV_STRIDE].i[1] > 1;
    const bool spreads = code == EBB_OP_conv2d_dgrad && call->out[0].dim[1] % 4 == 0;
    return w->dim[2] * w->dim[3] == 1 && a[EBB_CONV_PAD].i[0] + a[EBB_CONV_PAD].i[1] == 0 &&
           a[EBB_CONV_GROUPS].i[0] == 1 && (!strided || spreads);
}

void test_conv_make(ebb_env *env, const ebb_op_info *op, const test_geometry *g, test_conv *out) {
    ebb_type x = {.dtype = EBB_F32, .rank = 4}, w = x, y = {0};
    memcpy(x.dim, g->x, sizeof g->x);
    memcpy(w.dim, g->w, sizeof g->w);
    *out = (test_conv){.attr = {[EBB_CONV_STRIDE] = {.i = {g->stride[0], g->stride[1]}},
                                [EBB_CONV_PAD] = {.i = {g->pad, g->pad}},
                                [EBB_CONV_DILATION] = {.i = {1, 1}},
                                [EBB_CONV_GROUPS] = {.i = {x.dim[1] / w.dim[1]}}}};
    out->call = (ebb_call){
        .op = &ebb_op_conv2d, .in = out->in, .out = &out->out, .n_in = 2, .n_out = 1, .attr = out->attr};
    out->in[0] = x;
    out->in[1] = w;
    TEST_OK(env, ebb_op_conv2d.infer(env, &out->call, &y));
    const bool by_data = op->code == EBB_OP_conv2d_dgrad, by_filter = op->code == EBB_OP_conv2d_wgrad;
    const ebb_type *sized = by_data ? &x : &w;
    if (by_data) out->in[0] = y;
    if (by_filter) out->in[1] = y;
    out->attr[EBB_CONV_SIZE] = (ebb_attr){.i = {sized->dim[2], sized->dim[3]}};
    out->call.op = op;
    TEST_OK(env, op->infer(env, &out->call, &out->out));
    cr_assert(ebb_type_equal(&out->out, by_data ? &x : by_filter ? &w : &y));
}

static bool is_product(const ebb_call *call) {
    const ebb_opcode code = call->op->code;
    return test_is_convolution(call) || code == EBB_OP_linear || code == EBB_OP_linear_dgrad ||
           code == EBB_OP_linear_wgrad || code == EBB_OP_matmul;
}

static void add_call(test_calls *calls, const ebb_call *call) {
    ebb_text text;
    ebb_text_init(&text, calls->env);
    ebb_call_print(&text, call);
    bool known = false;
    for (size_t i = 0; i < calls->texts.n && !known; i++) known = strcmp(calls->texts.at[i], text.at) == 0;
    if (!known) {
        ebb_call copy = *call;
        ebb_arena *a = &calls->arena;
        copy.in = ebb_arena_copy(a, call->in, call->n_in, sizeof *call->in);
        copy.out = ebb_arena_copy(a, call->out, call->n_out, sizeof *call->out);
        copy.attr = ebb_arena_copy(a, call->attr, call->op->n_attrs, sizeof *call->attr);
        const char *name = ebb_arena_text(a, text.at);
        cr_assert(copy.in && copy.out && copy.attr && name);
        cr_assert(EBB_PUSH(calls->env, &calls->calls, copy) && EBB_PUSH(calls->env, &calls->texts, name));
    }
    ebb_text_deinit(&text);
}

/* The dtype of what the ops of a step in bf16 have in 16 bits: the pass is the same for both, and f16 may
 * be asked for without training in it. */
static void set_dtype(ebb_type *types, uint32_t n, ebb_dtype dtype) {
    for (uint32_t i = 0; i < n; i++) {
        if (ebb_dtype_low(types[i].dtype)) types[i].dtype = dtype;
    }
}

void test_calls_add(test_calls *calls, const char *model_name, int64_t batch) {
    test_calls_add_in(calls, model_name, batch, EBB_F32);
}

void test_calls_add_in(test_calls *calls, const char *model_name, int64_t batch, ebb_dtype dtype) {
    const ebb_dim_binding dim = {"N", batch};
    char path[512];
    ebb_model *model;
    ebb_options options;
    ebb_graph *graph;
    ebb_options_init(&options);
    if (ebb_dtype_low(dtype)) options.precision = EBB_PRECISION_BF16;
    (void)snprintf(path, sizeof path, "%s/%s.ebb", EBB_MODELS_DIR, model_name);
    TEST_OK(calls->env, ebb_model_open(calls->env, path, &model));
    TEST_OK(calls->env, ebb_compile_graph(calls->env, model, &dim, 1, &options, NULL, &graph));
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
        ebb_id ids[EBB_MAX_OPERANDS];
        const ebb_call call = ebb_node_call(graph, &graph->nodes[i], 0, ids, in, out);
        set_dtype(in, call.n_in, dtype);
        set_dtype(out, call.n_out, dtype);
        if (is_product(&call)) add_call(calls, &call);
    }
    ebb_graph_destroy(graph);
    ebb_model_destroy(model);
}

void test_device_open(ebb_env *env, const char *file, bool tf32, test_device *out) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", EBB_DEVICES_DIR, file);
    TEST_OK(env, cuda_description_read(env, path, &out->description));
    TEST_OK(env, cuda_products_open(env, &out->description, NULL, &(cuda_products_options){tf32, true},
                                    &out->products));
}

void test_device_close(ebb_env *env, test_device *device) {
    device->products->api->close(device->products);
    cuda_description_deinit(env, &device->description);
}
