/* cuda/cublaslt/problem.c: products of matrices as cuBLASLt sees them.
 *
 * Its matrices are stored by columns, and one of ours by rows is its transpose by columns: c = a b by rows
 * is cT = bT aT by columns, so the operands change places and nothing is transposed that was not.
 *
 * Which algorithms qualify. cuBLAS promises the same bits at every run of a version on one architecture and
 * number of multiprocessors, with one stream and a workspace of the caller's (its guide, "Results
 * reproducibility"): both hold here. Beyond that, where the sum over k is split, the parts must be added in
 * a step of their own (reduction schemes COMPUTE_TYPE and OUTPUT_TYPE); INPLACE, which adds into the result
 * as blocks arrive, is never taken, though cuBLAS says that it keeps an order; nor is OUTPUT_TYPE where
 * that is of 16 bits, for each part would be rounded to them.
 */
#include "exec/cuda/cublaslt/cublaslt.h"
#include "exec/cuda/products_parts.h"

/* ---- shapes --------------------------------------------------------------------------------------- */

static bool is_strided(const ebb_attr *attr) {
    return attr[EBB_CONV_STRIDE].i[0] != 1 || attr[EBB_CONV_STRIDE].i[1] != 1;
}

bool lt_is_spread(const ebb_call *call) {
    return call->op->code == EBB_OP_conv2d_dgrad && is_strided(call->attr);
}

bool lt_is_product(const ebb_call *call) {
    if (!cuda_is_convolution(call)) return true;
    const ebb_attr *attr = call->attr;
    const ebb_type *w = call->op->code == EBB_OP_conv2d_wgrad ? &call->out[0] : &call->in[1];
    const ebb_type *x = call->op->code == EBB_OP_conv2d_dgrad ? &call->out[0] : &call->in[0];
    if (w->dim[2] != 1 || w->dim[3] != 1 || attr[EBB_CONV_PAD].i[0] != 0 || attr[EBB_CONV_PAD].i[1] != 0 ||
        attr[EBB_CONV_GROUPS].i[0] != 1)
        return false;
    return !is_strided(attr) ||
           (lt_is_spread(call) && x->dim[1] % 4 == 0 && x->dim[3] <= INT32_MAX / 2 / x->dim[1]);
}

/* Rows of an image's pixels, channels last: [n,c,h,w] is [n*h*w,c]. */
static int64_t rows_of(const ebb_type *type) {
    return type->rank == 4 ? type->dim[0] * type->dim[2] * type->dim[3] : type->dim[0];
}

static lt_shape shape_of(const ebb_call *call) {
    const ebb_type *a = &call->in[0], *b = &call->in[1], *c = &call->out[0];
    switch (call->op->code) {
    case EBB_OP_linear: /* x[n,i] w[o,i] -> [n,o] */
    case EBB_OP_conv2d:
        return (lt_shape){1, rows_of(c), c->dim[1], a->dim[1], 0, 1, false, true, EBB_F32, EBB_F32};
    case EBB_OP_linear_dgrad: /* dy[n,o] w[o,i] -> [n,i] */
    case EBB_OP_conv2d_dgrad: /* pixels of dy, of dx too where nothing is strided */
        return (lt_shape){1,       rows_of(a), call->in[1].dim[1], a->dim[1], 0, 1, false, false,
                          EBB_F32, EBB_F32};
    case EBB_OP_linear_wgrad: /* x[n,i] dy[n,o] -> [o,i] = dyT x */
    case EBB_OP_conv2d_wgrad:
        return (lt_shape){1, c->dim[0], c->dim[1], rows_of(b), 1, 0, true, false, EBB_F32, EBB_F32};
    default: { /* matmul */
        const bool ta = call->attr[EBB_MATMUL_TRANSPOSE_A].i[0] != 0,
                   tb = call->attr[EBB_MATMUL_TRANSPOSE_B].i[0] != 0;
        return (lt_shape){c->dim[0], c->dim[1], c->dim[2], ta ? a->dim[1] : a->dim[2], 0, 1, ta,
                          tb,        EBB_F32,   EBB_F32};
    }
    }
}

lt_shape lt_shape_of(const ebb_call *call) {
    lt_shape shape = shape_of(call);
    shape.from = shape.to = call->in[0].dtype;
    return shape;
}

/* Where the result is too small to fill a device, the sum over k may be split in up to 8 parts, which stand
 * in scratch: at most 8 MiB. A result of 2^21 elements and more (128 tiles of 128 by 128) needs none. */
int64_t lt_scratch_bytes(const lt_shape *shape) {
    enum { PARTS = 8, MOST = 8 << 20 };
    int64_t count;
    const bool fits = ebb_mul_i64(shape->m, shape->n, &count) && ebb_mul_i64(count, shape->g, &count);
    if (!fits || count >= INT64_C(1) << 21) return 0;
    return ebb_align_up(ebb_min_i64(count * PARTS * (int64_t)sizeof(float), MOST), 256);
}

/* cuBLASLt's first algorithms for few tiles and a long sum were seen to take a hundred times what memory
 * does ([128,802816] x [802816,256] on an H100: 124 ms). Parts that are products of their own fill a device
 * by themselves. */
int64_t lt_splits(const lt_shape *s) {
    enum {
        TILE = 128,
        TILES = 264 /* two to each of 132 multiprocessors */,
        LEAST = 2048,
        MOST = 32 << 20
    };
    int64_t count;
    if (s->g > 1 || !s->transpose_a || s->transpose_b || !ebb_mul_i64(s->m, s->n, &count)) return 1;
    const int64_t tiles = ((s->m + TILE - 1) / TILE) * ((s->n + TILE - 1) / TILE);
    const int64_t fit = MOST / (count < MOST ? count * (int64_t)sizeof(float) : MOST);
    return ebb_max_i64(ebb_min_i64(ebb_min_i64(TILES / tiles, s->k / LEAST), fit), 1);
}

/* ---- problems ------------------------------------------------------------------------------------- */

/* One of our matrices of rows x columns, g of them. */
static cublasStatus_t layout_make(ebb_dtype dtype, int64_t rows, int64_t columns, int64_t g,
                                  cublasLtMatrixLayout_t *out) {
    const cudaDataType_t type = dtype == EBB_F16    ? CUDA_R_16F
                                : dtype == EBB_BF16 ? CUDA_R_16BF
                                                    : CUDA_R_32F;
    const int32_t count = (int32_t)g;
    const int64_t stride = rows * columns;
    cublasStatus_t status =
        cublasLtMatrixLayoutCreate(out, type, (uint64_t)columns, (uint64_t)rows, columns);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                  sizeof count);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                  &stride, sizeof stride);
    return status;
}

/* COMPUTE_32F on f32 operands multiplies f32: TF32 must be asked for. On 16 bits it has f32 sums. */
static cublasStatus_t operation_make(const lt_shape *s, bool tf32, cublasLtMatmulDesc_t *out) {
    const cublasOperation_t first = s->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = s->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasStatus_t status = cublasLtMatmulDescCreate(
        out, tf32 && s->from == EBB_F32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulDescSetAttribute(*out, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulDescSetAttribute(*out, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
    return status;
}

static cublasStatus_t promise(cublasLtMatmulPreference_t p, cublasLtMatmulPreferenceAttributes_t name,
                              uint32_t align) {
    const uint32_t bytes = align ? align : 256;
    return cublasLtMatmulPreferenceSetAttribute(p, name, &bytes, sizeof bytes);
}

/* Its a is our b, and its d our c. */
static cublasStatus_t promise_all(lt_alignment align, cublasLtMatmulPreference_t p) {
    cublasStatus_t status = promise(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 0);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = promise(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, align.a);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = promise(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, align.c);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = promise(p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, align.c);
    return status;
}

static cublasStatus_t preference_make(const lt_shape *s, lt_alignment align,
                                      cublasLtMatmulPreference_t *out) {
    const size_t bytes = (size_t)lt_scratch_bytes(s);
    const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE |
        (s->to == EBB_F32 ? (uint32_t)CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE : UINT32_C(0));
    cublasStatus_t status = cublasLtMatmulPreferenceCreate(out);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulPreferenceSetAttribute(*out, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                      &bytes, sizeof bytes);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulPreferenceSetAttribute(*out, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                      &schemes, sizeof schemes);
    if (status == CUBLAS_STATUS_SUCCESS) status = promise_all(align, *out);
    return status;
}

cublasStatus_t lt_problem_make(const lt_shape *s, lt_alignment align, bool tf32, lt_problem *out) {
    *out = (lt_problem){0};
    cublasStatus_t status = operation_make(s, tf32, &out->operation);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = s->transpose_b ? layout_make(s->from, s->n, s->k, s->g, &out->a)
                                : layout_make(s->from, s->k, s->n, s->g, &out->a);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = s->transpose_a ? layout_make(s->from, s->k, s->m, s->g, &out->b)
                                : layout_make(s->from, s->m, s->k, s->g, &out->b);
    if (status == CUBLAS_STATUS_SUCCESS) status = layout_make(s->to, s->m, s->n, s->g, &out->c);
    if (status == CUBLAS_STATUS_SUCCESS) status = preference_make(s, align, &out->preference);
    return status;
}

void lt_problem_drop(lt_problem *problem) {
    if (problem->preference) (void)cublasLtMatmulPreferenceDestroy(problem->preference);
    if (problem->c) (void)cublasLtMatrixLayoutDestroy(problem->c);
    if (problem->b) (void)cublasLtMatrixLayoutDestroy(problem->b);
    if (problem->a) (void)cublasLtMatrixLayoutDestroy(problem->a);
    if (problem->operation) (void)cublasLtMatmulDescDestroy(problem->operation);
    *problem = (lt_problem){0};
}

bool lt_algorithm_allowed(const cublasLtMatmulHeuristicResult_t *found, ebb_dtype to,
                          int64_t scratch_bytes) {
    uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_INPLACE;
    size_t written;
    if (found->state != CUBLAS_STATUS_SUCCESS || found->workspaceSize > (size_t)scratch_bytes) return false;
    if (cublasLtMatmulAlgoConfigGetAttribute(&found->algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                             sizeof scheme, &written) != CUBLAS_STATUS_SUCCESS)
        return false;
    return scheme != CUBLASLT_REDUCTION_SCHEME_INPLACE &&
           (to == EBB_F32 || scheme != CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
}
