/* Walks: see walk.h. */
#include "graph/walk.h"

void ebb_walk_begin_axes(ebb_walk *walk, const ebb_type *tensor, uint32_t axes) {
    *walk = (ebb_walk){.tensor = tensor};
    for (uint32_t d = 0; d < tensor->rank; d++) {
        const uint32_t axis = ebb_stored_axis(tensor->rank, d);
        if (!(axes >> axis & 1)) continue;
        walk->axis[walk->n_dims] = axis;
        walk->size[walk->n_dims++] = tensor->dim[axis];
    }
}

void ebb_walk_begin(ebb_walk *walk, const ebb_type *tensor) {
    ebb_walk_begin_axes(walk, tensor, (UINT32_C(1) << EBB_MAX_RANK) - 1);
}

void ebb_walk_operand(ebb_walk *walk, const ebb_type *operand, const uint32_t along[EBB_MAX_RANK],
                      const int64_t *begin, const int64_t *step) {
    int64_t stride[EBB_MAX_RANK], next = 1;
    int64_t *first = &walk->first[walk->n_operands], *to = walk->stride[walk->n_operands];
    for (uint32_t d = operand->rank; d-- > 0;) {
        const uint32_t axis = ebb_stored_axis(operand->rank, d);
        stride[axis] = next;
        next *= operand->dim[axis];
        if (begin) *first += begin[axis] * stride[axis];
    }
    for (uint32_t d = 0; d < walk->n_dims; d++) {
        const uint32_t axis = along[walk->axis[d]];
        const bool stays = axis == EBB_NONE || operand->dim[axis] == 1 || walk->size[d] == 1;
        to[d] = stays ? 0 : stride[axis] * (step ? step[axis] : 1);
    }
    walk->n_operands++;
}

bool ebb_broadcast_along(const ebb_type *x, const ebb_type *to, uint32_t axes,
                         uint32_t along[EBB_MAX_RANK]) {
    uint32_t left = x->rank;
    for (uint32_t a = EBB_MAX_RANK; a-- > 0;) {
        const bool lacks = a >= to->rank || axes >> a & 1 || left == 0;
        along[a] = lacks ? EBB_NONE : --left;
    }
    return left == 0;
}

void ebb_walk_broadcast(ebb_walk *walk, const ebb_type *operand) {
    uint32_t along[EBB_MAX_RANK];
    (void)ebb_broadcast_along(operand, walk->tensor, 0, along);
    ebb_walk_operand(walk, operand, along, NULL, NULL);
}

/* Is dimension d of every operand the run that dimension e, the next inner one, begins? */
static bool is_one_run(const ebb_walk *walk, uint32_t d, uint32_t e) {
    for (uint32_t j = 0; j < walk->n_operands; j++) {
        if (walk->stride[j][d] != walk->stride[j][e] * walk->size[e]) return false;
    }
    return true;
}

static void dimension_move(ebb_walk *walk, uint32_t from, uint32_t to) {
    walk->size[to] = walk->size[from];
    for (uint32_t j = 0; j < walk->n_operands; j++) walk->stride[j][to] = walk->stride[j][from];
}

void ebb_walk_end(ebb_walk *walk) {
    uint32_t n = 0;
    for (uint32_t d = 0; d < walk->n_dims; d++) {
        if (walk->size[d] == 1) continue;
        if (n > 0 && is_one_run(walk, n - 1, d)) {
            const int64_t size = walk->size[n - 1];
            dimension_move(walk, d, n - 1);
            walk->size[n - 1] *= size;
        } else {
            dimension_move(walk, d, n++);
        }
    }
    if (n == 0) {
        walk->size[0] = 1;
        for (uint32_t j = 0; j < walk->n_operands; j++) walk->stride[j][0] = 0;
        n = 1;
    }
    walk->n_dims = n;
    walk->tensor = NULL;
}

bool ebb_broadcast_shape(const ebb_type *const *operands, uint32_t n, ebb_type *out, uint32_t pair[2]) {
    uint32_t owner[EBB_MAX_RANK] = {0};
    out->rank = 0;
    for (uint32_t i = 0; i < n; i++)
        if (operands[i]->rank > out->rank) out->rank = operands[i]->rank;
    for (uint32_t d = 0; d < out->rank; d++) out->dim[d] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t skipped = out->rank - operands[i]->rank;
        for (uint32_t d = 0; d < operands[i]->rank; d++) {
            const int64_t size = operands[i]->dim[d];
            int64_t *to = &out->dim[d + skipped];
            if (size == 1 || size == *to) continue;
            if (*to != 1) {
                pair[0] = owner[d + skipped];
                pair[1] = i;
                return false;
            }
            *to = size;
            owner[d + skipped] = i;
        }
    }
    return true;
}

void ebb_walk_begin_logical(ebb_walk *walk, const ebb_type *tensor) {
    ebb_type row_major = {.dtype = tensor->dtype, .rank = tensor->rank};
    uint32_t along[EBB_MAX_RANK], before = tensor->rank == 4; /* one axis more is stored in its order */
    row_major.dim[0] = 1;
    row_major.rank += before;
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) along[d] = d + before;
    for (uint32_t d = 0; d < tensor->rank; d++) row_major.dim[d + before] = tensor->dim[d];
    ebb_walk_begin(walk, tensor);
    ebb_walk_operand(walk, &row_major, along, NULL, NULL);
    ebb_walk_end(walk);
}
