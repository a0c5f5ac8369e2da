/* Where genes are few enough to look at every candidate, the search's answer is the best of them. */
#include "support.h"

#define MAX_FREE 8 /* genes with a choice: 3^8 candidates at most, or a few more with many alternatives */

/* For each of some budgets: the least time within it, over every candidate. */
typedef struct optimum {
    int64_t least_peak, base_peak;
    int64_t budgets[4], times[4]; /* INT64_MAX: nothing fits */
} optimum;

static optimum find_optimum(ebb_env *env, const bench *b) {
    optimum best = {.least_peak = INT64_MAX};
    uint8_t *genes = ebb_calloc(env, b->space->n_genes, 1);
    best.base_peak = ebb_score_genes(b->scorer, b->space->base_genes, 0).peak_bytes;
    do {
        ebb_score score = ebb_score_genes(b->scorer, genes, 0);
        if (score.valid) best.least_peak = ebb_min_i64(best.least_peak, score.peak_bytes);
    } while (next_genes(b->space, genes));
    for (uint32_t k = 0; k < EBB_COUNT(best.budgets); k++) {
        best.budgets[k] =
            best.least_peak + (best.base_peak - best.least_peak) * k / EBB_COUNT(best.budgets);
        best.times[k] = INT64_MAX;
    }
    do { /* all genes are 0 again */
        ebb_score score = ebb_score_genes(b->scorer, genes, 0);
        for (uint32_t k = 0; score.valid && k < EBB_COUNT(best.budgets); k++)
            if (score.peak_bytes <= best.budgets[k])
                best.times[k] = ebb_min_i64(best.times[k], score.time_ns);
    } while (next_genes(b->space, genes));
    ebb_cfree(env, genes, b->space->n_genes, 1);
    return best;
}

typedef struct hits {
    uint32_t n_graphs, n_answers, n_optimal, n_traded;
} hits;

/* With other orders of the ops to choose from, the answer is no worse than the best of the graph's own. */
static void check_orders(ebb_env *env, const ebb_select_request *request, const ebb_selection *own) {
    ebb_select_request free_order = *request;
    free_order.without = 0;
    ebb_selection *found = select_ok(env, &free_order);
    cr_assert(found->peak_bytes <= request->peak_budget_bytes && found->time_ns <= own->time_ns);
    ebb_selection_destroy(found);
}

static void check_answers(ebb_env *env, const ebb_pgraph *graph, const optimum *best, hits *sum) {
    ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
    request.effort = 20000; /* more than there are candidates; what is left is for other orders */
    request.without = EBB_WITHOUT_ORDER | EBB_WITHOUT_TRIM;
    ebb_selection *least = select_ok(env, &request);
    sum->n_answers++;
    sum->n_optimal += least->peak_bytes == best->least_peak;
    ebb_selection_destroy(least);
    for (uint32_t k = 0; k < EBB_COUNT(best->budgets); k++) {
        ebb_selection *found = NULL;
        request.method = EBB_METHOD_BUDGET;
        request.peak_budget_bytes = best->budgets[k];
        ebb_status status = ebb_select(env, &request, &found);
        sum->n_answers++;
        sum->n_optimal += status == EBB_OK && found->time_ns == best->times[k];
        if (status == EBB_OK) check_orders(env, &request, found);
        sum->n_traded += best->times[k] > best->times[EBB_COUNT(best->times) - 1];
        if (status == EBB_OK) cr_assert(found->peak_bytes <= best->budgets[k]);
        ebb_selection_destroy(found);
    }
}

Test(exact, the_answer_is_the_best_of_all_candidates) {
    uint32_t n = count_from_env("EBB_TEST_EXACT_GRAPHS", 150);
    hits sum = {0};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; sum.n_graphs < n; seed++) {
        random_pgraph_options options = {.n_ops = 5 + (uint32_t)(seed % 16), .max_choices = 5};
        options.no_choices = seed % 3 != 0;
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        bench b = bench_begin(env, graph, 64);
        uint32_t n_free = free_gene_count(b.space);
        if (n_free > 0 && n_free <= MAX_FREE) {
            optimum best = find_optimum(env, &b);
            sum.n_graphs += best.least_peak < best.base_peak;
            if (best.least_peak < best.base_peak) check_answers(env, graph, &best, &sum);
        }
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    cr_log_info("%u graphs, %u of %u answers optimal, %u cost time", sum.n_graphs, sum.n_optimal,
                sum.n_answers, sum.n_traded);
    cr_assert_eq(sum.n_optimal, sum.n_answers, "%u of %u answers are optimal", sum.n_optimal,
                 sum.n_answers);
    cr_assert_gt(sum.n_traded, sum.n_graphs / 5, "%u of %u", sum.n_traded, sum.n_graphs);
    end_env(env);
}
