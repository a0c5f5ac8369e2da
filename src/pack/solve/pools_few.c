/* pools_few: all ways to give rows to pools, each set of rows of a pool packed once. */
#include "pack/solve/pools.h"

#define MOST_WAYS 1024
#define MOST_ROWS 32 /* with more a packing costs too much to try so many */

typedef struct tried {
    ebb_pack_answer answer; /* found_by NULL: not yet */
    int64_t *offsets;       /* [rows of the pool] in the order of the table */
} tried;

bool ebb_pooling_few(const ebb_pooling *p) {
    uint64_t n_ways = 1;
    if (p->job->n > MOST_ROWS || (p->pools->n == 1 && p->n_free > 0)) return false;
    for (uint32_t i = 0; i < p->n_free && n_ways <= MOST_WAYS; i++) n_ways *= p->pools->n;
    return n_ways <= MOST_WAYS;
}

/* The set of free rows that a way gives to a pool. */
static uint32_t set_of(const ebb_pooling *p, uint32_t pool) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < p->n_free; i++)
        if (p->way[p->free_rows[i]] == pool) set |= UINT32_C(1) << i;
    return set;
}

static bool next_way(ebb_pooling *p) {
    for (uint32_t i = 0; i < p->n_free; i++) {
        uint32_t *pool = &p->way[p->free_rows[i]];
        if (++*pool < p->pools->n) return true;
        *pool = 0;
    }
    return false;
}

/* What is known of a way from its pools. */
typedef struct way_facts {
    int64_t height[EBB_PACK_MAX_POOLS], bound[EBB_PACK_MAX_POOLS];
    bool impossible;
} way_facts;

static ebb_status look_up(ebb_pooling *p, tried *table, way_facts *facts) {
    ebb_status status = EBB_OK;
    facts->impossible = false;
    for (uint32_t k = 0; k < p->pools->n && status == EBB_OK; k++) {
        tried *t = &table[((size_t)k << p->n_free) + set_of(p, k)];
        if (!t->answer.found_by) {
            t->offsets = EBB_NEW(&p->arena, int64_t, p->job->n);
            if (!t->offsets) return EBB_NO_MEMORY;
            status = ebb_pooling_pack(p, p->way, k, p->options->effort / (p->pools->n << p->n_free) + 1,
                                      &t->answer, t->offsets);
        }
        facts->height[k] = t->answer.height;
        facts->bound[k] = t->answer.lower_bound;
        facts->impossible = facts->impossible || t->answer.verdict == EBB_PACK_IMPOSSIBLE;
    }
    return status;
}

static void take_offsets(const ebb_pooling *p, const tried *table) {
    for (uint32_t k = 0; k < p->pools->n; k++) {
        const tried *t = &table[((size_t)k << p->n_free) + set_of(p, k)];
        for (uint32_t i = 0, n = 0; i < p->job->n; i++)
            if (p->way[i] == k) p->offsets[i] = t->offsets[n++];
    }
}

ebb_status ebb_pooling_try_all(ebb_pooling *p, ebb_pack_answer *answer, bool *impossible) {
    tried *table = EBB_NEW(&p->arena, tried, (size_t)p->pools->n << p->n_free);
    ebb_pool_score best = {INT64_MAX, INT64_MAX};
    int64_t bound = INT64_MAX;
    ebb_status status = table ? EBB_OK : EBB_NO_MEMORY;
    *impossible = true;
    for (uint32_t i = 0; i < p->job->n; i++)
        p->way[i] = ebb_pooling_wanted(p, i) == EBB_PACK_ANY_POOL ? 0 : ebb_pooling_wanted(p, i);
    for (bool more = true; more && status == EBB_OK; more = next_way(p)) {
        way_facts facts;
        status = look_up(p, table, &facts);
        if (status != EBB_OK) break;
        ebb_pool_score score = ebb_pools_score(p->pools, facts.height);
        *impossible = *impossible && facts.impossible;
        if (!facts.impossible) bound = ebb_min_i64(bound, ebb_pools_score(p->pools, facts.bound).height);
        if (!ebb_pool_score_better(score, best)) continue;
        best = score;
        answer->found_by = table[set_of(p, 0)].answer.found_by;
        memcpy(p->best, p->way, p->job->n * sizeof *p->best);
        memcpy(p->pools->height, facts.height, p->pools->n * sizeof *facts.height);
        take_offsets(p, table);
        if (best.excess == 0 && (!ebb_pools_open(p->pools) || best.height <= answer->lower_bound)) break;
    }
    if (bound != INT64_MAX && ebb_pools_open(p->pools))
        answer->lower_bound = ebb_max_i64(answer->lower_bound, bound);
    return status;
}
