/* cuda/cublaslt_run.c: products of matrices by cuBLASLt: facts, kernel objects, launches. */
#include "exec/cuda/cost.h"
#include "exec/cuda/cublaslt.h"
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
    *lt = (cuda_lt){.env = env,
                    .description = *description,
                    .device = device,
                    .tf32 = tf32 && description->tf32_flops_per_us > 0};
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

static ebb_status check_batch(cuda_lt *lt, const ebb_call *call, const lt_shape *shape) {
    if (shape->g <= INT32_MAX) return EBB_OK;
    return ebb_fail(lt->env, EBB_BAD_INPUT, "%s: %lld matrices in one product; cuBLASLt takes %d",
                    call->op->name, (long long)shape->g, INT32_MAX);
}

ebb_status cuda_lt_facts(cuda_lt *lt, const ebb_call *call, ebb_op_facts *out) {
    const lt_shape shape = lt_shape_of(call);
    const ebb_status status = check_batch(lt, call, &shape);
    if (status != EBB_OK) return status;
    *out = (ebb_op_facts){.n_choices = 1, .scratch_bytes = lt_scratch_bytes(&shape)};
    cuda_cost_product(&lt->description, call, lt->tf32, out);
    (void)snprintf(out->choice, sizeof out->choice, "%s", lt->tf32 ? "tf32" : "f32");
    return EBB_OK;
}

/* ---- kernel objects ------------------------------------------------------------------------------- */

typedef struct lt_product {
    lt_shape shape;
    lt_problem problem;
    cublasLtMatmulAlgo_t algorithm;
    const char *op;
} lt_product;

static ebb_status failed(cuda_lt *lt, ebb_status status, const char *op, const char *what,
                         cublasStatus_t why) {
    return ebb_fail(lt->env, status, "%s: cuBLASLt: %s: %s", op, what, cublasLtGetStatusString(why));
}

/* The heuristics' first that qualifies. */
static ebb_status choose_algorithm(cuda_lt *lt, lt_product *p) {
    enum { MOST = 32 };
    cublasLtMatmulHeuristicResult_t found[MOST];
    int n = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(lt->handle, p->problem.operation, p->problem.a, p->problem.b,
                                       p->problem.c, p->problem.c, p->problem.preference, MOST, found, &n);
    if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED)
        return failed(lt, EBB_DEVICE, p->op, "its heuristics", status);
    const int64_t scratch_bytes = lt_scratch_bytes(&p->shape);
    for (int i = 0; i < n; i++) {
        if (!lt_algorithm_allowed(&found[i], scratch_bytes)) continue;
        p->algorithm = found[i].algo;
        return EBB_OK;
    }
    return ebb_fail(
        lt->env, EBB_BAD_INPUT,
        "%s: cuBLASLt has no algorithm for [%lld,%lld,%lld] x [%lld,%lld] within %lld scratch bytes that "
        "gives the same bits each time",
        p->op, (long long)p->shape.g, (long long)p->shape.m, (long long)p->shape.k, (long long)p->shape.k,
        (long long)p->shape.n, (long long)scratch_bytes);
}

static ebb_status make_handle(cuda_lt *lt) {
    if (lt->handle) return EBB_OK;
    const cublasStatus_t status = cublasLtCreate(&lt->handle);
    if (status == CUBLAS_STATUS_SUCCESS) return EBB_OK;
    lt->handle = NULL;
    return ebb_fail(lt->env, EBB_UNAVAILABLE, "cuBLASLt %zu does not start: %s", cublasLtGetVersion(),
                    cublasLtGetStatusString(status));
}

ebb_status cuda_lt_prepare(cuda_lt *lt, const ebb_call *call, void **out) {
    *out = NULL;
    const lt_shape shape = lt_shape_of(call);
    ebb_status status = check_batch(lt, call, &shape);
    if (status == EBB_OK) status = make_handle(lt);
    if (status != EBB_OK) return status;
    lt_product *p = ebb_calloc(lt->env, 1, sizeof *p);
    if (!p) return EBB_NO_MEMORY;
    p->shape = shape;
    p->op = call->op->name;
    const cublasStatus_t made = lt_problem_make(&p->shape, lt->tf32, &p->problem);
    status = made == CUBLAS_STATUS_SUCCESS ? choose_algorithm(lt, p)
                                           : failed(lt, EBB_DEVICE, p->op, "its description", made);
    if (status == EBB_OK)
        *out = p;
    else
        cuda_lt_release(lt, p);
    return status;
}

void cuda_lt_release(cuda_lt *lt, void *product) {
    lt_product *p = product;
    if (!p) return;
    lt_problem_drop(&p->problem);
    ebb_cfree(lt->env, p, 1, sizeof *p);
}

ebb_status cuda_lt_launch(cuda_lt *lt, void *product, const ebb_launch *launch) {
    const lt_product *p = product;
    const float one = 1, zero = 0;
    void *c = launch->out[0];
    const cublasStatus_t status = cublasLtMatmul(
        lt->handle, p->problem.operation, &one, launch->in[p->shape.b], p->problem.a,
        launch->in[p->shape.a], p->problem.b, &zero, c, p->problem.c, c, p->problem.c, &p->algorithm,
        launch->scratch, (size_t)lt_scratch_bytes(&p->shape), (cudaStream_t)lt->device->stream);
    return status == CUBLAS_STATUS_SUCCESS ? EBB_OK : failed(lt, EBB_DEVICE, p->op, "its product", status);
}
