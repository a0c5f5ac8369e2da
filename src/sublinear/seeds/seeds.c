/* Offers the seeds to the pool: siblings, none of which needs another; each offers its own candidates. */
#include "sublinear/seeds/seeds.h"

typedef struct seeding {
    ebb_search *search;
    const ebb_select_request *request;
    uint32_t *room; /* for as many cuts as ops, or as many genes */
    int64_t base_peak;
    uint8_t *low_genes; /* of the cuts of one sibling those with the least peak */
    int64_t low_peak;
} seeding;

static void offer_cuts(seeding *x, const uint32_t *cuts, uint32_t n_cuts) {
    ebb_search *s = x->search;
    for (int state = EBB_HOLD; state <= EBB_RELEASE; state++) {
        ebb_seed_cuts(s->space, cuts, n_cuts, (uint8_t)state, s->scratch_genes);
        int64_t peak = ebb_search_offer_genes(s, s->scratch_genes).peak_bytes;
        if (peak >= x->low_peak) continue;
        x->low_peak = peak;
        memcpy(x->low_genes, s->scratch_genes, s->space->n_genes);
    }
}

/* What a candidate leaves of the budget is given back for time. */
static ebb_status offer_kept_again(seeding *x, const uint8_t *genes) {
    ebb_search *s = x->search;
    bool go_on;
    memcpy(s->scratch_genes, genes, s->space->n_genes);
    if (s->space->pinned) ebb_space_heed_pins(s->space, s->scratch_genes);
    ebb_status status = ebb_keep_again(s, x->request, s->budget_bytes, s->scratch_genes, &go_on);
    if (status == EBB_OK) ebb_search_offer_genes(s, s->scratch_genes);
    return status;
}

static ebb_status seed_threshold_cuts(seeding *x) {
    const ebb_space *space = x->search->space;
    int64_t tries = ebb_min_i64(x->request->config.thresh_nr_try, 1000);
    for (int64_t t = x->base_peak / 2; t >= 1024; t /= 2)
        offer_cuts(x, x->room, ebb_seed_threshold_cuts(space, t, x->room));
    for (int64_t k = 1; k <= tries; k++)
        offer_cuts(x, x->room, ebb_seed_threshold_cuts(space, x->base_peak / (tries + 1) * k, x->room));
    return EBB_OK;
}

static ebb_status seed_even_cuts(seeding *x) {
    const ebb_space *space = x->search->space;
    for (uint32_t n = 1; (uint64_t)n * n <= 4 * (uint64_t)space->n_ops; n = n * 3 / 2 + 1)
        offer_cuts(x, x->room, ebb_seed_even_cuts(space, n, x->room));
    return EBB_OK;
}

/* The shortest prefix of the greedy order that fits, by bisection. */
static ebb_status seed_greedy(seeding *x) {
    ebb_search *s = x->search;
    uint32_t n = ebb_seed_greedy_order(s->space, x->room);
    if (n == EBB_NONE) return EBB_NO_MEMORY;
    for (int state = EBB_HOLD; state <= EBB_RELEASE; state++) {
        uint32_t low = 0, high = n;
        while (low < high) {
            uint32_t mid = (low + high) / 2;
            memcpy(s->scratch_genes, s->space->base_genes, s->space->n_genes);
            for (uint32_t k = 0; k < mid; k++) s->scratch_genes[x->room[k]] = (uint8_t)state;
            if (ebb_search_offer_genes(s, s->scratch_genes).excess_bytes > 0)
                low = mid + 1;
            else
                high = mid;
        }
    }
    return EBB_OK;
}

static ebb_status seed_cut(seeding *x) {
    return ebb_seed_from_cut(x->search);
}

/* Every joint and the last of each run of them, all, every second, fourth, .. one. */
static ebb_status seed_blocks(seeding *x) {
    ebb_search *s = x->search;
    ebb_arena work;
    ebb_arena_init(&work, s->env);
    uint32_t n_joints;
    const uint32_t *joints = ebb_space_joints(&work, s->space, &n_joints);
    for (int merge = 0; joints && merge <= 1; merge++) {
        uint32_t n_cuts = 1;
        for (uint32_t every = 1; n_cuts > 0; every = every * 3 / 2 + 1) {
            n_cuts = ebb_seed_block_cuts(s->space, joints, n_joints, every, merge == 1, x->room);
            if (n_cuts > 0) offer_cuts(x, x->room, n_cuts);
        }
    }
    ebb_arena_deinit(&work);
    return joints ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status seed_online(seeding *x) {
    return ebb_seed_online(x->search);
}

static ebb_status seed_chain(seeding *x) {
    return ebb_seed_chain(x->search, x->low_genes, &x->low_peak);
}

/* Genes of another graph may have states that these genes lack. */
static bool fits_space(const ebb_space *space, const uint8_t *genes, uint32_t n) {
    if (n != space->n_genes) return false;
    for (uint32_t k = 0; k < n; k++)
        if (genes[k] >= space->genes[k].n_states) return false;
    return true;
}

/* What an earlier search found may be above a limit by this part of it, and is a better start than seeds.
 */
#define NEAR_PART 32

static bool starts_near(const ebb_search *s, const ebb_select_request *request) {
    return request->warm_genes && s->members[0].best.excess_bytes <= s->budget_bytes / NEAR_PART;
}

ebb_status ebb_seed_pool(ebb_search *s, const ebb_select_request *request) {
    static const struct {
        ebb_seeds kind;
        ebb_status (*offer)(seeding *x);
    } siblings[] = {{EBB_SEEDS_THRESHOLD_CUTS, seed_threshold_cuts},
                    {EBB_SEEDS_EVEN_CUTS, seed_even_cuts},
                    {EBB_SEEDS_GREEDY, seed_greedy},
                    {EBB_SEEDS_CERTIFICATE, seed_cut},
                    {EBB_SEEDS_BLOCKS, seed_blocks},
                    {EBB_SEEDS_ONLINE, seed_online},
                    {EBB_SEEDS_CHAIN, seed_chain}};
    const ebb_space *space = s->space;
    ebb_search_offer_genes(s, space->base_genes);
    if (request->warm_genes && fits_space(space, request->warm_genes, request->n_warm_genes))
        ebb_search_offer_genes(s, request->warm_genes);
    if ((request->without & EBB_WITHOUT_SEEDS) || ebb_search_is_over(s) || starts_near(s, request))
        return EBB_OK;
    seeding x = {.search = s, .request = request};
    x.room = EBB_NEW(&s->arena, uint32_t, ebb_max_i64(space->n_ops, space->n_genes) + 1);
    x.low_genes = EBB_NEW(&s->arena, uint8_t, space->n_genes);
    if (!x.room || !x.low_genes) return EBB_NO_MEMORY;
    x.base_peak = ebb_search_base_peak(s);
    ebb_status status = EBB_OK;
    for (size_t k = 0; k < EBB_COUNT(siblings) && status == EBB_OK && !ebb_search_may_end(s); k++) {
        if (request->only_seeds != EBB_SEEDS_ALL && request->only_seeds != siblings[k].kind) continue;
        x.low_peak = INT64_MAX;
        status = siblings[k].offer(&x);
        if (status == EBB_OK && x.low_peak <= s->budget_bytes) status = offer_kept_again(&x, x.low_genes);
    }
    if (status == EBB_OK && request->only_seeds == EBB_SEEDS_ALL && s->members[0].best.excess_bytes == 0 &&
        !ebb_search_is_over(s))
        status = offer_kept_again(&x, s->members[0].best_genes);
    return status;
}
