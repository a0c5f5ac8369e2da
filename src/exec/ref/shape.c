/* ref/shape.c: ops that move elements: logical order, tensors joined, cut and turned. */
#include "exec/ref/ref.h"

/* planes[n, c*h*w] in logical order and x[n,c,h,w] in storage order: one of the two is written. */
static void move_planes(const ref_tensor *x, const ref_tensor *planes, bool to_planes) {
    const int64_t *d = x->type->dim;
    int64_t at = 0;
    for (int64_t n = 0; n < d[0]; n++) {
        for (int64_t c = 0; c < d[1]; c++) {
            for (int64_t h = 0; h < d[2]; h++) {
                for (int64_t w = 0; w < d[3]; w++, at++) {
                    const int64_t in_x = ref_at4(x->type, n, c, h, w);
                    if (to_planes) {
                        ref_set(planes, at, ref_get(x, in_x));
                    } else {
                        ref_set(x, in_x, ref_get(planes, at));
                    }
                }
            }
        }
    }
}

REF_KERNEL(to_planes) {
    const ref_tensor x = ref_in(run, 0), planes = ref_out(run, 0);
    move_planes(&x, &planes, true);
    return EBB_OK;
}

REF_KERNEL(from_planes) {
    const ref_tensor planes = ref_in(run, 0), x = ref_out(run, 0);
    move_planes(&x, &planes, false);
    return EBB_OK;
}

/* n places of `from` along the axis, from `first` on, become those of `to` from `at` on. */
static void copy_places(const ref_tensor *from, int64_t first, const ref_tensor *to, int64_t at, int64_t n,
                        int64_t axis) {
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        int64_t q[EBB_MAX_RANK];
        memcpy(q, p, sizeof q);
        q[axis] += at - first;
        if (p[axis] >= first && p[axis] < first + n)
            ref_set(to, ref_at(to->type, q), ref_get(from, ref_at(from->type, p)));
    } while (ref_next(from->type, p));
}

REF_KERNEL(concat) {
    const ref_tensor y = ref_out(run, 0);
    const int64_t axis = run->call->attr[EBB_CONCAT_AXIS].i[0];
    int64_t at = 0;
    for (uint32_t k = 0; k < run->call->n_in; k++) {
        const ref_tensor x = ref_in(run, k);
        copy_places(&x, 0, &y, at, x.type->dim[axis], axis);
        at += x.type->dim[axis];
    }
    return EBB_OK;
}

REF_KERNEL(slice) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t axis = run->call->attr[EBB_SLICE_AXIS].i[0];
    copy_places(&x, run->call->attr[EBB_SLICE_BEGIN].i[0], &y, 0, y.type->dim[axis], axis);
    return EBB_OK;
}

REF_KERNEL(slice_grad) {
    const ref_tensor dy = ref_in(run, 0), dx = ref_out(run, 0);
    const int64_t n = ebb_type_count(dx.type), axis = run->call->attr[EBB_SLICE_GRAD_AXIS].i[0];
    for (int64_t i = 0; i < n; i++) ref_set(&dx, i, 0);
    copy_places(&dy, 0, &dx, run->call->attr[EBB_SLICE_GRAD_BEGIN].i[0], dy.type->dim[axis], axis);
    return EBB_OK;
}

/* Where place p of the part is in the whole. */
static int64_t lattice_at(const ebb_kernel_run *run, const ebb_type *whole, const int64_t p[EBB_MAX_RANK]) {
    int64_t q[EBB_MAX_RANK] = {0};
    for (uint32_t d = 0; d < whole->rank; d++)
        q[d] = run->call->attr[EBB_STRIDED_BEGIN].i[d] + p[d] * run->call->attr[EBB_STRIDED_STEP].i[d];
    return ref_at(whole, q);
}

REF_KERNEL(strided_slice) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    int64_t p[EBB_MAX_RANK] = {0};
    do ref_set(&y, ref_at(y.type, p), ref_get(&x, lattice_at(run, x.type, p)));
    while (ref_next(y.type, p));
    return EBB_OK;
}

REF_KERNEL(strided_slice_grad) {
    const ref_tensor dy = ref_in(run, 0), dx = ref_out(run, 0);
    int64_t p[EBB_MAX_RANK] = {0};
    for (int64_t i = 0; i < ebb_type_count(dx.type); i++) ref_set(&dx, i, 0);
    do ref_set(&dx, lattice_at(run, dx.type, p), ref_get(&dy, ref_at(dy.type, p)));
    while (ref_next(dy.type, p));
    return EBB_OK;
}

REF_KERNEL(permute) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t *order = run->call->attr[EBB_PERMUTE_ORDER].i;
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        int64_t from[EBB_MAX_RANK] = {0};
        for (uint32_t d = 0; d < y.type->rank; d++) from[order[d]] = p[d];
        ref_set(&y, ref_at(y.type, p), ref_get(&x, ref_at(x.type, from)));
    } while (ref_next(y.type, p));
    return EBB_OK;
}
