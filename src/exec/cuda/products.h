/* cuda/products.h: the seam to the libraries that multiply: convolutions, linear layers, matrix products.
 *
 *     products.c (with cudnn_*.c, cublaslt_*.c)   cuDNN's graph interface and cuBLASLt
 *     tests/cuda/products_host.c                  plain loops, for the host's device
 *
 * Only engines that give the same bits each time are ever offered. With free_engines a call may have
 * several choices (engine, scratch, time), best time first; none of them is both slower and larger than
 * another. Choice i of a call is the same for the same library, device and precision, so a plan may
 * name it; a device may offer more than its description, and want more scratch.
 */
#ifndef EBB_EXEC_CUDA_PRODUCTS_H
#define EBB_EXEC_CUDA_PRODUCTS_H

#include "exec/cuda/description.h"
#include "exec/cuda/device/device.h"
#include "exec/kernels.h"

enum { CUDA_MOST_CHOICES = 4 };

typedef struct cuda_products cuda_products;
typedef struct cuda_products_api { /* of a device: all of it, and open, within its enter and leave */
    void (*close)(cuda_products *products);
    /* The facts of call->choice, as backend.h says of facts. */
    ebb_status (*facts)(cuda_products *products, const ebb_call *call, ebb_op_facts *out);
    /* One object for all runs of an op, at call->choice. Needs a device. */
    ebb_status (*prepare)(cuda_products *products, const ebb_call *call, void **out);
    void (*release)(cuda_products *products, void *product);
    ebb_status (*launch)(cuda_products *products, void *product, const ebb_launch *launch);
} cuda_products_api;

struct cuda_products { /* first member */
    const cuda_products_api *api;
    ebb_env *env;
};

typedef struct cuda_products_options {
    bool tf32;         /* products of f32 may round their factors to TF32 where that is faster. EBB_USAGE:
                          the device has none */
    bool free_engines; /* plans may choose among engines: their results differ in rounding. Else a call has
                          one */
} cuda_products_options;

/* device NULL: by the description alone; prepare is then EBB_UNAVAILABLE. The description is read and not
 * kept; the device is borrowed. */
EBB_CHECKED ebb_status cuda_products_open(ebb_env *env, const cuda_description *description,
                                          cuda_device *device, const cuda_products_options *options,
                                          cuda_products **out);

#endif
