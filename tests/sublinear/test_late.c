/* Where gaps become late, and what the state does. */
#include "support.h"

/* 0: a(x)  1: b(a)  2: c(b, a)  3: d(c)  4: e(d, c); back: 5: g(e)  6: gd(g, d)  7: gc(gd, c)  8: gb(gc, b)
 * 9: ga(gb, a). Blocks are cut before c and before e is read, so back of {b, c} begins with 8. */
static ebb_pgraph *two_blocks(ebb_env *env) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64), a = sketch_op(&s, IDS(x), 64, 10);
    ebb_id b = sketch_op(&s, IDS(a), 64, 20), c = sketch_op(&s, IDS(b, a), 64, 30);
    ebb_id d = sketch_op(&s, IDS(c), 64, 20), e = sketch_op(&s, IDS(d, c), 64, 30);
    const ebb_id forward[] = {d, c, b, a};
    ebb_id back = sketch_op(&s, IDS(e), 64, 1);
    sketch_last(&s)->phase = EBB_BACKWARD;
    for (uint32_t k = 0; k < EBB_COUNT(forward); k++) {
        back = sketch_op(&s, IDS(back, forward[k]), 64, 1);
        sketch_last(&s)->phase = EBB_BACKWARD;
    }
    return sketch_end(&s);
}

/* With b and c dropped, a is needed again for c, for b, and by its own reader. */
Test(space, late_releases_before_back_of_its_block_and_holds_from_there) {
    static const struct {
        uint8_t state;
        uint32_t n_runs;
    } rows[] = {{EBB_KEEP, 1}, {EBB_HOLD, 2}, {EBB_LATE, 3}, {EBB_RELEASE, 4}};
    ebb_env *env = start_env();
    ebb_pgraph *graph = two_blocks(env);
    bench b = bench_begin(env, graph, 64);
    const ebb_space *s = b.space;
    const uint32_t of_a = s->values[1].first_gap + 2, of_b = s->values[2].first_gap + 1;
    const uint32_t of_c = s->values[3].first_gap + 2, of_d = s->values[4].first_gap + 1;
    cr_assert(s->genes[of_a].begin == 2 && s->genes[of_a].end == 9 && s->genes[of_a].late == 8);
    cr_assert_eq(s->genes[of_c].late, 0, "back of {d, e} is where backward begins");
    cr_assert(s->genes[of_b].late == 0 && s->genes[of_b].n_states == 3,
              "its reader begins back of its block");
    cr_assert_eq(s->genes[of_d].late, 0);
    for (uint32_t i = 0; i < EBB_COUNT(rows); i++) {
        uint8_t genes[64] = {0};
        uint32_t n = 0;
        cr_assert_lt(s->n_genes, EBB_COUNT(genes));
        genes[of_a] = rows[i].state;
        genes[of_b] = genes[of_c] = EBB_RELEASE;
        const ebb_score score = ebb_score_genes(b.scorer, genes, 0);
        cr_assert(score.valid);
        for (uint32_t k = 0; k < score.n_steps; k++) n += ebb_scorer_steps(b.scorer)[k] == 0;
        cr_assert_eq(n, rows[i].n_runs, "state %u: a runs %u times", rows[i].state, n);
    }
    bench_end(&b);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
