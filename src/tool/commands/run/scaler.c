/* scaler: what f16 multiplies its loss by, and which steps have changed nothing (ebb_precision). */
#include "tool/commands/run/run.h"

static bool has_scaler(const run_session *s) {
    return s->in.scaled && s->has_loss;
}

static ebb_status fetch(run_session *s) {
    const ebb_status status = ebb_fetch(s->program, "scaler.scale", &s->scale, sizeof s->scale);
    if (status != EBB_OK) return status;
    return ebb_fetch(s->program, "scaler.skipped", &s->n_skipped, sizeof s->n_skipped);
}

ebb_status scaler_begin(run_session *s) {
    const ebb_status status = has_scaler(s) ? fetch(s) : EBB_OK;
    s->n_skipped_before = s->n_skipped;
    return status;
}

ebb_status scaler_step(run_session *s, bool *skipped) {
    const float before = s->n_skipped;
    const ebb_status status = has_scaler(s) ? fetch(s) : EBB_OK;
    *skipped = s->n_skipped > before;
    return status;
}

void scaler_print(const run_session *s) {
    if (!has_scaler(s)) return;
    printf("loss scale       %.9g, %.0f of %lld steps changed nothing\n", (double)s->scale,
           (double)(s->n_skipped - s->n_skipped_before), (long long)s->n_done);
}

void scaler_json(run_session *s) {
    if (!has_scaler(s)) return;
    out_real(&s->json, "loss_scale", (double)s->scale);
    out_integer(&s->json, "n_skipped", (int64_t)(s->n_skipped - s->n_skipped_before));
}
