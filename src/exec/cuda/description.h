/* cuda/description.h: what a device is like, from the device itself or from a file, so that plans can be
 * made without one.
 *
 * The file is what cuDNN takes for a plan without a device (its DEVICEPROP's JSON, 23 members), and may say
 * more: context_bytes     what a context with its kernels takes (default 512 MiB: an estimate)
 *   memory_bus_bits   width of the memory's bus, for its bandwidth; known by name for common devices
 * Further members are not read, and not handed to cuDNN.
 */
#ifndef EBB_EXEC_CUDA_DESCRIPTION_H
#define EBB_EXEC_CUDA_DESCRIPTION_H

#include "base/base.h"

typedef struct cuda_description {
    char name[80];
    int32_t compute; /* 900: 9.0 */
    int32_t n_multiprocessors;
    int64_t memory_bytes, context_bytes;
    /* Peaks by its data sheet's formulas: clock x units. Units as in ebb_roofline. */
    int64_t bytes_per_us, f32_flops_per_us;
    int64_t tf32_flops_per_us, half_flops_per_us; /* of tensor cores; tf32: 0 where they have none */
    char *properties;                             /* cuDNN's 23 members as JSON text; owned */
} cuda_description;

/* EBB_BAD_INPUT: not such a file (which member, what it must be). EBB_IO. deinit frees. */
EBB_CHECKED ebb_status cuda_description_read(ebb_env *env, const char *path, cuda_description *out);
/* The same of n bytes of text; `where` names them in error texts. bus_bits: what the device itself says of
 * its bus, 0: what the text says. */
EBB_CHECKED ebb_status cuda_description_parse(ebb_env *env, const char *where, const char *text, size_t n,
                                              int64_t bus_bits, cuda_description *out);
/* Of the machine's device of this number, from cuDNN and the driver (cudnn/description.c, of the module).
 * EBB_UNAVAILABLE: what refused. */
EBB_CHECKED ebb_status cuda_description_of_device(ebb_env *env, int ordinal, cuda_description *out);
/* Whether its tensor cores multiply bf16; all of them multiply f16. */
static inline bool cuda_description_has_bf16(const cuda_description *description) {
    enum { AMPERE = 800 };
    return description->compute >= AMPERE;
}
void cuda_description_deinit(ebb_env *env, cuda_description *description);

#endif
