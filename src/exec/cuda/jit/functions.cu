/* cuda/jit/functions.cu: CUDA's functions of one and of two reals, as nvcc makes them for the kernels, for code that can
 * only call them: what Halide makes (halide_text.c). PTX of the oldest architecture that has such code. */
#define FUNCTION_1(name)                              \
    extern "C" __device__ float cuda_##name(float x); \
    extern "C" __device__ float cuda_##name(float x) { return name(x); }
#define FUNCTION_2(name)                                       \
    extern "C" __device__ float cuda_##name(float x, float y); \
    extern "C" __device__ float cuda_##name(float x, float y) { return name(x, y); }

FUNCTION_1(expf)
FUNCTION_1(expm1f)
FUNCTION_1(logf)
FUNCTION_1(log1pf)
FUNCTION_1(sinf)
FUNCTION_1(cosf)
FUNCTION_1(tanhf)
FUNCTION_1(erff)
FUNCTION_1(erfcf)
FUNCTION_1(floorf)
FUNCTION_1(ceilf)
FUNCTION_1(rintf)
FUNCTION_2(powf)
FUNCTION_2(fmodf)
