/* ebb/tensors.h: reads and writes files of named tensors in the safetensors format.
 *
 *     8 bytes      n, the header's length in bytes, little-endian
 *     n bytes      JSON: {"__metadata__": {"fact": "text", ...},
 *                         "w": {"dtype": "F32", "shape": [10, 64], "data_offsets": [0, 2560]}, ...}
 *     the rest     the tensors' bytes, little-endian, row-major; offsets count from here
 *
 * (https://huggingface.co/docs/safetensors, which this follows: each byte of the rest belongs to exactly
 * one tensor.) Files are not trusted: the whole header is checked before any of it is used.
 *
 * Threads: as ebb/base.h. Ownership: an open file is the caller's; pointers that it returns are borrowed
 * from it.
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
    const char *name;  /* not empty, not "__metadata__" */
    const char *dtype; /* "F32", "I32", "BOOL", ... as the format calls it */
    uint32_t rank;
    int64_t dim[EBB_TENSORS_MAX_RANK]; /* >= 0 */
    int64_t offset, bytes;             /* of its data, after the header */
} ebb_tensor_row;

/* A fact of "__metadata__". */
typedef struct ebb_tensors_fact {
    const char *key, *text;
} ebb_tensors_fact;

typedef struct ebb_tensors ebb_tensors;

/* Reads and checks the header; the file stays open. EBB_IO: it cannot be read. EBB_BAD_INPUT: the length of
 * the header, its JSON, a name, a dtype, a shape or an offset is wrong; two tensors share bytes or a name;
 * bytes belong to no tensor. Takes at most 64 MB plus four times the header's bytes. */
EBB_API EBB_CHECKED ebb_status ebb_tensors_open(ebb_env *env, const char *path, ebb_tensors **out);
EBB_API void ebb_tensors_close(ebb_tensors *tensors); /* NULL is allowed */

/* The tensors, in byte order of their names. NULL: i is not below their number. */
EBB_API uint32_t ebb_tensors_count(const ebb_tensors *tensors);
EBB_API const ebb_tensor_row *ebb_tensors_at(const ebb_tensors *tensors, uint32_t i);
/* Finds a tensor by name; NULL: there is none of that name. O(log n). */
EBB_API const ebb_tensor_row *ebb_tensors_find(const ebb_tensors *tensors, const char *name);
/* Finds a fact's text by its key; NULL: there is no such fact. */
EBB_API const char *ebb_tensors_fact_find(const ebb_tensors *tensors, const char *key);
/* Reads n bytes of a row of this file, from byte `from` of its data on. EBB_USAGE: beyond its end. EBB_IO:
 * the file has become shorter, or cannot be read. */
EBB_API EBB_CHECKED ebb_status ebb_tensors_read(const ebb_tensors *tensors, const ebb_tensor_row *row,
                                                int64_t from, int64_t n, void *to);

/* Writes a row's type, "F32[10,64]", truncated where it is too long. */
#define EBB_TENSOR_ROW_TEXT 208
EBB_API void ebb_tensor_row_text(const ebb_tensor_row *row, char text[EBB_TENSOR_ROW_TEXT]);
/* Bytes of a dtype's element, 0 for an unknown dtype. */
EBB_API int64_t ebb_tensors_dtype_bytes(const char *dtype);

/* Writes a file whole or not at all: to a file beside path whose name ends with ".tmp", which is synced and
 * renamed; then the folder is synced. A symbolic link is followed, and an existing file keeps its mode. Row
 * i's data are the rows[i].bytes bytes at data[i], stored in the rows' order; its offset is ignored.
 * EBB_USAGE: a name or fact occurs twice, or bytes do not match the shape. EBB_IO: path has its old
 * content, even while another process writes the same path; if only the folder could not be synced, it has
 * the new one, as the error says. */
EBB_API EBB_CHECKED ebb_status ebb_tensors_write(ebb_env *env, const char *path, const ebb_tensor_row *rows,
                                                 const void *const *data, uint32_t n,
                                                 const ebb_tensors_fact *facts, uint32_t n_facts);

#ifdef __cplusplus
}
#endif
#endif
