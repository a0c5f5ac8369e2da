/* ebb/tensors.h: files of named tensors in the safetensors format, read and written.
 *
 *     8 bytes      n, the header's bytes, little-endian
 *     n bytes      JSON: {"__metadata__": {"fact": "text", ...},
 *                         "w": {"dtype": "F32", "shape": [10, 64], "data_offsets": [0, 2560]}, ...}
 *     the rest     the tensors' bytes, little-endian, row-major; offsets count from here
 *
 * (https://huggingface.co/docs/safetensors, which this follows: no byte of the rest is in two tensors or in
 * none.) A file comes from anywhere: everything that the header says is checked before any of it is used.
 *
 * Threads: as ebb/base.h. Ownership: an open file is the caller's; what it says is borrowed from it.
 */
#ifndef EBB_TENSORS_H
#define EBB_TENSORS_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EBB_TENSORS_MAX_RANK     8
#define EBB_TENSORS_HEADER_BYTES ((int64_t)8 << 20) /* a longer header is refused */

typedef struct ebb_tensor_row {
    const char *name;  /* not empty; no "__metadata__" */
    const char *dtype; /* "F32", "I32", "BOOL", ... as the format calls it */
    uint32_t rank;
    int64_t dim[EBB_TENSORS_MAX_RANK]; /* >= 0 */
    int64_t offset, bytes;             /* of its data, behind the header */
} ebb_tensor_row;

/* A fact of "__metadata__". */
typedef struct ebb_tensors_fact {
    const char *key, *text;
} ebb_tensors_fact;

typedef struct ebb_tensors ebb_tensors;

/* Reads and checks the header; the file stays open. EBB_IO: it cannot be read. EBB_BAD_INPUT: the length of
 * the header, its JSON, a name, a dtype, a shape or an offset is wrong; two tensors share bytes or a name;
 * bytes belong to no tensor. At most 64 MB and four times the header's bytes are taken. */
EBB_API EBB_CHECKED ebb_status ebb_tensors_open(ebb_env *env, const char *path, ebb_tensors **out);
EBB_API void ebb_tensors_close(ebb_tensors *tensors); /* NULL is allowed */

/* In the order of their names' bytes. NULL: i is not below their number. */
EBB_API uint32_t ebb_tensors_count(const ebb_tensors *tensors);
EBB_API const ebb_tensor_row *ebb_tensors_at(const ebb_tensors *tensors, uint32_t i);
/* NULL: there is none of that name. O(log n). */
EBB_API const ebb_tensor_row *ebb_tensors_find(const ebb_tensors *tensors, const char *name);
/* NULL: there is no such fact. */
EBB_API const char *ebb_tensors_fact_find(const ebb_tensors *tensors, const char *key);
/* n bytes of a row of this file, from byte `from` of its data on. EBB_USAGE: beyond its end. EBB_IO: the
 * file has become shorter, or cannot be read. */
EBB_API EBB_CHECKED ebb_status ebb_tensors_read(const ebb_tensors *tensors, const ebb_tensor_row *row,
                                                int64_t from, int64_t n, void *to);

/* "F32[10,64]", cut where it is too long. */
#define EBB_TENSOR_ROW_TEXT 208
EBB_API void ebb_tensor_row_text(const ebb_tensor_row *row, char text[EBB_TENSOR_ROW_TEXT]);
/* Bytes of a dtype's element, 0 for one that the format does not have. */
EBB_API int64_t ebb_tensors_dtype_bytes(const char *dtype);

/* Writes a file whole or not at all: beside path under a name that ends with ".tmp", synced, renamed, and
 * the folder synced; a link is followed, and a file's mode stays. Rows' offsets are ignored; their data lie
 * at data[i], rows' bytes each, in the rows' order. EBB_USAGE: a name or fact twice, bytes that are not the
 * shape's. EBB_IO: path holds what it held before, also while another process writes the same path; or, if
 * only the folder could not be synced, the new file, as the text says. */
EBB_API EBB_CHECKED ebb_status ebb_tensors_write(ebb_env *env, const char *path, const ebb_tensor_row *rows,
                                                 const void *const *data, uint32_t n,
                                                 const ebb_tensors_fact *facts, uint32_t n_facts);

#ifdef __cplusplus
}
#endif
#endif
