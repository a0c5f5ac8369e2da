/* ref/embedding.c: rows of a table by their ids, and the gradient: sums of rows with one id. */
#include "exec/ref/ref.h"

/* Row i's id, or EBB_BAD_INPUT. */
static ebb_status read_id(const ebb_kernel_run *run, const ref_tensor *ids, int64_t i, int64_t rows,
                          int64_t *id) {
    *id = (int64_t)ref_get(ids, i);
    if (*id >= 0 && *id < rows) return EBB_OK;
    return ebb_fail(run->backend->env, EBB_BAD_INPUT,
                    "%s: id %lld of row %lld is outside [0, %lld): correct the ids", run->call->op->name,
                    (long long)*id, (long long)i, (long long)rows);
}

REF_KERNEL(embedding) {
    const ref_tensor table = ref_in(run, 0), ids = ref_in(run, 1), y = ref_out(run, 0);
    const int64_t n = y.type->dim[0], c = y.type->dim[1];
    for (int64_t i = 0; i < n; i++) {
        int64_t id;
        const ebb_status status = read_id(run, &ids, i, table.type->dim[0], &id);
        if (status != EBB_OK) return status;
        for (int64_t e = 0; e < c; e++) ref_set(&y, i * c + e, ref_get(&table, id * c + e));
    }
    return EBB_OK;
}

static ebb_status ids_check(const ebb_kernel_run *run, const ref_tensor *ids, int64_t rows) {
    int64_t id;
    ebb_status status = EBB_OK;
    for (int64_t i = 0; i < ids->type->dim[0] && status == EBB_OK; i++)
        status = read_id(run, ids, i, rows, &id);
    return status;
}

/* Element e of the sum of dy's rows that have id v, in double: looks at all ids. */
static double sum_of(const ref_tensor *dy, const ref_tensor *ids, int64_t v, int64_t e, bool *any) {
    const int64_t n = dy->type->dim[0], c = dy->type->dim[1];
    double sum = 0;
    *any = false;
    for (int64_t i = 0; i < n; i++) {
        if ((int64_t)ref_get(ids, i) != v) continue;
        sum += ref_get(dy, i * c + e);
        *any = true;
    }
    return sum;
}

REF_KERNEL(embedding_grad) {
    const ref_tensor dy = ref_in(run, 0), ids = ref_in(run, 1), to = ref_out(run, 0);
    const int64_t c = to.type->dim[1], rows = to.type->dim[0];
    const ebb_status status = ids_check(run, &ids, rows);
    bool any;
    for (int64_t v = 0; v < rows && status == EBB_OK; v++)
        for (int64_t e = 0; e < c; e++) ref_set(&to, v * c + e, sum_of(&dy, &ids, v, e, &any));
    return status;
}

REF_KERNEL(embedding_grad_onto) {
    const ref_tensor dy = ref_in(run, 0), ids = ref_in(run, 1), base = ref_in(run, 2), to = ref_out(run, 0);
    const int64_t c = to.type->dim[1], rows = to.type->dim[0];
    const ebb_status status = ids_check(run, &ids, rows);
    for (int64_t at = 0; at < rows * c && status == EBB_OK; at++) {
        const double was = ref_get(&base, at);
        bool any;
        ref_set(&to, at, sum_of(&dy, &ids, at / c, at % c, &any)); /* rounded before it is added */
        ref_set(&to, at, any ? was + ref_get(&to, at) : was);
    }
    return status;
}
