/* ref/loss.c: softmax cross-entropy of logits[n,k] against labels i32[n], as the mean over rows; the places
 * of logits[n,k,h,w] are rows too, in the order of storage. */
#include "exec/ref/ref.h"

#include <math.h>

typedef struct row {
    double max, sum,
        mean; /* of the logits; of exp(logit - max); of logit - max, where labels are smoothed */
    int64_t label;
} row;

static ebb_status read_row(const ebb_kernel_run *run, const ref_tensor *logits, const ref_tensor *labels,
                           int64_t n, row *out) {
    const int64_t k = logits->type->dim[1];
    *out = (row){ref_get(logits, n * k), 0, 0, (int64_t)ref_get(labels, n)};
    if (out->label < 0 || out->label >= k) {
        return ebb_fail(run->backend->env, EBB_BAD_INPUT,
                        "%s: label %lld of row %lld is outside [0, %lld): correct the labels",
                        run->call->op->name, (long long)out->label, (long long)n, (long long)k);
    }
    for (int64_t i = 1; i < k; i++) out->max = fmax(out->max, ref_get(logits, n * k + i));
    for (int64_t i = 0; i < k; i++) out->sum += exp(ref_get(logits, n * k + i) - out->max);
    for (int64_t i = 0; i < k; i++) out->mean += (ref_get(logits, n * k + i) - out->max) / (double)k;
    return EBB_OK;
}

/* The loss of a row, added up, and its part of the gradient, (softmax - target) * dloss / n, over the
 * logits where in place: a row is read before it is written. Either is NULL where it is not wanted. */
static ebb_status rows_run(const ebb_kernel_run *run, double dloss, const ref_tensor *loss,
                           const ref_tensor *dlogits) {
    const ref_tensor logits = ref_in(run, 0), labels = ref_in(run, 1);
    const int64_t k = logits.type->dim[1], rows = ebb_type_count(logits.type) / k;
    const double scale = dloss / (double)rows, smooth = run->call->attr[EBB_XENT_SMOOTH].f;
    const double each = smooth / (double)k;
    double sum = 0;
    for (int64_t n = 0; n < rows; n++) {
        row r;
        const ebb_status status = read_row(run, &logits, &labels, n, &r);
        if (status != EBB_OK) return status;
        const double named = ref_get(&logits, n * k + r.label) - r.max;
        /* Not 0 * mean: a mean may be infinite. */
        sum += log(r.sum) - (smooth > 0 ? (1 - smooth) * named + smooth * r.mean : named);
        for (int64_t i = 0; dlogits && i < k; i++) {
            const double softmax = exp(ref_get(&logits, n * k + i) - r.max) / r.sum;
            ref_set(dlogits, n * k + i, (softmax - (i == r.label ? 1 - smooth + each : each)) * scale);
        }
    }
    if (loss) ref_set(loss, 0, sum / (double)rows);
    return EBB_OK;
}

REF_KERNEL(softmax_xent) {
    const ref_tensor loss = ref_out(run, 0);
    return rows_run(run, 0, &loss, NULL);
}

REF_KERNEL(softmax_xent_grad) {
    const ref_tensor dloss = ref_in(run, 2), dlogits = ref_out(run, 0);
    return rows_run(run, ref_get(&dloss, 0), NULL, &dlogits);
}

REF_KERNEL(softmax_xent_value_and_grad) {
    const ref_tensor loss = ref_out(run, 0), dlogits = ref_out(run, 1);
    ref_set(&loss, 0, run->call->attr[EBB_XENT_DLOSS].f); /* rounded as a fill of it */
    return rows_run(run, ref_get(&loss, 0), &loss, &dlogits);
}
