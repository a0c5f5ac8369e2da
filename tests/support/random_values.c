/* Values of a model in the making: drawn from its pool, or made. */
#include "random_drawing.h"

#include <stdio.h>

ebb_id draw_value(drawing *d, uint32_t rank) {
    ebb_id fits[MAX_POOL], unread[MAX_POOL];
    uint32_t n = 0, n_unread = 0;
    for (uint32_t i = 0; i < d->n_pool; i++) {
        if (rank != 0 && type_of(d, d->pool[i])->rank != rank) continue;
        fits[n++] = d->pool[i];
        if (!d->read[i]) unread[n_unread++] = d->pool[i];
    }
    if (n == 0) return EBB_NONE;
    if (chance(d, 50)) return fits[n - 1];
    return n_unread && chance(d, 50) ? unread[below(d, n_unread)] : fits[below(d, n)];
}

ebb_id draw_partner(drawing *d, ebb_id x) {
    ebb_id fits[MAX_POOL];
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_pool; i++) {
        if (ebb_type_equal(type_of(d, d->pool[i]), type_of(d, x))) fits[n++] = d->pool[i];
    }
    return n == 0 ? x : fits[below(d, n)];
}

void draw_add(drawing *d, ebb_id id) {
    if (d->n_pool == MAX_POOL || id == EBB_NONE) return;
    d->read[d->n_pool] = false;
    d->pool[d->n_pool++] = id;
}

ebb_id draw_given(drawing *d, const char *stem, ebb_role role, const ebb_type *type, ebb_init init) {
    char name[32];
    snprintf(name, sizeof name, "%s%u", stem, d->n_params++);
    return ebb_builder_given(d->b, name, role, type, init, 0);
}

ebb_id draw_vector(drawing *d, const char *stem, ebb_role role, int64_t n, ebb_init init) {
    ebb_type type = {.dtype = d->dtype, .rank = 1, .dim = {n}};
    return draw_given(d, stem, role, &type, init);
}

ebb_id draw_weight(drawing *d, const ebb_type *type) {
    for (uint32_t i = 0; i < d->n_weights; i++) {
        if (ebb_type_equal(type_of(d, d->weight[i]), type) && chance(d, 80)) return d->weight[i];
    }
    ebb_id w =
        draw_given(d, "w", EBB_ROLE_PARAM, type, type->rank == 4 ? EBB_INIT_KAIMING : EBB_INIT_UNIFORM);
    if (d->n_weights < MAX_WEIGHTS) d->weight[d->n_weights++] = w;
    return w;
}

ebb_id draw_node(drawing *d, const ebb_op_info *op, const ebb_id *in, uint32_t n_in, const ebb_attr *attr) {
    char name[32];
    const char *names[EBB_MAX_RESULTS] = {name};
    snprintf(name, sizeof name, "%s%u", op->name, d->n_params++);
    ebb_id id = ebb_builder_node(d->b, op, in, n_in, attr, names, EBB_FORWARD, d->n_params)[0];
    for (uint32_t i = 0; i < d->n_pool; i++) {
        for (uint32_t j = 0; j < n_in; j++) d->read[i] = d->read[i] || d->pool[i] == in[j];
    }
    if (type_of(d, id)->rank != 0) draw_add(d, id); /* a scalar is nobody's operand here */
    return id;
}
