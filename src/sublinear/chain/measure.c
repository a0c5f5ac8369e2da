/* Measures what the blocks of a chain do under some genes: one score of the whole graph gives the figures
 * of all of them. */
#include "sublinear/chain/meter.h"

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

/* Figures of all blocks under the genes. false: they are not valid, or it is time to end. */
bool ebb_chain_measure(ebb_chain_meter *m) {
    const ebb_chain *c = m->chain;
    if (ebb_search_may_end(m->search)) return false;
    ebb_scorer *scorer = m->search->scorers[0];
    if (c->space->pinned) ebb_space_heed_pins(c->space, m->genes);
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

ebb_status ebb_chain_meter_open(ebb_arena *arena, ebb_search *search, ebb_chain *chain,
                                ebb_chain_meter **out) {
    const ebb_space *space = chain->space;
    ebb_chain_meter *m = *out = EBB_NEW(arena, ebb_chain_meter, 1);
    if (!m) return EBB_NO_MEMORY;
    *m = (ebb_chain_meter){.search = search, .chain = chain};
    m->genes = EBB_NEW(arena, uint8_t, space->n_genes);
    m->read = EBB_NEW(arena, uint8_t, space->n_values);
    m->list = EBB_NEW(arena, ebb_chain_ranked, space->n_values);
    if (!m->genes || !m->read || !m->list) return EBB_NO_MEMORY;
    memcpy(m->genes, space->base_genes, space->n_genes);
    if (!ebb_chain_measure(m)) chain->n_blocks = 0;
    memcpy(m->base, m->now, sizeof(m->base));
    return EBB_OK;
}
