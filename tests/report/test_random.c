/* Random graphs with views, in-place pairs, updates, scratch and ops that run again: the curve is counted
 * again. */
#include <stdlib.h>

#include "../planner/graphs.h"
#include "report/report.h"

/* Bytes of the transient storages that live in step s, from the planner's own lives of the scheduled graph.
 */
static int64_t live_in(const ebb_pgraph *scheduled, const ebb_lives *lives, uint32_t s, int64_t alignment) {
    int64_t live = 0;
    for (uint32_t k = 0; k < lives->n_storages; k++) {
        const ebb_storage *storage = &lives->storages[k];
        if (!storage->persistent && storage->lower <= s && s < storage->upper)
            live += ebb_align_up(storage->bytes, alignment);
    }
    return live + ebb_align_up(scheduled->ops[s].scratch_bytes, alignment);
}

/* What an op's outputs hold that have no life in the peak's step: at most this much is saved there. */
static int64_t absent_at_peak(const ebb_report *r, const ebb_pop *op) {
    int64_t bytes = 0;
    for (uint32_t j = 0; j < op->n_out; j++) {
        int64_t held = 0;
        for (ebb_id b = 0; b < r->n_lives; b++) {
            const ebb_report_life *life = &r->lives[b];
            if (life->value != op->out[j]) continue;
            bool alive = life->lower <= r->peak_step && r->peak_step < life->upper;
            held = alive || held < 0 ? -1 : ebb_max_i64(held, life->held_bytes);
        }
        bytes += ebb_max_i64(held, 0);
    }
    return bytes;
}

static void check(const ebb_report *r, const drawn_graph *drawn, const ebb_lives *lives, uint64_t seed) {
    int64_t held = 0;
    for (uint32_t s = 0; s < r->n_steps; s++) {
        const ebb_report_step *step = &r->steps[s];
        int64_t sum = 0, want = r->fixed_bytes + r->persistent_bytes +
                                live_in(drawn->scheduled, lives, s, r->alignment);
        for (int c = 0; c < EBB_N_CATEGORIES; c++) {
            cr_assert_geq(step->bytes[c], 0, "seed %llu, step %u, category %d", (unsigned long long)seed, s,
                          c);
            sum += step->bytes[c];
        }
        cr_assert_eq(sum, want, "seed %llu, step %u: %lld is not %lld", (unsigned long long)seed, s,
                     (long long)sum, (long long)want);
        cr_assert_eq(step->live_bytes, sum);
    }
    for (uint32_t i = 0; i < r->n_alive; i++) held += r->alive[i].held_bytes;
    int64_t scratch = ebb_align_up(r->steps[r->peak_step].bytes[EBB_CATEGORY_SCRATCH], r->alignment);
    cr_assert_eq(held + scratch + r->persistent_bytes + r->fixed_bytes, r->peak_bytes, "seed %llu",
                 (unsigned long long)seed);
    for (uint32_t i = 0; i < r->n_again; i++) {
        const ebb_report_again *row = &r->again[i];
        cr_assert_leq(row->saved_peak, row->saved_bytes);
        cr_assert_leq(row->saved_peak, absent_at_peak(r, &drawn->graph->ops[row->op]), "seed %llu, op %u",
                      (unsigned long long)seed, row->op);
    }
    for (ebb_id b = 0; b < r->n_lives; b++) {
        const ebb_report_life *life = &r->lives[b];
        if (life->next != EBB_NONE) cr_assert_gt(r->lives[life->next].lower, life->lower);
        if (life->owner != EBB_NONE) cr_assert_eq(r->lives[life->owner].owner, life->owner);
    }
}

Test(report_random, every_step_is_the_sum_of_what_lives_in_it) {
    static const int64_t alignments[] = {1, 8, 64};
    const char *count = getenv("EBB_TEST_GRAPHS");
    uint64_t n = count != NULL ? (uint64_t)atoi(count) : 200;
    uint64_t n_again = 0;
    ebb_env *env = test_env_open();
    for (uint64_t seed = 1; seed <= n; seed++) {
        drawn_graph drawn = draw_graph(env, seed, 3 + (uint32_t)(seed % 40));
        ebb_plan *plan = NULL;
        ebb_plan_request request = {.graph = drawn.graph,
                                    .scheduled = drawn.scheduled,
                                    .alternative = drawn.alternative,
                                    .backend = "none",
                                    .n_threads = 1,
                                    .alignment = alignments[seed % EBB_COUNT(alignments)],
                                    .reuse = EBB_REUSE_IN_PLACE,
                                    .n_workers = 1,
                                    .budget_bytes = -1};
        TEST_OK(env, ebb_plan_make(env, &request, &plan));
        ebb_report *r = NULL;
        TEST_OK(env, ebb_report_make(env, plan, "drawn", NULL, &r));
        ebb_arena arena;
        ebb_arena_init(&arena, env);
        ebb_lives lives = lives_of(&arena, drawn.scheduled, true, request.alignment);
        check(r, &drawn, &lives, seed);
        n_again += r->n_again;
        ebb_arena_deinit(&arena);
        ebb_report_destroy(r);
        ebb_plan_destroy(plan);
        drawn_graph_end(&drawn);
    }
    cr_assert_gt(n_again, n / 4, "the draw runs ops again");
    test_env_close(env);
}
