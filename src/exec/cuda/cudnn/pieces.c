/* cuda/cudnn/pieces.c: a convolution of many images as several of fewer, one after the other in the same
 * scratch.
 *
 * Engines that convert layouts or transform tiles (Winograd) take scratch in proportion to the images.
 * Images do not see one another in a convolution, but in a weight gradient, which the pieces add up: so
 * scratch is bought with launches (Oyama, Ben-Nun, Hoefler and Matsuoka: Accelerating Deep Learning
 * Frameworks with Micro-batches, 2018). How many pieces there are depends on the call alone, never on a
 * budget: their sums are rounded in another order.
 */
#include "exec/cuda/cudnn/graph.h"
#include "exec/cuda/products_parts.h"

int64_t dnn_images(const ebb_call *call) {
    return call->in[0].dim[0];
}

bool dnn_pieces_add(const ebb_call *call) {
    return call->op->code == EBB_OP_conv2d_wgrad;
}

void dnn_piece_make(const ebb_call *call, int64_t n_images, dnn_piece *out) {
    *out = (dnn_piece){.in = {call->in[0], call->in[1]}, .out = {call->out[0]}, .call = *call};
    out->call.in = out->in;
    out->call.out = out->out;
    out->in[0].dim[0] = n_images;
    if (dnn_pieces_add(call))
        out->in[1].dim[0] = n_images;
    else
        out->out[0].dim[0] = n_images;
}

uint32_t dnn_piece_plan(const ebb_call *call, int64_t n_pieces, int64_t i, int64_t *n_images) {
    const int64_t n = dnn_images(call);
    *n_images = cuda_piece_images(n, n_pieces, i);
    return (i > 0 && dnn_pieces_add(call) ? DNN_PLAN_ADDS : 0) +
           (*n_images < cuda_piece_images(n, n_pieces, 0) ? DNN_PLAN_SMALLER : 0);
}

cudnnBackendDescriptor_t dnn_call_plan(dnn_set *set, const ebb_call *call, bool accumulate,
                                       const dnn_config *config, cudnnHandle_t handle,
                                       cudnnBackendDescriptor_t device) {
    const struct {
        cudnnHandle_t of_graph, of_plan;
        cudnnBackendDescriptor_t device;
    } tries[] = {{handle, handle, NULL}, {NULL, handle, NULL}, {NULL, NULL, device}};
    cudnnBackendDescriptor_t plan = NULL;
    for (size_t k = handle ? 0 : EBB_COUNT(tries) - 1;
         k < EBB_COUNT(tries) && !plan && !set->no_memory && !dnn_no_room(set); k++) {
        if (set->failure != CUDNN_STATUS_SUCCESS) dnn_set_reset(set);
        cudnnBackendDescriptor_t graph = dnn_conv_graph(set, call, accumulate, tries[k].of_graph);
        plan = dnn_config_plan(set, graph, config, tries[k].of_plan, tries[k].device);
    }
    return plan;
}
