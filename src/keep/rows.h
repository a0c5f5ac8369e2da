/* keep/rows.h: what reading and writing know of a tensor's row. Private to keep. */
#ifndef EBB_KEEP_ROWS_H
#define EBB_KEEP_ROWS_H

#include "keep/keep.h"

#define KEEP_FACTS "__metadata__"

/* The bytes of dtype and shape. false: they do not fit 63 bits, a dim is below 0, or there is no such
 * dtype. */
bool keep_row_bytes(const ebb_tensor_row *row, int64_t *out);
/* strcmp of two rows' names, for qsort. */
int keep_by_name(const void *a, const void *b);

#endif
