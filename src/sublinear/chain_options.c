/* Measures what the blocks of a chain can do about their values. Every score of the graph measures one
 * option of each block at once. */
#include "sublinear/chain.h"

#include <stdlib.h>

#define RANK_WORK INT64_C(1000000) /* ops scored for an order of values */
#define LIST_WORK INT64_C(1000000) /* and for options, but for two shares at least */

typedef struct ranked {
    ebb_id value;
    double worth;
} ranked;

struct ebb_chain_meter {
    ebb_search *search;
    ebb_chain *chain;
    uint8_t *genes, *read; /* read: per value, in a step after the turn */
    ranked *list;
    ebb_chain_figures base[EBB_CHAIN_BLOCKS], now[EBB_CHAIN_BLOCKS];
};

void ebb_chain_set(const ebb_chain *c, ebb_id value, uint8_t state, uint8_t *genes) {
    const ebb_space_value *v = &c->space->values[value];
    uint32_t turning = c->turning[value];
    if (turning == EBB_NONE) return;
    genes[turning] = state;
    uint32_t tail = v->first_gap + v->n_gaps - 1;
    if (state != EBB_KEEP && c->space->genes[tail].n_states > 1) genes[tail] = state;
}

/* Silent values are there for others, so they stay as long as those do. */
void ebb_chain_set_block(const ebb_chain *c, const ebb_chain_block *block, const ebb_chain_option *option,
                         bool measured, uint8_t *genes) {
    bool held = option->kind == EBB_CHAIN_HELD;
    const ebb_id *drops = &c->order[held ? EBB_CHAIN_HELD : EBB_CHAIN_KEPT][block->first_value];
    const ebb_id *releases = &c->order[EBB_CHAIN_AGAIN][block->first_value];
    uint8_t kept = held && !measured ? EBB_HOLD : EBB_KEEP, dropped = held ? EBB_RELEASE : EBB_HOLD;
    uint32_t n_released = held ? 0 : option->n_released;
    for (uint32_t k = 0; k < block->n_values; k++)
        ebb_chain_set(c, drops[k], k < option->n_dropped ? dropped : kept, genes);
    for (uint32_t k = 0; k < block->n_silent; k++)
        ebb_chain_set(c, c->silent[block->first_silent + k], n_released > 0 ? EBB_RELEASE : dropped, genes);
    for (uint32_t k = 0; k < block->n_values && n_released > 0; k++) {
        if (genes[c->turning[releases[k]]] != EBB_HOLD) continue;
        ebb_chain_set(c, releases[k], EBB_RELEASE, genes);
        n_released--;
    }
}

/* Who is read after the turn, how often blocks ask for their x, and their times. */
static void read_steps(ebb_chain_meter *m, uint32_t n_steps) {
    const ebb_chain *c = m->chain;
    const ebb_space *space = c->space;
    const ebb_scorer *scorer = m->search->scorers[0];
    const ebb_id *steps = ebb_scorer_steps(scorer);
    const uint32_t *positions = ebb_scorer_positions(scorer);
    uint32_t asked[EBB_CHAIN_BLOCKS];
    memset(m->read, 0, space->n_values);
    memset(asked, 0, sizeof(asked));
    for (uint32_t s = 0; s < n_steps; s++) {
        uint32_t b = c->block_of[positions[s]], way_gene = space->ops[steps[s]].way_gene;
        const ebb_space_way *way =
            &space->ways[space->ops[steps[s]].first_way + (way_gene == EBB_NONE ? 0 : m->genes[way_gene])];
        m->now[b].time_ns += way->time_ns;
        for (uint32_t k = 0; positions[s] >= c->turn && k < way->n_in; k++) {
            ebb_id v = ebb_chain_leader(space, space->ins[way->first_in + k]);
            m->read[v] = 1;
            if (v != c->blocks[b].in || asked[b] == positions[s]) continue;
            asked[b] = positions[s];
            if (m->now[b].n_rounds++ == 0) m->now[b].first_round = positions[s];
        }
    }
}

static void read_held(ebb_chain_meter *m) {
    const ebb_chain *c = m->chain;
    const ebb_space *space = c->space;
    for (uint32_t b = 0; b + 1 < c->n_blocks; b++)
        if (m->genes[c->turning[c->blocks[b + 1].in]] == EBB_KEEP)
            m->now[b].held_bytes = c->blocks[b + 1].in_bytes;
    for (uint32_t v = 0; v < space->n_values; v++) {
        uint32_t b = c->home[v];
        if (b == EBB_CHAIN_BLOCKS || space->values[v].follows ||
            (b + 1 < c->n_blocks && c->blocks[b + 1].in == v))
            continue;
        bool kept = c->turning[v] == EBB_NONE || m->genes[c->turning[v]] == EBB_KEEP;
        if ((kept && m->read[v]) || space->values[v].output) m->now[b].held_bytes += space->values[v].bytes;
    }
}

/* Figures of all blocks under the genes. false: they are not valid. */
static bool measure(ebb_chain_meter *m) {
    const ebb_chain *c = m->chain;
    ebb_scorer *scorer = m->search->scorers[0];
    ebb_score score = ebb_score_genes(scorer, m->genes, 0);
    m->search->n_scored++;
    if (!score.valid) return false;
    memset(m->now, 0, sizeof(m->now));
    read_steps(m, score.n_steps);
    read_held(m);
    int64_t before[EBB_CHAIN_BLOCKS], sum = 0;
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        before[b] = sum;
        sum += m->now[b].held_bytes;
    }
    for (uint32_t s = 0; s < score.n_steps; s++) {
        uint32_t p = ebb_scorer_positions(scorer)[s], b = c->block_of[p];
        ebb_chain_figures *now = &m->now[b];
        bool late = now->n_rounds > 0 && p >= now->first_round;
        int64_t *most = p < c->turn ? &now->forward_bytes : late ? &now->late_bytes : &now->early_bytes;
        *most = ebb_max_i64(*most, ebb_scorer_live(scorer)[s] - before[b]);
    }
    return true;
}

/* ---- orders ----------------------------------------------------------------------------------------- */

static void swap(ebb_id *a, ebb_id *b) {
    ebb_id old = *a;
    *a = *b;
    *b = old;
}

static int by_worth(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->worth != y->worth) return x->worth > y->worth ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Most bytes x gap per time of the producer first. */
static void rank_by_worth(const ebb_chain_meter *m, const ebb_chain_block *block, ebb_id *order) {
    const ebb_space *space = m->chain->space;
    for (uint32_t k = 0; k < block->n_values; k++) {
        const ebb_gene *g = &space->genes[m->chain->turning[order[k]]];
        const ebb_space_op *op = &space->ops[space->values[order[k]].producer];
        double time_ns = (double)space->ways[op->first_way].time_ns + 1;
        m->list[k] = (ranked){order[k], (double)g->bytes * (g->end - g->begin) / time_ns};
    }
    if (block->n_values > 0) qsort(m->list, block->n_values, sizeof(*m->list), by_worth);
    for (uint32_t k = 0; k < block->n_values; k++) {
        order[k] = m->list[k].value;
        m->chain->gain[order[k]] = m->list[k].worth / (double)space->n_ops;
    }
}

/* The first so many of a kind's order are dropped. */
static ebb_chain_option prefix(ebb_chain_kind kind, uint32_t n_values, uint32_t n) {
    if (kind == EBB_CHAIN_AGAIN)
        return (ebb_chain_option){.kind = kind, .n_dropped = n_values, .n_released = n};
    return (ebb_chain_option){.kind = kind, .n_dropped = n};
}

/* Of each block that has so many values, takes the candidate'th as number `step`. */
static bool try_candidate(ebb_chain_meter *m, ebb_chain_kind kind, uint32_t step, uint32_t candidate) {
    ebb_chain *c = m->chain;
    memcpy(m->genes, c->space->base_genes, c->space->n_genes);
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        const ebb_chain_block *block = &c->blocks[b];
        if (candidate >= block->n_values) continue;
        ebb_id *own = &c->order[kind][block->first_value];
        ebb_chain_option option = prefix(kind, block->n_values, step + 1);
        swap(&own[step], &own[candidate]);
        ebb_chain_set_block(c, block, &option, true, m->genes);
        swap(&own[step], &own[candidate]);
    }
    return measure(m);
}

/* Bytes gained per time lost: of what is held, or, where nothing is, of the peak. */
static double gain_of(ebb_chain_kind kind, const ebb_chain_figures *last, const ebb_chain_figures *now) {
    int64_t bytes = kind == EBB_CHAIN_AGAIN ? ebb_chain_most_bytes(last) - ebb_chain_most_bytes(now)
                                            : last->held_bytes - now->held_bytes;
    double time_ns = (double)ebb_max_i64(0, now->time_ns - last->time_ns) + 1;
    /* What only costs goes by what it costs. */
    return bytes > 0 ? (double)bytes / time_ns : -time_ns;
}

/* Next goes what gains most on top of what has gone already. */
static bool rank_step(ebb_chain_meter *m, ebb_chain_kind kind, uint32_t step, uint32_t end,
                      ebb_chain_figures *last) {
    ebb_chain *c = m->chain;
    ebb_chain_figures best[EBB_CHAIN_BLOCKS];
    uint32_t choice[EBB_CHAIN_BLOCKS];
    double most[EBB_CHAIN_BLOCKS];
    for (uint32_t b = 0; b < c->n_blocks; b++) choice[b] = EBB_NONE;
    for (uint32_t candidate = step; candidate < end; candidate++) {
        if (!try_candidate(m, kind, step, candidate)) return false;
        for (uint32_t b = 0; b < c->n_blocks; b++) {
            if (candidate >= c->blocks[b].n_values) continue;
            double gain = gain_of(kind, &last[b], &m->now[b]);
            if (choice[b] != EBB_NONE && gain <= most[b]) continue;
            choice[b] = candidate;
            most[b] = gain;
            best[b] = m->now[b];
        }
    }
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        if (choice[b] == EBB_NONE) continue;
        ebb_id *own = &c->order[kind][c->blocks[b].first_value];
        ebb_id chosen = own[choice[b]];
        if (kind == EBB_CHAIN_KEPT) c->gain[chosen] = most[b];
        memmove(&own[step + 1], &own[step], (choice[b] - step) * sizeof(*own));
        own[step] = chosen;
        last[b] = best[b];
    }
    return true;
}

/* Sets each block to the first n of a kind's order, or to all there are. */
static bool measure_prefix(ebb_chain_meter *m, ebb_chain_kind kind, uint32_t n) {
    ebb_chain *c = m->chain;
    memcpy(m->genes, c->space->base_genes, c->space->n_genes);
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        uint32_t n_values = c->blocks[b].n_values;
        ebb_chain_option option = prefix(kind, n_values, n < n_values ? n : n_values);
        ebb_chain_set_block(c, &c->blocks[b], &option, true, m->genes);
    }
    return measure(m);
}

/* By worth first; each step looks at the next few by worth. Candidates that are not valid, by too many
 * steps, end it: the rest stays by worth. */
static void rank(ebb_chain_meter *m, ebb_chain_kind kind) {
    ebb_chain *c = m->chain;
    ebb_chain_figures last[EBB_CHAIN_BLOCKS];
    uint32_t n_most = 0;
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        if (c->blocks[b].n_values > n_most) n_most = c->blocks[b].n_values;
        rank_by_worth(m, &c->blocks[b], &c->order[kind][c->blocks[b].first_value]);
    }
    int64_t window = RANK_WORK / ((int64_t)c->space->n_ops * n_most + 1);
    if (window < 2 || !measure_prefix(m, kind, 0)) return;
    memcpy(last, m->now, sizeof(last));
    for (uint32_t step = 0; step < n_most; step++)
        if (!rank_step(m, kind, step, (uint32_t)ebb_min_i64(n_most, step + window), last)) return;
}

/* ---- options ---------------------------------------------------------------------------------------- */

/* One more option, unless one of its kind is as good in every way. */
static void add_option(ebb_chain_block *block, ebb_chain_option option) {
    ebb_chain_option *list = block->options[option.kind];
    for (uint32_t k = 0; k < block->n_options[option.kind]; k++)
        if (list[k].is.held_bytes <= option.is.held_bytes &&
            ebb_chain_most_bytes(&list[k].is) <= ebb_chain_most_bytes(&option.is) &&
            list[k].is.time_ns + list[k].again_ns <= option.is.time_ns + option.again_ns)
            return;
    list[block->n_options[option.kind]++] = option;
}

/* Which share of a block's values is dropped, and which of those released: k of n, from none to all. */
typedef struct shares {
    uint32_t dropped, n_dropped;
    uint32_t released, n_released;
} shares;

static ebb_chain_option option_of(ebb_chain_kind kind, uint32_t n_values, const shares *x) {
    ebb_chain_option option = {.kind = kind};
    option.n_dropped = (uint32_t)((uint64_t)n_values * x->dropped / (x->n_dropped - 1));
    option.n_released = (uint32_t)((uint64_t)option.n_dropped * x->released / (x->n_released - 1));
    return option;
}

/* One option of each block. false: too many steps. */
static bool list_option(ebb_chain_meter *m, ebb_chain_kind kind, const shares *x) {
    ebb_chain *c = m->chain;
    memcpy(m->genes, c->space->base_genes, c->space->n_genes);
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        ebb_chain_option option = option_of(kind, c->blocks[b].n_values, x);
        ebb_chain_set_block(c, &c->blocks[b], &option, true, m->genes);
    }
    if (!measure(m)) return false;
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        ebb_chain_block *block = &c->blocks[b];
        ebb_chain_option option = option_of(kind, block->n_values, x);
        option.is = m->now[b];
        option.is.time_ns = ebb_max_i64(0, option.is.time_ns - m->base[b].time_ns);
        if (kind == EBB_CHAIN_HELD) option.again_ns = ebb_chain_again_ns(c, b, option.n_dropped);
        add_option(block, option);
        if (kind != EBB_CHAIN_HELD || x->dropped + 1 < x->n_dropped) continue;
        block->released = option.is;
        block->again_ns = option.again_ns;
        block->may_release = true;
    }
    return true;
}

/* Bytes of a run through the blocks that leaves nothing. All that is dropped is held when it is made again,
 * so that the steps are few; only those up to the turn count. */
static void measure_sweep(ebb_chain_meter *m) {
    ebb_chain *c = m->chain;
    memcpy(m->genes, c->space->base_genes, c->space->n_genes);
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        ebb_chain_block *block = &c->blocks[b];
        const ebb_chain_option all = {.kind = EBB_CHAIN_KEPT, .n_dropped = block->n_values};
        ebb_chain_set_block(c, block, &all, true, m->genes);
        if (b > 0) ebb_chain_set(c, block->in, EBB_HOLD, m->genes);
    }
    bool ok = measure(m);
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        ebb_chain_block *block = &c->blocks[b];
        block->swept_bytes = ok ? m->now[b].forward_bytes : block->released.forward_bytes + block->in_bytes;
    }
}

static void list_options(ebb_chain_meter *m) {
    uint32_t n_most = 1;
    for (uint32_t b = 0; b < m->chain->n_blocks; b++)
        if (m->chain->blocks[b].n_values > n_most) n_most = m->chain->blocks[b].n_values;
    shares x = {.n_dropped = n_most < EBB_CHAIN_SHARES ? n_most + 1 : EBB_CHAIN_SHARES};
    int64_t n = LIST_WORK / x.n_dropped / ((int64_t)m->chain->space->n_ops + 1);
    x.n_released = (uint32_t)ebb_max_i64(2, ebb_min_i64(n, x.n_dropped));
    x.dropped = x.n_dropped - 1;
    while (x.released < x.n_released && list_option(m, EBB_CHAIN_AGAIN, &x)) x.released++;
    for (x.dropped = 0; x.dropped + 1 < x.n_dropped; x.dropped++)
        for (x.released = 0; x.released < (x.dropped > 0 ? x.n_released : 1); x.released++)
            if (!list_option(m, EBB_CHAIN_KEPT, &x)) break;
    x.released = 0;
    for (x.dropped = 0; x.dropped < x.n_dropped; x.dropped++)
        if (!list_option(m, EBB_CHAIN_HELD, &x)) break;
    measure_sweep(m);
}

ebb_status ebb_chain_meter_open(ebb_arena *arena, ebb_search *search, ebb_chain *chain,
                                ebb_chain_meter **out) {
    const ebb_space *space = chain->space;
    ebb_chain_meter *m = *out = EBB_NEW(arena, ebb_chain_meter, 1);
    if (!m) return EBB_NO_MEMORY;
    *m = (ebb_chain_meter){.search = search, .chain = chain};
    m->genes = EBB_NEW(arena, uint8_t, space->n_genes);
    m->read = EBB_NEW(arena, uint8_t, space->n_values);
    m->list = EBB_NEW(arena, ranked, space->n_values);
    if (!m->genes || !m->read || !m->list) return EBB_NO_MEMORY;
    memcpy(m->genes, space->base_genes, space->n_genes);
    if (!measure(m)) chain->n_blocks = 0;
    memcpy(m->base, m->now, sizeof(m->base));
    return EBB_OK;
}

void ebb_chain_rank(ebb_chain_meter *m) {
    for (int kind = 0; kind < EBB_CHAIN_KINDS; kind++) rank(m, (ebb_chain_kind)kind);
}

void ebb_chain_list(ebb_chain_meter *m) {
    for (uint32_t b = 0; b < m->chain->n_blocks; b++) {
        memset(m->chain->blocks[b].n_options, 0, sizeof(m->chain->blocks[b].n_options));
        m->chain->blocks[b].may_release = false;
    }
    list_options(m);
}

/* ---- what stays in any case ------------------------------------------------------------------------- */

/* Leaves out of the list what has no gene to decide any more. Returns how many stay. */
static uint32_t filter(const ebb_chain *c, ebb_id *list, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++)
        if (c->turning[list[k]] != EBB_NONE) list[kept++] = list[k];
    return kept;
}

int64_t ebb_chain_stay(ebb_chain_meter *m, int64_t most_bytes) {
    ebb_chain *c = m->chain;
    uint32_t n = 0;
    for (uint32_t b = 0; b < c->n_blocks; b++)
        for (uint32_t k = 0; k < c->blocks[b].n_values; k++) {
            ebb_id v = c->order[EBB_CHAIN_KEPT][c->blocks[b].first_value + k];
            m->list[n++] = (ranked){v, -c->gain[v]}; /* the least gain first */
        }
    if (n > 0) qsort(m->list, n, sizeof(*m->list), by_worth);
    int64_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        int64_t bytes = c->space->values[m->list[k].value].bytes;
        if (sum + bytes > most_bytes) break;
        sum += bytes;
        c->turning[m->list[k].value] = EBB_NONE;
    }
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        ebb_chain_block *block = &c->blocks[b];
        uint32_t n_values = block->n_values;
        for (int kind = 0; kind < EBB_CHAIN_KINDS; kind++)
            block->n_values = filter(c, &c->order[kind][block->first_value], n_values);
    }
    return sum;
}
