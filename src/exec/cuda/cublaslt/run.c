/* cuda/cublaslt/run.c: products of matrices by cuBLASLt: facts, kernel objects, launches. */
#include "exec/cuda/cost.h"
#include "exec/cuda/cublaslt/cublaslt.h"
#include "exec/cuda/products_parts.h"

#include <stdio.h>

struct cuda_lt {
    ebb_env *env;
    cuda_description description; /* a copy, without its text */
    cuda_device *device;          /* NULL: described only */
    bool tf32;
    cublasLtHandle_t handle; /* NULL until something is prepared */
};

ebb_status cuda_lt_open(ebb_env *env, const cuda_description *description, cuda_device *device, bool tf32,
                        cuda_lt **out) {
    *out = NULL;
    cuda_lt *lt = ebb_calloc(env, 1, sizeof *lt);
    if (!lt) return EBB_NO_MEMORY;
    *lt = (cuda_lt){.env = env, .description = *description, .device = device, .tf32 = tf32};
    lt->description.properties = NULL;
    *out = lt;
    return EBB_OK;
}

void cuda_lt_close(cuda_lt *lt) {
    if (!lt) return;
    if (lt->handle) (void)cublasLtDestroy(lt->handle);
    ebb_cfree(lt->env, lt, 1, sizeof *lt);
}

/* ---- facts ---------------------------------------------------------------------------------------- */

static ebb_status check_call(cuda_lt *lt, const ebb_call *call, const lt_shape *shape) {
    if (call->choice > 0)
        return ebb_fail(lt->env, EBB_USAGE, "%s: choice %u of 1: plan for this device and cuBLASLt",
                        call->op->name, call->choice);
    if (shape->g <= INT32_MAX) return EBB_OK;
    return ebb_fail(lt->env, EBB_BAD_INPUT, "%s: %lld matrices in one product; cuBLASLt takes %d",
                    call->op->name, (long long)shape->g, INT32_MAX);
}

ebb_status cuda_lt_facts(cuda_lt *lt, const ebb_call *call, ebb_op_facts *out) {
    const lt_shape shape = lt_shape_of(call);
    const ebb_status status = check_call(lt, call, &shape);
    if (status != EBB_OK) return status;
    lt_product product;
    lt_product_plan(call, &product);
    *out = (ebb_op_facts){.n_choices = 1, .scratch_bytes = product.product_bytes + product.result_bytes};
    cuda_cost_product(&lt->description, call, lt->tf32, out);
    out->time_ns += cuda_cost_scratch_ns(&lt->description, lt_moved_bytes(&product));
    (void)snprintf(out->choice, sizeof out->choice, "%s",
                   lt->tf32 && shape.from == EBB_F32 ? "tf32" : ebb_dtype_name(shape.from));
    return EBB_OK;
}

/* ---- kernel objects ------------------------------------------------------------------------------- */

static ebb_status failed(cuda_lt *lt, ebb_status status, const char *op, const char *what,
                         cublasStatus_t why) {
    return ebb_fail(lt->env, status, "%s: cuBLASLt: %s: %s", op, what, cublasLtGetStatusString(why));
}

/* The heuristics' first that qualifies. */
static ebb_status choose_algorithm(cuda_lt *lt, const char *op, lt_part *p) {
    enum { MOST = 32 };
    cublasLtMatmulHeuristicResult_t found[MOST];
    int n = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(lt->handle, p->problem.operation, p->problem.a, p->problem.b,
                                       p->problem.c, p->problem.c, p->problem.preference, MOST, found, &n);
    if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED)
        return failed(lt, EBB_DEVICE, op, "its heuristics", status);
    const int64_t scratch_bytes = lt_scratch_bytes(&p->shape);
    for (int i = 0; i < n; i++) {
        if (!lt_algorithm_allowed(&found[i], p->shape.to, scratch_bytes)) continue;
        p->algorithm = found[i].algo;
        return EBB_OK;
    }
    return ebb_fail(
        lt->env, EBB_BAD_INPUT,
        "%s: cuBLASLt has no algorithm for [%lld,%lld,%lld] x [%lld,%lld] within %lld scratch bytes that "
        "gives the same bits each time",
        op, (long long)p->shape.g, (long long)p->shape.m, (long long)p->shape.k, (long long)p->shape.k,
        (long long)p->shape.n, (long long)scratch_bytes);
}

static ebb_status make_handle(cuda_lt *lt) {
    if (lt->handle) return EBB_OK;
    const cublasStatus_t status = cublasLtCreate(&lt->handle);
    if (status == CUBLAS_STATUS_SUCCESS) return EBB_OK;
    lt->handle = NULL;
    return ebb_fail(lt->env, status == CUBLAS_STATUS_ALLOC_FAILED ? EBB_DEVICE : EBB_UNAVAILABLE,
                    "cuBLASLt %zu does not start: %s", cublasLtGetVersion(),
                    cublasLtGetStatusString(status));
}

static ebb_status make_part(cuda_lt *lt, const char *op, lt_part *part) {
    const cublasStatus_t made = lt_problem_make(&part->shape, part->alignment, lt->tf32, &part->problem);
    return made == CUBLAS_STATUS_SUCCESS ? choose_algorithm(lt, op, part)
                                         : failed(lt, EBB_DEVICE, op, "its description", made);
}

ebb_status cuda_lt_prepare(cuda_lt *lt, const ebb_call *call, void **out) {
    *out = NULL;
    const lt_shape shape = lt_shape_of(call);
    ebb_status status = check_call(lt, call, &shape);
    if (status == EBB_OK) status = make_handle(lt);
    if (status != EBB_OK) return status;
    lt_product *p = ebb_calloc(lt->env, 1, sizeof *p);
    if (!p) return EBB_NO_MEMORY;
    lt_product_plan(call, p);
    for (int i = 0; i < N_PARTS && status == EBB_OK; i++) {
        if (lt_part_is_there(&p->parts[i])) status = make_part(lt, p->op, &p->parts[i]);
    }
    if (status == EBB_OK)
        *out = p;
    else
        cuda_lt_release(lt, p);
    return status;
}

void cuda_lt_release(cuda_lt *lt, void *product) {
    lt_product *p = product;
    if (!p) return;
    for (int i = 0; i < N_PARTS; i++) lt_problem_drop(&p->parts[i].problem);
    ebb_cfree(lt->env, p, 1, sizeof *p);
}

/* ---- launch --------------------------------------------------------------------------------------- */

static ebb_status multiply(cuda_lt *lt, const lt_product *p, const lt_part *part, const void *a,
                           const void *b, void *c, void *scratch) {
    const float one = 1, zero = 0;
    const cublasStatus_t status =
        cublasLtMatmul(lt->handle, part->problem.operation, &one, b, part->problem.a, a, part->problem.b,
                       &zero, c, part->problem.c, c, part->problem.c, &part->algorithm, scratch,
                       (size_t)lt_scratch_bytes(&part->shape), (cudaStream_t)lt->device->stream);
    return status == CUBLAS_STATUS_SUCCESS ? EBB_OK : failed(lt, EBB_DEVICE, p->op, "its product", status);
}

static ebb_status launch_spread(cuda_lt *lt, const lt_product *p, const ebb_launch *launch) {
    const char *from = launch->in[0];
    char *to = launch->out[0], *rows = (char *)launch->scratch + p->product_bytes;
    ebb_status status = EBB_OK;
    for (int64_t i = 0; i < p->n_pieces && status == EBB_OK; i++) {
        const int64_t n = lt_piece_images(p, i);
        const lt_part *part = &p->parts[n == lt_piece_images(p, 0) ? PART_MOST : PART_REST];
        cuda_spread_args spread = p->spread;
        spread.from = (const float *)(const void *)rows;
        spread.to = (float *)(void *)to;
        status = multiply(lt, p, part, from, launch->in[1], rows, launch->scratch);
        if (status == EBB_OK)
            status = lt->device->api->launch(lt->device, CUDA_KERNEL_spread, n * spread.height, &spread);
        from += n * p->from_bytes;
        to += n * p->to_bytes;
    }
    return status;
}

static ebb_status launch_split(cuda_lt *lt, const lt_product *p, const ebb_launch *launch) {
    const lt_part *most = &p->parts[PART_MOST], *rest = &p->parts[PART_REST];
    const lt_shape *s = &most->shape;
    const int64_t each = ebb_dtype_bytes(s->from);
    const char *a = launch->in[s->a], *b = launch->in[s->b];
    float *results = (float *)(void *)((char *)launch->scratch + p->product_bytes);
    ebb_status status = multiply(lt, p, most, a, b, results, launch->scratch);
    if (status == EBB_OK && lt_part_is_there(rest)) /* both are stored by k */
        status = multiply(lt, p, rest, a + s->g * s->k * s->m * each, b + s->g * s->k * s->n * each,
                          results + s->g * s->m * s->n, launch->scratch);
    if (status != EBB_OK) return status;
    cuda_strip_sums_args sums = p->sums;
    sums.x = results;
    sums.y = launch->out[0];
    const cuda_kernel_id kernel = s->from == EBB_F16    ? CUDA_KERNEL_part_sums_f16
                                  : s->from == EBB_BF16 ? CUDA_KERNEL_part_sums_bf16
                                                        : CUDA_KERNEL_strip_sums;
    return lt->device->api->launch(lt->device, kernel,
                                   cuda_blocks_of(cuda_strip_total(&sums), CUDA_STRIP_THREADS), &sums);
}

ebb_status cuda_lt_launch(cuda_lt *lt, void *product, const ebb_launch *launch) {
    const lt_product *p = product;
    if (p->n_pieces > 0) return launch_spread(lt, p, launch);
    if (p->sums.size > 0) return launch_split(lt, p, launch);
    const lt_part *part = &p->parts[PART_MOST];
    return multiply(lt, p, part, launch->in[part->shape.a], launch->in[part->shape.b], launch->out[0],
                    launch->scratch);
}
