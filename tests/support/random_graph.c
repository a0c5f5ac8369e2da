/* Random small training models, drawn op by op: each step picks a kind of op that fits a value drawn from
 * the pool of all values so far, the newest ones more often, so that graphs are deep and have skips. */
#include "random_graph.h"

#include <stdio.h>

#include "graph/op.h"

#define MAX_POOL    256
#define MAX_WEIGHTS 64

typedef struct drawing {
    ebb_builder *b;
    ebb_rng rng;
    ebb_dtype dtype;
    int64_t max_elements;
    bool no_dropout;
    ebb_id pool[MAX_POOL]; /* activations and inputs of rank 2 and 4 */
    bool read[MAX_POOL];   /* somebody reads it */
    uint32_t n_pool;
    ebb_id weight[MAX_WEIGHTS]; /* params that may be shared */
    uint32_t n_weights, n_params;
    uint32_t n_products; /* few, or values grow beyond a float */
} drawing;

/* ---- draws --------------------------------------------------------------------------------------------
 */

static uint32_t below(drawing *d, uint32_t n) {
    return ebb_rng_below(&d->rng, n);
}
static bool chance(drawing *d, uint32_t percent) {
    return below(d, 100) < percent;
}

static int64_t one_of(drawing *d, const int64_t *sizes, uint32_t n) {
    return sizes[below(d, n)];
}

static const ebb_type *type_of(const drawing *d, ebb_id id) {
    return ebb_builder_type(d->b, id);
}

/* A value of the pool of that rank (0: any), EBB_NONE when there is none: the newest with even odds, else
 * one that nobody reads yet, else any. */
static ebb_id value_draw(drawing *d, uint32_t rank) {
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

/* A value of the same type, perhaps the same value. */
static ebb_id partner_draw(drawing *d, ebb_id x) {
    ebb_id fits[MAX_POOL];
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_pool; i++) {
        if (ebb_type_equal(type_of(d, d->pool[i]), type_of(d, x))) fits[n++] = d->pool[i];
    }
    return n == 0 ? x : fits[below(d, n)];
}

static bool small(const drawing *d, const ebb_type *type) {
    return ebb_type_valid(type) && ebb_type_count(type) <= d->max_elements;
}

/* ---- values
 * ---------------------------------------------------------------------------------------------- */

static void pool_add(drawing *d, ebb_id id) {
    if (d->n_pool == MAX_POOL || id == EBB_NONE) return;
    d->read[d->n_pool] = false;
    d->pool[d->n_pool++] = id;
}

static ebb_id given(drawing *d, const char *stem, ebb_role role, const ebb_type *type, ebb_init init) {
    char name[32];
    snprintf(name, sizeof name, "%s%u", stem, d->n_params++);
    return ebb_builder_given(d->b, name, role, type, init, 0);
}

static ebb_id vector(drawing *d, const char *stem, ebb_role role, int64_t n, ebb_init init) {
    ebb_type type = {.dtype = d->dtype, .rank = 1, .dim = {n}};
    return given(d, stem, role, &type, init);
}

/* A weight of that type: a new one, or at times one that is used already. */
static ebb_id weight(drawing *d, const ebb_type *type) {
    for (uint32_t i = 0; i < d->n_weights; i++) {
        if (ebb_type_equal(type_of(d, d->weight[i]), type) && chance(d, 80)) return d->weight[i];
    }
    ebb_id w = given(d, "w", EBB_ROLE_PARAM, type, type->rank == 4 ? EBB_INIT_KAIMING : EBB_INIT_UNIFORM);
    if (d->n_weights < MAX_WEIGHTS) d->weight[d->n_weights++] = w;
    return w;
}

static ebb_id emit(drawing *d, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                   const ebb_attr *attr) {
    char name[32];
    const char *names[EBB_MAX_RESULTS] = {name};
    snprintf(name, sizeof name, "%s%u", op->name, d->n_params++);
    ebb_id id = ebb_builder_node(d->b, op, in, n_in, attr, names, EBB_FORWARD, d->n_params)[0];
    for (uint32_t i = 0; i < d->n_pool; i++) {
        for (uint32_t j = 0; j < n_in; j++) d->read[i] = d->read[i] || d->pool[i] == in[j];
    }
    if (type_of(d, id)->rank != 0) pool_add(d, id); /* a scalar is nobody's operand here */
    return id;
}

/* ---- one op of each kind: false when nothing fits, and then nothing is emitted
 * ------------------------------ */

typedef bool draw_op(drawing *d);

static int64_t window(int64_t size, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
    int64_t span = size + 2 * pad - dilation * (kernel - 1) - 1;
    return span < 0 ? 0 : span / stride + 1;
}

/* A convolution's weight that x's channels fit, or NULL. */
static const ebb_type *used_weight(drawing *d, const ebb_type *x) {
    for (uint32_t i = 0; i < d->n_weights; i++) {
        const ebb_type *w = type_of(d, d->weight[i]);
        if (w->rank == 4 && w->dim[1] == x->dim[1]) return w;
    }
    return NULL;
}

static bool draw_conv(drawing *d) {
    static const int64_t kernels[] = {1, 1, 2, 3, 3, 3, 5}, outs[] = {1, 2, 3, 4, 6, 7, 8};
    ebb_id x = value_draw(d, 4);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    int64_t groups = 1, out = chance(d, 35) ? t->dim[1] : one_of(d, outs, EBB_COUNT(outs));
    if (chance(d, 30)) { /* depthwise, or a divisor */
        groups = chance(d, 50) ? t->dim[1] : t->dim[1] % 2 == 0 ? 2 : t->dim[1] % 3 == 0 ? 3 : 1;
        out = groups * (1 + below(d, 2));
    }
    const ebb_type *used = groups == 1 && chance(d, 40) ? used_weight(d, t) : NULL;
    if (used) out = used->dim[0];
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    ebb_type w = {.dtype = d->dtype, .rank = 4, .dim = {out, t->dim[1] / groups}};
    ebb_type y = {.dtype = d->dtype, .rank = 4, .dim = {t->dim[0], out}};
    bool square = chance(d, 70);
    for (uint32_t a = 0; a < 2; a++) {
        bool same = a && square;
        w.dim[2 + a] = used ? used->dim[2 + a] : same ? w.dim[2] : one_of(d, kernels, EBB_COUNT(kernels));
        attr[EBB_CONV_STRIDE].i[a] = same            ? attr[EBB_CONV_STRIDE].i[0]
                                     : chance(d, 70) ? 1
                                                     : 2 + below(d, 2);
        attr[EBB_CONV_PAD].i[a] = same            ? attr[EBB_CONV_PAD].i[0]
                                  : chance(d, 60) ? w.dim[2 + a] / 2
                                                  : below(d, 3);
        attr[EBB_CONV_DILATION].i[a] = same ? attr[EBB_CONV_DILATION].i[0] : chance(d, 80) ? 1 : 2;
        y.dim[2 + a] = window(t->dim[2 + a], w.dim[2 + a], attr[EBB_CONV_STRIDE].i[a],
                              attr[EBB_CONV_PAD].i[a], attr[EBB_CONV_DILATION].i[a]);
    }
    attr[EBB_CONV_GROUPS].i[0] = groups;
    if (!small(d, &w) || !small(d, &y)) return false;
    ebb_id in[] = {x, weight(d, &w)};
    emit(d, &ebb_op_conv2d, in, 2, attr);
    return true;
}

/* Twice as large, or by other strides; at times with a padding that it cuts. */
static bool draw_transpose(drawing *d) {
    static const int64_t outs[] = {1, 2, 3, 4};
    ebb_id x = value_draw(d, 4);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    int64_t groups = chance(d, 30) ? t->dim[1] : 1;
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    ebb_type w = {.dtype = d->dtype, .rank = 4, .dim = {t->dim[1], one_of(d, outs, EBB_COUNT(outs))}};
    ebb_type y = {.dtype = d->dtype, .rank = 4, .dim = {t->dim[0], w.dim[1] * groups}};
    for (uint32_t a = 0; a < 2; a++) {
        int64_t kernel = 1 + below(d, 3), stride = 1 + below(d, 3), pad = chance(d, 70) ? 0 : 1;
        int64_t out_pad = below(d, (uint32_t)stride);
        w.dim[2 + a] = kernel;
        attr[EBB_CONV_STRIDE].i[a] = stride;
        attr[EBB_CONV_PAD].i[a] = pad;
        attr[EBB_CONV_DILATION].i[a] = 1;
        attr[EBB_CONV_OUT_PAD].i[a] = out_pad;
        y.dim[2 + a] = (t->dim[2 + a] - 1) * stride + kernel - 2 * pad + out_pad;
    }
    attr[EBB_CONV_GROUPS].i[0] = groups;
    if (!small(d, &w) || !small(d, &y)) return false;
    ebb_id in[] = {x, weight(d, &w)};
    emit(d, &ebb_op_conv2d_transpose, in, 2, attr);
    return true;
}

static bool draw_linear(drawing *d) {
    static const int64_t outs[] = {1, 3, 7, 10, 33};
    ebb_id x = value_draw(d, 2);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    ebb_type w = {
        .dtype = d->dtype, .rank = 2, .dim = {chance(d, 30) ? t->dim[1] : one_of(d, outs, 5), t->dim[1]}};
    ebb_type y = {.dtype = d->dtype, .rank = 2, .dim = {t->dim[0], w.dim[0]}};
    if (!small(d, &w) || !small(d, &y)) return false;
    ebb_id in[] = {x, weight(d, &w)};
    emit(d, &ebb_op_linear, in, 2, NULL);
    return true;
}

static bool draw_batch_norm(drawing *d) {
    ebb_id x = value_draw(d, 0);
    int64_t c = type_of(d, x)->dim[1];
    ebb_id in[] = {x, vector(d, "gamma", EBB_ROLE_PARAM, c, EBB_INIT_ONE),
                   vector(d, "beta", EBB_ROLE_PARAM, c, EBB_INIT_ZERO),
                   vector(d, "mean", EBB_ROLE_STATE, c, EBB_INIT_ZERO),
                   vector(d, "variance", EBB_ROLE_STATE, c, EBB_INIT_ONE)};
    emit(d, &ebb_op_batch_norm, in, 5, NULL);
    return true;
}

/* What networks have behind a convolution: a norm, perhaps a skip branch, perhaps an activation. */
static bool draw_norm_block(drawing *d) {
    ebb_id x = value_draw(d, 0), skip = chance(d, 50) ? partner_draw(d, x) : EBB_NONE;
    int64_t c = type_of(d, x)->dim[1];
    ebb_id in[] = {x, vector(d, "gamma", EBB_ROLE_PARAM, c, EBB_INIT_ONE),
                   vector(d, "beta", EBB_ROLE_PARAM, c, EBB_INIT_ZERO),
                   vector(d, "mean", EBB_ROLE_STATE, c, EBB_INIT_ZERO),
                   vector(d, "variance", EBB_ROLE_STATE, c, EBB_INIT_ONE)};
    ebb_id y = emit(d, &ebb_op_batch_norm, in, 5, NULL);
    ebb_id terms[] = {y, skip};
    if (chance(d, 50)) terms[0] = skip, terms[1] = y;
    if (skip != EBB_NONE) y = emit(d, &ebb_op_add, terms, 2, NULL);
    const ebb_attr bounds[] = {[EBB_CLIP_MIN] = {.f = 0}, [EBB_CLIP_MAX] = {.f = 1.5}};
    if (chance(d, 70)) {
        emit(d, &ebb_op_relu, &y, 1, NULL);
    } else if (chance(d, 50)) {
        emit(d, &ebb_op_clip, &y, 1, bounds);
    }
    return true;
}

static bool draw_relu(drawing *d) {
    ebb_id x = value_draw(d, 0);
    emit(d, &ebb_op_relu, &x, 1, NULL);
    return true;
}

static bool draw_clip(drawing *d) {
    ebb_id x = value_draw(d, 0);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    attr[EBB_CLIP_MIN].f = chance(d, 50) ? 0 : -0.5;
    attr[EBB_CLIP_MAX].f = chance(d, 50) ? 6 : 0.75;
    emit(d, &ebb_op_clip, &x, 1, attr);
    return true;
}

static bool draw_gelu(drawing *d) {
    ebb_id x = value_draw(d, 0);
    emit(d, &ebb_op_gelu, &x, 1, NULL);
    return true;
}

static bool draw_softmax(drawing *d) {
    ebb_id x = value_draw(d, 2);
    if (x == EBB_NONE) return false;
    emit(d, &ebb_op_softmax, &x, 1, NULL);
    return true;
}

/* Rows against one another, [n,c] x [c,n], or c against c: a square value of either size. */
static bool draw_matmul(drawing *d) {
    ebb_id x = value_draw(d, 2);
    if (x == EBB_NONE || d->n_products >= 3) return false;
    const ebb_type t = *type_of(d, x);
    bool rows = chance(d, 50);
    int64_t side = rows ? t.dim[0] : t.dim[1];
    ebb_type y = {.dtype = d->dtype, .rank = 2, .dim = {side, side}};
    if (!small(d, &y)) return false;
    d->n_products++;
    ebb_attr one[1] = {{.i = {1, t.dim[0], t.dim[1]}}}, back[1] = {{.i = {side, side}}};
    ebb_attr attr[2] = {
        [EBB_MATMUL_TRANSPOSE_A] = {.i = {!rows}}, [EBB_MATMUL_TRANSPOSE_B] = {.i = {rows}}};
    ebb_id a = ebb_builder_node(d->b, &ebb_op_reshape, &x, 1, one, NULL, EBB_FORWARD, 0)[0];
    ebb_id in[] = {a, a};
    ebb_id made = ebb_builder_node(d->b, &ebb_op_matmul, in, 2, attr, NULL, EBB_FORWARD, 0)[0];
    emit(d, &ebb_op_reshape, &made, 1, back);
    return true;
}

/* A value less its mean along an axis, the mean's gradient stopped at times. */
static bool draw_centered(drawing *d) {
    ebb_id x = value_draw(d, 0);
    const ebb_type t = *type_of(d, x);
    int64_t axis = below(d, t.rank), size = t.dim[axis];
    ebb_attr reduce[2] = {[EBB_REDUCE_AXIS] = {.i = {axis}}, [EBB_REDUCE_KEEP] = {.i = {1}}};
    ebb_attr mean[2] = {[EBB_RESCALE_TIMES] = {.f = 1.0 / (double)size}, [EBB_RESCALE_PLUS] = {.f = 0}};
    ebb_attr expand[2] = {[EBB_EXPAND_AXIS] = {.i = {axis}}, [EBB_EXPAND_SIZE] = {.i = {size}}};
    ebb_id m = ebb_builder_node(d->b, &ebb_op_reduce_sum, &x, 1, reduce, NULL, EBB_FORWARD, 0)[0];
    m = ebb_builder_node(d->b, &ebb_op_rescale, &m, 1, mean, NULL, EBB_FORWARD, 0)[0];
    if (chance(d, 30))
        m = ebb_builder_node(d->b, &ebb_op_stop_gradient, &m, 1, NULL, NULL, EBB_FORWARD, 0)[0];
    m = ebb_builder_node(d->b, &ebb_op_expand, &m, 1, expand, NULL, EBB_FORWARD, 0)[0];
    ebb_id in[] = {x, m};
    emit(d, &ebb_op_sub, in, 2, NULL);
    return true;
}

/* x / (1 + exp(-x)): what is exponentiated stays small behind a clip. */
static bool draw_swish(drawing *d) {
    ebb_id x = value_draw(d, 0);
    ebb_attr clip[2] = {[EBB_CLIP_MIN] = {.f = -4}, [EBB_CLIP_MAX] = {.f = 4}};
    ebb_attr minus[2] = {[EBB_RESCALE_TIMES] = {.f = -1}, [EBB_RESCALE_PLUS] = {.f = 0}};
    ebb_attr more[2] = {[EBB_RESCALE_TIMES] = {.f = 1}, [EBB_RESCALE_PLUS] = {.f = 1}};
    ebb_id e = ebb_builder_node(d->b, &ebb_op_clip, &x, 1, clip, NULL, EBB_FORWARD, 0)[0];
    e = ebb_builder_node(d->b, &ebb_op_rescale, &e, 1, minus, NULL, EBB_FORWARD, 0)[0];
    e = ebb_builder_node(d->b, &ebb_op_exp, &e, 1, NULL, NULL, EBB_FORWARD, 0)[0];
    e = ebb_builder_node(d->b, &ebb_op_rescale, &e, 1, more, NULL, EBB_FORWARD, 0)[0];
    ebb_id in[] = {x, e};
    emit(d, &ebb_op_div, in, 2, NULL);
    return true;
}

static bool draw_upsample(drawing *d) {
    ebb_id x = value_draw(d, 4);
    if (x == EBB_NONE) return false;
    ebb_type y = *type_of(d, x);
    ebb_attr attr[1] = {{.i = {1 + below(d, 3), 1 + below(d, 2)}}};
    y.dim[2] *= attr[0].i[0];
    y.dim[3] *= attr[0].i[1];
    if (!small(d, &y)) return false;
    emit(d, &ebb_op_upsample, &x, 1, attr);
    return true;
}

static bool draw_layer_norm(drawing *d) {
    ebb_id x = value_draw(d, 2);
    if (x == EBB_NONE) return false;
    int64_t c = type_of(d, x)->dim[1];
    ebb_id in[] = {x, vector(d, "gamma", EBB_ROLE_PARAM, c, EBB_INIT_ONE),
                   vector(d, "beta", EBB_ROLE_PARAM, c, EBB_INIT_ZERO)};
    emit(d, &ebb_op_layer_norm, in, 3, NULL);
    return true;
}

/* Rows of a table, at times one that a linear layer reads too, as many as a value has. */
static bool draw_embedding(drawing *d) {
    static const int64_t rows[] = {1, 3, 7, 33};
    ebb_id like = value_draw(d, 2);
    if (like == EBB_NONE) return false;
    const ebb_type *t = type_of(d, like);
    ebb_type table = {.dtype = d->dtype, .rank = 2, .dim = {one_of(d, rows, 4), t->dim[1]}};
    ebb_type ids = {.dtype = EBB_I32, .rank = 1, .dim = {t->dim[0]}};
    if (!small(d, &table)) return false;
    ebb_id in[] = {weight(d, &table), given(d, "ids", EBB_ROLE_INPUT, &ids, EBB_INIT_ZERO)};
    emit(d, &ebb_op_embedding, in, 2, NULL);
    return true;
}

/* Between views: rows of a value are one sequence, or each its own; its width is cut to what three times
 * the heads divide by a linear layer. */
static bool draw_attention(drawing *d) {
    ebb_id x = value_draw(d, 2);
    if (x == EBB_NONE) return false;
    const ebb_type t = *type_of(d, x);
    int64_t heads = 1 + below(d, 3), c = heads * (1 + below(d, 4));
    ebb_type w = {.dtype = d->dtype, .rank = 2, .dim = {3 * c, t.dim[1]}};
    ebb_type y = {.dtype = d->dtype, .rank = 2, .dim = {t.dim[0], 3 * c}};
    if (!small(d, &w) || !small(d, &y)) return false;
    bool one = chance(d, 70);
    ebb_attr in_shape[1] = {{.i = {one ? 1 : t.dim[0], one ? t.dim[0] : 1, 3 * c}}};
    ebb_attr out_shape[1] = {{.i = {t.dim[0], c}}};
    ebb_attr attr[2] = {
        [EBB_ATTENTION_HEADS] = {.i = {heads}}, [EBB_ATTENTION_CAUSAL] = {.i = {chance(d, 70)}}};
    ebb_id in[] = {x, weight(d, &w)};
    ebb_id qkv = emit(d, &ebb_op_linear, in, 2, NULL);
    ebb_id rows = ebb_builder_node(d->b, &ebb_op_reshape, &qkv, 1, in_shape, NULL, EBB_FORWARD, 0)[0];
    ebb_id made = ebb_builder_node(d->b, &ebb_op_attention, &rows, 1, attr, NULL, EBB_FORWARD, 0)[0];
    emit(d, &ebb_op_reshape, &made, 1, out_shape);
    return true;
}

static bool draw_pair(drawing *d) {
    ebb_id x = value_draw(d, 0);
    ebb_id in[] = {x, partner_draw(d, x)};
    bool product = d->n_products < 3 && chance(d, 25);
    d->n_products += product;
    emit(d, product ? &ebb_op_mul : &ebb_op_add, in, 2, NULL);
    return true;
}

static bool draw_bias(drawing *d) {
    ebb_id x = value_draw(d, 0);
    ebb_type b = {.dtype = d->dtype, .rank = 1, .dim = {type_of(d, x)->dim[1]}};
    ebb_id in[] = {x, weight(d, &b)};
    emit(d, &ebb_op_bias, in, 2, NULL);
    return true;
}

static bool draw_pool(drawing *d) {
    ebb_id x = value_draw(d, 4);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    for (uint32_t a = 0; a < 2; a++) {
        int64_t kernel = 2 + below(d, 2), pad = chance(d, 50) ? 0 : 1, stride = 1 + below(d, 3);
        if (window(t->dim[2 + a], kernel, stride, pad, 1) < 1) return false;
        attr[EBB_POOL_KERNEL].i[a] = kernel;
        attr[EBB_POOL_STRIDE].i[a] = stride;
        attr[EBB_POOL_PAD].i[a] = pad;
    }
    attr[EBB_POOL_COUNT_PAD].i[0] = chance(d, 50);
    emit(d, chance(d, 50) ? &ebb_op_max_pool : &ebb_op_avg_pool, &x, 1, attr);
    return true;
}

/* Of values that differ in channels only; the same value may stand in it twice. */
static bool draw_concat(drawing *d) {
    ebb_id x = value_draw(d, 0), in[4] = {x};
    ebb_type y = *type_of(d, x);
    uint32_t n = 1;
    for (uint32_t tries = 0; tries < 6 && n < 4; tries++) {
        ebb_id other = value_draw(d, y.rank);
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
    emit(d, &ebb_op_concat, in, n, NULL);
    return true;
}

static bool draw_slice(drawing *d) {
    ebb_id x = value_draw(d, 0);
    int64_t c = type_of(d, x)->dim[1];
    if (c < 2) return false;
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    attr[EBB_SLICE_BEGIN].i[0] = below(d, (uint32_t)c - 1);
    attr[EBB_SLICE_SIZE].i[0] = 1 + below(d, (uint32_t)(c - attr[EBB_SLICE_BEGIN].i[0]));
    emit(d, &ebb_op_slice, &x, 1, attr);
    return true;
}

static bool draw_dropout(drawing *d) {
    if (d->no_dropout) return false;
    ebb_id x = value_draw(d, 0);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    attr[EBB_DROPOUT_P].f = 0.125 * (1 + below(d, 6));
    emit(d, &ebb_op_dropout, &x, 1, attr);
    return true;
}

static bool draw_flat(drawing *d) {
    ebb_id x = value_draw(d, 4);
    if (x == EBB_NONE) return false;
    emit(d, chance(d, 50) ? &ebb_op_flatten : &ebb_op_global_avg_pool, &x, 1, NULL);
    return true;
}

/* [n,c] as [n,c,1,1], and rank 4 with h and w merged: views of either rank. */
static bool draw_reshape(drawing *d) {
    ebb_id x = value_draw(d, 0);
    const ebb_type *t = type_of(d, x);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    int64_t places = t->rank == 4 ? t->dim[2] * t->dim[3] : 1;
    int64_t shape[] = {t->dim[0], t->dim[1], places, 1};
    memcpy(attr[EBB_RESHAPE_SHAPE].i, shape, sizeof shape);
    emit(d, &ebb_op_reshape, &x, 1, attr);
    return true;
}

static const struct {
    draw_op *draw;
    uint32_t weight;
} kinds[] = {
    {draw_conv, 24},      {draw_batch_norm, 14}, {draw_relu, 18},     {draw_pair, 18},
    {draw_bias, 5},       {draw_pool, 6},        {draw_concat, 6},    {draw_slice, 4},
    {draw_flat, 4},       {draw_linear, 8},      {draw_dropout, 8},   {draw_reshape, 3},
    {draw_clip, 5},       {draw_transpose, 5},   {draw_gelu, 5},      {draw_softmax, 2},
    {draw_matmul, 3},     {draw_centered, 3},    {draw_swish, 3},     {draw_upsample, 3},
    {draw_layer_norm, 4}, {draw_embedding, 3},   {draw_attention, 4}, {draw_norm_block, 10},
};

static void draw(drawing *d) {
    uint32_t sum = 0;
    for (size_t i = 0; i < EBB_COUNT(kinds); i++) sum += kinds[i].weight;
    for (uint32_t tries = 0; tries < 20; tries++) {
        uint32_t at = below(d, sum), i = 0;
        while (at >= kinds[i].weight) at -= kinds[i++].weight;
        if (kinds[i].draw(d)) return;
    }
}

/* ---- the whole
 * ------------------------------------------------------------------------------------------------ */

/* k classes for every place of a picture. */
static ebb_id places_loss(drawing *d, ebb_id x) {
    const ebb_type *t = type_of(d, x);
    ebb_type w = {.dtype = d->dtype, .rank = 4, .dim = {2 + below(d, 6), t->dim[1], 1, 1}};
    ebb_type labels = {.dtype = EBB_I32, .rank = 3, .dim = {t->dim[0], t->dim[2], t->dim[3]}};
    ebb_id in[] = {x, weight(d, &w)};
    ebb_id logits = emit(d, &ebb_op_conv2d, in, 2, NULL);
    ebb_id xent[] = {logits, given(d, "labels", EBB_ROLE_INPUT, &labels, EBB_INIT_ZERO)};
    return emit(d, &ebb_op_softmax_xent, xent, 2, NULL);
}

/* Classifies the newest value, or any: to rank 2, to k classes by a weight, to a loss. */
static ebb_id loss_draw(drawing *d, ebb_id x) {
    if (type_of(d, x)->rank == 4 && chance(d, 20)) return places_loss(d, x);
    if (type_of(d, x)->rank == 4) {
        x = emit(d, chance(d, 70) ? &ebb_op_global_avg_pool : &ebb_op_flatten, &x, 1, NULL);
    }
    const ebb_type *t = type_of(d, x);
    ebb_type w = {.dtype = d->dtype, .rank = 2, .dim = {2 + below(d, 6), t->dim[1]}};
    ebb_type labels = {.dtype = EBB_I32, .rank = 1, .dim = {t->dim[0]}};
    ebb_id in[] = {x, weight(d, &w)};
    ebb_id logits = emit(d, &ebb_op_linear, in, 2, NULL);
    if (chance(d, 50)) ebb_builder_output(d->b, logits);
    ebb_id xent[] = {logits, given(d, "labels", EBB_ROLE_INPUT, &labels, EBB_INIT_ZERO)};
    ebb_id loss = emit(d, &ebb_op_softmax_xent, xent, 2, NULL);
    return loss;
}

static void inputs_draw(drawing *d) {
    static const int64_t batches[] = {1, 2, 3, 5}, channels[] = {1, 2, 3, 4, 7},
                         sizes[] = {1, 3, 5, 7, 9, 12};
    ebb_type x = {.dtype = d->dtype, .rank = 4};
    x.dim[0] = one_of(d, batches, EBB_COUNT(batches));
    x.dim[1] = one_of(d, channels, EBB_COUNT(channels));
    x.dim[2] = one_of(d, sizes, EBB_COUNT(sizes));
    x.dim[3] = chance(d, 60) ? x.dim[2] : one_of(d, sizes, EBB_COUNT(sizes));
    while (!small(d, &x)) x.dim[x.dim[2] > 1 ? 2 : x.dim[3] > 1 ? 3 : x.dim[1] > 1 ? 1 : 0] = 1;
    uint32_t n = chance(d, 20) ? 2 : 1;
    for (uint32_t i = 0; i < n; i++) pool_add(d, given(d, "x", EBB_ROLE_INPUT, &x, EBB_INIT_ZERO));
}

ebb_status random_graph(ebb_env *env, uint64_t seed, const random_graph_options *options, ebb_graph **out) {
    static const random_graph_options defaults = {0};
    if (!options) options = &defaults;
    drawing d = {.dtype = options->f64 ? EBB_F64 : EBB_F32, .no_dropout = options->no_dropout};
    d.max_elements = options->max_elements ? options->max_elements : 4000;
    *out = NULL;
    ebb_rng_init(&d.rng, seed, 0x67726170);
    ebb_status status = ebb_builder_create(env, "random", &d.b);
    if (status) return status;
    inputs_draw(&d);
    uint32_t n_nodes = options->n_nodes ? options->n_nodes : 3 + below(&d, 38);
    for (uint32_t i = 0; i < n_nodes && !ebb_builder_status(d.b); i++) draw(&d);

    if (ebb_builder_status(d.b)) return ebb_builder_seal(d.b, out);
    ebb_id loss = loss_draw(&d, d.pool[d.n_pool - 1]);
    if (chance(&d, 20)) {
        ebb_id in[] = {loss, loss_draw(&d, value_draw(&d, 0))};
        loss = emit(&d, &ebb_op_add, in, 2, NULL);
    }
    ebb_builder_loss(d.b, loss);
    if (chance(&d, 30)) {
        ebb_id extra = d.pool[d.n_pool / 2];
        bool is_input = d.n_pool / 2 < 2; /* the first two may be */
        if (!is_input) ebb_builder_output(d.b, extra);
    }
    return ebb_builder_seal(d.b, out);
}
