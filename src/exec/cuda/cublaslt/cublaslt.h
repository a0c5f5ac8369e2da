/* cuda/cublaslt/cublaslt.h: a call as one product of matrices for cuBLASLt: of linear, its gradients,
 * matmul, and of convolutions whose filters are of one pixel, which channels last are products of all
 * pixels' channels. */
#ifndef EBB_EXEC_CUDA_CUBLASLT_H
#define EBB_EXEC_CUDA_CUBLASLT_H

#include <cublasLt.h>

#include "exec/cuda/kernels/reduce.h"
#include "exec/cuda/kernels/shape.h"
#include "exec/kernels.h"

/* c[g,m,n] = a[g,m,k] b[g,k,n], rows in memory one after the other; a or b may be stored transposed. */
typedef struct lt_shape {
    int64_t g, m, n, k;
    uint32_t a, b; /* which input */
    bool transpose_a, transpose_b;
    ebb_dtype from, to; /* of a and b; of c: f32 also where it is a part of a sum in 16 bits */
} lt_shape;
bool lt_is_product(const ebb_call *call);
/* Of those: the product's rows are pixels that stand apart in the result, zeros between them. */
bool lt_is_spread(const ebb_call *call);
lt_shape lt_shape_of(const ebb_call *call); /* of one that is a product */

/* In about how many equal parts the sum over k is cut, besides what is left, where both operands are stored
 * by k, as a weight gradient's are; 1: not cut. By the shape alone. */
int64_t lt_splits(const lt_shape *shape);

/* Scratch bytes that a product may use: by its shape alone, so that a plan needs no device. */
int64_t lt_scratch_bytes(const lt_shape *shape);

/* Bytes that the addresses of a and c divide by; 0: 256, as b's do. */
typedef struct lt_alignment {
    uint32_t a, c;
} lt_alignment;

/* What cuBLASLt is told of a product. */
typedef struct lt_problem {
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c; /* in its order: its a is our b */
    cublasLtMatmulPreference_t preference;
} lt_problem;
/* Needs no device. After a failure *out is to be dropped too. */
cublasStatus_t lt_problem_make(const lt_shape *shape, lt_alignment alignment, bool tf32, lt_problem *out);
void lt_problem_drop(lt_problem *problem);
/* Does the algorithm give the same bits each time, sums in f32, within so many bytes of scratch? */
bool lt_algorithm_allowed(const cublasLtMatmulHeuristicResult_t *found, ebb_dtype to,
                          int64_t scratch_bytes);

/* ---- a call's products (pieces.c) -------------------------------------------------------- */

/* A call is a product, or
 *   spread   pieces of images: their product stands in scratch, from where its rows are spread
 *   split    parts of the sum over k, all at once but for what is left: they stand in scratch and are added
 */
typedef struct lt_part {
    lt_shape shape;
    lt_alignment alignment;
    lt_problem problem;
    cublasLtMatmulAlgo_t algorithm;
} lt_part;

enum { PART_MOST, PART_REST, N_PARTS };

typedef struct lt_product {
    lt_part parts[N_PARTS]; /* REST: k 0 or m 0 where there is none */
    int64_t product_bytes;  /* scratch of a product; results stand behind it */
    int64_t result_bytes;
    const char *op;
    /* spread */
    int64_t n_pieces, n_images;
    int64_t from_bytes, to_bytes; /* of an image */
    cuda_spread_args spread;      /* but for the addresses */
    /* split */
    cuda_strip_sums_args sums; /* likewise; size 0: not split */
} lt_product;

/* Everything but problems and algorithms; by the call alone. */
void lt_product_plan(const ebb_call *call, lt_product *out);
bool lt_part_is_there(const lt_part *part);
int64_t lt_moved_bytes(const lt_product *product); /* of results that stand in scratch, all pieces' */
/* Images of a piece of one that is spread; the larger ones come first. */
int64_t lt_piece_images(const lt_product *product, int64_t piece);

#endif
