/* Rows: dtypes of the format, and a tensor's bytes. */
#include "keep/rows.h"

#include <stdio.h>

static const struct {
    const char *name;
    int64_t bytes;
} dtypes[] = {{"F32", 4}, {"F64", 8}, {"F16", 2},  {"BF16", 2},    {"I32", 4},
              {"I64", 8}, {"I16", 2}, {"I8", 1},   {"U8", 1},      {"U16", 2},
              {"U32", 4}, {"U64", 8}, {"BOOL", 1}, {"F8_E5M2", 1}, {"F8_E4M3", 1}};

int64_t ebb_tensors_dtype_bytes(const char *dtype) {
    for (size_t i = 0; i < EBB_COUNT(dtypes); i++)
        if (strcmp(dtypes[i].name, dtype) == 0) return dtypes[i].bytes;
    return 0;
}

bool keep_row_bytes(const ebb_tensor_row *row, int64_t *out) {
    int64_t bytes = ebb_tensors_dtype_bytes(row->dtype);
    if (bytes == 0) return false;
    for (uint32_t i = 0; i < row->rank; i++)
        if (row->dim[i] < 0 || !ebb_mul_i64(bytes, row->dim[i], &bytes)) return false;
    *out = bytes;
    return true;
}

int keep_by_name(const void *a, const void *b) {
    return strcmp(((const ebb_tensor_row *)a)->name, ((const ebb_tensor_row *)b)->name);
}

void ebb_tensor_row_text(const ebb_tensor_row *row, char text[EBB_TENSOR_ROW_TEXT]) {
    int n = snprintf(text, EBB_TENSOR_ROW_TEXT, "%.16s[", row->dtype);
    for (uint32_t i = 0; i < row->rank && i < EBB_TENSORS_MAX_RANK; i++)
        n += snprintf(text + n, EBB_TENSOR_ROW_TEXT - (size_t)n, "%s%lld", i > 0 ? "," : "",
                      (long long)row->dim[i]);
    (void)snprintf(text + n, EBB_TENSOR_ROW_TEXT - (size_t)n, "]");
}
