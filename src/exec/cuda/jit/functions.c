/* cuda/jit/functions.c: CUDA's functions as nvcc has them for the kernels (meson.build), which become part
 * of the module: the file CUDA_LIBDEVICE of its toolkit, and CUDA_FUNCTIONS, PTX that it makes of
 * functions.cu. */
#include "exec/cuda/fused.h"

#if defined CUDA_LIBDEVICE && defined CUDA_FUNCTIONS
#include "functions_hash.h"
#define FILE_BYTES(name, path)                            \
    __asm__(".pushsection .rodata\n.balign 16\n"          \
            ".local ebb_" #name "_begin\n"                \
            "ebb_" #name "_begin: .incbin \"" path "\"\n" \
            ".local ebb_" #name "_end\n"                  \
            "ebb_" #name "_end: .byte 0\n"                \
            ".popsection\n");                             \
    extern const char ebb_##name##_begin[], ebb_##name##_end[];
#define BYTES(name) \
    { ebb_##name##_begin, (size_t)(ebb_##name##_end - ebb_##name##_begin) }
FILE_BYTES(libdevice, CUDA_LIBDEVICE)
FILE_BYTES(functions, CUDA_FUNCTIONS)

cuda_functions cuda_functions_here(void) {
    return (cuda_functions){BYTES(libdevice), BYTES(functions)};
}
#else
cuda_functions cuda_functions_here(void) {
    return (cuda_functions){{"", 0}, {"", 0}};
}
#endif
