/* ref/take.c: places by indices, and their gradients. */
#include "exec/ref/ref.h"

/* The index at element `at` of i, of so many places, from the front; or EBB_BAD_INPUT. */
static ebb_status read_index(const ebb_kernel_run *run, const ref_tensor *i, int64_t at, int64_t places,
                             int64_t *out) {
    const int64_t index = (int64_t)ref_get(i, at);
    *out = index < 0 ? index + places : index;
    if (*out >= 0 && *out < places) return EBB_OK;
    return ebb_fail(run->backend->env, EBB_BAD_INPUT,
                    "%s: index %lld is outside [-%lld, %lld): correct the indices", run->call->op->name,
                    (long long)index, (long long)places, (long long)places);
}

/* y[p] = x[q], where q is p with an index for n_i of its axes from `axis` on; i has just those, or all of
 * y's. */
static ebb_status chosen(const ebb_kernel_run *run, uint32_t n_i, bool whole) {
    const ref_tensor x = ref_in(run, 0), i = ref_in(run, 1), y = ref_out(run, 0);
    const uint32_t axis = (uint32_t)run->call->attr[EBB_TAKE_AXIS].i[0];
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        int64_t q[EBB_MAX_RANK] = {0}, index = 0;
        const ebb_status status =
            read_index(run, &i, ref_at(i.type, whole ? p : p + axis), x.type->dim[axis], &index);
        if (status != EBB_OK) return status;
        for (uint32_t d = 0; d < x.type->rank; d++)
            q[d] = d < axis ? p[d] : d == axis ? index : p[d + n_i - 1];
        ref_set(&y, ref_at(y.type, p), ref_get(&x, ref_at(x.type, q)));
    } while (ref_next(y.type, p));
    return EBB_OK;
}

REF_KERNEL(take) {
    return chosen(run, run->call->in[1].rank, false);
}

REF_KERNEL(pick) {
    return chosen(run, 0, true);
}

REF_KERNEL(sort_grad) {
    return chosen(run, 1, true);
}

/* A number of dx at a time, so that its sum is in double: looks at all indices for each. */
static double given_sum(const ebb_kernel_run *run, const int64_t p[EBB_MAX_RANK], uint32_t axis) {
    const ref_tensor dy = ref_in(run, 0), i = ref_in(run, 1);
    const uint32_t n_i = i.type->rank;
    const int64_t places = run->call->out[0].dim[axis];
    int64_t at[EBB_MAX_RANK] = {0};
    double sum = 0;
    do {
        const int64_t index = (int64_t)ref_get(&i, ref_at(i.type, at));
        if ((index < 0 ? index + places : index) != p[axis]) continue;
        int64_t q[EBB_MAX_RANK] = {0};
        for (uint32_t d = 0; d < dy.type->rank; d++)
            q[d] = d < axis ? p[d] : d < axis + n_i ? at[d - axis] : p[d - n_i + 1];
        sum += ref_get(&dy, ref_at(dy.type, q));
    } while (ref_next(i.type, at));
    return sum;
}

static ebb_status check_indices(const ebb_kernel_run *run, int64_t places) {
    const ref_tensor i = ref_in(run, 1);
    ebb_status status = EBB_OK;
    int64_t index;
    for (int64_t k = 0; k < ebb_type_count(i.type) && status == EBB_OK; k++)
        status = read_index(run, &i, k, places, &index);
    return status;
}

REF_KERNEL(take_grad) {
    const ref_tensor dx = ref_out(run, 0);
    const uint32_t axis = (uint32_t)run->call->attr[EBB_TAKE_AXIS].i[0];
    const ebb_status status = check_indices(run, dx.type->dim[axis]);
    if (status != EBB_OK) return status;
    int64_t p[EBB_MAX_RANK] = {0};
    do ref_set(&dx, ref_at(dx.type, p), given_sum(run, p, axis));
    while (ref_next(dx.type, p));
    return EBB_OK;
}

REF_KERNEL(pick_grad) {
    const ref_tensor dy = ref_in(run, 0), i = ref_in(run, 1), dx = ref_out(run, 0);
    const uint32_t axis = (uint32_t)run->call->attr[EBB_TAKE_AXIS].i[0];
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        int64_t q[EBB_MAX_RANK] = {0}, index;
        for (uint32_t d = 0; d < dy.type->rank; d++) q[d] = p[d < axis ? d : d + 1];
        const int64_t at = ref_at(dy.type, q);
        const ebb_status status = read_index(run, &i, at, dx.type->dim[axis], &index);
        if (status != EBB_OK) return status;
        ref_set(&dx, ref_at(dx.type, p), index == p[axis] ? ref_get(&dy, at) : 0);
    } while (ref_next(dx.type, p));
    return EBB_OK;
}
