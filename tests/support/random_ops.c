/* Ops of values of either rank: of one element at a time, norms, parts and views. */
#include "random_drawing.h"

bool draw_batch_norm(drawing *d) {
    ebb_id x = draw_value(d, 0);
    int64_t c = type_of(d, x)->dim[1];
    ebb_id in[] = {x, draw_vector(d, "gamma", EBB_ROLE_PARAM, c, EBB_INIT_ONE),
                   draw_vector(d, "beta", EBB_ROLE_PARAM, c, EBB_INIT_ZERO),
                   draw_vector(d, "mean", EBB_ROLE_STATE, c, EBB_INIT_ZERO),
                   draw_vector(d, "variance", EBB_ROLE_STATE, c, EBB_INIT_ONE)};
    draw_node(d, &ebb_op_batch_norm, in, 5, NULL);
    return true;
}

/* What networks have after a convolution: a norm, perhaps a skip branch, perhaps an activation. */
bool draw_norm_block(drawing *d) {
    ebb_id x = draw_value(d, 0), skip = chance(d, 50) ? draw_partner(d, x) : EBB_NONE;
    int64_t c = type_of(d, x)->dim[1];
    ebb_id in[] = {x, draw_vector(d, "gamma", EBB_ROLE_PARAM, c, EBB_INIT_ONE),
                   draw_vector(d, "beta", EBB_ROLE_PARAM, c, EBB_INIT_ZERO),
                   draw_vector(d, "mean", EBB_ROLE_STATE, c, EBB_INIT_ZERO),
                   draw_vector(d, "variance", EBB_ROLE_STATE, c, EBB_INIT_ONE)};
    ebb_id y = draw_node(d, &ebb_op_batch_norm, in, 5, NULL);
    ebb_id terms[] = {y, skip};
    if (chance(d, 50)) terms[0] = skip, terms[1] = y;
    if (skip != EBB_NONE) y = draw_node(d, &ebb_op_add, terms, 2, NULL);
    const ebb_attr bounds[] = {[EBB_CLIP_MIN] = {.f = 0}, [EBB_CLIP_MAX] = {.f = 1.5}};
    if (chance(d, 70)) {
        draw_node(d, &ebb_op_relu, &y, 1, NULL);
    } else if (chance(d, 50)) {
        draw_node(d, &ebb_op_clip, &y, 1, bounds);
    }
    return true;
}

bool draw_layer_norm(drawing *d) {
    ebb_id x = draw_value(d, 2);
    if (x == EBB_NONE) return false;
    int64_t c = type_of(d, x)->dim[1];
    ebb_id in[] = {x, draw_vector(d, "gamma", EBB_ROLE_PARAM, c, EBB_INIT_ONE),
                   draw_vector(d, "beta", EBB_ROLE_PARAM, c, EBB_INIT_ZERO)};
    draw_node(d, &ebb_op_layer_norm, in, 3, NULL);
    return true;
}

bool draw_relu(drawing *d) {
    ebb_id x = draw_value(d, 0);
    draw_node(d, &ebb_op_relu, &x, 1, NULL);
    return true;
}

bool draw_pair(drawing *d) {
    ebb_id x = draw_value(d, 0);
    ebb_id in[] = {x, draw_partner(d, x)};
    bool product = d->n_products < 3 && chance(d, 25);
    d->n_products += product;
    draw_node(d, product ? &ebb_op_mul : &ebb_op_add, in, 2, NULL);
    return true;
}

bool draw_bias(drawing *d) {
    ebb_id x = draw_value(d, 0);
    ebb_type b = {.dtype = d->dtype, .rank = 1, .dim = {type_of(d, x)->dim[1]}};
    ebb_id in[] = {x, draw_weight(d, &b)};
    draw_node(d, &ebb_op_bias, in, 2, NULL);
    return true;
}

/* Of values that differ in channels only; the same value may stand in it twice. */
bool draw_concat(drawing *d) {
    ebb_id x = draw_value(d, 0), in[4] = {x};
    ebb_type y = *type_of(d, x);
    uint32_t n = 1;
    for (uint32_t tries = 0; tries < 6 && n < 4; tries++) {
        ebb_id other = draw_value(d, y.rank);
        ebb_type like = *type_of(d, other);
        int64_t c = like.dim[1];
        like.dim[1] = y.dim[1];
        if (!ebb_type_equal(&like, &y)) continue;
        like.dim[1] += c;
        if (!small(d, &like)) continue;
        y = like;
        in[n++] = other;
    }
    if (n == 1) return false;
    draw_node(d, &ebb_op_concat, in, n, NULL);
    return true;
}

bool draw_slice(drawing *d) {
    ebb_id x = draw_value(d, 0);
    int64_t c = type_of(d, x)->dim[1];
    if (c < 2) return false;
    ebb_attr attr[] = {[EBB_SLICE_AXIS] = {.i = {1}}};
    attr[EBB_SLICE_BEGIN].i[0] = below(d, (uint32_t)c - 1);
    attr[EBB_SLICE_SIZE].i[0] = 1 + below(d, (uint32_t)(c - attr[EBB_SLICE_BEGIN].i[0]));
    draw_node(d, &ebb_op_slice, &x, 1, attr);
    return true;
}

bool draw_dropout(drawing *d) {
    if (d->no_dropout) return false;
    ebb_id x = draw_value(d, 0);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    attr[EBB_DROPOUT_P].f = 0.125 * (1 + below(d, 6));
    draw_node(d, &ebb_op_dropout, &x, 1, attr);
    return true;
}

/* [n,c] as [n,c,1,1], and rank 4 with h and w merged: views of either rank. */
bool draw_reshape(drawing *d) {
    ebb_id x = draw_value(d, 0);
    const ebb_type *t = type_of(d, x);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    int64_t places = t->rank == 4 ? t->dim[2] * t->dim[3] : 1;
    int64_t shape[] = {t->dim[0], t->dim[1], places, 1};
    memcpy(attr[EBB_RESHAPE_SHAPE].i, shape, sizeof shape);
    draw_node(d, &ebb_op_reshape, &x, 1, attr);
    return true;
}

bool draw_clip(drawing *d) {
    ebb_id x = draw_value(d, 0);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    attr[EBB_CLIP_MIN].f = chance(d, 50) ? 0 : -0.5;
    attr[EBB_CLIP_MAX].f = chance(d, 50) ? 6 : 0.75;
    draw_node(d, &ebb_op_clip, &x, 1, attr);
    return true;
}

bool draw_gelu(drawing *d) {
    ebb_id x = draw_value(d, 0);
    draw_node(d, &ebb_op_gelu, &x, 1, NULL);
    return true;
}

/* A value less its mean along an axis, the mean's gradient stopped at times. */
bool draw_centered(drawing *d) {
    ebb_id x = draw_value(d, 0);
    const ebb_type t = *type_of(d, x);
    int64_t axis = below(d, t.rank), size = t.dim[axis];
    ebb_attr reduce[2] = {
        [EBB_REDUCE_AXIS] = ebb_axes_list(UINT32_C(1) << axis), [EBB_REDUCE_KEEP] = {.i = {1}}};
    ebb_attr mean[2] = {[EBB_RESCALE_TIMES] = {.f = 1.0 / (double)size}, [EBB_RESCALE_PLUS] = {.f = 0}};
    ebb_attr expand[2] = {[EBB_EXPAND_AXIS] = {.i = {axis}}, [EBB_EXPAND_SIZE] = {.i = {size}}};
    ebb_id m = ebb_builder_node(d->b, &ebb_op_reduce_sum, &x, 1, reduce, NULL, EBB_FORWARD, 0)[0];
    m = ebb_builder_node(d->b, &ebb_op_rescale, &m, 1, mean, NULL, EBB_FORWARD, 0)[0];
    if (chance(d, 30))
        m = ebb_builder_node(d->b, &ebb_op_stop_gradient, &m, 1, NULL, NULL, EBB_FORWARD, 0)[0];
    m = ebb_builder_node(d->b, &ebb_op_expand, &m, 1, expand, NULL, EBB_FORWARD, 0)[0];
    ebb_id in[] = {x, m};
    draw_node(d, &ebb_op_sub, in, 2, NULL);
    return true;
}

/* x / (1 + exp(-x)): a clip keeps small what is exponentiated. */
bool draw_swish(drawing *d) {
    ebb_id x = draw_value(d, 0);
    ebb_attr clip[2] = {[EBB_CLIP_MIN] = {.f = -4}, [EBB_CLIP_MAX] = {.f = 4}};
    ebb_attr minus[2] = {[EBB_RESCALE_TIMES] = {.f = -1}, [EBB_RESCALE_PLUS] = {.f = 0}};
    ebb_attr more[2] = {[EBB_RESCALE_TIMES] = {.f = 1}, [EBB_RESCALE_PLUS] = {.f = 1}};
    ebb_id e = ebb_builder_node(d->b, &ebb_op_clip, &x, 1, clip, NULL, EBB_FORWARD, 0)[0];
    e = ebb_builder_node(d->b, &ebb_op_rescale, &e, 1, minus, NULL, EBB_FORWARD, 0)[0];
    e = ebb_builder_node(d->b, &ebb_op_exp, &e, 1, NULL, NULL, EBB_FORWARD, 0)[0];
    e = ebb_builder_node(d->b, &ebb_op_rescale, &e, 1, more, NULL, EBB_FORWARD, 0)[0];
    ebb_id in[] = {x, e};
    draw_node(d, &ebb_op_div, in, 2, NULL);
    return true;
}

/* A value and a part of its axes: a param that is broadcast, or the value's own mean or largest along some
 * axes; their sum, their difference, the larger, or one of them where the other is smaller. */
bool draw_broadcast(drawing *d) {
    ebb_id x = draw_value(d, 0);
    ebb_type part = *type_of(d, x);
    ebb_attr attr[2] = {ebb_axes_list(0), {.i = {1}}};
    uint32_t n = 0;
    for (uint32_t a = 0; a < part.rank; a++) {
        if (chance(d, 50)) continue;
        attr[EBB_REDUCE_AXIS].i[n++] = a;
        part.dim[a] = 1;
    }
    ebb_id with = EBB_NONE;
    if (n > 0 && chance(d, 60)) {
        const ebb_op_info *op = chance(d, 50) ? &ebb_op_reduce_mean : &ebb_op_reduce_max;
        with = ebb_builder_node(d->b, op, &x, 1, attr, NULL, EBB_FORWARD, 0)[0];
    } else {
        while (part.rank > 0 && part.dim[0] == 1 && chance(d, 70)) { /* from the last axis on */
            part.rank--;
            for (uint32_t a = 0; a < part.rank; a++) part.dim[a] = part.dim[a + 1];
        }
        with = draw_given(d, "part", EBB_ROLE_PARAM, &part, EBB_INIT_ONE);
    }
    const ebb_id pair[] = {x, with};
    if (chance(d, 30)) {
        const ebb_id less = ebb_builder_node(d->b, &ebb_op_less, pair, 2, NULL, NULL, EBB_FORWARD, 0)[0];
        const ebb_id in[] = {less, with, x};
        draw_node(d, &ebb_op_where, in, 3, NULL);
        return true;
    }
    const ebb_op_info *const ops[] = {&ebb_op_add, &ebb_op_sub, &ebb_op_maximum};
    draw_node(d, ops[below(d, 3)], pair, 2, NULL);
    return true;
}

bool draw_tanh(drawing *d) {
    ebb_id x = draw_value(d, 0);
    draw_node(d, chance(d, 50) ? &ebb_op_tanh : &ebb_op_sigmoid, &x, 1, NULL);
    return true;
}
