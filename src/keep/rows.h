/* keep/rows.h: declares what the reader and the writer share about a tensor's row. Private to keep. */
#ifndef EBB_KEEP_ROWS_H
#define EBB_KEEP_ROWS_H

#include "keep/keep.h"

#define KEEP_FACTS "__metadata__"

struct ebb_tensors {
    ebb_env *env;
    ebb_arena arena;
    const char *path;
    int fd; /* -1: none */
    int64_t data_at, data_bytes;
    ebb_tensor_row *rows; /* by name */
    uint32_t n, n_facts;
    ebb_tensors_fact *facts;
};

/* Reads n bytes of the file from byte `at` on. EBB_IO, EBB_INTERRUPTED. */
EBB_CHECKED ebb_status keep_read_at(const ebb_tensors *file, int64_t at, int64_t n, void *to);

/* Computes the bytes of dtype and shape. false: they do not fit 63 bits, a dim is below 0, or there is no
 * such dtype. */
bool keep_row_bytes(const ebb_tensor_row *row, int64_t *out);
/* strcmp of two rows' names, for qsort. */
int keep_by_name(const void *a, const void *b);

#endif
