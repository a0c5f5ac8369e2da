/* Random small training models, drawn op by op: each step picks a kind of op that fits a value drawn from
 * the pool of all values so far, the newest ones more often, so that graphs are deep and have skips. */
#include "random_drawing.h"

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
    {draw_broadcast, 8},  {draw_tanh, 3},
};

static void draw_any(drawing *d) {
    uint32_t sum = 0;
    for (size_t i = 0; i < EBB_COUNT(kinds); i++) sum += kinds[i].weight;
    for (uint32_t tries = 0; tries < 20; tries++) {
        uint32_t at = below(d, sum), i = 0;
        while (at >= kinds[i].weight) at -= kinds[i++].weight;
        if (kinds[i].draw(d)) return;
    }
}

/* k classes for every place of a picture. */
static ebb_id draw_places_loss(drawing *d, ebb_id x) {
    const ebb_type *t = type_of(d, x);
    ebb_type w = {.dtype = d->dtype, .rank = 4, .dim = {2 + below(d, 6), t->dim[1], 1, 1}};
    ebb_type labels = {.dtype = EBB_I32, .rank = 3, .dim = {t->dim[0], t->dim[2], t->dim[3]}};
    ebb_id in[] = {x, draw_weight(d, &w)};
    ebb_id logits = draw_node(d, &ebb_op_conv2d, in, 2, NULL);
    ebb_id xent[] = {logits, draw_given(d, "labels", EBB_ROLE_INPUT, &labels, EBB_INIT_ZERO)};
    return draw_node(d, &ebb_op_softmax_xent, xent, 2, NULL);
}

/* Classifies the newest value, or any: to rank 2, to k classes by a weight, to a loss. */
static ebb_id draw_loss(drawing *d, ebb_id x) {
    if (type_of(d, x)->rank == 4 && chance(d, 20)) return draw_places_loss(d, x);
    if (type_of(d, x)->rank == 4) {
        x = draw_node(d, chance(d, 70) ? &ebb_op_global_avg_pool : &ebb_op_flatten, &x, 1, NULL);
    }
    const ebb_type *t = type_of(d, x);
    ebb_type w = {.dtype = d->dtype, .rank = 2, .dim = {2 + below(d, 6), t->dim[1]}};
    ebb_type labels = {.dtype = EBB_I32, .rank = 1, .dim = {t->dim[0]}};
    ebb_id in[] = {x, draw_weight(d, &w)};
    ebb_id logits = draw_node(d, &ebb_op_linear, in, 2, NULL);
    if (chance(d, 50)) ebb_builder_output(d->b, logits);
    ebb_id xent[] = {logits, draw_given(d, "labels", EBB_ROLE_INPUT, &labels, EBB_INIT_ZERO)};
    ebb_id loss = draw_node(d, &ebb_op_softmax_xent, xent, 2, NULL);
    return loss;
}

static void draw_inputs(drawing *d) {
    static const int64_t batches[] = {1, 2, 3, 5}, channels[] = {1, 2, 3, 4, 7},
                         sizes[] = {1, 3, 5, 7, 9, 12};
    ebb_type x = {.dtype = d->dtype, .rank = 4};
    x.dim[0] = one_of(d, batches, EBB_COUNT(batches));
    x.dim[1] = one_of(d, channels, EBB_COUNT(channels));
    x.dim[2] = one_of(d, sizes, EBB_COUNT(sizes));
    x.dim[3] = chance(d, 60) ? x.dim[2] : one_of(d, sizes, EBB_COUNT(sizes));
    while (!small(d, &x)) x.dim[x.dim[2] > 1 ? 2 : x.dim[3] > 1 ? 3 : x.dim[1] > 1 ? 1 : 0] = 1;
    uint32_t n = chance(d, 20) ? 2 : 1;
    for (uint32_t i = 0; i < n; i++) draw_add(d, draw_given(d, "x", EBB_ROLE_INPUT, &x, EBB_INIT_ZERO));
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
    draw_inputs(&d);
    uint32_t n_nodes = options->n_nodes ? options->n_nodes : 3 + below(&d, 38);
    for (uint32_t i = 0; i < n_nodes && !ebb_builder_status(d.b); i++) draw_any(&d);

    if (ebb_builder_status(d.b)) return ebb_builder_seal(d.b, out);
    ebb_id loss = draw_loss(&d, d.pool[d.n_pool - 1]);
    if (chance(&d, 20)) {
        ebb_id in[] = {loss, draw_loss(&d, draw_value(&d, 0))};
        loss = draw_node(&d, &ebb_op_add, in, 2, NULL);
    }
    ebb_builder_loss(d.b, loss);
    if (chance(&d, 30)) {
        ebb_id extra = d.pool[d.n_pool / 2];
        bool is_input = d.n_pool / 2 < 2; /* the first two may be */
        if (!is_input) ebb_builder_output(d.b, extra);
    }
    return ebb_builder_seal(d.b, out);
}
