/* cuda/fused.c: the kernel of fused: what it supports, its rate, its launches (fused.h). */
#include "exec/cuda/cuda.h"
#include "exec/cuda/reduction.h"

/* What a kernel keeps. */
typedef struct cuda_fused {
    ebb_fused_body body;
    const cuda_code *code;
    cuda_fused_args args; /* but for addresses */
} cuda_fused;

/* Every step's op by itself must have a kernel here, and every sum. */
static ebb_status fused_supports(ebb_backend *backend, const ebb_call *call) {
    ebb_fused_body body;
    const ebb_kernel_info *info;
    ebb_status status = ebb_fused_read(backend->env, call, &body);
    for (uint32_t k = 0; !status && k < body.n_steps; k++) {
        ebb_type in[EBB_FUSED_ARGS];
        const ebb_call step = ebb_fused_call(call, &body, k, in);
        status = cuda_kernel_find(backend, &step, &info);
    }
    for (uint32_t s = 0; !status && s < body.n_sums; s++) {
        ebb_type in;
        ebb_call sum = ebb_fused_sum(&body, s, &in);
        sum.out = &call->out[body.n_out + s];
        status = cuda_kernel_find(backend, &sum, &info);
    }
    return status;
}

/* Sums read what was written, in launches of their own. */
static void fused_rate(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                       const char **kind) {
    ebb_fused_body body;
    ebb_cost cost;
    (void)backend, (void)kind;
    if (ebb_fused_read(NULL, call, &body)) return; /* never: it is supported */
    call->op->cost(call, &cost);
    double bytes = (double)cost.bytes;
    for (uint32_t s = 0; s < body.n_sums; s++) {
        bytes += (double)ebb_type_bytes(&body.step[body.sum[s]].type);
        rate->start_ns += ebb_cuda_bias_grad.rate.start_ns;
    }
    rate->bytes = ebb_max_i64((int64_t)((double)rate->bytes * (double)cost.bytes / bytes), 1);
}

/* Of sums: one after the other, of one shape. */
static ebb_status fused_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    ebb_fused_body body;
    ebb_type in;
    const ebb_status status = ebb_fused_read(backend->env, call, &body);
    if (status || body.n_sums == 0) return status;
    const ebb_call sum = ebb_fused_sum(&body, 0, &in);
    return ebb_cuda_bias_grad.scratch(backend, &sum, bytes);
}

static void fused_release(ebb_backend *backend, void *state) {
    if (state) ebb_cfree(backend->env, state, 1, sizeof(cuda_fused));
}

static ebb_status code_of(ebb_backend *backend, const ebb_call *call, cuda_fused *f) {
    cuda_backend *cuda = cuda_of(backend);
    ebb_text text;
    ebb_status status = cuda_jit_open(&cuda->jit, backend->env, cuda->description.compute);
    if (status) return status;
    ebb_text_init(&text, backend->env);
    cuda->jit.compiler->api->write(cuda->jit.compiler, &text, call, &f->body);
    status = ebb_text_status(&text);
    if (!status) status = cuda_jit_code(&cuda->jit, cuda->device, &text, &f->code);
    ebb_text_deinit(&text);
    return status;
}

static ebb_status fused_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    cuda_fused *f = *state = ebb_calloc(backend->env, 1, sizeof *f);
    if (!f) return EBB_NO_MEMORY;
    ebb_status status = ebb_fused_read(backend->env, call, &f->body);
    if (!status) status = code_of(backend, call, f);
    if (!status) {
        cuda_fused_arguments(call, &f->body, &f->args);
        return EBB_OK;
    }
    fused_release(backend, f);
    *state = NULL;
    return status;
}

/* As bias_grad of the result that it is of. */
static ebb_status sum_launch(const ebb_kernel_run *run, const ebb_fused_body *body, uint32_t s) {
    ebb_type in;
    ebb_call sum = ebb_fused_sum(body, s, &in);
    uint32_t o = 0;
    while (body->out[o] != body->sum[s]) o++;
    sum.out = &run->call->out[body->n_out + s];
    return cuda_bias_sums_launch(run, &sum, o, body->n_out + s);
}

static ebb_status fused_launch(const ebb_kernel_run *run) {
    const cuda_fused *f = run->state;
    cuda_device *device = cuda_of(run->backend)->device;
    const int64_t n_blocks = cuda_blocks_of(f->args.n, CUDA_FUSED_EACH);
    cuda_fused_args args = f->args;
    for (uint32_t i = 0; i < run->call->n_in; i++) args.in[i] = run->launch->in[i];
    for (uint32_t o = 0; o < f->body.n_out; o++) args.out[o] = run->launch->out[o];
    ebb_status status = n_blocks ? device->api->code_launch(device, f->code, n_blocks, &args) : EBB_OK;
    for (uint32_t s = 0; !status && s < f->body.n_sums; s++) status = sum_launch(run, &f->body, s);
    return status;
}

CUDA_OP(fused, CUDA_REALS | EBB_TAKES(I32, BOOL), CUDA_SWEEP, .rate_of = fused_rate,
        .supports = fused_supports, .scratch = fused_scratch, .prepare = fused_prepare,
        .release = fused_release, .launch = fused_launch);
