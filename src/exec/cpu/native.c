/* cpu/native.c: which products are made in bf16 by the processor. */
#include "exec/cpu/product.h"

enum { UNIT = 32 }; /* channels, or columns: a vector of 64 bytes */

static bool whole(const ebb_type *type, uint32_t axis) {
    return type->dim[axis] % UNIT == 0;
}

bool cpu_is_native(const cpu_backend *cpu, const ebb_call *call) {
    const ebb_family family = call->op->family;
    if (!cpu->native || (family != EBB_FAMILY_CONVOLUTION && family != EBB_FAMILY_MATRIX_PRODUCT))
        return false;
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++)
        if ((i < call->n_in ? &call->in[i] : &call->out[i - call->n_in])->dtype != EBB_BF16) return false;
    const bool conv = family == EBB_FAMILY_CONVOLUTION;
    if (conv && call->attr[EBB_CONV_GROUPS].i[0] != 1) return false;
    /* Channels of images, columns of matrices; rows where they are summed over, or may be. */
    const uint32_t last = call->in[0].rank - 1;
    const bool rows = call->op->code == EBB_OP_linear_wgrad || call->op->code == EBB_OP_matmul;
    const ebb_type *all[] = {&call->in[0], &call->in[1], &call->out[0]};
    for (uint32_t i = 0; i < EBB_COUNT(all); i++)
        if (!whole(all[i], conv ? 1 : last) || (rows && !whole(all[i], last - 1))) return false;
    return true;
}
