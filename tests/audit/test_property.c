/* The audit's verdict on bytes against a plain one that walks every byte of every step, on plans that the
 * planner made and that were then disturbed. */
#include "../planner/graphs.h"

#include "support/env.h"

enum { SCRATCH = UINT32_MAX };

typedef struct walker {
    const ebb_plan *plan;
    uint32_t *cells[2];   /* per byte: token of what was written last; transient, persistent */
    uint32_t *marks[2];   /* per byte: 1 + output of the step in hand that writes it, or SCRATCH */
    uint32_t token[4000]; /* per buffer */
    uint32_t over[64];    /* per output of the step in hand: the input that it lies over, or EBB_NONE */
} walker;

static bool all_are(const uint32_t *cells, int64_t offset, int64_t bytes, uint32_t wanted) {
    for (int64_t i = offset; i < offset + bytes; i++)
        if (cells[i] != wanted) return false;
    return true;
}

static void fill(uint32_t *cells, int64_t offset, int64_t bytes, uint32_t token) {
    for (int64_t i = offset; i < offset + bytes; i++) cells[i] = token;
}

static bool intact(const walker *w, ebb_id b) {
    const ebb_buffer *buffer = &w->plan->buffers[b];
    return all_are(w->cells[buffer->persistent], buffer->offset, buffer->bytes, w->token[b]);
}

/* What binds output j of op: a view, an update, or nothing. */
static const ebb_view *view_of(const ebb_pop *op, uint32_t j) {
    for (uint32_t k = 0; k < op->n_views; k++)
        if (op->views[k].out == j) return &op->views[k];
    return NULL;
}
static const ebb_pair *update_of(const ebb_pop *op, uint32_t j) {
    for (uint32_t k = 0; k < op->n_update; k++)
        if (op->update[k].out == j) return &op->update[k];
    return NULL;
}

static bool is_pair(const ebb_pop_way *way, uint32_t out, uint32_t in) {
    for (uint32_t k = 0; k < way->n_in_place; k++)
        if (way->in_place[k].out == out && way->in_place[k].in == in) return true;
    return false;
}

/* Whether output j may lie over a byte of input i. */
static bool may_lie(walker *w, uint32_t s, uint32_t j, uint32_t i) {
    const ebb_plan_step *step = &w->plan->steps[s];
    const ebb_pop *op = &w->plan->graph->ops[step->op];
    const ebb_pair *update = update_of(op, j);
    if (update != NULL) return w->token[step->reads[i]] == w->token[step->reads[update->in]];
    ebb_pop_way way = ebb_pop_under(op, step->alternative);
    const ebb_buffer *in = &w->plan->buffers[step->reads[i]], *out = &w->plan->buffers[step->writes[j]];
    if (!is_pair(&way, j, i) || in->offset != out->offset || in->persistent != out->persistent)
        return false;
    if (w->over[j] != EBB_NONE && w->over[j] != i) return false;
    w->over[j] = i;
    return true;
}

static bool mark_writes(walker *w, uint32_t s) {
    const ebb_plan_step *step = &w->plan->steps[s];
    const ebb_pop *op = &w->plan->graph->ops[step->op];
    fill(w->marks[0], 0, w->plan->arena_bytes, 0);
    fill(w->marks[1], 0, w->plan->persistent_bytes, 0);
    for (uint32_t j = 0; j < step->n_writes; j++) {
        const ebb_buffer *out = &w->plan->buffers[step->writes[j]];
        const ebb_view *view = view_of(op, j);
        const ebb_pair *update = update_of(op, j);
        const ebb_buffer *base = NULL;
        if (view != NULL) base = &w->plan->buffers[step->reads[view->in]];
        if (update != NULL) base = &w->plan->buffers[step->reads[update->in]];
        w->over[j] = EBB_NONE;
        if (out->bytes > 0 && base != NULL && out->offset != base->offset + (view ? view->offset_bytes : 0))
            return false;
        w->token[step->writes[j]] = view ? w->token[step->reads[view->in]] : step->writes[j] + 1;
        if (view != NULL) continue;
        if (!all_are(w->marks[out->persistent], out->offset, out->bytes, 0)) return false;
        fill(w->marks[out->persistent], out->offset, out->bytes, j + 1);
    }
    if (!all_are(w->marks[0], step->scratch_offset, step->scratch_bytes, 0)) return false;
    fill(w->marks[0], step->scratch_offset, step->scratch_bytes, SCRATCH);
    return true;
}

static bool walk_step(walker *w, uint32_t s) {
    const ebb_plan_step *step = &w->plan->steps[s];
    const ebb_pop *op = &w->plan->graph->ops[step->op];
    for (uint32_t i = 0; i < step->n_reads; i++)
        if (!intact(w, step->reads[i])) return false;
    if (!mark_writes(w, s)) return false;
    for (uint32_t i = 0; i < step->n_reads; i++) {
        const ebb_buffer *in = &w->plan->buffers[step->reads[i]];
        for (int64_t at = in->offset; at < in->offset + in->bytes; at++) {
            uint32_t mark = w->marks[in->persistent][at];
            if (mark == SCRATCH || (mark != 0 && !may_lie(w, s, mark - 1, i))) return false;
        }
    }
    for (uint32_t j = 0; j < step->n_writes; j++) {
        const ebb_buffer *out = &w->plan->buffers[step->writes[j]];
        if (view_of(op, j) != NULL && !all_are(w->marks[out->persistent], out->offset, out->bytes, 0))
            return false;
        if (view_of(op, j) == NULL)
            fill(w->cells[out->persistent], out->offset, out->bytes, w->token[step->writes[j]]);
    }
    fill(w->cells[0], step->scratch_offset, step->scratch_bytes, SCRATCH);
    return true;
}

static bool is_updated(const ebb_pgraph *graph, ebb_id value) {
    for (ebb_id i = 0; i < graph->n_ops; i++)
        for (uint32_t k = 0; k < graph->ops[i].n_update; k++)
            if (graph->ops[i].in[graph->ops[i].update[k].in] == value) return true;
    return false;
}

static bool walk(walker *w) {
    const ebb_plan *plan = w->plan;
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        const ebb_buffer *buffer = &plan->buffers[b];
        if (plan->graph->values[buffer->value].producer != EBB_NONE) continue;
        if (!all_are(w->cells[buffer->persistent], buffer->offset, buffer->bytes, 0)) return false;
        w->token[b] = b + 1;
        fill(w->cells[buffer->persistent], buffer->offset, buffer->bytes, b + 1);
    }
    for (uint32_t s = 0; s < plan->n_steps; s++)
        if (!walk_step(w, s)) return false;
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        ebb_id v = plan->buffers[b].value;
        ebb_role role = plan->graph->values[v].role;
        bool last_life = (role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE) && !is_updated(plan->graph, v);
        bool lasts = last_life || (role == EBB_ROLE_OUTPUT && plan->buffers[b].upper == plan->n_steps);
        if ((lasts || role == EBB_ROLE_CONSTANT) && !intact(w, b)) return false;
    }
    return true;
}

static bool plain_verdict(ebb_env *env, const ebb_plan *plan) {
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    walker *w = EBB_NEW(&arena, walker, 1);
    cr_assert(w != NULL && plan->n_buffers <= EBB_COUNT(w->token));
    w->plan = plan;
    for (int region = 0; region < 2; region++) {
        int64_t n = region == 0 ? plan->arena_bytes : plan->persistent_bytes;
        w->cells[region] = EBB_NEW(&arena, uint32_t, n);
        w->marks[region] = EBB_NEW(&arena, uint32_t, n);
        cr_assert(w->cells[region] && w->marks[region]);
    }
    bool right = walk(w);
    ebb_arena_deinit(&arena);
    return right;
}

/* The audit's on bytes: what it says of sums, which a moved buffer also changes, comes after. */
static bool audit_verdict(ebb_env *env, const ebb_plan *plan) {
    ebb_status status = ebb_plan_audit(env, plan);
    const char *error = ebb_env_error(env);
    cr_assert(status == EBB_OK || status == EBB_VIOLATION, "%s", error);
    static const char *const sums[] = {"arena_bytes is", "total_bytes is", "max_live_bytes is"};
    for (size_t i = 0; i < EBB_COUNT(sums); i++)
        if (status != EBB_OK && strncmp(error, sums[i], strlen(sums[i])) == 0) return true;
    return status == EBB_OK;
}

/* Moves a random buffer or scratch to another place of the arena. */
static void disturb(ebb_rng *rng, const ebb_plan *plan, ebb_plan_step *steps, ebb_buffer *buffers) {
    if (ebb_rng_below(rng, 4) == 0 && plan->n_steps > 0) {
        ebb_plan_step *step = &steps[ebb_rng_below(rng, plan->n_steps)];
        int64_t room = (plan->arena_bytes - step->scratch_bytes) / plan->alignment;
        if (step->scratch_bytes > 0)
            step->scratch_offset = plan->alignment * ebb_rng_below(rng, (uint32_t)room + 1);
        return;
    }
    ebb_buffer *buffer = &buffers[ebb_rng_below(rng, plan->n_buffers)];
    if (buffer->persistent || buffer->bytes == 0) return;
    int64_t room = (plan->arena_bytes - buffer->bytes) / plan->alignment;
    buffer->offset = plan->alignment * ebb_rng_below(rng, (uint32_t)room + 1);
}

Test(audit_property, agrees_with_a_walk_over_every_byte) {
    enum { N_GRAPHS = 60, N_DISTURBED = 30 };
    ebb_env *env = test_env_open();
    uint32_t n_right = 0, n_wrong = 0;
    for (uint64_t seed = 1; seed <= N_GRAPHS; seed++) {
        drawn_graph drawn = draw_graph(env, seed, 1 + (uint32_t)(seed % 33));
        ebb_plan_request request = {.graph = drawn.graph,
                                    .scheduled = drawn.scheduled,
                                    .alternative = drawn.alternative,
                                    .backend = "none",
                                    .n_threads = 1,
                                    .alignment = 8,
                                    .reuse = (ebb_reuse)(seed % 3),
                                    .n_workers = 1,
                                    .budget_bytes = -1};
        ebb_plan *plan = NULL;
        TEST_OK(env, ebb_plan_make(env, &request, &plan));
        cr_assert(plain_verdict(env, plan) && ebb_plan_audit(env, plan) == EBB_OK, "%s",
                  ebb_env_error(env));
        const ebb_plan was = *plan;
        ebb_plan_step *steps = ebb_arena_copy(&plan->arena, was.steps, was.n_steps, sizeof *steps);
        ebb_buffer *buffers = ebb_arena_copy(&plan->arena, was.buffers, was.n_buffers, sizeof *buffers);
        cr_assert(steps && buffers);
        plan->steps = steps;
        plan->buffers = buffers;
        ebb_rng rng;
        ebb_rng_init(&rng, 33, seed);
        for (uint32_t i = 0; i < N_DISTURBED && was.n_buffers > 0; i++) {
            memcpy(steps, was.steps, was.n_steps * sizeof *steps);
            memcpy(buffers, was.buffers, was.n_buffers * sizeof *buffers);
            plan->arena_bytes = was.arena_bytes + (int64_t)(i % 3) * 64;
            for (uint32_t k = 0; k <= i % 2; k++) disturb(&rng, plan, steps, buffers);
            bool right = plain_verdict(env, plan);
            cr_assert_eq(audit_verdict(env, plan), right, "graph %llu, draw %u: %s",
                         (unsigned long long)seed, i, ebb_env_error(env));
            n_right += right;
            n_wrong += !right;
        }
        ebb_plan_destroy(plan);
        drawn_graph_end(&drawn);
    }
    /* Both verdicts were asked for often. */
    cr_expect_gt(n_right, 100);
    cr_expect_gt(n_wrong, 100);
    test_env_close(env);
}
