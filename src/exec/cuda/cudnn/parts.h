/* cuda/cudnn/parts.h: what the files of convolutions by cuDNN share: run.c opens the library and
 * tells facts, launch.c makes and launches kernel objects. Private to them.
 */
#ifndef EBB_EXEC_CUDA_CUDNN_PARTS_H
#define EBB_EXEC_CUDA_CUDNN_PARTS_H

#include "exec/cuda/cudnn/choices.h"
#include "exec/cuda/products_parts.h"

struct cuda_dnn {
    ebb_env *env;
    cuda_description description; /* a copy, without its text */
    cuda_device *device;          /* NULL: described only */
    cuda_products_options options;
    dnn_set described; /* owns properties */
    cudnnBackendDescriptor_t properties;
    dnn_memo memo;
    cudnnHandle_t handle; /* NULL until a choice is asked for, and without a device */
};

/* The choice that call->choice names, NULL where there is none, and how many the call has. With a device it
 * makes the handle. */
EBB_CHECKED ebb_status dnn_find_choice(cuda_dnn *dnn, const ebb_call *call, const dnn_choice **out,
                                       uint32_t *n);

#endif
