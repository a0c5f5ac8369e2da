/* cuda/cudnn/conv.c: a call of conv2d or of one of its gradients as an operation graph.
 *
 * Ours and cuDNN's words agree: y = (x + 2 * pad - dilation * (k - 1) - 1) / stride + 1, rounded down, a
 * cross-correlation, and as many groups as the filters' channels go into x's. Tensors are written n,c,h,w
 * with the strides of n,h,w,c; filters o,i,h,w with those of o,h,w,i: what lies in our memory.
 */
#include "exec/cuda/cudnn/graph.h"

/* Where x, w and y are among the call's operands, inputs first, and cuDNN's names for them. */
typedef struct form {
    cudnnBackendDescriptorType_t operation;
    uint32_t operand[3]; /* x, w, y: in[i], or out[0] where it is n_in */
    cudnnBackendAttributeName_t name[3], conv, alpha, beta;
} form;

static const form forward = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                             {0, 1, 2},
                             {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
static const form by_data = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                             {2, 1, 0},
                             {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
static const form by_filter = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                               {0, 2, 1},
                               {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

static const form *form_of(const ebb_call *call) {
    return call->op->code == EBB_OP_conv2d         ? &forward
           : call->op->code == EBB_OP_conv2d_dgrad ? &by_data
                                                   : &by_filter;
}

static cudnnBackendDescriptor_t tensor(dnn_set *set, int64_t id, const ebb_type *type) {
    const cudnnDataType_t element = type->dtype == EBB_F16    ? CUDNN_DATA_HALF
                                    : type->dtype == EBB_BF16 ? CUDNN_DATA_BFLOAT16
                                                              : CUDNN_DATA_FLOAT;
    const int64_t *d = type->dim, c = d[1], w = d[3] * c;
    const int64_t strides[4] = {d[2] * w, 1, w, c};
    cudnnBackendDescriptor_t t = dnn_new(set, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    dnn_put(set, t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &element);
    dnn_put(set, t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, d);
    dnn_put(set, t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    dnn_put_i64(set, t, CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    dnn_put_i64(set, t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, DNN_ALIGNMENT);
    dnn_finish(set, t);
    return t;
}

static cudnnBackendDescriptor_t geometry(dnn_set *set, const ebb_attr *attr) {
    const cudnnDataType_t f32 = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    cudnnBackendDescriptor_t conv = dnn_new(set, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    dnn_put(set, conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &f32);
    dnn_put(set, conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    dnn_put_i64(set, conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
    dnn_put(set, conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, attr[EBB_CONV_STRIDE].i);
    dnn_put(set, conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, attr[EBB_CONV_DILATION].i);
    dnn_put(set, conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, attr[EBB_CONV_PAD].i);
    dnn_put(set, conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, attr[EBB_CONV_PAD].i);
    dnn_finish(set, conv);
    return conv;
}

cudnnBackendDescriptor_t dnn_conv_graph(dnn_set *set, const ebb_call *call, bool accumulate,
                                        cudnnHandle_t handle) {
    const form *f = form_of(call);
    const float one = 1, old = accumulate ? 1 : 0;
    cudnnBackendDescriptor_t conv = geometry(set, call->attr), operation = dnn_new(set, f->operation);
    dnn_put_one(set, operation, f->conv, conv);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t at = f->operand[i];
        const ebb_type *type = at < call->n_in ? &call->in[at] : &call->out[0];
        dnn_put_one(set, operation, f->name[i], tensor(set, DNN_X + i, type));
    }
    dnn_put(set, operation, f->alpha, CUDNN_TYPE_FLOAT, 1, &one);
    dnn_put(set, operation, f->beta, CUDNN_TYPE_FLOAT, 1, &old);
    dnn_finish(set, operation);
    cudnnBackendDescriptor_t graph = dnn_new(set, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (handle) dnn_put(set, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    dnn_put_one(set, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    dnn_finish(set, graph);
    return graph;
}

void dnn_conv_pointers(const ebb_call *call, const ebb_launch *launch, void *at[3]) {
    const form *f = form_of(call);
    for (uint32_t i = 0; i < 3; i++)
        at[i] = f->operand[i] < call->n_in ? launch->in[f->operand[i]] : launch->out[0];
}

void dnn_conv_steps(const ebb_call *call, int64_t n_images, const int64_t from[3], int64_t to[3]) {
    const form *f = form_of(call);
    for (uint32_t i = 0; i < 3; i++) {
        const ebb_type *type = f->operand[i] < call->n_in ? &call->in[f->operand[i]] : &call->out[0];
        const int64_t image_bytes = ebb_type_bytes(type) / type->dim[0];
        to[i] = from[i] + (DNN_X + (int64_t)i == DNN_W ? 0 : n_images * image_bytes);
    }
}
