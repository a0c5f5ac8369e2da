/* cuda/cuda.h: the cuda backend: cuDNN and cuBLASLt for convolutions and matrix products, own kernels for
 * the rest; f32, and 16 bits with arithmetic in f32; channels last.
 *
 * It is a module of its own (libebb_cuda.so), opened when a device of it is asked for, so that nothing else
 * links CUDA. It has two natures: with a device it runs plans; with a description alone it gives facts for
 * planning, and refuses to run.
 *
 *     cuda.c         the table of functions that backend.h asks for
 *     <family>.c     an op's facts and launches: how many blocks of which kernel, what scratch
 *     kernels/       what the kernels do (kernel.h)
 *     fused.c, jit/  chains of pointwise ops, whose kernels are made at run time (fused.h)
 *     device/        memory, stream, recordings (device.h)
 *     products*.c    products: cudnn/, cublaslt/ (products.h)
 *     cost.c         how long ops take, from a description
 *
 * A launch puts work into the stream and returns; end() waits for it.
 */
#ifndef EBB_EXEC_CUDA_CUDA_H
#define EBB_EXEC_CUDA_CUDA_H

#include "exec/cuda/cost.h"
#include "exec/cuda/fused.h"
#include "exec/cuda/kernels/elements.h"
#include "exec/cuda/products.h"

#define CUDA_ALIGNMENT 256 /* bytes: what cuDNN wants at most, and a whole number of memory sectors */

typedef struct cuda_backend {
    ebb_backend base; /* first */
    cuda_description description;
    cuda_device *device;     /* NULL: described only */
    cuda_products *products; /* owned, as the device is */
    bool tf32;               /* of products; for the name of its times */
    cuda_jit jit;
} cuda_backend;

static inline cuda_backend *cuda_of(ebb_backend *backend) {
    return (cuda_backend *)backend;
}

/* The api's create: of the module (module.c), and of tests. */
ebb_status cuda_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out);

/* Makes a backend of its parts, which it owns from then on, also when it fails. Tests give it others. */
EBB_CHECKED ebb_status cuda_backend_create(ebb_env *env, cuda_description description, cuda_device *device,
                                           cuda_products *products, ebb_backend **out);

/* Of what options say of jit, NULL for nothing (code.c): a compiler that is named is opened now.
 * EBB_UNAVAILABLE: it is not there, or of another device; EBB_USAGE: none has that name. */
EBB_CHECKED ebb_status cuda_backend_jit(cuda_backend *cuda, const char *jit);
/* Whether chains have code here (exec/backend.h): a described device is taken to have a compiler. */
bool cuda_fuses(ebb_backend *backend);

/* The kernels, one per op that has one (exec/kernels.h). Those of products are in products_ops.c. */
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) extern const ebb_kernel_info ebb_cuda_##name;
#include "graph/ops.def"

/* Defines a kernel; rate: of cost.h. */
#define CUDA_OP(name, takes, rate, ...) EBB_KERNEL(cuda, name, takes, rate, __VA_ARGS__)

/* The dtypes of what is written once for all of them (kernels/elements.h), and of the three kernels in a
 * row that it becomes the one for a dtype. */
#define CUDA_REALS                      EBB_TAKES(F32, F16, BF16)
static inline cuda_element cuda_element_of(ebb_dtype dtype) {
    return dtype == EBB_F16 ? CUDA_F16 : dtype == EBB_BF16 ? CUDA_BF16 : CUDA_F32;
}
static inline cuda_kernel_id cuda_kernel_for(cuda_kernel_id f32, ebb_dtype dtype) {
    return (cuda_kernel_id)((int)f32 + (int)cuda_element_of(dtype));
}
/* All dtypes that are here. What only moves elements asks for their bytes alone. */
#define CUDA_ALL (CUDA_REALS | EBB_TAKES(I32, U8, BOOL, I8, I16))
static inline cuda_kernel_id cuda_kernel_by_bytes(ebb_dtype dtype, cuda_kernel_id one, cuda_kernel_id two,
                                                  cuda_kernel_id four) {
    const int64_t bytes = ebb_dtype_bytes(dtype);
    return bytes == 1 ? one : bytes == 2 ? two : four;
}

/* A call's kernel: ebb_kernel_find of this backend's table. */
EBB_CHECKED ebb_status cuda_kernel_find(ebb_backend *backend, const ebb_call *call,
                                        const ebb_kernel_info **out);

/* Puts one kernel into the stream. n_blocks 0: nothing. EBB_BAD_INPUT where n_blocks is 2^31 or more. */
EBB_CHECKED ebb_status cuda_launch(ebb_backend *backend, cuda_kernel_id kernel, int64_t n_blocks,
                                   const void *args);

/* A bit for each of y's elements: unless it is cut, y <= min or y >= max (mask.c). */
EBB_CHECKED ebb_status cuda_launch_bits(ebb_backend *backend, const ebb_type *type, const void *y,
                                        uint8_t *bits, ebb_bounds bounds);

extern const ebb_backend_api ebb_backend_cuda;

#endif
