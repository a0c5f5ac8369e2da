/* In which order the values of a block are dropped and released, and which ones stay in any case: greedily,
 * by what the exact score says of each step, for all blocks at once. */
#include <stdlib.h>

#include "sublinear/chain/meter.h"

#define RANK_WORK INT64_C(1000000) /* ops scored for an order of values */

static void swap(ebb_id *a, ebb_id *b) {
    ebb_id old = *a;
    *a = *b;
    *b = old;
}

static int by_worth(const void *a, const void *b) {
    const ebb_chain_ranked *x = a, *y = b;
    if (x->worth != y->worth) return x->worth > y->worth ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Most bytes x gap per time of the producer first. */
static void rank_by_worth(const ebb_chain_meter *m, ebb_chain_kind kind, const ebb_chain_block *block) {
    ebb_id *order = &m->chain->order[kind][block->first_value];
    const ebb_space *space = m->chain->space;
    for (uint32_t k = 0; k < block->n_values; k++) {
        const ebb_gene *g = &space->genes[m->chain->turning[order[k]]];
        const ebb_space_op *op = &space->ops[space->values[order[k]].producer];
        double time_ns = (double)space->ways[op->first_way].time_ns + 1;
        m->list[k] = (ebb_chain_ranked){order[k], (double)g->bytes * (g->end - g->begin) / time_ns};
    }
    if (block->n_values > 0) qsort(m->list, block->n_values, sizeof *m->list, by_worth);
    for (uint32_t k = 0; k < block->n_values; k++) {
        order[k] = m->list[k].value;
        if (kind == EBB_CHAIN_KEPT) m->chain->gain[order[k]] = m->list[k].worth / (double)space->n_ops;
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
    return ebb_chain_measure(m);
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
        memmove(&own[step + 1], &own[step], (choice[b] - step) * sizeof *own);
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
    return ebb_chain_measure(m);
}

/* By worth first; each step looks at the next few by worth. Candidates that are not valid, by too many
 * steps, end it: the rest stays by worth. */
static void rank(ebb_chain_meter *m, ebb_chain_kind kind) {
    ebb_chain *c = m->chain;
    ebb_chain_figures last[EBB_CHAIN_BLOCKS];
    uint32_t n_most = 0;
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        if (c->blocks[b].n_values > n_most) n_most = c->blocks[b].n_values;
        rank_by_worth(m, kind, &c->blocks[b]);
    }
    int64_t window = RANK_WORK / ((int64_t)c->space->n_ops * n_most + 1);
    if (window < 2 || !measure_prefix(m, kind, 0)) return;
    memcpy(last, m->now, sizeof(last));
    for (uint32_t step = 0; step < n_most; step++)
        if (!rank_step(m, kind, step, (uint32_t)ebb_min_i64(n_most, step + window), last)) return;
}

void ebb_chain_rank(ebb_chain_meter *m) {
    for (int kind = 0; kind < EBB_CHAIN_KINDS; kind++) rank(m, (ebb_chain_kind)kind);
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
            m->list[n++] = (ebb_chain_ranked){v, -c->gain[v]}; /* the least gain first */
        }
    if (n > 0) qsort(m->list, n, sizeof *m->list, by_worth);
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
