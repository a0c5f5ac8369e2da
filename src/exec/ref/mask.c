/* ref/mask.c: relu's gradient by a bit for each element of y. */
#include "exec/ref/ref.h"

REF_KERNEL(relu_mask) {
    const ref_tensor y = ref_in(run, 0);
    uint8_t *bits = run->launch->out[0];
    const int64_t n = ebb_type_count(y.type);
    memset(bits, 0, (size_t)ebb_mask_bytes(n));
    for (int64_t i = 0; i < n; i++) {
        const bool cut = ref_get(&y, i) <= 0;
        if (!cut) bits[i / 8] = (uint8_t)(bits[i / 8] | 1U << i % 8);
    }
    return EBB_OK;
}

REF_KERNEL(relu_mask_grad) {
    const ref_tensor dy = ref_in(run, 0), dx = ref_out(run, 0);
    const uint8_t *bits = run->launch->in[1];
    const int64_t n = ebb_type_count(dx.type);
    for (int64_t i = 0; i < n; i++) ref_set(&dx, i, bits[i / 8] >> i % 8 & 1 ? ref_get(&dy, i) : 0);
    return EBB_OK;
}
