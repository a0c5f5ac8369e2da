/* cpu/loss.c: softmax cross-entropy of logits[n,k] against labels i32[n], as the mean over rows; the places
 * of logits[n,k,h,w] are rows too, in the order of storage. Rows are worked out in double, each by one
 * thread; their losses are added in order. */
#include "exec/cpu/cpu.h"

#include <math.h>

typedef struct rows {
    const float *logits;
    const int32_t *labels;
    double *loss;   /* of each row, in scratch; softmax_xent only */
    float *dlogits; /* may be logits */
    double scale, smooth;
    int64_t k;
} rows;

static int64_t rows_of(const ebb_call *call) {
    return ebb_type_count(&call->in[0]) / call->in[0].dim[1];
}

static ebb_status labels_check(ebb_backend *backend, const ebb_call *call, const int32_t *labels) {
    const int64_t n = rows_of(call), k = call->in[0].dim[1];
    for (int64_t row = 0; row < n; row++) {
        if (labels[row] >= 0 && labels[row] < k) continue;
        return ebb_fail(backend->env, EBB_BAD_INPUT,
                        "%s: label %d of row %lld is outside [0, %lld): correct the labels", call->op->name,
                        labels[row], (long long)row, (long long)k);
    }
    return EBB_OK;
}

static float row_max(const float *logits, int64_t k) {
    float max = logits[0];
    for (int64_t i = 1; i < k; i++) max = fmaxf(max, logits[i]);
    return max;
}

static double row_sum(const float *logits, int64_t k, double max) {
    double sum = 0;
    for (int64_t i = 0; i < k; i++) sum += exp(logits[i] - max);
    return sum;
}

/* Of logit - max. */
static double row_mean(const float *logits, int64_t k, double max) {
    double sum = 0;
    for (int64_t i = 0; i < k; i++) sum += logits[i] - max;
    return sum / (double)k;
}

static void loss_span(const void *ctx, int64_t begin, int64_t end) {
    const rows *r = ctx;
    for (int64_t row = begin; row < end; row++) {
        const float *logits = r->logits + row * r->k;
        const double max = row_max(logits, r->k);
        double target = logits[r->labels[row]] - max;
        if (r->smooth > 0) target = (1 - r->smooth) * target + r->smooth * row_mean(logits, r->k, max);
        r->loss[row] = log(row_sum(logits, r->k, max)) - target;
    }
}

static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    const rows *r = ctx;
    const double each = r->smooth / (double)r->k, label = 1 - r->smooth + each;
    for (int64_t row = begin; row < end; row++) {
        const float *logits = r->logits + row * r->k;
        float *dlogits = r->dlogits + row * r->k;
        const double max = row_max(logits, r->k), sum = row_sum(logits, r->k, max);
        for (int64_t i = 0; i < r->k; i++) {
            const double softmax = exp(logits[i] - max) / sum;
            dlogits[i] = (float)((softmax - (i == r->labels[row] ? label : each)) * r->scale);
        }
    }
}

/* An exponential costs about what moving 64 bytes does. */
static void run_rows(ebb_backend *backend, const ebb_call *call, cpu_span *span, const rows *r) {
    cpu_spans(cpu_of(backend), rows_of(call), 1, 64 * ebb_type_count(&call->in[0]), span, r);
}

static ebb_status softmax_xent_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const int64_t n = rows_of(call);
    const ebb_status status = cpu_scratch_check(backend, call, n, sizeof(double));
    if (status == EBB_OK) *bytes = n * (int64_t)sizeof(double);
    return status;
}

static ebb_status softmax_xent_launch(const ebb_kernel_run *run) {
    const ebb_status status = labels_check(run->backend, run->call, run->launch->in[1]);
    if (status != EBB_OK) return status;
    const int64_t n = rows_of(run->call);
    const rows r = {.logits = run->launch->in[0],
                    .labels = run->launch->in[1],
                    .loss = run->launch->scratch,
                    .smooth = run->call->attr[EBB_XENT_SMOOTH].f,
                    .k = run->call->in[0].dim[1]};
    run_rows(run->backend, run->call, loss_span, &r);
    double sum = 0;
    for (int64_t row = 0; row < n; row++) sum += r.loss[row];
    *(float *)run->launch->out[0] = (float)(sum / (double)n);
    return EBB_OK;
}

CPU_KERNEL(softmax_xent, EBB_TAKES(F32, I32), CPU_RATE(700, 25000), .scratch = softmax_xent_scratch,
           .launch = softmax_xent_launch);

static ebb_status softmax_xent_grad_launch(const ebb_kernel_run *run) {
    const ebb_status status = labels_check(run->backend, run->call, run->launch->in[1]);
    if (status != EBB_OK) return status;
    const double dloss = *(const float *)run->launch->in[2];
    const rows r = {.logits = run->launch->in[0],
                    .labels = run->launch->in[1],
                    .dlogits = run->launch->out[0],
                    .scale = dloss / (double)rows_of(run->call),
                    .smooth = run->call->attr[EBB_XENT_SMOOTH].f,
                    .k = run->call->in[0].dim[1]};
    run_rows(run->backend, run->call, grad_span, &r);
    return EBB_OK;
}

CPU_KERNEL(softmax_xent_grad, EBB_TAKES(F32, I32), CPU_RATE(700, 25000),
           .launch = softmax_xent_grad_launch);
