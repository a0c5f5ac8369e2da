/* Draws planning graphs op by op. The first failure to get memory latches. */
#include "random_pgraph.h"

#define MAX_OPERANDS     5
#define MAX_OUTPUTS      4
#define MAX_ALTERNATIVES 3

typedef struct drawing {
    ebb_env *env;
    ebb_rng rng;
    random_pgraph_options options;
    ebb_pdraft draft;
    /* of each value so far */
    EBB_ARRAY(ebb_id) root;   /* whose bytes a view shows; itself otherwise */
    EBB_ARRAY(bool) replaced; /* a root that an update took */
    uint32_t n_forward, n_choices;
    uint32_t n_readable; /* values that the op in hand may read: those of earlier ops */
    ebb_id mirrored;     /* in the backward part: the forward op whose turn it is */
    ebb_id gradient;     /* the one that was made last; EBB_NONE: none yet */
    bool failed;
} drawing;

static uint32_t below(drawing *d, uint32_t n) {
    return ebb_rng_below(&d->rng, n);
}

static bool chance(drawing *d, uint32_t percent) {
    return below(d, 100) < percent;
}

static void *room(drawing *d, size_t n, size_t size) {
    void *at = ebb_arena_alloc(&d->draft.arena, n, size);
    d->failed = d->failed || !at;
    return at;
}
#define ROOM(d, type, n) ((type *)room((d), (n), sizeof(type)))

/* ---- values ---- */

static int64_t draw_bytes(drawing *d) {
    static const int64_t sizes[] = {1, 3, 7, 33, 33, 64, 64, 65, 100, 129, 512, 1000};
    int64_t most = d->options.max_bytes > 0 ? d->options.max_bytes : 5000;
    int64_t bytes = chance(d, 70) ? sizes[below(d, EBB_COUNT(sizes))] : 1 + below(d, (uint32_t)most);
    return ebb_min_i64(bytes, most);
}

static ebb_id add_value(drawing *d, ebb_role role, int64_t bytes, ebb_id root) {
    ebb_id v = (ebb_id)d->draft.values.n;
    bool ok = EBB_PUSH(d->env, &d->draft.values, ((ebb_pvalue){.bytes = bytes, .role = role})) &&
              EBB_PUSH(d->env, &d->root, root == EBB_NONE ? v : root) &&
              EBB_PUSH(d->env, &d->replaced, false);
    d->failed = d->failed || !ok;
    return v;
}

static bool readable(const drawing *d, ebb_id v) {
    return !d->replaced.at[d->root.at[v]];
}

/* ---- inputs ---- */

static ebb_id draw_value(drawing *d) {
    uint32_t n = d->n_readable;
    if (d->mirrored != EBB_NONE && chance(d, 60)) { /* backward: what the forward op read or made */
        const ebb_pop *op = &d->draft.ops.at[d->mirrored];
        uint32_t k = op->n_in + op->n_out > 0 ? below(d, op->n_in + op->n_out) : 0;
        if (k < op->n_in) return op->in[k];
        if (k < op->n_in + op->n_out) return op->out[k - op->n_in];
    }
    return chance(d, 65) && n > 6 ? n - 1 - below(d, 6) : below(d, n);
}

static ebb_id draw_operand(drawing *d) {
    for (;;) { /* ends: an input is never replaced */
        ebb_id v = draw_value(d);
        if (readable(d, v)) return v;
    }
}

static ebb_id *draw_inputs(drawing *d, uint32_t n) {
    ebb_id *in = ROOM(d, ebb_id, n);
    for (uint32_t k = 0; in && k < n; k++) {
        bool first_gradient =
            k == 0 && d->gradient < d->n_readable && readable(d, d->gradient) && chance(d, 80);
        in[k] = first_gradient ? d->gradient : k > 0 && chance(d, 6) ? in[k - 1] : draw_operand(d);
    }
    return in;
}

static const ebb_pair *draw_pairs(drawing *d, uint32_t n_in, uint32_t n_out, uint32_t *n) {
    *n = n_in == 0 || n_out == 0 || chance(d, 30) ? 0 : 1 + below(d, 3);
    ebb_pair *pairs = ROOM(d, ebb_pair, *n);
    for (uint32_t k = 0; pairs && k < *n; k++) pairs[k] = (ebb_pair){below(d, n_out), below(d, n_in)};
    return pairs;
}

/* ---- outputs ---- */

static ebb_role draw_role(drawing *d) {
    if (chance(d, 7)) return EBB_ROLE_OUTPUT;
    return d->mirrored == EBB_NONE ? EBB_ROLE_ACTIVATION : EBB_ROLE_GRADIENT;
}

static ebb_id add_view(drawing *d, ebb_view *view, uint32_t out, uint32_t in, ebb_id base) {
    int64_t from = d->draft.values.at[base].bytes;
    int64_t offset = from > 0 && chance(d, 50) ? below(d, (uint32_t)from) : 0;
    int64_t bytes = chance(d, 60) ? from - offset : below(d, (uint32_t)(from - offset + 1));
    *view = (ebb_view){out, in, offset};
    /* a view of what an update will replace must not be an output */
    ebb_role role =
        ebb_role_persistent(d->draft.values.at[d->root.at[base]].role) ? EBB_ROLE_ACTIVATION : draw_role(d);
    return add_value(d, role, bytes, d->root.at[base]);
}

/* Fills op's outputs; views with a chance of view_percent each. */
static void draw_outputs(drawing *d, ebb_pop *op, uint32_t view_percent) {
    ebb_id *out = ROOM(d, ebb_id, op->n_out);
    ebb_view *views = ROOM(d, ebb_view, op->n_out);
    for (uint32_t k = 0; out && views && k < op->n_out; k++) {
        if (op->n_in > 0 && chance(d, view_percent)) {
            uint32_t in = below(d, op->n_in);
            out[k] = add_view(d, &views[op->n_views++], k, in, op->in[in]);
            continue;
        }
        int64_t bytes = draw_bytes(d);
        if (op->n_in > 0 && chance(d, 60)) bytes = d->draft.values.at[op->in[below(d, op->n_in)]].bytes;
        out[k] = add_value(d, draw_role(d), chance(d, 5) ? 0 : bytes, EBB_NONE);
        if (d->mirrored != EBB_NONE) d->gradient = out[k];
    }
    op->out = out;
    op->views = views;
}

/* ---- ops ---- */

static bool may_choose(drawing *d) {
    if (d->options.max_choices > 0 && d->n_choices >= d->options.max_choices) return false;
    d->n_choices++;
    return true;
}

/* Another way; what views and updates stand on stays where it is. */
static void draw_alternative(drawing *d, const ebb_pop *op, ebb_alternative *a) {
    *a = (ebb_alternative){.name = "other",
                           .n_in = op->n_in,
                           .has_inputs = chance(d, 50),
                           .has_in_place = true,
                           .time_ns = below(d, 300),
                           .scratch_bytes = chance(d, 40) ? draw_bytes(d) : 0};
    if (a->has_inputs) {
        bool fixed = op->n_views + op->n_update > 0;
        a->n_in = fixed ? op->n_in : below(d, MAX_OPERANDS + 1);
        ebb_id *in = draw_inputs(d, a->n_in);
        for (uint32_t k = 0; in && k < op->n_views; k++) in[op->views[k].in] = op->in[op->views[k].in];
        for (uint32_t k = 0; in && k < op->n_update; k++) in[op->update[k].in] = op->in[op->update[k].in];
        a->in = in;
    }
    a->in_place = draw_pairs(d, a->n_in, op->n_out, &a->n_in_place);
}

static void draw_alternatives(drawing *d, ebb_pop *op) {
    if (d->options.no_choices || !chance(d, 20) || !may_choose(d)) return;
    ebb_alternative *list = ROOM(d, ebb_alternative, MAX_ALTERNATIVES);
    op->n_alternatives = 1 + below(d, MAX_ALTERNATIVES);
    for (uint32_t k = 0; list && k < op->n_alternatives; k++) draw_alternative(d, op, &list[k]);
    op->alternatives = list;
}

static void draw_rules(drawing *d, ebb_pop *op) {
    uint32_t i = (uint32_t)d->draft.ops.n;
    op->phase = d->mirrored == EBB_NONE ? EBB_FORWARD : EBB_BACKWARD;
    op->recomputable = chance(d, 88) && may_choose(d);
    op->ordered = chance(d, 4);
    op->optional = !d->options.no_choices && chance(d, 10) && may_choose(d);
    if (i == 0 || !chance(d, 8)) return;
    ebb_id *after = ROOM(d, ebb_id, 1);
    if (!after) return;
    after[0] = below(d, i);
    op->after = after;
    op->n_after = 1;
}

static void add_op(drawing *d, ebb_pop op) {
    d->failed = d->failed || !EBB_PUSH(d->env, &d->draft.ops, op);
}

/* A view that costs nothing, alone in its op: what the search drops and makes again with its base. */
static void draw_free_view(drawing *d) {
    ebb_pop op = {.kind = "view", .n_in = 1, .n_out = 1};
    op.in = draw_inputs(d, 1);
    if (!op.in) return;
    draw_rules(d, &op);
    draw_outputs(d, &op, 100);
    add_op(d, op);
}

static void draw_op(drawing *d) {
    ebb_pop op = {.kind = "op", .time_ns = chance(d, 10) ? 0 : below(d, 300)};
    if (chance(d, 12)) {
        draw_free_view(d);
        return;
    }
    op.n_in = chance(d, 4) ? 0 : 1 + below(d, MAX_OPERANDS);
    op.n_out = chance(d, 8) ? 0 : chance(d, 70) ? 1 : 1 + below(d, MAX_OUTPUTS);
    op.scratch_bytes = chance(d, 25) ? draw_bytes(d) : 0;
    op.in = draw_inputs(d, op.n_in);
    if (!op.in) return;
    draw_rules(d, &op);
    draw_outputs(d, &op, 7);
    op.in_place = draw_pairs(d, op.n_in, op.n_out, &op.n_in_place);
    if (!d->failed) draw_alternatives(d, &op);
    add_op(d, op);
}

/* Replaces a param or state, if there is one that still can be. */
static void draw_update(drawing *d) {
    ebb_id old = EBB_NONE;
    for (uint32_t tries = 0; tries < 8 && old == EBB_NONE; tries++) {
        ebb_id v = below(d, d->n_readable);
        ebb_role role = d->draft.values.at[v].role;
        if ((role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE) && readable(d, v)) old = v;
    }
    if (old == EBB_NONE) {
        draw_op(d);
        return;
    }
    ebb_pop op = {
        .kind = "update", .n_in = 1 + below(d, MAX_OPERANDS), .n_out = 1, .time_ns = below(d, 50)};
    ebb_id *in = draw_inputs(d, op.n_in), *out = ROOM(d, ebb_id, 1);
    ebb_pair *pair = ROOM(d, ebb_pair, 1);
    if (!in || !out || !pair) return;
    draw_rules(d, &op);
    if (d->mirrored != EBB_NONE) op.phase = EBB_UPDATE;
    *pair = (ebb_pair){0, below(d, op.n_in)};
    in[pair->in] = old;
    op.in = in;
    op.out = out;
    op.update = pair;
    op.n_update = 1;
    if (!d->failed) draw_alternatives(d, &op);
    d->replaced.at[old] = true; /* an alternative of its own op may still read it */
    out[0] = add_value(d, d->draft.values.at[old].role, d->draft.values.at[old].bytes, EBB_NONE);
    add_op(d, op);
}

/* ---- the graph ---- */

static void draw_givens(drawing *d) {
    static const ebb_role roles[] = {EBB_ROLE_INPUT, EBB_ROLE_PARAM, EBB_ROLE_STATE, EBB_ROLE_CONSTANT};
    for (uint32_t k = 0; k < EBB_COUNT(roles); k++)
        for (uint32_t n = k == 0 ? 1 + below(d, 3) : below(d, 3); n > 0; n--)
            (void)add_value(d, roles[k], chance(d, 4) ? 0 : draw_bytes(d), EBB_NONE);
}

static void draw_ops(drawing *d, uint32_t n_ops) {
    uint32_t update_percent = 3 + below(d, 15);
    while (d->draft.ops.n < n_ops && !d->failed) {
        uint32_t i = (uint32_t)d->draft.ops.n;
        bool backward = i >= d->n_forward;
        d->mirrored = !backward ? EBB_NONE : i - d->n_forward < d->n_forward ? 2 * d->n_forward - 1 - i : 0;
        d->n_readable = (uint32_t)d->draft.values.n;
        if (chance(d, update_percent))
            draw_update(d);
        else
            draw_op(d);
    }
}

ebb_status random_pgraph(ebb_env *env, uint64_t seed, const random_pgraph_options *options,
                         ebb_pgraph **out) {
    *out = NULL;
    drawing d = {.env = env, .mirrored = EBB_NONE, .gradient = EBB_NONE};
    if (options) d.options = *options;
    ebb_rng_init(&d.rng, seed, 0x9a7);
    ebb_pdraft_init(&d.draft, env);
    d.draft.name = "random";
    d.draft.fixed_bytes = below(&d, 100);
    uint32_t n_ops = d.options.n_ops > 0 ? d.options.n_ops : 3 + below(&d, 58);
    d.n_forward = n_ops * (35 + below(&d, 30)) / 100 + 1;
    draw_givens(&d);
    draw_ops(&d, n_ops);
    EBB_ARRAY_FREE(env, &d.root);
    EBB_ARRAY_FREE(env, &d.replaced);
    if (!d.failed) return ebb_pdraft_seal(&d.draft, "random", out);
    ebb_pdraft_deinit(&d.draft);
    return EBB_NO_MEMORY;
}
