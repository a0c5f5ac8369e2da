/* Measures what the blocks of a chain can do about their values. Every score of the graph measures one
 * option of each block at once. */
#include "sublinear/chain.h"

#include <stdlib.h>

#define RANK_WORK INT64_C(4000000) /* ops scored to find the best order of values to drop */

typedef struct ranked {
    ebb_id value;
    double worth;
} ranked;

typedef struct meter {
    ebb_search *search;
    ebb_chain *chain;
    uint8_t *genes, *read; /* read: per value, in a step after the turn */
    ranked *list;
    ebb_chain_figures base[EBB_CHAIN_BLOCKS], now[EBB_CHAIN_BLOCKS];
} meter;

void ebb_chain_set(const ebb_chain *c, ebb_id value, uint8_t state, uint8_t *genes) {
    const ebb_space_value *v = &c->space->values[value];
    uint32_t turning = c->turning[value];
    if (turning == EBB_NONE) return;
    genes[turning] = state;
    uint32_t tail = v->first_gap + v->n_gaps - 1;
    if (state != EBB_KEEP && c->space->genes[tail].n_states > 1) genes[tail] = state;
}

void ebb_chain_set_block(const ebb_chain *c, const ebb_chain_block *block, ebb_chain_kind kind,
                         uint32_t n_dropped, uint8_t kept, uint8_t dropped, uint8_t *genes) {
    const ebb_id *order = &c->order[kind == EBB_CHAIN_ONCE ? 0 : 1][block->first_value];
    for (uint32_t k = 0; k < block->n_values; k++)
        ebb_chain_set(c, order[k], k < n_dropped ? dropped : kept, genes);
    for (uint32_t k = 0; k < block->n_silent; k++)
        ebb_chain_set(c, c->silent[block->first_silent + k], dropped, genes);
}

static void set_kind(const ebb_chain *c, const ebb_chain_block *block, ebb_chain_kind kind,
                     uint32_t n_dropped, uint8_t *genes) {
    static const uint8_t states[EBB_CHAIN_KINDS][2] = {
        {EBB_KEEP, EBB_HOLD}, {EBB_KEEP, EBB_RELEASE}, {EBB_HOLD, EBB_RELEASE}};
    ebb_chain_set_block(c, block, kind, n_dropped, states[kind][0], states[kind][1], genes);
}

/* Who is read after the turn, how often blocks ask for their x, and their times. */
static void read_steps(meter *m, uint32_t n_steps) {
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
            m->now[b].n_rounds++;
        }
    }
}

static void read_held(meter *m) {
    const ebb_chain *c = m->chain;
    const ebb_space *space = c->space;
    for (uint32_t b = 0; b + 1 < c->n_blocks; b++) m->now[b].held_bytes = c->blocks[b + 1].in_bytes;
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
static bool measure(meter *m) {
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
        int64_t *most = p < c->turn ? &m->now[b].forward_bytes : &m->now[b].backward_bytes;
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
static void rank_by_worth(const meter *m, const ebb_chain_block *block, ebb_id *order) {
    const ebb_space *space = m->chain->space;
    for (uint32_t k = 0; k < block->n_values; k++) {
        const ebb_gene *g = &space->genes[m->chain->turning[order[k]]];
        const ebb_space_op *op = &space->ops[space->values[order[k]].producer];
        double time_ns = (double)space->ways[op->first_way].time_ns + 1;
        m->list[k] = (ranked){order[k], (double)g->bytes * (g->end - g->begin) / time_ns};
    }
    if (block->n_values > 0) qsort(m->list, block->n_values, sizeof(*m->list), by_worth);
    for (uint32_t k = 0; k < block->n_values; k++) order[k] = m->list[k].value;
}

/* Of each block that has so many values, drops the candidate'th as number `step`. */
static bool try_candidate(meter *m, ebb_chain_kind kind, uint32_t step, uint32_t candidate) {
    ebb_chain *c = m->chain;
    ebb_id *order = c->order[kind == EBB_CHAIN_ONCE ? 0 : 1];
    memcpy(m->genes, c->space->base_genes, c->space->n_genes);
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        const ebb_chain_block *block = &c->blocks[b];
        if (candidate >= block->n_values) continue;
        ebb_id *own = &order[block->first_value];
        swap(&own[step], &own[candidate]);
        set_kind(c, block, kind, step + 1, m->genes);
        swap(&own[step], &own[candidate]);
    }
    return measure(m);
}

/* Next goes what frees most bytes for the time that it adds to what is dropped already. */
static bool rank_step(meter *m, ebb_chain_kind kind, uint32_t step, uint32_t n_most,
                      ebb_chain_figures *last) {
    ebb_chain *c = m->chain;
    ebb_id *order = c->order[kind == EBB_CHAIN_ONCE ? 0 : 1];
    ebb_chain_figures best[EBB_CHAIN_BLOCKS];
    uint32_t choice[EBB_CHAIN_BLOCKS];
    double most[EBB_CHAIN_BLOCKS];
    for (uint32_t b = 0; b < c->n_blocks; b++) choice[b] = EBB_NONE;
    for (uint32_t candidate = step; candidate < n_most; candidate++) {
        if (!try_candidate(m, kind, step, candidate)) return false;
        for (uint32_t b = 0; b < c->n_blocks; b++) {
            if (candidate >= c->blocks[b].n_values) continue;
            int64_t time_ns = ebb_max_i64(0, m->now[b].time_ns - last[b].time_ns);
            double worth = (double)(last[b].held_bytes - m->now[b].held_bytes) / (double)(time_ns + 1);
            if (choice[b] != EBB_NONE && worth <= most[b]) continue;
            choice[b] = candidate;
            most[b] = worth;
            best[b] = m->now[b];
        }
    }
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        if (choice[b] == EBB_NONE) continue;
        ebb_id *own = &order[c->blocks[b].first_value];
        swap(&own[step], &own[choice[b]]);
        last[b] = best[b];
    }
    return true;
}

/* Candidates that are not valid, by too many steps, end it: the rest stays by worth. */
static void rank(meter *m, ebb_chain_kind kind) {
    ebb_chain *c = m->chain;
    ebb_id *order = c->order[kind == EBB_CHAIN_ONCE ? 0 : 1];
    ebb_chain_figures last[EBB_CHAIN_BLOCKS];
    uint32_t n_most = 0;
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        last[b] = m->base[b];
        if (c->blocks[b].n_values > n_most) n_most = c->blocks[b].n_values;
        rank_by_worth(m, &c->blocks[b], &order[c->blocks[b].first_value]);
    }
    if ((double)n_most * n_most / 2 * c->space->n_ops > (double)RANK_WORK) return;
    for (uint32_t step = 0; step < n_most && rank_step(m, kind, step, n_most, last);) step++;
}

/* ---- options ---------------------------------------------------------------------------------------- */

static int64_t most_bytes(const ebb_chain_figures *f) {
    return ebb_max_i64(f->forward_bytes, f->backward_bytes);
}

/* One more option, unless one of its kind is as good in every way. */
static void add_option(ebb_chain_block *block, ebb_chain_option option) {
    ebb_chain_option *list = block->options[option.kind];
    for (uint32_t k = 0; k < block->n_options[option.kind]; k++)
        if (list[k].is.held_bytes <= option.is.held_bytes &&
            most_bytes(&list[k].is) <= most_bytes(&option.is) && list[k].is.time_ns <= option.is.time_ns)
            return;
    list[block->n_options[option.kind]++] = option;
}

/* All, none, and even shares of the block's values between. */
static void list_options(meter *m, ebb_chain_kind kind) {
    ebb_chain *c = m->chain;
    for (uint32_t k = 0; k < EBB_CHAIN_DROPS; k++) {
        memcpy(m->genes, c->space->base_genes, c->space->n_genes);
        for (uint32_t b = 0; b < c->n_blocks; b++)
            set_kind(c, &c->blocks[b], kind, c->blocks[b].n_values * k / (EBB_CHAIN_DROPS - 1), m->genes);
        if (!measure(m)) return; /* too many steps: fewer than these are dropped */
        for (uint32_t b = 0; b < c->n_blocks; b++) {
            ebb_chain_block *block = &c->blocks[b];
            ebb_chain_option option = {kind, block->n_values * k / (EBB_CHAIN_DROPS - 1), m->now[b]};
            option.is.time_ns = ebb_max_i64(0, option.is.time_ns - m->base[b].time_ns);
            add_option(block, option);
            if (kind != EBB_CHAIN_EACH || k + 1 < EBB_CHAIN_DROPS) continue;
            block->released = option.is;
            block->may_release = true;
        }
    }
}

ebb_status ebb_chain_measure(ebb_arena *arena, ebb_search *search, ebb_chain *chain) {
    const ebb_space *space = chain->space;
    meter *m = EBB_NEW(arena, meter, 1);
    if (!m) return EBB_NO_MEMORY;
    *m = (meter){.search = search, .chain = chain};
    m->genes = EBB_NEW(arena, uint8_t, space->n_genes);
    m->read = EBB_NEW(arena, uint8_t, space->n_values);
    m->list = EBB_NEW(arena, ranked, space->n_values);
    if (!m->genes || !m->read || !m->list) return EBB_NO_MEMORY;
    memcpy(m->genes, space->base_genes, space->n_genes);
    if (!measure(m)) {
        chain->n_blocks = 0;
        return EBB_OK;
    }
    memcpy(m->base, m->now, sizeof(m->base));
    rank(m, EBB_CHAIN_ONCE);
    rank(m, EBB_CHAIN_EACH);
    for (int kind = 0; kind < EBB_CHAIN_KINDS; kind++) list_options(m, (ebb_chain_kind)kind);
    return EBB_OK;
}
