/* cpu/loss.c: softmax cross-entropy of logits[n,k] against labels i32[n], as the mean over rows; the places
 * of logits[n,k,h,w] are rows too, in the order of storage. Rows are worked out in double, each by one
 * thread; their losses are added in order. */
#include "exec/cpu/exp.h"
#include "exec/cpu/row.h"

#include <math.h>

typedef struct rows {
    const float *logits;
    const int32_t *labels;
    double *loss;   /* of each row, in scratch */
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

/* Of the exponentials of logit - max. */
CPU_INLINE double row_sum(const float *logits, int64_t k, double max) {
    double lanes[CPU_ROW_LANES] = {0};
    for (int64_t i = 0; i < k; i += CPU_ROW_LANES) {
        const int64_t width = ebb_min_i64(k - i, CPU_ROW_LANES);
#pragma omp simd
        for (int64_t j = 0; j < width; j++) lanes[j] += cpu_exp_double(logits[i + j] - max);
    }
    return cpu_row_join(lanes);
}

/* -log softmax of the label, or of the smoothed ones; sum: of the exponentials. */
CPU_INLINE double row_loss(const rows *r, const float *logits, int64_t row, double max, double sum) {
    double target = logits[r->labels[row]] - max;
    if (r->smooth > 0) {
        const double mean = cpu_row_moment(logits, r->k, max, false) / (double)r->k;
        target = (1 - r->smooth) * target + r->smooth * mean;
    }
    return log(sum) - target;
}

CPU_INLINE void row_grad(const rows *r, const float *logits, int64_t row, double max, double sum) {
    const double scale = r->scale, each = r->smooth / (double)r->k, label = 1 - r->smooth + each;
    const double part = 1 / sum, labelled = cpu_exp_double(logits[r->labels[row]] - max) * part;
    float *dlogits = r->dlogits + row * r->k;
#pragma omp simd
    for (int64_t i = 0; i < r->k; i++)
        dlogits[i] = (float)((cpu_exp_double(logits[i] - max) * part - each) * scale);
    dlogits[r->labels[row]] = (float)((labelled - label) * scale);
}

/* A NaN is passed over by the maximum and comes back by its exponential. */
CPU_INLINE void rows_run(const rows *r, int64_t begin, int64_t end, bool loss, bool grad) {
    for (int64_t row = begin; row < end; row++) {
        const float *logits = r->logits + row * r->k;
        const double max = cpu_row_max(logits, r->k, -INFINITY), sum = row_sum(logits, r->k, max);
        if (loss) r->loss[row] = row_loss(r, logits, row, max, sum);
        if (grad) row_grad(r, logits, row, max, sum);
    }
}

CPU_VECTOR static void loss_span(const void *ctx, int64_t begin, int64_t end) {
    rows_run(ctx, begin, end, true, false);
}
CPU_VECTOR static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    rows_run(ctx, begin, end, false, true);
}
CPU_VECTOR static void both_span(const void *ctx, int64_t begin, int64_t end) {
    rows_run(ctx, begin, end, true, true);
}

/* An exponential costs about what moving 16 bytes does. */
static void run_spans(ebb_backend *backend, const ebb_call *call, cpu_span *span, const rows *r) {
    cpu_spans(cpu_of(backend), rows_of(call), 1, 16 * ebb_type_count(&call->in[0]), span, r);
}

static rows rows_begin(const ebb_kernel_run *run, float *dlogits, double dloss) {
    return (rows){.logits = run->launch->in[0],
                  .labels = run->launch->in[1],
                  .loss = run->launch->scratch,
                  .dlogits = dlogits,
                  .scale = dloss / (double)rows_of(run->call),
                  .smooth = run->call->attr[EBB_XENT_SMOOTH].f,
                  .k = run->call->in[0].dim[1]};
}

static ebb_status losses_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const int64_t n = rows_of(call);
    const ebb_status status = cpu_scratch_check(backend, call, n, sizeof(double));
    if (status == EBB_OK) *bytes = n * (int64_t)sizeof(double);
    return status;
}

static float losses_mean(const rows *r, int64_t n) {
    double sum = 0;
    for (int64_t row = 0; row < n; row++) sum += r->loss[row];
    return (float)(sum / (double)n);
}

static ebb_status softmax_xent_launch(const ebb_kernel_run *run) {
    const ebb_status status = labels_check(run->backend, run->call, run->launch->in[1]);
    if (status != EBB_OK) return status;
    const rows r = rows_begin(run, NULL, 0);
    run_spans(run->backend, run->call, loss_span, &r);
    *(float *)run->launch->out[0] = losses_mean(&r, rows_of(run->call));
    return EBB_OK;
}
CPU_KERNEL(softmax_xent, EBB_TAKES(F32, I32), CPU_RATE(4000, 25000), .scratch = losses_scratch,
           .launch = softmax_xent_launch);

static ebb_status softmax_xent_grad_launch(const ebb_kernel_run *run) {
    const ebb_status status = labels_check(run->backend, run->call, run->launch->in[1]);
    if (status != EBB_OK) return status;
    const rows r = rows_begin(run, run->launch->out[0], *(const float *)run->launch->in[2]);
    run_spans(run->backend, run->call, grad_span, &r);
    return EBB_OK;
}
CPU_KERNEL(softmax_xent_grad, EBB_TAKES(F32, I32), CPU_RATE(4000, 25000),
           .launch = softmax_xent_grad_launch);

/* The losses are worked out of logits that the gradient may then lie over. */
static ebb_status softmax_xent_value_and_grad_launch(const ebb_kernel_run *run) {
    const ebb_status status = labels_check(run->backend, run->call, run->launch->in[1]);
    if (status != EBB_OK) return status;
    const rows r = rows_begin(run, run->launch->out[1], (float)run->call->attr[EBB_XENT_DLOSS].f);
    run_spans(run->backend, run->call, both_span, &r);
    *(float *)run->launch->out[0] = losses_mean(&r, rows_of(run->call));
    return EBB_OK;
}
CPU_KERNEL(softmax_xent_value_and_grad, EBB_TAKES(F32, I32), CPU_RATE(4000, 25000),
           .scratch = losses_scratch, .launch = softmax_xent_value_and_grad_launch);
