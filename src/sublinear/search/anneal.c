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

/* The temperature of one candidate after the other: each stage ends where the next begins. */
typedef struct cooling {
    const ebb_anneal_plan *plan;
    double stage; /* at its beginning */
    uint32_t at;  /* candidate of the stage */
} cooling;

static cooling cool_to(const ebb_anneal_plan *plan) {
    cooling c = {plan, plan->t, (uint32_t)(plan->first % plan->n_stage)};
    for (int64_t k = plan->first / plan->n_stage; k > 0; k--) c.stage *= plan->cooling;
    return c;
}

static double next_temperature(cooling *c) {
    const ebb_anneal_plan *plan = c->plan;
    if (c->at == plan->n_stage) {
        c->at = 0;
        c->stage *= plan->cooling;
    }
    const double left = 1.0 - (double)c->at++ / plan->n_stage;
    const double t = c->stage * plan->unit, end = t - t * (1.0 - plan->cooling);
    return end + (t - end) * left * left;
}

/* Bytes only add to the energy: they are not looked at where time alone is too much for the luck drawn. */
static bool is_taken(ebb_annealer *a, const ebb_anneal_plan *plan, double temperature, double *now,
                     ebb_score *score) {
    if (!plan->time_first) {
        *score = ebb_evaluator_score(&a->evaluator, plan->limit_bytes);
        const double next = energy(a->search, score, plan);
        const bool taken = ebb_metropolis(&a->member->rng, next - *now, temperature);
        if (taken) *now = next;
        return taken;
    }
    const double drawn = ebb_rng_unit(&a->member->rng);
    *score = ebb_evaluator_time(&a->evaluator);
    if (!ebb_metropolis_by(drawn, energy(a->search, score, plan) - *now, temperature)) return false;
    ebb_evaluator_bytes(&a->evaluator, plan->limit_bytes, score);
    const double next = energy(a->search, score, plan);
    if (!ebb_metropolis_by(drawn, next - *now, temperature)) return false;
    *now = next;
    return true;
}

static void look_at(ebb_annealer *a, const ebb_anneal_plan *plan, const ebb_score *score) {
    a->over = !score->valid || score->peak_bytes > plan->limit_bytes;
    a->peak_position = score->peak_position;
}

static void keep_best(ebb_annealer *a, const ebb_score *score) {
    const ebb_space *space = a->search->space;
    ebb_member *m = a->member;
    const ebb_worth worth = ebb_search_worth(a->search, score);
    if (ebb_worth_compare(&worth, &m->best) >= 0) return;
    m->best = worth;
    memcpy(m->best_genes, m->genes, space->n_genes);
    if (m->ordering) memcpy(m->best_order, m->ordering->order, space->n_ops * sizeof(ebb_id));
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
    cooling c = cool_to(plan);
    look_at(&a, plan, &score);
    ebb_evaluator_mark(&a.evaluator);
    for (uint32_t i = 0; i < plan->n; i++) {
        const double temperature = next_temperature(&c);
        a.n_changes = a.moved_from = a.moved_to = 0;
        ebb_move(&a);
        if (a.n_changes == 0 && a.moved_from == a.moved_to) continue;
        if (!is_taken(&a, plan, temperature, &now, &score)) {
            ebb_move_undo(&a);
            continue;
        }
        look_at(&a, plan, &score);
        keep_best(&a, &score);
        ebb_evaluator_mark(&a.evaluator);
    }
    if (ordering) ebb_scorer_set_order(a.evaluator.scorer, NULL);
}
