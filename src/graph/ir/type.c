/* Types: dtypes and shapes, their sizes and their text. */
#include "graph/graph.h"

#include <inttypes.h>
#include <stdio.h>

#define EBB_DTYPE(NAME, name, kind, storage, load, store)                           \
    static double load_##name(const void *at, int64_t i) {                          \
        storage x;                                                                  \
        memcpy(&x, (const char *)at + i * (int64_t)sizeof x, sizeof x);             \
        return load;                                                                \
    }                                                                               \
    static void store_##name(void *at, int64_t i, double x) {                       \
        const storage element = store;                                              \
        memcpy((char *)at + i * (int64_t)sizeof element, &element, sizeof element); \
    }
#include "graph/dtypes.def"

const ebb_dtype_info ebb_dtypes[EBB_N_DTYPES] = {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) \
    [EBB_##NAME] = {#name, sizeof(storage), EBB_DTYPE_##kind, load_##name, store_##name},
#include "graph/dtypes.def"
};

bool ebb_dtype_find(const char *name, size_t n, ebb_dtype *out) {
    for (uint32_t i = 0; i < EBB_N_DTYPES; i++) {
        if (strlen(ebb_dtypes[i].name) != n || memcmp(ebb_dtypes[i].name, name, n) != 0) continue;
        *out = (ebb_dtype)i;
        return true;
    }
    return false;
}

const char *ebb_dtype_name(ebb_dtype dtype) {
    return ebb_dtypes[dtype].name;
}

int64_t ebb_dtype_bytes(ebb_dtype dtype) {
    return ebb_dtypes[dtype].bytes;
}

int64_t ebb_type_count(const ebb_type *type) {
    int64_t count = 1;
    for (uint32_t i = 0; i < type->rank; i++) count *= type->dim[i];
    return count;
}

int64_t ebb_type_bytes(const ebb_type *type) {
    return ebb_type_count(type) * ebb_dtype_bytes(type->dtype);
}

bool ebb_type_equal(const ebb_type *a, const ebb_type *b) {
    return a->dtype == b->dtype && ebb_type_same_shape(a, b);
}

bool ebb_type_same_shape(const ebb_type *a, const ebb_type *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i]) return false;
    }
    return true;
}

const char *ebb_type_text(const ebb_type *type, char text[EBB_TYPE_TEXT]) {
    /* 8 dims of at most 19 digits, their commas and "bf16[]" are 166 bytes with the NUL; a type that is not
     * valid may be longer, and is cut. */
    size_t n = (size_t)snprintf(text, EBB_TYPE_TEXT, "%s[", ebb_dtype_name(type->dtype));
    for (uint32_t i = 0; i < type->rank && i < EBB_MAX_RANK && n < EBB_TYPE_TEXT; i++) {
        n += (size_t)snprintf(text + n, EBB_TYPE_TEXT - n, "%s%" PRId64, i ? "," : "", type->dim[i]);
    }
    if (n < EBB_TYPE_TEXT) snprintf(text + n, EBB_TYPE_TEXT - n, "]");
    return text;
}

bool ebb_type_valid(const ebb_type *type) {
    if ((uint32_t)type->dtype >= (uint32_t)EBB_N_DTYPES || type->rank > EBB_MAX_RANK) return false;
    int64_t bytes = ebb_dtype_bytes(type->dtype);
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->dim[i] < 1 || !ebb_mul_i64(bytes, type->dim[i], &bytes)) return false;
    }
    return true;
}
