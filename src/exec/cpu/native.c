/* cpu/native.c: which products are made in bf16 by the processor. */
#include "exec/cpu/product.h"

enum { UNIT = 32 }; /* channels, or columns: a vector of 64 bytes */

static bool whole(const ebb_type *type, uint32_t axis) {
    return type->dim[axis] % UNIT == 0;
}

/* What has to be whole: channels of images, columns of matrices, and rows where they are summed over, or
 * may be. */
typedef enum axes { NO_PRODUCT, CHANNELS, COLUMNS, ROWS_TOO } axes;
static const uint8_t axes_of[EBB_N_OPS] = {
    [EBB_OP_conv2d] = CHANNELS, [EBB_OP_conv2d_dgrad] = CHANNELS, [EBB_OP_conv2d_wgrad] = CHANNELS,
    [EBB_OP_linear] = COLUMNS,  [EBB_OP_linear_dgrad] = COLUMNS,  [EBB_OP_linear_wgrad] = ROWS_TOO,
    [EBB_OP_matmul] = ROWS_TOO,
};

bool cpu_is_native(const cpu_backend *cpu, const ebb_call *call) {
    const axes which = (axes)axes_of[call->op->code];
    if (!cpu->native || which == NO_PRODUCT) return false;
    if (which == CHANNELS && call->attr[EBB_CONV_GROUPS].i[0] != 1) return false;
    const uint32_t last = call->in[0].rank - 1;
    const ebb_type *all[] = {&call->in[0], &call->in[1], &call->out[0]};
    for (uint32_t i = 0; i < EBB_COUNT(all); i++) {
        if (all[i]->dtype != EBB_BF16 || !whole(all[i], which == CHANNELS ? 1 : last)) return false;
        if (which == ROWS_TOO && !whole(all[i], last - 1)) return false;
    }
    return true;
}
