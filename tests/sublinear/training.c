/* Training steps in small. */
#include "training.h"

#include <stdio.h>

/* ---- the chain -------------------------------------------------------------------------------------- */

ebb_id chain_back(chain *h, ebb_id value, ebb_id gradient) {
    ebb_id out = sketch_op(&h->s, IDS(value, gradient), 10, 2);
    sketch_in_place(&h->s, 0, 1);
    return out;
}

void chain_begin(chain *h, ebb_env *env) {
    sketch_begin(&h->s, env);
    h->x = sketch_value(&h->s, EBB_ROLE_INPUT, 10);
    h->a = sketch_op(&h->s, IDS(h->x), 10, 5);
}

void chain_forward(chain *h) {
    h->b = sketch_op(&h->s, IDS(h->a), 10, 5);
    h->c = sketch_op(&h->s, IDS(h->b), 10, 5);
}

ebb_pgraph *chain_end(chain *h) {
    h->d = sketch_op(&h->s, IDS(h->c), 10, 1);
    h->db = chain_back(h, h->b, h->d);
    h->da = chain_back(h, h->a, h->db);
    h->dx = chain_back(h, h->x, h->da);
    h->s.draft.values.at[h->dx].role = EBB_ROLE_OUTPUT;
    return sketch_end(&h->s);
}

ebb_pgraph *plain_chain(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    chain_forward(&h);
    return chain_end(&h);
}

ebb_pgraph *wide_middle(ebb_env *env) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 10);
    ebb_id a = sketch_op(&s, IDS(x), 10, 5);
    ebb_id k = sketch_op(&s, IDS(a, x), 20, 1);
    sketch_last(&s)->scratch_bytes = 10;
    ebb_id g = sketch_op(&s, IDS(k), 10, 5);
    ebb_id h = sketch_op(&s, IDS(g), 10, 5);
    ebb_id y = sketch_op(&s, IDS(k, h), 10, 5);
    ebb_id z = sketch_op(&s, IDS(y, a), 10, 5);
    ebb_id out = sketch_op(&s, IDS(z, x), 10, 5);
    s.draft.values.at[out].role = EBB_ROLE_OUTPUT;
    return sketch_end(&s);
}

/* ---- layers ------------------------------------------------------------------------------------------ */

ebb_pgraph *layers(ebb_env *env, uint32_t n) {
    sketch s;
    ebb_id h[64], back;
    cr_assert(n < EBB_COUNT(h));
    sketch_begin(&s, env);
    h[0] = sketch_value(&s, EBB_ROLE_INPUT, 100);
    ebb_id weights = sketch_value(&s, EBB_ROLE_PARAM, 77);
    for (uint32_t k = 1; k <= n; k++)
        h[k] = sketch_op(&s, k % 3 == 0 ? IDS(h[k - 1], weights, h[k - 2]) : IDS(h[k - 1], weights),
                         64 * (1 + k % 3), 20 + 7 * (k % 5));
    back = sketch_op(&s, IDS(h[n]), s.draft.values.at[h[n]].bytes, 3);
    for (uint32_t k = n; k > 0; k--) {
        ebb_id read = h[k - 1];
        if (k % 4 == 0) {
            read = sketch_op(&s, IDS(read), 33, 0);
            sketch_view(&s, 0, 31);
        }
        back = sketch_op(&s, IDS(back, read), s.draft.values.at[h[k - 1]].bytes, 40);
        if (k % 2) sketch_in_place(&s, 0, 0);
    }
    (void)sketch_update(&s, IDS(back), weights);
    return sketch_end(&s);
}

/* ---- at random --------------------------------------------------------------------------------------- */

typedef struct drawing {
    sketch s;
    ebb_rng rng;
} drawing;

static uint32_t below(drawing *d, uint32_t n) {
    return ebb_rng_below(&d->rng, n);
}

static bool chance(drawing *d, uint32_t percent) {
    return below(d, 100) < percent;
}

static int64_t draw_size(drawing *d) {
    static const int64_t sizes[] = {1, 3, 7, 8, 16, 33, 40, 64};
    return sizes[below(d, EBB_COUNT(sizes))];
}

ebb_pgraph *draw_residual(ebb_env *env, uint64_t seed, uint32_t n_blocks) {
    drawing d;
    ebb_id x[9], m[8];
    cr_assert(n_blocks < EBB_COUNT(x));
    sketch_begin(&d.s, env);
    ebb_rng_init(&d.rng, seed, 4);
    const ebb_id image = sketch_value(&d.s, EBB_ROLE_INPUT, 10);
    x[0] = sketch_op(&d.s, IDS(image), draw_size(&d), below(&d, 9));
    for (uint32_t k = 0; k < n_blocks; k++) {
        m[k] = sketch_op(&d.s, IDS(x[k]), draw_size(&d), below(&d, 9));
        sketch_last(&d.s)->recomputable = chance(&d, 80);
        x[k + 1] = sketch_op(&d.s, IDS(m[k], x[k]), draw_size(&d), below(&d, 9));
        sketch_last(&d.s)->recomputable = chance(&d, 60);
    }
    ebb_id back = sketch_op(&d.s, IDS(x[n_blocks]), 16, 3);
    sketch_last(&d.s)->phase = EBB_BACKWARD;
    for (uint32_t k = n_blocks; k > 0; k--) {
        const ebb_id far = chance(&d, 30) ? x[below(&d, k)] : back;
        back = sketch_op(&d.s, IDS(back, far, m[k - 1]), 16, 5);
        sketch_last(&d.s)->phase = EBB_BACKWARD;
        back = sketch_op(&d.s, IDS(back, x[k - 1]), 16, 5);
        sketch_last(&d.s)->phase = EBB_BACKWARD;
    }
    return sketch_end(&d.s);
}

/* Another way for the last op, which may read `other` instead of its first input. */
static void draw_way(drawing *d, ebb_id other) {
    ebb_pop *op = sketch_last(&d->s);
    ebb_alternative *way = EBB_NEW(&d->s.draft.arena, ebb_alternative, 1);
    ebb_id *in = ebb_arena_copy(&d->s.draft.arena, op->in, op->n_in, sizeof *in);
    cr_assert(way && in);
    *way = (ebb_alternative){.n_in = op->n_in,
                             .has_in_place = true,
                             .time_ns = below(d, 30),
                             .scratch_bytes = chance(d, 50) ? draw_size(d) : 0};
    if (chance(d, 50)) {
        in[0] = other;
        way->in = in;
        way->has_inputs = true;
    }
    op->alternatives = way;
    op->n_alternatives = 1;
}

static void draw_traits(drawing *d, ebb_id other) {
    ebb_pop *op = sketch_last(&d->s);
    if (chance(d, 20)) op->scratch_bytes = draw_size(d);
    if (chance(d, 8)) op->recomputable = false;
    if (chance(d, 5)) op->ordered = true;
    if (chance(d, 10)) op->optional = true;
    if (chance(d, 12)) draw_way(d, other);
}

/* Part or all of a value. */
static ebb_id draw_view(drawing *d, ebb_id base) {
    int64_t bytes = d->s.draft.values.at[base].bytes,
            offset = chance(d, 50) ? below(d, (uint32_t)bytes) : 0;
    ebb_id out = sketch_op(&d->s, IDS(base), bytes - offset, chance(d, 80) ? 0 : 3);
    sketch_view(&d->s, 0, offset);
    return out;
}

ebb_pgraph *draw_training(ebb_env *env, uint64_t seed) {
    drawing d;
    ebb_id h[5];
    uint32_t n = 0, depth = 2;
    sketch_begin(&d.s, env);
    ebb_rng_init(&d.rng, seed, 0xCE27);
    h[n++] = sketch_value(&d.s, EBB_ROLE_INPUT, draw_size(&d));
    depth += below(&d, 2);
    while (n <= depth) {
        ebb_id skip = h[below(&d, n)];
        if (depth == 2 && chance(&d, 15)) skip = draw_view(&d, h[n - 1]);
        h[n] = sketch_op(&d.s, chance(&d, 70) ? IDS(h[n - 1]) : IDS(skip, h[n - 1]), draw_size(&d),
                         1 + below(&d, 30));
        if (chance(&d, 30)) sketch_in_place(&d.s, 0, 0);
        draw_traits(&d, h[0]);
        n++;
    }
    ebb_id gradient = sketch_op(&d.s, IDS(h[n - 1]), draw_size(&d), 1);
    while (n-- > 1) {
        ebb_id read = h[chance(&d, 50) ? n : n - 1];
        gradient = sketch_op(&d.s, chance(&d, 80) ? IDS(gradient, read) : IDS(gradient, read, h[n - 1]),
                             d.s.draft.values.at[gradient].bytes, 1 + below(&d, 9));
        if (chance(&d, 70)) sketch_in_place(&d.s, 0, 0);
        draw_traits(&d, gradient - 1);
        sketch_last(&d.s)->optional = false;
    }
    if (chance(&d, 50)) d.s.draft.values.at[gradient].role = EBB_ROLE_OUTPUT;
    return sketch_end(&d.s);
}

static int64_t size_of(drawing *d, uint32_t least, uint32_t n) {
    return 64 * (int64_t)(least + below(d, n));
}

ebb_pgraph *draw_wide(ebb_env *env, uint64_t seed) {
    drawing d;
    sketch_begin(&d.s, env);
    ebb_rng_init(&d.rng, seed, 0x51DE);
    ebb_id x = sketch_value(&d.s, EBB_ROLE_INPUT, size_of(&d, 6, 10));
    ebb_id a = sketch_op(&d.s, IDS(x), size_of(&d, 6, 10), 1 + below(&d, 20));
    ebb_id k = sketch_op(&d.s, IDS(a, x), size_of(&d, 16, 16), 1 + below(&d, 9));
    sketch_last(&d.s)->scratch_bytes = size_of(&d, 6, 16);
    ebb_id last = k;
    for (uint32_t n = 1 + below(&d, 2); n > 0; n--) {
        last = sketch_op(&d.s, IDS(last), size_of(&d, 6, 10), 1 + below(&d, 20));
        if (chance(&d, 20)) sketch_in_place(&d.s, 0, 0);
        draw_traits(&d, a);
    }
    last = sketch_op(&d.s, IDS(k, last), size_of(&d, 6, 10), 1 + below(&d, 20));
    if (chance(&d, 50)) last = sketch_op(&d.s, IDS(last, a), size_of(&d, 6, 10), 1 + below(&d, 20));
    last = sketch_op(&d.s, chance(&d, 50) ? IDS(last, x) : IDS(last, a), size_of(&d, 6, 10), 5);
    d.s.draft.values.at[last].role = EBB_ROLE_OUTPUT;
    return sketch_end(&d.s);
}

/* ---- texts ------------------------------------------------------------------------------------------- */

char *edited(ebb_arena *arena, const char *text, const char *find, const char *replace) {
    const char *at = strstr(text, find);
    cr_assert_not_null(at, "%s is not in %s", find, text);
    size_t n_before = (size_t)(at - text), n = strlen(text) - strlen(find) + strlen(replace);
    char *out = EBB_NEW(arena, char, n + 1);
    cr_assert_not_null(out);
    (void)snprintf(out, n + 1, "%.*s%s%s", (int)n_before, text, replace, at + strlen(find));
    return out;
}
