/* Order and recomputation together. A search in one order decides what is kept; another order may let more
 * of it be kept, but which one shows only with the recomputations in place. So the best candidates are
 * annealed once more with a second kind of move: an op goes to another place in the base order. What comes
 * out has an order of its own; the genetic search goes on in that, as fast as in any, and so on while there
 * is a gain.
 *
 *     best of a search -> order and genes annealed together -> the graph in that order -> a search there
 */
#include "sublinear/select.h"

#define LANES              4 /* from the pool's best members */
#define MAX_CYCLES         3
#define PART               16 /* one in so many of the effort for each cycle's candidates in both, .. */
#define SMALL_PART         4  /* .. or where they are cheap, for they are scored whole: .. */
#define SMALL_WORK         40000000  /* .. in so many ops of them .. */
#define WORK               400000000 /* .. and never more than these */
/* By default somebody waits, and scoring whole costs as much as all else: less of it finds the same. */
#define DEFAULT_PART       32
#define DEFAULT_SMALL_WORK 25000000
#define AGAIN              8       /* one in so many of it for the search that follows */
#define STREAM             1000000 /* of random numbers: those before belong to islands */

typedef struct joint {
    ebb_selector *selector;
    ebb_arena arena; /* of one cycle */
    ebb_order_facts facts;
    ebb_generation now;
    uint32_t cycle;
} joint;

static ebb_status open_lanes(joint *j, ebb_arrangement *a) {
    ebb_search *s = &a->search;
    uint32_t n = s->space->n_ops;
    ebb_status status = ebb_order_facts_find(&j->arena, s->space->graph, s->space->alignment, &j->facts);
    if (status == EBB_OK) status = ebb_search_hire_scorers(s, LANES);
    if (status == EBB_OK)
        status = ebb_generation_open(&j->now, s, &j->selector->request, LANES, STREAM + j->cycle * LANES);
    for (uint32_t i = 0; status == EBB_OK && i < LANES; i++) {
        ebb_member *m = &j->now.islands[i];
        ebb_ordering *o = EBB_NEW(&j->arena, ebb_ordering, 1);
        m->best_order = EBB_NEW(&j->arena, ebb_id, n);
        if (!o || !m->best_order) return EBB_NO_MEMORY;
        *o = (ebb_ordering){&j->facts, EBB_NEW(&j->arena, ebb_id, n), EBB_NEW(&j->arena, uint32_t, n)};
        if (!o->order || !o->position) return EBB_NO_MEMORY;
        for (uint32_t k = 0; k < n; k++) o->order[k] = o->position[k] = k;
        m->ordering = o;
        m->best = s->members[0].best; /* to be beaten */
        memcpy(m->genes, s->members[i % s->n_members].best_genes, s->space->n_genes);
        j->now.warm[i] = true;
    }
    return status;
}

/* *found: the best lane; NULL when none is better than the pool's best. EBB_INTERRUPTED: no more time. */
static ebb_status anneal_both(joint *j, ebb_arrangement *a, const ebb_member **found) {
    ebb_selector *c = j->selector;
    ebb_search *s = &a->search;
    *found = NULL;
    s->n_scored = 0;
    s->n_before = c->n_scored;
    ebb_log_begin(s, c->request.method);
    ebb_log_ran(s, EBB_HOW_ORDERS);
    ebb_status status = open_lanes(j, a);
    if (status != EBB_OK) return status;
    const int64_t effort = c->request.effort, n_ops = (int64_t)s->space->n_ops + 1;
    const int64_t part = c->by_default ? DEFAULT_PART : PART;
    const int64_t small_work = c->by_default ? DEFAULT_SMALL_WORK : SMALL_WORK;
    int64_t n = ebb_max_i64(ebb_min_i64(effort / part, WORK / n_ops),
                            ebb_min_i64(effort / SMALL_PART, small_work / n_ops));
    bool go_on;
    status = ebb_generation_run(&j->now, (uint32_t)(n / ((int64_t)EBB_STAGES * LANES) + 1), &go_on);
    for (uint32_t i = 0; i < LANES; i++) {
        const ebb_member *m = &j->now.islands[i];
        if (ebb_worth_compare(&m->best, *found ? &(*found)->best : &s->members[0].best) < 0) *found = m;
    }
    if (*found) ebb_log_point_add(s, &(*found)->best);
    ebb_log_round_end(s);
    c->n_scored += s->n_scored;
    return status;
}

/* The gene of a gap is that of who begins it: found in the new order by the op that stands there. */
static uint32_t old_gene(const ebb_space *from, const ebb_space *to, uint32_t gene, const ebb_id *order) {
    const ebb_gene *g = &to->genes[gene];
    if (g->kind != EBB_GENE_GAP) {
        const ebb_space_op *op = &from->ops[order[g->subject]];
        return g->kind == EBB_GENE_LAZY ? op->lazy_gene : op->way_gene;
    }
    if (gene == to->values[g->subject].first_gap) return from->values[g->subject].first_gap;
    const ebb_space_op *op = &from->ops[order[g->begin]];
    uint32_t k = op->first_touched;
    while (from->touched[k] != g->subject) k++;
    return from->touched_genes[k];
}

/* In the selector's arena. EBB_NO_MEMORY. */
static ebb_status rearrange(joint *j, const ebb_arrangement *a, const ebb_member *found,
                            ebb_arrangement *to, uint8_t **genes) {
    ebb_selector *c = j->selector;
    const ebb_space *from = a->space;
    ebb_id *order = EBB_NEW(&c->arena, ebb_id, from->n_ops);
    *genes = EBB_NEW(&c->arena, uint8_t, from->n_genes);
    if (!order || !*genes) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < from->n_ops; i++)
        order[i] = a->order ? a->order[found->best_order[i]] : found->best_order[i];
    ebb_status status = ebb_arrange(c, order, to);
    for (uint32_t k = 0; status == EBB_OK && k < to->space->n_genes; k++) {
        uint8_t state = found->best_genes[old_gene(from, to->space, k, found->best_order)];
        (*genes)[k] = ebb_gene_heed(&to->space->genes[k], state);
    }
    return status;
}

/* One cycle; *best is another arrangement when it gained. */
static ebb_status run_cycle(joint *j, ebb_arrangement **best, bool *gained) {
    ebb_selector *c = j->selector;
    const ebb_search *s = &(*best)->search;
    const bool least = c->request.method == EBB_METHOD_LEAST;
    const ebb_worth before = s->members[0].best;
    const int64_t whole = least ? before.peak_bytes : s->space->base_time_ns;
    const ebb_member *found;
    uint8_t *genes;
    *gained = false;
    ebb_status ended = anneal_both(j, *best, &found);
    if ((ended != EBB_OK && ended != EBB_INTERRUPTED) || !found) return ended;
    ebb_arrangement next = {0};
    ebb_status status = rearrange(j, *best, found, &next, &genes);
    if (status == EBB_OK) {
        status = ebb_search_in(c, &next, c->request.effort / AGAIN + 1, genes);
        if (status == EBB_INTERRUPTED) ended = status;
    }
    bool better = (status == EBB_OK || status == EBB_INTERRUPTED) &&
                  ebb_worth_compare(&next.search.members[0].best, &(*best)->search.members[0].best) < 0;
    ebb_disband(better ? &c->other : &next);
    if (better) {
        if (c->warm == &c->other) c->warm_genes = NULL; /* they were of its order */
        c->other = next;
        *best = &c->other;
    }
    /* Where nobody asked for an effort, a cycle that gained next to nothing is the last. */
    const ebb_worth *now = &(*best)->search.members[0].best;
    const int64_t gain = least ? before.peak_bytes - now->peak_bytes : before.time_ns - now->time_ns;
    *gained = better && (!c->by_default || gain > whole / EBB_CLOSE_PART);
    return status != EBB_OK ? status : ended;
}

ebb_status ebb_search_jointly(ebb_selector *c, ebb_arrangement **best) {
    ebb_status status = EBB_OK;
    bool gained = true;
    c->request.without |= EBB_WITHOUT_SEEDS; /* the best of them is there */
    for (uint32_t k = 0; k < MAX_CYCLES && gained && status == EBB_OK; k++) {
        ebb_search *s = &(*best)->search;
        if (s->n_free == 0 || s->out_of_time || ebb_search_is_close(s) || ebb_search_is_low(s, &c->request))
            break;
        const ebb_worth *worth = &s->members[0].best;
        /* What does not fit: the least peak is looked for next, and says more. */
        if (c->request.method == EBB_METHOD_BUDGET &&
            (worth->excess_bytes > 0 || worth->time_ns <= c->request.enough_time_ns))
            break;
        joint j = {.selector = c, .cycle = k};
        ebb_arena_init(&j.arena, c->env);
        status = run_cycle(&j, best, &gained);
        ebb_arena_deinit(&j.arena);
    }
    return status;
}
