/* xla/hlo/table.c: which ops are emitted, by whom. */
#include "xla/hlo/emit.h"

#define EBB_HLO_ROW(name) void hlo_row_##name(hlo_op *op);
#include "xla/hlo/rows.def"

hlo_row *const hlo_table[EBB_N_OPS] = {
#define EBB_HLO_ROW(name) [EBB_OP_##name] = hlo_row_##name,
#include "xla/hlo/rows.def"
};
