/* Cuts a training step into a chain of blocks at the joints of its forward ops. */
#include "sublinear/chain/chain.h"

typedef struct finder {
    ebb_arena *arena;
    const ebb_space *space;
    ebb_chain *chain;
    uint32_t *last_forward; /* per value: last forward op that reads it or a view of it; 0: none */
    bool *read_back;        /* per value: read at the turn or later */
} finder;

static bool find_turn(finder *f) {
    const ebb_space *space = f->space;
    ebb_chain *c = f->chain;
    c->turn = 0;
    while (c->turn < space->n_ops && space->graph->ops[c->turn].phase == EBB_FORWARD) c->turn++;
    c->block_of = EBB_NEW(f->arena, uint8_t, space->n_ops);
    c->home = EBB_NEW(f->arena, uint8_t, space->n_values);
    c->turning = EBB_NEW(f->arena, uint32_t, space->n_values);
    f->last_forward = EBB_NEW(f->arena, uint32_t, space->n_values);
    f->read_back = EBB_NEW(f->arena, bool, space->n_values);
    if (!c->block_of || !c->home || !c->turning || !f->last_forward || !f->read_back) return false;
    memset(f->last_forward, 0, space->n_values * sizeof *f->last_forward);
    memset(f->read_back, 0, space->n_values * sizeof *f->read_back);
    for (uint32_t p = 0; p < space->n_ops; p++) {
        const ebb_pop *op = &space->graph->ops[p];
        for (uint32_t k = 0; k < op->n_in; k++) {
            ebb_id v = ebb_chain_leader(space, op->in[k]);
            if (p < c->turn)
                f->last_forward[v] = p;
            else
                f->read_back[v] = true;
        }
    }
    for (uint32_t v = 0; v < space->n_values; v++) {
        const ebb_space_value *value = &space->values[v];
        c->home[v] = EBB_CHAIN_BLOCKS;
        c->turning[v] = EBB_NONE;
        for (uint32_t k = 0; value->first_gap != EBB_NONE && k < value->n_gaps; k++) {
            const ebb_gene *g = &space->genes[value->first_gap + k];
            if (g->begin < c->turn && c->turn <= g->end && g->n_states > 1)
                c->turning[v] = value->first_gap + k;
        }
    }
    return true;
}

/* Per joint: the value that crosses it, or EBB_NONE. */
static ebb_id *crossing_values(const finder *f, const uint32_t *joints, uint32_t n_joints) {
    ebb_id *crossing = EBB_NEW(f->arena, ebb_id, (size_t)n_joints + 1);
    if (!crossing) return NULL;
    for (uint32_t k = 0; k < n_joints; k++) crossing[k] = EBB_NONE;
    uint32_t at = 0; /* first joint after op p */
    for (uint32_t p = 0; p < f->chain->turn; p++) {
        const ebb_space_op *op = &f->space->ops[p];
        while (at < n_joints && joints[at] <= p) at++;
        for (uint32_t k = 0; k < op->n_out; k++) {
            ebb_id v = f->space->outs[op->first_out + k];
            for (uint32_t j = at; j < n_joints && joints[j] <= f->last_forward[v]; j++) crossing[j] = v;
        }
    }
    return crossing;
}

/* Joints where a value crosses that may be kept or dropped; read_only: one that is read after the turn,
 * too, for to keep it costs nothing more. Of those that one value crosses the first. */
static uint32_t choose_joints(const finder *f, const uint32_t *joints, const ebb_id *crossing, uint32_t n,
                              bool read_only, uint32_t *chosen) {
    uint32_t m = 0;
    for (uint32_t k = 0; k < n; k++) {
        ebb_id v = crossing[k];
        if (v == EBB_NONE || joints[k] == 0 || joints[k] >= f->chain->turn) continue;
        uint32_t gene = f->chain->turning[v];
        if (gene == EBB_NONE || f->space->genes[gene].first_state > EBB_KEEP ||
            (read_only && !f->read_back[v]) || (m > 0 && crossing[chosen[m - 1]] == v))
            continue;
        chosen[m++] = k;
    }
    return m;
}

/* What there is to an op, for blocks of like size: its part of all time and of all bytes. */
static double weight_of(const ebb_space *space, uint32_t p, double all_ns, double all_bytes) {
    const ebb_space_op *op = &space->ops[p];
    int64_t bytes = 0;
    for (uint32_t k = 0; k < op->n_out; k++) bytes += space->values[space->outs[op->first_out + k]].bytes;
    return (double)space->ways[op->first_way].time_ns / all_ns + (double)bytes / all_bytes;
}

/* Leaves joints out where the blocks would be too many: a block ends where it has its share of the whole.
 */
static uint32_t thin_joints(const finder *f, const uint32_t *joints, uint32_t *chosen, uint32_t n) {
    if (n < EBB_CHAIN_BLOCKS) return n;
    const ebb_space *space = f->space;
    double all_ns = 1, all_bytes = 1, sum = 0;
    for (uint32_t p = 0; p < f->chain->turn; p++) {
        const ebb_space_op *op = &space->ops[p];
        all_ns += (double)space->ways[op->first_way].time_ns;
        for (uint32_t k = 0; k < op->n_out; k++)
            all_bytes += (double)space->values[space->outs[op->first_out + k]].bytes;
    }
    uint32_t m = 0, p = 0;
    for (uint32_t k = 0; k < n; k++) {
        for (; p < joints[chosen[k]]; p++) sum += weight_of(space, p, all_ns, all_bytes);
        /* All weights sum to 2. */
        if (m + 1 < EBB_CHAIN_BLOCKS && sum * EBB_CHAIN_BLOCKS >= 2.0 * (m + 1)) chosen[m++] = chosen[k];
    }
    return m;
}

static bool make_blocks(finder *f) {
    ebb_chain *c = f->chain;
    uint32_t n_joints;
    const uint32_t *joints = ebb_space_joints(f->arena, f->space, &n_joints);
    ebb_id *crossing = joints ? crossing_values(f, joints, n_joints) : NULL;
    uint32_t *chosen = EBB_NEW(f->arena, uint32_t, (size_t)n_joints + 1);
    if (!crossing || !chosen) return false;
    uint32_t n = choose_joints(f, joints, crossing, n_joints, true, chosen);
    if (n < 2) n = choose_joints(f, joints, crossing, n_joints, false, chosen);
    n = thin_joints(f, joints, chosen, n);
    c->n_blocks = n + 1;
    c->blocks = EBB_NEW(f->arena, ebb_chain_block, c->n_blocks);
    if (!c->blocks) return false;
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        ebb_id in = b > 0 ? crossing[chosen[b - 1]] : EBB_NONE;
        c->blocks[b] = (ebb_chain_block){.begin = b > 0 ? joints[chosen[b - 1]] : 0,
                                         .end = b < n ? joints[chosen[b]] : c->turn,
                                         .in = in,
                                         .in_bytes = in != EBB_NONE ? f->space->values[in].bytes : 0};
    }
    return true;
}

/* Forward ops by their block; the others by the first block of which something has been read until then,
 * for blocks go back last one first. */
static void place_ops(const finder *f) {
    const ebb_space *space = f->space;
    const ebb_chain *c = f->chain;
    for (uint32_t b = 0; b < c->n_blocks; b++)
        for (uint32_t p = c->blocks[b].begin; p < c->blocks[b].end; p++) {
            const ebb_space_op *op = &space->ops[p];
            c->block_of[p] = (uint8_t)b;
            for (uint32_t k = 0; k < op->n_out; k++) c->home[space->outs[op->first_out + k]] = (uint8_t)b;
        }
    uint32_t at = c->n_blocks - 1;
    for (uint32_t p = c->turn; p < space->n_ops; p++) {
        const ebb_pop *op = &space->graph->ops[p];
        for (uint32_t k = 0; k < op->n_in; k++) {
            ebb_id v = ebb_chain_leader(space, op->in[k]);
            uint32_t home = c->home[v];
            if (home + 1 < c->n_blocks && c->blocks[home + 1].in == v) home++;
            if (home < at) at = home;
        }
        c->block_of[p] = (uint8_t)at;
    }
}

static bool list_values(const finder *f) {
    const ebb_space *space = f->space;
    ebb_chain *c = f->chain;
    uint32_t n = 0, n_silent = 0;
    c->gain = EBB_NEW(f->arena, double, space->n_values);
    c->needed = EBB_NEW(f->arena, bool, space->n_values);
    if (!c->gain || !c->needed) return false;
    for (int k = 0; k < EBB_CHAIN_KINDS; k++)
        if (!(c->order[k] = EBB_NEW(f->arena, ebb_id, space->n_values))) return false;
    if (!(c->silent = EBB_NEW(f->arena, ebb_id, space->n_values))) return false;
    for (uint32_t b = 0; b < c->n_blocks; b++) {
        ebb_chain_block *block = &c->blocks[b];
        ebb_id out = b + 1 < c->n_blocks ? c->blocks[b + 1].in : EBB_NONE;
        block->first_value = n;
        block->first_silent = n_silent;
        for (uint32_t p = block->begin; p < block->end; p++)
            for (uint32_t k = 0; k < space->ops[p].n_out; k++) {
                ebb_id v = space->outs[space->ops[p].first_out + k];
                if (v == out || c->turning[v] == EBB_NONE) continue;
                if (f->read_back[v])
                    c->order[0][n++] = v;
                else
                    c->silent[n_silent++] = v;
            }
        block->n_values = n - block->first_value;
        block->n_silent = n_silent - block->first_silent;
    }
    for (int k = 1; k < EBB_CHAIN_KINDS; k++) memcpy(c->order[k], c->order[0], n * sizeof(ebb_id));
    return true;
}

int64_t ebb_chain_again_ns(const ebb_chain *c, uint32_t b, uint32_t n_dropped) {
    const ebb_space *space = c->space;
    const ebb_chain_block *block = &c->blocks[b];
    int64_t sum_ns = 0;
    for (uint32_t p = block->begin; p < block->end; p++)
        for (uint32_t k = 0; k < space->ops[p].n_out; k++)
            c->needed[ebb_chain_leader(space, space->outs[space->ops[p].first_out + k])] = false;
    if (b + 1 < c->n_blocks) c->needed[c->blocks[b + 1].in] = true;
    for (uint32_t k = n_dropped; k < block->n_values; k++)
        c->needed[c->order[EBB_CHAIN_HELD][block->first_value + k]] = true;
    for (uint32_t p = block->end; p > block->begin; p--) {
        const ebb_space_op *op = &space->ops[p - 1];
        const ebb_space_way *way = &space->ways[op->first_way];
        bool runs = false;
        for (uint32_t k = 0; k < op->n_out; k++) {
            ebb_id v = ebb_chain_leader(space, space->outs[op->first_out + k]);
            runs = runs || (c->needed[v] && c->turning[v] != EBB_NONE);
        }
        if (!runs || !op->recomputable) continue;
        sum_ns += way->time_ns;
        for (uint32_t k = 0; k < way->n_in; k++)
            c->needed[ebb_chain_leader(space, space->ins[way->first_in + k])] = true;
    }
    return sum_ns;
}

/* Bytes made after the turn that cross from one block's backward ops to those of the block before it. */
static bool sum_gradients(const finder *f) {
    const ebb_space *space = f->space;
    const ebb_chain *c = f->chain;
    uint8_t *last =
        EBB_NEW(f->arena, uint8_t, space->n_values); /* block around whose ops it is read last */
    if (!last) return false;
    memset(last, EBB_CHAIN_BLOCKS, space->n_values);
    for (uint32_t p = c->turn; p < space->n_ops; p++) { /* blocks only go back */
        const ebb_pop *op = &space->graph->ops[p];
        for (uint32_t k = 0; k < op->n_in; k++) last[ebb_chain_leader(space, op->in[k])] = c->block_of[p];
    }
    for (uint32_t v = 0; v < space->n_values; v++) {
        const ebb_space_value *value = &space->values[v];
        if (value->follows || value->bytes == 0 || value->producer == EBB_NONE || value->producer < c->turn)
            continue;
        for (uint32_t b = value->output ? 0 : last[v]; b < c->block_of[value->producer]; b++)
            c->blocks[b].gradient_bytes += value->bytes;
    }
    return true;
}

ebb_status ebb_chain_find(ebb_arena *arena, const ebb_space *space, ebb_chain *out) {
    *out = (ebb_chain){.space = space};
    finder f = {.arena = arena, .space = space, .chain = out};
    if (!find_turn(&f)) return EBB_NO_MEMORY;
    if (out->turn == space->n_ops) return EBB_OK; /* nothing comes back */
    if (!make_blocks(&f)) return EBB_NO_MEMORY;
    place_ops(&f);
    return list_values(&f) && sum_gradients(&f) ? EBB_OK : EBB_NO_MEMORY;
}
