/* Lists what each block of a chain can do about its values: a few points from keeping all to releasing all.
 */
#include "sublinear/chain/meter.h"

#define LIST_WORK INT64_C(1000000) /* ops scored; but two shares at least are tried */

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
    if (!ebb_chain_measure(m)) return false;
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
    bool ok = ebb_chain_measure(m);
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

void ebb_chain_list(ebb_chain_meter *m) {
    for (uint32_t b = 0; b < m->chain->n_blocks; b++) {
        memset(m->chain->blocks[b].n_options, 0, sizeof(m->chain->blocks[b].n_options));
        m->chain->blocks[b].may_release = false;
    }
    list_options(m);
}
