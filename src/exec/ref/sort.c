/* ref/sort.c: lines along an axis in their order, and back. */
#include "exec/ref/ref.h"

#include <math.h>

/* A NaN is larger than all numbers. */
static bool is_before(double a, double b, bool descending) {
    if (isnan(a) || isnan(b)) return descending ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
    return descending ? a > b : a < b;
}

/* How many of its line come before the number at place p; of equal ones, those at earlier places do. */
static int64_t rank_of(const ref_tensor *x, const int64_t p[EBB_MAX_RANK], uint32_t axis, bool descending) {
    const double own = ref_get(x, ref_at(x->type, p));
    int64_t q[EBB_MAX_RANK], rank = 0;
    memcpy(q, p, sizeof q);
    for (q[axis] = 0; q[axis] < x->type->dim[axis]; q[axis]++) {
        const double other = ref_get(x, ref_at(x->type, q));
        rank +=
            is_before(other, own, descending) || (!is_before(own, other, descending) && q[axis] < p[axis]);
    }
    return rank;
}

REF_KERNEL(sort) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0), places = ref_out(run, 1);
    const uint32_t axis = (uint32_t)run->call->attr[EBB_SORT_AXIS].i[0];
    const bool descending = run->call->attr[EBB_SORT_DESCENDING].i[0] != 0;
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        int64_t q[EBB_MAX_RANK];
        memcpy(q, p, sizeof q);
        q[axis] = rank_of(&x, p, axis, descending);
        ref_set(&y, ref_at(y.type, q), ref_get(&x, ref_at(x.type, p)));
        ref_set(&places, ref_at(places.type, q), (double)p[axis]);
    } while (ref_next(x.type, p));
    return EBB_OK;
}
