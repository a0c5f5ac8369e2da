/* What the tests of tensors in files share: two real files, and how one is made from its parts. */
#ifndef EBB_TESTS_KEEP_FILES_H
#define EBB_TESTS_KEEP_FILES_H

#include "../base/support.h"
#include "keep/keep.h"

enum { FILES_MAX = 1 << 16 };

/* Its rows have data of their own: tensor i's byte k is i * 31 + k * 7. */
typedef struct files_set {
    ebb_tensor_row rows[8];
    const void *data[8];
    uint32_t n;
} files_set;

/* 0: floats, integers, a scalar, an empty tensor; 1: bytes and bools of odd sizes, and many dims. */
void files_fill(uint32_t which, files_set *out);
/* Writes the set with two facts. */
EBB_CHECKED ebb_status files_write(ebb_env *env, const char *path, const files_set *set);
/* Opens path, reads every byte of every tensor, closes. */
EBB_CHECKED ebb_status files_read(ebb_env *env, const char *path);
/* Puts n bytes there. */
void files_put(const char *path, const void *bytes, size_t n);
/* The header's text with its length before it, then n_data bytes. The bytes that path then has. */
size_t files_put_header(const char *path, const char *header, size_t n_data);
size_t files_get(const char *path, char bytes[FILES_MAX]);

#endif
