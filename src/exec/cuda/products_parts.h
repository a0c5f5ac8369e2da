/* cuda/products_parts.h: the two libraries behind products.h, each a file or two: convolutions by cuDNN,
 * everything else by cuBLASLt. Private to products.c and them.
 *
 * Descriptions are copied, devices are borrowed. Handles are made when facts of a device that is
 * there are first asked for (cuDNN's), or a kernel is prepared: planning for a description needs no device
 * and takes nothing of its memory.
 */
#ifndef EBB_EXEC_CUDA_PRODUCTS_PARTS_H
#define EBB_EXEC_CUDA_PRODUCTS_PARTS_H

#include "exec/cuda/products.h"

static inline bool cuda_is_convolution(const ebb_call *call) {
    return call->op->code == EBB_OP_conv2d || call->op->code == EBB_OP_conv2d_dgrad ||
           call->op->code == EBB_OP_conv2d_wgrad;
}

/* Images in piece i of n nearly equal ones, the larger ones first. */
static inline int64_t cuda_piece_images(int64_t n_images, int64_t n_pieces, int64_t i) {
    return n_images / n_pieces + (i < n_images % n_pieces);
}

typedef struct cuda_dnn cuda_dnn;
EBB_CHECKED ebb_status cuda_dnn_open(ebb_env *env, const cuda_description *description, cuda_device *device,
                                     const cuda_products_options *options, cuda_dnn **out);
void cuda_dnn_close(cuda_dnn *dnn); /* NULL is allowed, as below */
/* EBB_BAD_INPUT: cuDNN has no plan for the call that gives the same bits each time. */
ebb_status cuda_dnn_facts(cuda_dnn *dnn, const ebb_call *call, ebb_op_facts *out);
ebb_status cuda_dnn_prepare(cuda_dnn *dnn, const ebb_call *call, void **out);
void cuda_dnn_release(cuda_dnn *dnn, void *product);
ebb_status cuda_dnn_launch(cuda_dnn *dnn, void *product, const ebb_launch *launch);

typedef struct cuda_lt cuda_lt;
EBB_CHECKED ebb_status cuda_lt_open(ebb_env *env, const cuda_description *description, cuda_device *device,
                                    bool tf32, cuda_lt **out);
void cuda_lt_close(cuda_lt *lt);
ebb_status cuda_lt_facts(cuda_lt *lt, const ebb_call *call, ebb_op_facts *out);
ebb_status cuda_lt_prepare(cuda_lt *lt, const ebb_call *call, void **out);
void cuda_lt_release(cuda_lt *lt, void *product);
ebb_status cuda_lt_launch(cuda_lt *lt, void *product, const ebb_launch *launch);

#endif
