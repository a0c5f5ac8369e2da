/* cuda/jit/libdevice.c: CUDA's functions in LLVM's bitcode, as nvcc links them into the kernels: the file
 * CUDA_LIBDEVICE of its toolkit (meson.build), which becomes part of the module. */
#include "exec/cuda/fused.h"

#ifdef CUDA_LIBDEVICE
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".local ebb_libdevice_begin\n"
        "ebb_libdevice_begin:\n"
        ".incbin \"" CUDA_LIBDEVICE "\"\n"
        ".local ebb_libdevice_end\n"
        "ebb_libdevice_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char ebb_libdevice_begin[], ebb_libdevice_end[];

cuda_bitcode cuda_libdevice(void) {
    return (cuda_bitcode){ebb_libdevice_begin, (size_t)(ebb_libdevice_end - ebb_libdevice_begin)};
}
#else
cuda_bitcode cuda_libdevice(void) {
    return (cuda_bitcode){"", 0};
}
#endif
