/* batch: computes shapes for two sizes of the batch N; sizes that differ between them must be multiples of
 * N. */
#ifndef EBB_ONNX_BATCH_H
#define EBB_ONNX_BATCH_H

#include "base/base.h"

enum { ONNX_BATCH_A = 48, ONNX_BATCH_B = 80 };

/* Expresses a size that is a at the first N and b at the second as N * over / under, in lowest terms;
 * false: it is not a multiple of N. */
static inline bool onnx_of_batch(int64_t a, int64_t b, int64_t *over, int64_t *under) {
    int64_t left = 0, right = 0;
    if (a < 1 || b < 1 || !ebb_mul_i64(a, ONNX_BATCH_B, &left) || !ebb_mul_i64(b, ONNX_BATCH_A, &right) ||
        left != right)
        return false;
    *over = a;
    *under = ONNX_BATCH_A;
    for (int64_t factor = 2; factor <= *under; factor++)
        while (*over % factor == 0 && *under % factor == 0) {
            *over /= factor;
            *under /= factor;
        }
    return true;
}

#endif
