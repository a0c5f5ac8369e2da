/* ref/fused.c: a body of pointwise steps, each by its own kernel on one element. */
#include "exec/ref/ref.h"

/* Of a step: operands and the result are one element each, in the shape that its op asks for. */
static ebb_status step_run(const ebb_kernel_run *run, const ebb_fused_step *s, void *const *in, void *out) {
    const bool vector = s->op->by_channel != 0; /* the other operands are [1,1] */
    ebb_type types[EBB_FUSED_ARGS], y = {.dtype = s->type.dtype, .rank = vector ? 2 : 0, .dim = {1, 1}};
    for (uint32_t k = 0; k < s->n_arg; k++) {
        const ebb_fused_arg *a = &s->arg[k];
        const ebb_fused_body *b = run->state;
        types[k] = (ebb_type){.dtype = a->is_step ? b->step[a->at].type.dtype : run->call->in[a->at].dtype,
                              .rank = !vector                      ? 0
                                      : s->op->by_channel >> k & 1 ? 1
                                                                   : 2,
                              .dim = {1, 1}};
    }
    const ebb_call call = {
        .op = s->op, .in = types, .out = &y, .n_in = s->n_arg, .n_out = 1, .attr = s->attr};
    const ebb_launch launch = {.in = in, .out = &out};
    const ebb_kernel_run one = {.backend = run->backend, .call = &call, .launch = &launch};
    return ref_kernels[s->op->code]->launch(&one);
}

static ebb_status element_run(const ebb_kernel_run *run, const ebb_walk *walks, int64_t i) {
    const ebb_fused_body *b = run->state;
    double held[EBB_FUSED_STEPS];
    char *operand[EBB_FUSED_OPERANDS];
    for (uint32_t k = 0; k < run->call->n_in; k++)
        operand[k] = (char *)run->launch->in[k] +
                     ebb_walk_place_of(&walks[k], i).element[0] * ebb_dtype_bytes(run->call->in[k].dtype);
    for (uint32_t k = 0; k < b->n_steps; k++) {
        void *in[EBB_FUSED_ARGS];
        for (uint32_t j = 0; j < b->step[k].n_arg; j++) {
            const ebb_fused_arg *a = &b->step[k].arg[j];
            in[j] = a->is_step ? (void *)&held[a->at] : operand[a->at];
        }
        const ebb_status status = step_run(run, &b->step[k], in, &held[k]);
        if (status) return status;
    }
    for (uint32_t o = 0; o < b->n_out; o++) {
        const int64_t bytes = ebb_dtype_bytes(run->call->out[o].dtype);
        memcpy((char *)run->launch->out[o] + i * bytes, &held[b->out[o]], (size_t)bytes);
    }
    return EBB_OK;
}

static ebb_status fused_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    ebb_fused_body *body = *state = ebb_calloc(backend->env, 1, sizeof *body);
    ebb_status status = body ? ebb_fused_read(backend->env, call, body) : EBB_NO_MEMORY;
    if (!status || !body) return status;
    ebb_cfree(backend->env, body, 1, sizeof *body);
    *state = NULL;
    return status;
}

static void fused_release(ebb_backend *backend, void *state) {
    if (state) ebb_cfree(backend->env, state, 1, sizeof(ebb_fused_body));
}

/* Of what was stored. */
static ebb_status sum_run(const ebb_kernel_run *run, const ebb_fused_body *b, uint32_t s) {
    ebb_type in, out = run->call->out[b->n_out + s];
    uint32_t o = 0;
    while (b->out[o] != b->sum[s]) o++;
    ebb_call call = ebb_fused_sum(b, s, &in);
    call.out = &out;
    const ebb_launch launch = {.in = run->launch->out + o, .out = run->launch->out + b->n_out + s};
    const ebb_kernel_run one = {.backend = run->backend, .call = &call, .launch = &launch};
    return ref_kernels[call.op->code]->launch(&one);
}

static ebb_status fused_launch(const ebb_kernel_run *run) {
    ebb_walk walks[EBB_FUSED_OPERANDS];
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < run->call->n_in; k++) ebb_fused_walk(run->call, run->state, k, &walks[k]);
    for (int64_t i = 0; i < ebb_type_count(&run->call->out[0]) && !status; i++)
        status = element_run(run, walks, i);
    const ebb_fused_body *b = run->state;
    for (uint32_t s = 0; s < b->n_sums && !status; s++) status = sum_run(run, b, s);
    return status;
}

EBB_KERNEL(ref, fused, EBB_TAKES_ALL, EBB_RATE(2000, 4000, 200), .prepare = fused_prepare,
           .release = fused_release, .launch = fused_launch);
