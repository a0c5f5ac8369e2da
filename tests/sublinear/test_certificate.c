/* The certificate: no schedule is faster than its bound, and the audit proves it again from the plan alone. */
#include "support.h"

#include "least_time.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct certified {
    ebb_arena arena;
    ebb_bound bound;
} certified;

static certified certify(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, int64_t alignment) {
    certified c;
    ebb_arena_init(&c.arena, env);
    want_status(env, ebb_certify(&c.arena, graph, budget_bytes, alignment, &c.bound), EBB_OK);
    return c;
}

static int64_t bound_ns(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, int64_t alignment) {
    certified c = certify(env, graph, budget_bytes, alignment);
    int64_t ns = c.bound.time_ns;
    ebb_arena_deinit(&c.arena);
    return ns;
}

/* ---- by hand ------------------------------------------------------------------------------------------- */

/* A chain of three ops of 5 ns, the loss's gradient (1 ns), and back (3 x 2 ns), 10 bytes each:
 *
 *     x -> a -> b -> c -> d -> db (reads b, d) -> da (reads a) -> dx (reads x)
 *
 * gradients are written over gradients. Once: 22 ns. When d is written, c is read and 20 bytes are taken. */
typedef struct chain {
    sketch s;
    ebb_id x, a, b, c, d, db, da, dx;
} chain;

static ebb_id step_back(chain *h, ebb_id value, ebb_id gradient) {
    ebb_id out = sketch_op(&h->s, IDS(value, gradient), 10, 2);
    sketch_in_place(&h->s, 0, 1);
    return out;
}

static void chain_begin(chain *h, ebb_env *env) {
    sketch_begin(&h->s, env);
    h->x = sketch_value(&h->s, EBB_ROLE_INPUT, 10);
    h->a = sketch_op(&h->s, IDS(h->x), 10, 5);
}

static void chain_forward(chain *h) {
    h->b = sketch_op(&h->s, IDS(h->a), 10, 5);
    h->c = sketch_op(&h->s, IDS(h->b), 10, 5);
}

static ebb_pgraph *chain_end(chain *h) {
    h->d = sketch_op(&h->s, IDS(h->c), 10, 1);
    h->db = step_back(h, h->b, h->d);
    h->da = step_back(h, h->a, h->db);
    h->dx = step_back(h, h->x, h->da);
    h->s.draft.values.at[h->dx].role = EBB_ROLE_OUTPUT;
    return sketch_end(&h->s);
}

static ebb_pgraph *plain(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    chain_forward(&h);
    return chain_end(&h);
}

static ebb_pgraph *not_recomputable(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    sketch_last(&h.s)->recomputable = false; /* a must be kept, so it is b that is made again */
    chain_forward(&h);
    sketch_last(&h.s)->recomputable = false;
    return chain_end(&h);
}

static ebb_pgraph *cheap_and_dear(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    sketch_last(&h.s)->time_ns = 50; /* a is dear: b is made again, for 5 */
    chain_forward(&h);
    return chain_end(&h);
}

static ebb_pgraph *faster_way(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    static const ebb_alternative ways[] = {{.time_ns = 3, .scratch_bytes = 10}, {.time_ns = 4}};
    sketch_last(&h.s)->alternatives = ways;
    sketch_last(&h.s)->n_alternatives = 2;
    chain_forward(&h);
    return chain_end(&h);
}

static ebb_pgraph *scratch(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    chain_forward(&h);
    h.d = sketch_op(&h.s, IDS(h.c), 10, 1);
    sketch_last(&h.s)->scratch_bytes = 10;
    h.db = step_back(&h, h.b, h.d);
    h.da = step_back(&h, h.a, h.db);
    h.dx = step_back(&h, h.x, h.da);
    return sketch_end(&h.s);
}

/* b read back through a view of all of it: one and the same ten bytes. */
static ebb_pgraph *whole_view(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    chain_forward(&h);
    h.d = sketch_op(&h.s, IDS(h.c), 10, 1);
    ebb_id view = sketch_op(&h.s, IDS(h.b), 10, 0);
    sketch_view(&h.s, 0, 0);
    h.db = step_back(&h, view, h.d);
    h.da = step_back(&h, h.a, h.db);
    h.dx = step_back(&h, h.x, h.da);
    return sketch_end(&h.s);
}

/* Of b only the last four bytes are read back. */
static ebb_pgraph *part_view(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    chain_forward(&h);
    ebb_id view = sketch_op(&h.s, IDS(h.b), 4, 0);
    sketch_view(&h.s, 0, 6);
    h.d = sketch_op(&h.s, IDS(h.c), 10, 1);
    h.db = step_back(&h, view, h.d);
    h.da = step_back(&h, h.a, h.db);
    return sketch_end(&h.s);
}

/* a is asked for at the end too. */
static ebb_pgraph *kept_output(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    h.s.draft.values.at[h.a].role = EBB_ROLE_OUTPUT;
    chain_forward(&h);
    return chain_end(&h);
}

/* A mask that an optional op makes when it is asked for. */
static ebb_pgraph *optional_mask(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    chain_forward(&h);
    ebb_id mask = sketch_op(&h.s, IDS(h.x), 10, 1);
    sketch_last(&h.s)->optional = true;
    h.d = sketch_op(&h.s, IDS(h.c), 10, 1);
    h.db = step_back(&h, h.b, h.d);
    h.da = step_back(&h, mask, h.db);
    h.dx = step_back(&h, h.x, h.da);
    return sketch_end(&h.s);
}

/* The way that reads a has another that reads x: neither is asked for. */
static ebb_pgraph *either_input(ebb_env *env) {
    chain h;
    chain_begin(&h, env);
    chain_forward(&h);
    h.d = sketch_op(&h.s, IDS(h.c), 10, 1);
    h.db = step_back(&h, h.b, h.d);
    h.da = step_back(&h, h.a, h.db);
    ebb_alternative *way = EBB_NEW(&h.s.draft.arena, ebb_alternative, 1);
    ebb_id *in = EBB_NEW(&h.s.draft.arena, ebb_id, 2);
    cr_assert(way && in);
    in[0] = h.x, in[1] = h.db;
    *way = (ebb_alternative){.has_inputs = true, .in = in, .n_in = 2, .time_ns = 2};
    sketch_last(&h.s)->alternatives = way;
    sketch_last(&h.s)->n_alternatives = 1;
    h.dx = step_back(&h, h.x, h.da);
    return sketch_end(&h.s);
}

static const struct {
    const char *name;
    ebb_pgraph *(*make)(ebb_env *env);
    int64_t budget_bytes, once_ns, bound_ns, least_ns; /* least: of all schedules */
} hand[] = {
    /* x, a, b, c and d at once: nothing is in the way */
    {"memory does not bind", plain, 50, 22, 22, 22},
    /* two of x, a, b beside c and d; x cannot be made again */
    {"one of two is made again", plain, 40, 22, 27, 27},
    {"a part of a value is a part of its time", plain, 45, 22, 25, 27},
    /* x only; b is written over nothing, so that a and b do not fit together: the truth is none */
    {"both are made again", plain, 30, 22, 32, LEAST_TIME_NONE},
    {"what may not run again is kept", not_recomputable, 40, 22, 27, 27},
    {"the cheaper one is made again", cheap_and_dear, 40, 67, 72, 72},
    {"an op again by its fastest way", faster_way, 40, 20, 23, 23},
    {"scratch is memory", scratch, 50, 22, 27, 27},
    {"a view takes no bytes of its own", whole_view, 50, 22, 22, 22},
    {"nor can it be kept apart from them", whole_view, 40, 22, 27, 27},
    /* a and the part of b beside c and d; b again needs a, a again needs x */
    {"a part of a storage is kept for its own bytes", part_view, 34, 20, 20, 20},
    {"or made again with all of it", part_view, 33, 20, 22, 25},
    {"an output is kept", kept_output, 40, 22, 27, 27},
    {"an optional op runs as late as is best", optional_mask, 40, 23, 23, 23},
    {"what only some ways read is not asked for", either_input, 40, 22, 22, 22},
};

Test(certificate, bounds_of_a_chain_by_hand) {
    ebb_env *env = start_env();
    for (size_t i = 0; i < EBB_COUNT(hand); i++) {
        ebb_pgraph *graph = hand[i].make(env);
        cr_expect_eq(bound_ns(env, graph, -1, 1), hand[i].once_ns, "%s: once", hand[i].name);
        int64_t bound = bound_ns(env, graph, hand[i].budget_bytes, 1);
        int64_t least = least_time(env, graph, hand[i].budget_bytes, 1);
        cr_expect_eq(bound, hand[i].bound_ns, "%s: bound %lld", hand[i].name, (long long)bound);
        cr_expect_eq(least, hand[i].least_ns, "%s: least %lld", hand[i].name, (long long)least);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* Each further chain runs after the one before and adds what it adds alone: no run is counted twice. */
Test(certificate, cuts_of_chains_in_a_row_add_up) {
    static const uint32_t counts[] = {1, 2, 3, 7, 16};
    ebb_env *env = start_env();
    for (size_t i = 0; i < EBB_COUNT(counts); i++) {
        chain h = {0};
        sketch_begin(&h.s, env);
        h.x = sketch_value(&h.s, EBB_ROLE_INPUT, 10);
        for (uint32_t k = 0; k < counts[i]; k++) {
            h.a = sketch_op(&h.s, k == 0 ? IDS(h.x) : IDS(h.x, h.dx), 10, 5);
            chain_forward(&h);
            h.d = sketch_op(&h.s, IDS(h.c), 10, 1);
            h.db = step_back(&h, h.b, h.d);
            h.da = step_back(&h, h.a, h.db);
            h.dx = step_back(&h, h.x, h.da);
        }
        ebb_pgraph *graph = sketch_end(&h.s);
        cr_expect_eq(bound_ns(env, graph, 40, 1), (22 + 5) * (int64_t)counts[i], "%u chains", counts[i]);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* ---- against all schedules ---------------------------------------------------------------------------- */

typedef struct tally {
    uint32_t n_tried, n_slower, n_bound, n_met; /* all; least above once; bound above once; bound is the least */
} tally;

#define STEPS 24

/* At budgets from nothing to everything. */
static void want_true_bounds(ebb_env *env, const ebb_pgraph *graph, int64_t alignment, uint64_t seed,
                             tally *seen) {
    int64_t sum = 0, once = bound_ns(env, graph, -1, alignment);
    for (ebb_id v = 0; v < graph->n_values; v++) sum += ebb_align_up(graph->values[v].bytes, alignment);
    for (int64_t k = 0; k <= STEPS; k++) {
        int64_t least = least_time(env, graph, sum * k / STEPS, alignment);
        if (least == LEAST_TIME_TOO_LARGE) return;
        if (least == LEAST_TIME_NONE) continue;
        int64_t bound = bound_ns(env, graph, sum * k / STEPS, alignment);
        cr_assert_leq(bound, least, "seed %llu, %lld bytes, alignment %lld: %lld ns, but a schedule takes %lld",
                      (unsigned long long)seed, (long long)(sum * k / STEPS), (long long)alignment, (long long)bound,
                      (long long)least);
        seen->n_tried++;
        seen->n_slower += least > once;
        seen->n_bound += bound > once;
        seen->n_met += bound > once && bound == least;
    }
}

Test(certificate, no_schedule_of_a_random_graph_is_below_its_bound) {
    static const int64_t alignments[] = {1, 8, 64};
    uint32_t n = count_from_env("EBB_TEST_CERTIFICATES", 300);
    ebb_env *env = start_env();
    tally seen = {0};
    for (uint32_t seed = 0; seed < n; seed++) {
        random_pgraph_options options = {
            .n_ops = 3 + seed % 4, .max_bytes = seed % 3 ? 100 : 300, .no_choices = seed % 2};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        want_true_bounds(env, graph, alignments[seed / 7 % 3], seed, &seen);
        ebb_pgraph_destroy(graph);
    }
    cr_expect(seen.n_tried > 2 * n, "%u of %u graphs", seen.n_tried, n);
    end_env(env);
}

/* ---- small training steps, in which memory binds */

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
    int64_t bytes = d->s.draft.values.at[base].bytes, offset = chance(d, 50) ? below(d, (uint32_t)bytes) : 0;
    ebb_id out = sketch_op(&d->s, IDS(base), bytes - offset, chance(d, 80) ? 0 : 3);
    sketch_view(&d->s, 0, offset);
    return out;
}

static ebb_pgraph *draw_training(ebb_env *env, uint64_t seed) {
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

Test(certificate, no_schedule_of_a_small_training_step_is_below_its_bound) {
    uint32_t n = count_from_env("EBB_TEST_CERTIFICATES", 300);
    ebb_env *env = start_env();
    tally seen = {0};
    for (uint32_t seed = 0; seed < n; seed++) {
        ebb_pgraph *graph = draw_training(env, seed);
        want_true_bounds(env, graph, seed % 3 ? 1 : 8, seed, &seen);
        ebb_pgraph_destroy(graph);
    }
    cr_log_info("%u tried: %u slower than each op once, %u bounds say so, %u met", seen.n_tried, seen.n_slower,
                seen.n_bound, seen.n_met);
    /* The bound must say something, and often all there is to say. */
    cr_expect(seen.n_bound * 3 > seen.n_slower && seen.n_met * 8 > seen.n_slower && seen.n_slower > n / 3,
              "%u tried: %u slower than each op once, %u bounds say so, %u met", seen.n_tried, seen.n_slower,
              seen.n_bound, seen.n_met);
    end_env(env);
}

/* ---- in a plan ------------------------------------------------------------------------------------------ */

/* A training step of n layers with a skip over every third, views and an update; 64 to 192 bytes a value. */
static ebb_pgraph *layers(ebb_env *env, uint32_t n) {
    sketch s;
    ebb_id h[64], back;
    cr_assert(n < EBB_COUNT(h));
    sketch_begin(&s, env);
    h[0] = sketch_value(&s, EBB_ROLE_INPUT, 100);
    ebb_id weights = sketch_value(&s, EBB_ROLE_PARAM, 77);
    for (uint32_t k = 1; k <= n; k++)
        h[k] = sketch_op(&s, k % 3 == 0 ? IDS(h[k - 1], weights, h[k - 2]) : IDS(h[k - 1], weights), 64 * (1 + k % 3),
                         20 + 7 * (k % 5));
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

/* The best plan that a short search finds within the transient budget, with its certificate. NULL: none. */
static ebb_plan *certified_plan(ebb_env *env, const ebb_pgraph *graph, int64_t transient_bytes) {
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, transient_bytes);
    ebb_selection *selection = NULL;
    if (ebb_select(env, &request, &selection) != EBB_OK) return NULL;
    ebb_plan *plan = plan_steps(env, graph, selection->steps, selection->n_steps, selection->alternative, 64);
    ebb_selection_destroy(selection);
    if (plan->arena_bytes > transient_bytes) {
        ebb_plan_destroy(plan);
        return NULL;
    }
    plan->budget_bytes = transient_bytes + plan->total_bytes - plan->arena_bytes;
    certified c = certify(env, graph, transient_bytes, 64);
    want_status(env,
                ebb_plan_certify(plan, plan->arena_bytes, plan->total_bytes, plan->time_ns, c.bound.time_ns,
                                 c.bound.kind, c.bound.json),
                EBB_OK);
    ebb_arena_deinit(&c.arena);
    return plan;
}

/* As it comes back from its file. */
static ebb_plan *reread(ebb_env *env, const ebb_plan *plan) {
    ebb_text text;
    ebb_json_out json;
    ebb_plan *out = NULL;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_plan_print(&json, plan);
    want_status(env, ebb_text_status(&text), EBB_OK);
    want_status(env, ebb_plan_parse(env, "plan", text.at, text.n, &out), EBB_OK);
    ebb_text_deinit(&text);
    return out;
}

Test(certificate, is_proved_again_from_the_plan_file_alone) {
    ebb_env *env = start_env();
    uint32_t n_cuts = 0;
    for (uint32_t n = 3; n < 40; n += 12) {
        ebb_pgraph *graph = layers(env, n);
        int64_t peak = base_score(env, graph, 64).peak_bytes;
        for (int64_t percent = 40; percent <= 100; percent += 10) {
            ebb_plan *plan = certified_plan(env, graph, peak * percent / 100);
            if (plan == NULL) continue;
            ebb_plan *again = reread(env, plan);
            want_status(env, ebb_plan_audit(env, again), EBB_OK);
            n_cuts += strcmp(again->bound_kind, "cut") == 0;
            again->bound_time_ns++;
            want_status(env, ebb_plan_audit(env, again), EBB_VIOLATION);
            ebb_plan_destroy(again);
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
    }
    cr_expect(n_cuts >= 8, "%u certificates with cuts", n_cuts);
    end_env(env);
}

Test(certificate, is_proved_again_in_plans_of_random_graphs) {
    ebb_env *env = start_env();
    uint32_t n_plans = 0, n_cuts = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        ebb_pgraph *graph = seed % 2 ? draw_pgraph(env, seed, &(random_pgraph_options){.max_bytes = 900})
                                     : draw_training(env, seed);
        int64_t peak = base_score(env, graph, 64).peak_bytes;
        for (int64_t percent = 60; percent <= 90; percent += 15) {
            ebb_plan *plan = certified_plan(env, graph, peak * percent / 100);
            if (plan == NULL) continue;
            want_status(env, ebb_plan_audit(env, plan), EBB_OK);
            n_plans++;
            n_cuts += strcmp(plan->bound_kind, "cut") == 0;
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
    }
    cr_expect(n_plans > 20 && n_cuts > 3, "%u plans, %u certificates with cuts", n_plans, n_cuts);
    end_env(env);
}

/* ---- what is not proved is refused ------------------------------------------------------------------- */

/* The text with the first `find` replaced. */
static char *edited(ebb_arena *arena, const char *text, const char *find, const char *replace) {
    const char *at = strstr(text, find);
    cr_assert_not_null(at, "%s is not in %s", find, text);
    size_t n_before = (size_t)(at - text), n = strlen(text) - strlen(find) + strlen(replace);
    char *out = EBB_NEW(arena, char, n + 1);
    cr_assert_not_null(out);
    (void)snprintf(out, n + 1, "%.*s%s%s", (int)n_before, text, replace, at + strlen(find));
    return out;
}

/* A chain of 10-byte values in units of 1; budget 40 beside no persistent bytes. The proof by hand: cut at the
 * op that writes d (op 3); prices in eighths of a ns per byte. b (value 2) asks for 40 = 10 bytes x 4 and so
 * does a (value 1), which is 5 ns x 8 each; x (value 0) for 40. 120 - 20 bytes x 4 = 40, and 40 / 8 = 5 ns. */
static const char proof[] = "{\"scale\": 8, \"pieces\": [0, 0, 10, 1, 0, 10, 2, 0, 10, 3, 0, 10], \"cuts\": ["
                            "{\"op\": 3, \"price\": 4, \"flow\": [4, 2, 40, 5, 1, 40, 6, 0, 40]}]}";

typedef struct forgery {
    const char *name, *find, *replace, *words;
} forgery;

static const forgery forgeries[] = {
    {"nothing is shown", proof, "{}", "\"scale\" is missing"},
    {"no JSON", proof, "{", "certificate"},
    {"a scale of none", "\"scale\": 8", "\"scale\": 0", "\"scale\" is 0"},
    {"times that count twice", "\"scale\": 8", "\"scale\": 4", "charges op 0"},
    {"less than it says", "\"scale\": 8", "\"scale\": 16", "its cuts prove 22 + 3 ns"},
    {"another op", "\"op\": 3", "\"op\": 4", "certificate"},
    {"an op that is not there", "\"op\": 3", "\"op\": 7", "\"op\" is 7"},
    {"memory for less", "\"price\": 4", "\"price\": 3", "asks more of a piece than keeping it costs"},
    {"memory for more", "\"price\": 4", "\"price\": 5", "its cuts prove 22 + 3 ns"},
    {"a piece twice", "1, 0, 10, 2, 0, 10", "1, 0, 10, 1, 0, 10", "pieces[2]"},
    {"a piece over another", "1, 0, 10, 2, 0, 10", "1, 0, 6, 1, 5, 10", "pieces[2]"},
    {"a piece past its value", "2, 0, 10", "2, 0, 11", "pieces"},
    {"a piece of nothing", "2, 0, 10", "2, 10, 10", "pieces[2]"},
    {"a piece of no value", "3, 0, 10]", "8, 0, 10]", "pieces"},
    {"half a piece", "[0, 0, 10", "[0, 0", "no multiple of 3"},
    {"what the op itself reads left out", ", 3, 0, 10]", "]", "its cuts prove 22 + 0 ns"},
    {"a reader that reads something else", "4, 2, 40", "4, 1, 40", "a piece that the reader does not read"},
    {"the end, which asks for nothing here", "6, 0, 40", "7, 0, 40", "a piece that the reader does not read"},
    {"what the op reads is asked for", "4, 2, 40", "3, 3, 40", "there in any case"},
    {"readers in disorder", "4, 2, 40, 5, 1, 40", "5, 1, 40, 4, 2, 40", "order"},
    {"asked for more than it costs", "5, 1, 40", "5, 1, 41", "asks more of a piece than keeping it costs"},
    {"a flow of nothing", "5, 1, 40", "5, 1, 0", "certificate"},
    {"no cut", "{\"op\": 3, \"price\": 4, \"flow\": [4, 2, 40, 5, 1, 40, 6, 0, 40]}", "",
     "its cuts prove 22 + 0 ns"},
    {"sums beyond 63 bits", "\"price\": 4", "\"price\": 9000000000000000000", "63 bits"},
};

/* A plan of the chain that runs b again; what the forgeries change is its certificate alone. */
static ebb_plan *chain_plan(ebb_env *env, const ebb_pgraph *graph) {
    static const ebb_step_choice steps[] = {{0, EBB_NONE}, {1, EBB_NONE}, {2, EBB_NONE}, {3, EBB_NONE},
                                            {1, EBB_NONE}, {4, EBB_NONE}, {5, EBB_NONE}, {6, EBB_NONE}};
    static const uint32_t as_listed[] = {EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE};
    ebb_plan *plan = plan_steps(env, graph, steps, EBB_COUNT(steps), as_listed, 1);
    cr_assert_eq(plan->total_bytes, 40);
    plan->budget_bytes = 40;
    return plan;
}

Test(certificate, what_is_not_proved_is_refused) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = plain(env);
    ebb_plan *plan = chain_plan(env, graph);
    want_status(env, ebb_plan_certify(plan, 40, 40, 27, 27, "cut", proof), EBB_OK);
    want_status(env, ebb_plan_audit(env, plan), EBB_OK);
    for (size_t i = 0; i < EBB_COUNT(forgeries); i++) {
        const forgery *f = &forgeries[i];
        plan->bound_json = edited(&plan->arena, proof, f->find, f->replace);
        cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "%s", f->name);
        cr_expect_not_null(strstr(ebb_env_error(env), f->words), "%s: %s", f->name, ebb_env_error(env));
    }
    plan->bound_json = proof;
    plan->budget_bytes = 42;
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "a proof for a smaller budget");
    plan->budget_bytes = -1;
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "no budget");
    plan->budget_bytes = 40;
    plan->bound_kind = "each_op_once";
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "a kind that proves less");
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- always the same, and out of memory --------------------------------------------------------------- */

Test(certificate, the_same_graph_and_budget_give_the_same_bytes) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = layers(env, 33);
    int64_t budget = base_score(env, graph, 64).peak_bytes / 2;
    certified a = certify(env, graph, budget, 64), b = certify(env, graph, budget, 64);
    cr_assert(a.bound.json != NULL && b.bound.json != NULL);
    cr_expect_str_eq(a.bound.json, b.bound.json);
    cr_expect_eq(a.bound.time_ns, b.bound.time_ns);
    ebb_arena_deinit(&a.arena);
    ebb_arena_deinit(&b.arena);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(certificate, every_refused_allocation_is_reported_and_leaks_nothing) {
    fault_memory memory;
    ebb_env *env = start_fault_env(&memory);
    ebb_pgraph *graph = layers(env, 7);
    ebb_plan *plan = certified_plan(env, graph, base_score(env, graph, 64).peak_bytes * 7 / 10);
    cr_assert(plan != NULL && strcmp(plan->bound_kind, "cut") == 0);
    uint64_t n_live = memory.n_live;
    for (uint32_t what = 0; what < 2; what++) {
        ebb_status status = EBB_NO_MEMORY;
        for (uint64_t n = 0; status == EBB_NO_MEMORY; n++) {
            ebb_arena arena;
            ebb_bound bound;
            ebb_arena_init(&arena, env);
            memory.n_calls = 0;
            memory.fail_at = n;
            status = what ? ebb_plan_audit(env, plan)
                          : ebb_certify(&arena, graph, plan->budget_bytes - 128, 64, &bound);
            memory.fail_at = UINT64_MAX;
            ebb_arena_deinit(&arena);
            cr_assert_eq(memory.n_live, n_live);
            cr_assert(status == EBB_OK || n < 1000);
        }
        want_status(env, status, EBB_OK);
    }
    cr_expect_eq(memory.n_wrong_frees, 0);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
