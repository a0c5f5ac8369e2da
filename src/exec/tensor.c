/* exec/tensor.c: host tensors between logical row-major order and storage order (graph/graph.h: rank 4 is
 * stored channels-last). A copy, element by element; the two must not overlap. */
#include "exec/exec.h"

/* Copies n planes of a rows x b columns to n planes of b rows x a columns. */
static void transpose(int64_t n, int64_t a, int64_t b, int64_t element_bytes, const char *from, char *to) {
    const size_t size = (size_t)element_bytes;
    for (int64_t plane = 0; plane < n; plane++) {
        for (int64_t i = 0; i < a; i++) {
            for (int64_t j = 0; j < b; j++) {
                const int64_t source = (plane * a + i) * b + j, target = (plane * b + j) * a + i;
                memcpy(to + target * element_bytes, from + source * element_bytes, size);
            }
        }
    }
}

void ebb_tensor_to_storage(const ebb_type *type, const void *from, void *to) {
    const int64_t *d = type->dim;
    if (type->rank == 4) {
        transpose(d[0], d[1], d[2] * d[3], ebb_dtype_bytes(type->dtype), from, to);
    } else {
        memcpy(to, from, (size_t)ebb_type_bytes(type));
    }
}

void ebb_tensor_to_logical(const ebb_type *type, const void *from, void *to) {
    const int64_t *d = type->dim;
    if (type->rank == 4) {
        transpose(d[0], d[2] * d[3], d[1], ebb_dtype_bytes(type->dtype), from, to);
    } else {
        memcpy(to, from, (size_t)ebb_type_bytes(type));
    }
}
