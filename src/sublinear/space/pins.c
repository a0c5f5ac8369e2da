/* Pins: values whose genes the caller decides. */
#include "sublinear/space/space.h"
#include "sublinear/sublinear.h"

static uint32_t longest_between(const ebb_space *space, const ebb_space_value *v, uint32_t from,
                                uint32_t to) {
    uint32_t best = EBB_NONE, length = 0;
    if (v->first_gap == EBB_NONE) return EBB_NONE;
    for (uint32_t k = 0; k + 1 < v->n_gaps; k++) { /* not the tail: nobody reads after it */
        const ebb_gene *g = &space->genes[v->first_gap + k];
        if (g->n_states > 1 && from <= g->begin && g->end <= to && g->end - g->begin > length) {
            length = g->end - g->begin;
            best = v->first_gap + k;
        }
    }
    return best;
}

uint32_t ebb_space_longest_gap(const ebb_space *space, const ebb_space_value *v) {
    return longest_between(space, v, 0, space->n_ops);
}

/* The longest between the last forward reader and the first backward one after it; of a value without
 * both, the longest of all. */
static uint32_t gap_to_drop(const ebb_space *space, const ebb_space_value *v) {
    uint32_t from = v->producer, to = EBB_NONE;
    const ebb_pop *ops = space->graph->ops;
    if (v->first_gap == EBB_NONE) return EBB_NONE;
    for (uint32_t k = 0; k + 1 < v->n_gaps; k++) {
        uint32_t reader = space->genes[v->first_gap + k].end;
        if (ops[reader].phase == EBB_FORWARD) from = reader, to = EBB_NONE;
        if (ops[reader].phase == EBB_BACKWARD && to == EBB_NONE) to = reader;
    }
    return to != EBB_NONE ? longest_between(space, v, from, to) : ebb_space_longest_gap(space, v);
}

static void keep(ebb_space *space, const ebb_space_op *op) {
    for (uint32_t k = 0; k < op->n_out; k++) {
        const ebb_space_value *v = &space->values[space->outs[op->first_out + k]];
        for (uint32_t i = 0; v->first_gap != EBB_NONE && i < v->n_gaps; i++)
            space->genes[v->first_gap + i].n_states = 1;
    }
}

void ebb_space_pin(ebb_space *space, const uint8_t *pins) {
    for (uint32_t i = 0; i < space->n_values; i++) {
        const ebb_space_value *v = &space->values[i];
        if (pins[i] == EBB_PIN_NONE) continue;
        if (v->follows) v = &space->values[v->leader];
        if (v->producer == EBB_NONE) continue;
        if (pins[i] == EBB_PIN_KEEP) {
            keep(space, &space->ops[v->producer]);
            continue;
        }
        uint32_t gap = gap_to_drop(space, v);
        if (gap == EBB_NONE) continue;
        space->genes[gap].first_state = EBB_HOLD;
        space->pinned = true;
    }
    ebb_space_heed_pins(space, space->base_genes);
    /* What is to be dropped is so between two readers of the graph's own order: they stay where they are.
     */
    for (uint32_t i = 0; space->pinned && i < space->n_ops; i++) space->ops[i].may_wait = false;
}

/* Dropped in a gap, and needed at its end. */
static bool made_again(const ebb_space *space, ebb_id value) {
    const ebb_space_value *v = &space->values[value];
    for (uint32_t k = 0; v->first_gap != EBB_NONE && k + 1 < v->n_gaps; k++) {
        const ebb_gene *g = &space->genes[v->first_gap + k];
        bool dropped = g->first_state > EBB_KEEP && g->n_states > 1;
        if (dropped && space->ops[g->end].lazy_gene == EBB_NONE &&
            ebb_space_must_read(space, g->end, value, false))
            return true;
    }
    return false;
}

int64_t ebb_space_pinned_ns(const ebb_space *space) {
    int64_t sum = 0; /* of one way of each op: the graph's seal has checked that it fits */
    for (uint32_t i = 0; space->pinned && i < space->n_ops; i++) {
        const ebb_space_op *op = &space->ops[i];
        int64_t least = INT64_MAX;
        bool again = false;
        /* An op that may wait runs first when its result is read. */
        for (uint32_t k = 0; op->lazy_gene == EBB_NONE && k < op->n_out && !again; k++)
            again = made_again(space, space->outs[op->first_out + k]);
        for (uint32_t w = 0; w < op->n_ways; w++)
            least = ebb_min_i64(least, space->ways[op->first_way + w].time_ns);
        if (again) sum += least;
    }
    return sum;
}

void ebb_space_heed_pins(const ebb_space *space, uint8_t *genes) {
    for (uint32_t k = 0; space->pinned && k < space->n_genes; k++)
        if (space->genes[k].n_states > 1) genes[k] = ebb_gene_heed(&space->genes[k], genes[k]);
}
