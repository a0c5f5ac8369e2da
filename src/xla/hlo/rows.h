/* xla/hlo/rows.h: declares what families of ops share, besides emit.h. Private to the folder. */
#ifndef EBB_XLA_HLO_ROWS_H
#define EBB_XLA_HLO_ROWS_H

#include "xla/hlo/emit.h"

/* Defines a row of rows.def: HLO(relu) { op->out[0] = ...; }. */
#define HLO(name)                    \
    void hlo_row_##name(hlo_op *op); \
    void hlo_row_##name(hlo_op *op)

/* Reorders x into a type's storage order: x's axis d is its logical axis label[d]. */
hlo_value hlo_arrange(hlo *h, hlo_value x, const uint32_t *label, const ebb_type *to);
/* All axes of a tensor except one, as bits. */
static inline uint32_t hlo_but(uint32_t rank, uint32_t axis) {
    return ((UINT32_C(1) << rank) - 1) & ~(UINT32_C(1) << axis);
}

#endif
