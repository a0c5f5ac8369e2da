/* Annealed local search on one member. */
#include "sublinear/search/moves.h"

/* Of bytes over the limit at all positions together, against relative time: a slope where the peak is flat.
 */
#define OVERFLOW_WEIGHT 0.5

/* Of time over the most there may be, against relative time. */
#define TOO_LONG_WEIGHT 100.0

#define IMPOSSIBLE      1e30

/* Only + - * / on doubles: the same bits on every machine, which exp() and pow() do not promise. */
static double energy(const ebb_search *s, const ebb_score *score, const ebb_anneal_plan *plan) {
    if (!score->valid) return IMPOSSIBLE;
    int64_t limit_bytes = plan->limit_bytes;
    double base = s->space->base_time_ns > 0 ? (double)s->space->base_time_ns : 1.0;
    double limit = limit_bytes > 0 ? (double)limit_bytes : 1.0;
    double e = (double)score->time_ns / base;
    if (s->most_time_ns > 0 && score->time_ns > s->most_time_ns)
        e += TOO_LONG_WEIGHT * (double)(score->time_ns - s->most_time_ns) / base;
    if (score->peak_bytes > limit_bytes)
        e += plan->excess_weight * (double)(score->peak_bytes - limit_bytes) / limit +
             OVERFLOW_WEIGHT * (double)score->overflow_bytes / (limit * (double)(s->space->n_ops + 1));
    return e;
}

void ebb_anneal(ebb_search *search, uint32_t worker, ebb_member *member, const ebb_anneal_plan *plan) {
    if (search->n_free == 0) return;
    ebb_ordering *ordering = member->ordering;
    ebb_annealer a = {.search = search,
                      .member = member,
                      .evaluator = ebb_search_evaluator(search, worker, member->genes, ordering != NULL)};
    if (ordering) ebb_scorer_set_order(a.evaluator.scorer, ordering->order);
    ebb_score score = ebb_evaluator_score(&a.evaluator, plan->limit_bytes);
    double now = energy(search, &score, plan);
    a.over = !score.valid || score.peak_bytes > plan->limit_bytes;
    a.peak_position = score.peak_position;
    for (uint32_t i = 0; i < plan->n; i++) {
        double left = 1.0 - (double)i / plan->n;
        double temperature = plan->t1 + (plan->t0 - plan->t1) * left * left;
        a.n_changes = a.moved_from = a.moved_to = 0;
        ebb_move(&a);
        if (a.n_changes == 0 && a.moved_from == a.moved_to) continue;
        score = ebb_evaluator_score(&a.evaluator, plan->limit_bytes);
        double next = energy(search, &score, plan);
        if (!ebb_metropolis(&member->rng, next - now, temperature)) {
            ebb_move_undo(&a);
            continue;
        }
        now = next;
        a.over = !score.valid || score.peak_bytes > plan->limit_bytes;
        a.peak_position = score.peak_position;
        ebb_worth worth = ebb_search_worth(search, &score);
        if (ebb_worth_compare(&worth, &member->best) < 0) {
            member->best = worth;
            memcpy(member->best_genes, member->genes, search->space->n_genes);
            if (ordering)
                memcpy(member->best_order, ordering->order, search->space->n_ops * sizeof(ebb_id));
        }
    }
    if (ordering) ebb_scorer_set_order(a.evaluator.scorer, NULL);
}
