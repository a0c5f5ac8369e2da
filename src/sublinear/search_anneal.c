/* Annealed local search on one member: the only place where genes are changed one by one. */
#include "sublinear/search.h"

#define MAX_CHANGES     32

/* Moves, in a hundred: shifts; of the others, those that take all gaps of a value. */
#define SHIFTS          15
#define WHOLE_VALUES    60

/* How far, in genes, a state moves at once: about two blocks of a residual network. */
#define MAX_SHIFT       40

/* Of bytes over the limit at all positions together, against relative time: a slope where the peak is flat.
 */
#define OVERFLOW_WEIGHT 0.5

typedef struct change {
    uint32_t gene;
    uint8_t old;
} change;

typedef struct annealer {
    ebb_search *search;
    ebb_member *member;
    ebb_rescorer *rescorer; /* NULL: the space is not for it, every candidate is scored whole */
    ebb_scorer *scorer;
    change changes[MAX_CHANGES];
    uint32_t n_changes;
    uint32_t peak_position;
    bool over; /* the current candidate is over the limit */
} annealer;

static void put(annealer *a, uint32_t gene, uint8_t state) {
    a->member->genes[gene] = state;
    if (a->rescorer) ebb_rescorer_set(a->rescorer, gene, state);
}

static void set_gene(annealer *a, uint32_t gene, uint8_t state) {
    const uint8_t *genes = a->member->genes;
    uint8_t first = a->search->space->genes[gene].first_state;
    if (state < first) state = first;
    if (a->n_changes == MAX_CHANGES || genes[gene] == state) return;
    a->changes[a->n_changes++] = (change){gene, genes[gene]};
    put(a, gene, state);
}

static void undo(annealer *a) {
    while (a->n_changes > 0) {
        change c = a->changes[--a->n_changes];
        put(a, c.gene, c.old);
    }
}

static ebb_score score_now(annealer *a, int64_t limit_bytes) {
    return a->rescorer ? ebb_rescorer_score(a->rescorer, limit_bytes)
                       : ebb_score_genes(a->scorer, a->member->genes, limit_bytes);
}

static uint32_t any_gene(annealer *a) {
    return a->search->free_genes[ebb_rng_below(&a->member->rng, a->search->n_free)];
}

static uint8_t other_state(annealer *a, uint32_t gene) {
    uint8_t n = a->search->space->genes[gene].n_states;
    uint8_t next = (uint8_t)(a->member->genes[gene] + 1 + ebb_rng_below(&a->member->rng, n - 1u));
    return next < n ? next : (uint8_t)(next - n);
}

/* A gap in the given state class (kept or not) that spans the position; any gene if none turns up. */
static uint32_t gene_across(annealer *a, uint32_t position, bool kept) {
    uint32_t gene = any_gene(a);
    for (uint32_t tries = 0; tries < 32; tries++, gene = any_gene(a)) {
        const ebb_gene *g = &a->search->space->genes[gene];
        if (g->kind == EBB_GENE_GAP && g->begin < position && position < g->end &&
            (a->member->genes[gene] == EBB_KEEP) == kept)
            return gene;
    }
    return gene;
}

static uint32_t gene_with(annealer *a, bool kept) {
    uint32_t gene = any_gene(a);
    for (uint32_t tries = 0; tries < 32 && (a->member->genes[gene] == EBB_KEEP) != kept; tries++)
        gene = any_gene(a);
    return gene;
}

/* The gene; or all gaps of its value alike, which is what most good candidates have. */
static void change_to(annealer *a, uint32_t gene, uint8_t state, bool whole) {
    const ebb_space *space = a->search->space;
    const ebb_gene *g = &space->genes[gene];
    if (!whole || g->kind != EBB_GENE_GAP) {
        set_gene(a, gene, state);
        return;
    }
    const ebb_space_value *v = &space->values[g->subject];
    for (uint32_t k = v->first_gap; k < v->first_gap + v->n_gaps; k++)
        if (space->genes[k].n_states > 1) set_gene(a, k, state);
}

/* Where a gene stands among the free ones. */
static uint32_t free_index(const annealer *a, uint32_t gene) {
    uint32_t low = 0, high = a->search->n_free;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (a->search->free_genes[mid] < gene)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Two values near each other change places: a checkpoint moves along the graph. */
static void shift(annealer *a) {
    ebb_rng *rng = &a->member->rng;
    const ebb_gene *genes = a->search->space->genes;
    const uint8_t *states = a->member->genes;
    uint32_t from = gene_with(a, ebb_rng_below(rng, 2) == 1), at = free_index(a, from);
    for (uint32_t tries = 0; tries < 16; tries++) {
        uint32_t far = 1 + ebb_rng_below(rng, MAX_SHIFT);
        uint32_t next = ebb_rng_below(rng, 2) ? at + far : at - far; /* wraps below 0, out of range */
        if (next >= a->search->n_free) continue;
        uint32_t to = a->search->free_genes[next];
        uint8_t mine = states[from], other = states[to];
        if (genes[from].kind != EBB_GENE_GAP || genes[to].kind != EBB_GENE_GAP || mine == other) continue;
        change_to(a, from, other, true);
        change_to(a, to, mine, true);
        return;
    }
}

static void set_neighbours(annealer *a) {
    ebb_rng *rng = &a->member->rng;
    uint32_t n = 2 + ebb_rng_below(rng, 4), at = ebb_rng_below(rng, a->search->n_free);
    uint8_t state = (uint8_t)ebb_rng_below(rng, 3);
    for (uint32_t k = 0; k < n && at + k < a->search->n_free; k++) {
        uint32_t gene = a->search->free_genes[at + k];
        if (state < a->search->space->genes[gene].n_states) set_gene(a, gene, state);
    }
}

static void mutate(annealer *a) {
    ebb_rng *rng = &a->member->rng;
    if (ebb_rng_below(rng, 100) < SHIFTS) {
        shift(a);
        return;
    }
    bool whole = ebb_rng_below(rng, 100) < WHOLE_VALUES;
    uint32_t kind = ebb_rng_below(rng, 100);
    if (a->over && kind < 40) { /* relieve the peak */
        uint32_t gene = gene_across(a, a->peak_position, kind < 30);
        change_to(a, gene, other_state(a, gene), whole);
    } else if (kind < 55) {
        uint32_t gene = any_gene(a);
        change_to(a, gene, other_state(a, gene), whole);
    } else if (kind < 90 || whole) { /* trade: keep one, drop another */
        uint32_t keep = gene_with(a, false), drop = gene_with(a, true);
        change_to(a, keep, EBB_KEEP, whole);
        change_to(a, drop, other_state(a, drop), whole);
    } else {
        set_neighbours(a);
    }
}

#define IMPOSSIBLE 1e30

/* Only + - * / on doubles here and below: the same bits on every machine, which exp() and pow() do not
 * promise. */
static double energy(const ebb_search *s, const ebb_score *score, const ebb_anneal_plan *plan) {
    if (!score->valid) return IMPOSSIBLE;
    int64_t limit_bytes = plan->limit_bytes;
    double base = s->space->base_time_ns > 0 ? (double)s->space->base_time_ns : 1.0;
    double limit = limit_bytes > 0 ? (double)limit_bytes : 1.0;
    double e = (double)score->time_ns / base;
    if (score->peak_bytes > limit_bytes)
        e += plan->excess_weight * (double)(score->peak_bytes - limit_bytes) / limit +
             OVERFLOW_WEIGHT * (double)score->overflow_bytes / (limit * (double)(s->space->n_ops + 1));
    return e;
}

/* Metropolis' rule with exp(-x) replaced by 1 / (1 + x + x^2/2 + x^3/6), which has the same start and a
 * fatter tail. */
static bool accept(ebb_rng *rng, double rise, double temperature) {
    if (rise <= 0) return true;
    double x = rise / temperature;
    if (x > 1000) return false;
    return ebb_rng_unit(rng) * (1 + x * (1 + x * (0.5 + x / 6))) < 1;
}

void ebb_anneal(ebb_search *search, uint32_t worker, ebb_member *member, const ebb_anneal_plan *plan) {
    if (search->n_free == 0) return;
    annealer a = {.search = search,
                  .member = member,
                  .rescorer = search->rescorers ? search->rescorers[worker] : NULL,
                  .scorer = search->scorers[worker]};
    if (a.rescorer) ebb_rescorer_load(a.rescorer, member->genes);
    ebb_score score = score_now(&a, plan->limit_bytes);
    double now = energy(search, &score, plan);
    a.over = !score.valid || score.peak_bytes > plan->limit_bytes;
    a.peak_position = score.peak_position;
    for (uint32_t i = 0; i < plan->n; i++) {
        double left = 1.0 - (double)i / plan->n;
        double temperature = plan->t1 + (plan->t0 - plan->t1) * left * left;
        a.n_changes = 0;
        mutate(&a);
        if (a.n_changes == 0) continue;
        score = score_now(&a, plan->limit_bytes);
        double next = energy(search, &score, plan);
        if (!accept(&member->rng, next - now, temperature)) {
            undo(&a);
            continue;
        }
        now = next;
        a.over = !score.valid || score.peak_bytes > plan->limit_bytes;
        a.peak_position = score.peak_position;
        ebb_worth worth = ebb_search_worth(search, &score);
        if (ebb_worth_compare(&worth, &member->best) < 0) {
            member->best = worth;
            memcpy(member->best_genes, member->genes, search->space->n_genes);
        }
    }
}
