/* A candidate changed gene by gene scores as if it were played from the start. */
#include "support.h"
#include "training.h"

#include "sublinear/score/score.h"

#define N_CHANGES 40 /* a graph */

typedef struct tally {
    uint32_t n_applied, n_valid, n_invalid, n_late;
} tally;

static void compare(const bench *b, ebb_rescorer *rescorer, int64_t limit, uint64_t seed, uint32_t change,
                    tally *sum) {
    ebb_score now = ebb_rescorer_score(rescorer, limit);
    ebb_score whole = ebb_score_genes(b->scorer, ebb_rescorer_genes(rescorer), limit);
    cr_assert_not(ebb_rescorer_failed(rescorer));
    cr_assert_eq(now.valid, whole.valid, "seed %llu change %u: valid %d, should be %d",
                 (unsigned long long)seed, change, now.valid, whole.valid);
    for (uint32_t k = 0; k < b->space->n_genes; k++)
        sum->n_late += b->space->genes[k].late > 0 && ebb_rescorer_genes(rescorer)[k] == EBB_LATE;
    sum->n_valid += whole.valid;
    sum->n_invalid += !whole.valid;
    if (!whole.valid) return;
    cr_assert_eq(now.n_steps, whole.n_steps, "seed %llu change %u: %u steps, should be %u",
                 (unsigned long long)seed, change, now.n_steps, whole.n_steps);
    cr_assert_eq(now.time_ns, whole.time_ns, "seed %llu change %u", (unsigned long long)seed, change);
    cr_assert_eq(now.peak_bytes, whole.peak_bytes, "seed %llu change %u: peak %lld, should be %lld",
                 (unsigned long long)seed, change, (long long)now.peak_bytes, (long long)whole.peak_bytes);
    cr_assert_eq(now.peak_position, whole.peak_position, "seed %llu change %u", (unsigned long long)seed,
                 change);
    cr_assert_eq(now.overflow_bytes > 0, whole.overflow_bytes > 0, "seed %llu change %u",
                 (unsigned long long)seed, change);
}

static void change_some(const ebb_space *space, ebb_rng *rng, ebb_rescorer *rescorer, uint32_t n) {
    for (; n > 0 && space->n_genes > 0; n--) {
        uint32_t gene = ebb_rng_below(rng, space->n_genes);
        ebb_rescorer_set(rescorer, gene, (uint8_t)ebb_rng_below(rng, space->genes[gene].n_states));
    }
}

/* A change that is taken back as annealing does, mostly after its time alone was asked for; or gene by
 * gene, or together with another. */
static void glance(const bench *b, ebb_rng *rng, ebb_rescorer *rescorer, int64_t limit, uint8_t *genes) {
    const uint32_t how = ebb_rng_below(rng, 4);
    memcpy(genes, ebb_rescorer_genes(rescorer), b->space->n_genes);
    if (how > 0) ebb_rescorer_mark(rescorer);
    change_some(b->space, rng, rescorer, 1 + ebb_rng_below(rng, 3));
    ebb_score now = how == 1 ? ebb_rescorer_score(rescorer, limit) : ebb_rescorer_time(rescorer);
    ebb_score whole = ebb_score_time(b->scorer, ebb_rescorer_genes(rescorer));
    cr_assert_eq(now.valid, whole.valid);
    if (whole.valid) cr_assert_eq(now.time_ns, whole.time_ns);
    if (whole.valid) cr_assert_eq(now.n_steps, whole.n_steps);
    if (how == 1) { /* two scores between a mark and the way back */
        change_some(b->space, rng, rescorer, 2);
        (void)ebb_rescorer_score(rescorer, limit);
    }
    if (how == 3) change_some(b->space, rng, rescorer, 2); /* not even looked at, or after a score */
    if (how == 3 && ebb_rng_below(rng, 2)) (void)ebb_rescorer_score(rescorer, limit);
    if (how > 0)
        ebb_rescorer_back(rescorer, genes);
    else
        for (uint32_t k = 0; k < b->space->n_genes; k++) ebb_rescorer_set(rescorer, k, genes[k]);
    cr_assert_arr_eq(ebb_rescorer_genes(rescorer), genes, b->space->n_genes);
}

static void check_graph(ebb_env *env, uint64_t seed, tally *sum) {
    static const int64_t alignments[] = {1, 8, 64, 512};
    random_pgraph_options options = {.n_ops = seed % 50 == 49 ? 200 : 0, .no_choices = seed % 4 == 1};
    ebb_pgraph *graph = seed % 8 == 7 ? draw_residual(env, seed, 2 + (uint32_t)(seed / 8 % 6))
                                      : draw_pgraph(env, seed, &options);
    bench b = bench_begin(env, graph, alignments[seed % EBB_COUNT(alignments)]);
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 2);
    /* For some the limit is near, so that candidates go beyond it and come back. */
    if (seed % 5 == 0) b.space->step_limit = b.space->n_ops + 2 + (uint32_t)(seed % 17);
    ebb_rescorer *rescorer;
    if (ebb_rescore_applies(b.space)) {
        cr_assert_eq(ebb_rescorer_create(env, b.space, &rescorer), EBB_OK);
        uint8_t *genes = ebb_calloc(env, b.space->n_genes, 1);
        draw_genes(b.space, &rng, (uint32_t)(seed % 3) * 20, genes);
        ebb_rescorer_load(rescorer, genes);
        int64_t limit = ebb_score_genes(b.scorer, b.space->base_genes, 0).peak_bytes * 3 / 4;
        for (uint32_t k = 0; k < N_CHANGES; k++) {
            compare(&b, rescorer, limit, seed, k, sum);
            change_some(b.space, &rng, rescorer, 1 + ebb_rng_below(&rng, 3));
            for (uint32_t n = ebb_rng_below(&rng, 3); n > 0; n--) glance(&b, &rng, rescorer, limit, genes);
        }
        sum->n_applied++;
        ebb_cfree(env, genes, b.space->n_genes, 1);
        ebb_rescorer_destroy(rescorer);
    }
    bench_end(&b);
    ebb_pgraph_destroy(graph);
}

Test(rescore, changes_score_as_the_whole_candidate_does) {
    uint32_t n = count_from_env("EBB_TEST_GRAPHS", 1000);
    tally sum = {0};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < n; seed++) check_graph(env, seed, &sum);
    cr_log_info("applied %u, valid %u, invalid %u", sum.n_applied, sum.n_valid, sum.n_invalid);
    cr_assert(sum.n_applied > n / 2 && sum.n_valid > n && sum.n_invalid > 0,
              "applied %u, valid %u, invalid %u", sum.n_applied, sum.n_valid, sum.n_invalid);
    cr_assert_gt(sum.n_late, n, "%u", sum.n_late);
    end_env(env);
}
