/* ref/dropout.c: dropout by exec/dropout.h's mask. Its gradient is the same function of dy. */
#include "exec/dropout.h"
#include "exec/ref/ref.h"

typedef struct mask {
    uint64_t key, step, threshold;
    double scale;
} mask;

static void apply(const mask *m, const ref_tensor *x, const ref_tensor *y, int64_t at, int64_t logical) {
    const bool keep = ebb_dropout_keep(m->key, m->step, m->threshold, (uint64_t)logical);
    ref_set(y, at, keep ? ref_get(x, at) * m->scale : 0);
}

static ebb_status run_mask(const ebb_kernel_run *run) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const double p = run->call->attr[EBB_DROPOUT_P].f;
    const mask m = {ebb_dropout_key(run->launch->seed, run->seed_key),
                    ebb_dropout_step(run->seed_key, run->launch->step), ebb_dropout_threshold(p),
                    ebb_dropout_scale(p)};
    const int64_t *d = x.type->dim, count = ebb_type_count(x.type);
    if (x.type->rank != 4) {
        for (int64_t i = 0; i < count; i++) apply(&m, &x, &y, i, i);
        return EBB_OK;
    }
    int64_t logical = 0;
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++)
            for (int64_t h = 0; h < d[2]; h++)
                for (int64_t w = 0; w < d[3]; w++)
                    apply(&m, &x, &y, ref_at4(x.type, n, c, h, w), logical++);
    return EBB_OK;
}

REF_KERNEL(dropout) {
    return run_mask(run);
}
REF_KERNEL(dropout_grad) {
    return run_mask(run);
}
