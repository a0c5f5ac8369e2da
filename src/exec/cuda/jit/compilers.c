/* cuda/jit/compilers.c: who makes code in the module (fused.h). */
#include "exec/cuda/fused.h"

#include <string.h>

/* Of the version that compiled the kernels, and of its functions: what both compute has one set of bits. */
ebb_status cuda_compiler_open(ebb_env *env, const char *name, int32_t compute, cuda_compiler **out) {
    *out = NULL;
    if (strcmp(name, "NVRTC") == 0)
        return cuda_nvrtc_open(env, CUDA_NVCC_MAJOR, CUDA_NVCC_MINOR, compute, out);
    const cuda_functions functions = cuda_functions_here();
    return cuda_code_open(env, name, CUDA_NVCC_MAJOR, &functions, compute, out);
}
