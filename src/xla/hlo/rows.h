/* xla/hlo/rows.h: what families of ops share, beside emit.h. Private to the folder. */
#ifndef EBB_XLA_HLO_ROWS_H
#define EBB_XLA_HLO_ROWS_H

#include "xla/hlo/emit.h"

/* HLO(relu) { op->out[0] = ...; }: a row of rows.def. */
#define HLO(name)                    \
    void hlo_row_##name(hlo_op *op); \
    void hlo_row_##name(hlo_op *op)

/* The same bytes in the order of a type: x's axis d is logical axis label[d] of it. */
hlo_value hlo_arrange(hlo *h, hlo_value x, const uint32_t *label, const ebb_type *to);
/* Bits of the axes of a tensor but for one. */
static inline uint32_t hlo_but(uint32_t rank, uint32_t axis) {
    return ((UINT32_C(1) << rank) - 1) & ~(UINT32_C(1) << axis);
}

#endif
