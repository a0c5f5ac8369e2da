/* live: when each value is alive, and which values share bytes because the graph says so.
 *
 * takes: a scheduled graph. gives: ebb_lives, one life a value; views and updates are joined to the storage
 * that they are part of. requires: sealed. cost: O(values + edges). */
#include "planner/planner.h"

typedef struct ebb_live_pass {
    const ebb_pgraph *graph;
    ebb_lives *out;
    bool *updated; /* [n_values] a later value takes its bytes */
} ebb_live_pass;

static uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* ---- lives ----------------------------------------------------------------------------------- */

static bool is_final(const ebb_live_pass *pass, ebb_id v) {
    ebb_role role = pass->graph->values[v].role;
    return (role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE) && !pass->updated[v];
}

static void find_reads(ebb_live_pass *pass) {
    const ebb_pgraph *graph = pass->graph;
    ebb_life *lives = pass->out->lives;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        ebb_id producer = graph->values[v].producer;
        lives[v].lower = producer == EBB_NONE ? 0 : producer;
        lives[v].upper = lives[v].lower + 1; /* never empty, not even in a graph without steps */
        lives[v].storage = EBB_NONE;
    }
    for (uint32_t step = 0; step < graph->n_ops; step++) {
        const ebb_pop *op = &graph->ops[step];
        for (uint32_t i = 0; i < op->n_in; i++)
            lives[op->in[i]].upper = max_u32(lives[op->in[i]].upper, step + 1);
        for (uint32_t i = 0; i < op->n_update; i++) pass->updated[op->in[op->update[i].in]] = true;
    }
    for (uint32_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].role == EBB_ROLE_OUTPUT || is_final(pass, v))
            lives[v].upper = max_u32(lives[v].upper, graph->n_ops);
}

/* ---- storages -------------------------------------------------------------------------------- */

static void add_storage(ebb_live_pass *pass, ebb_id v) {
    const ebb_pvalue *value = &pass->graph->values[v];
    ebb_life *life = &pass->out->lives[v];
    if (value->bytes == 0) return;
    life->storage = pass->out->n_storages++;
    pass->out->storages[life->storage] = (ebb_storage){
        .lower = life->lower, .upper = life->upper, .persistent = ebb_role_persistent(value->role)};
}

/* v lies offset bytes into base. */
static void join_storage(ebb_live_pass *pass, ebb_id v, ebb_id base, int64_t offset) {
    ebb_life *life = &pass->out->lives[v];
    if (pass->graph->values[v].bytes == 0) return;
    life->storage = pass->out->lives[base].storage;
    life->offset_bytes = pass->out->lives[base].offset_bytes + offset;
}

/* The pairs of an op, spread over its outputs: one lookup an output, however many pairs there are. */
typedef struct ebb_output_tie {
    ebb_id base; /* EBB_NONE: an output with bytes of its own */
    int64_t offset;
} ebb_output_tie;

static void find_ties(const ebb_pop *op, ebb_output_tie *ties) {
    for (uint32_t i = 0; i < op->n_out; i++) ties[i] = (ebb_output_tie){.base = EBB_NONE};
    for (uint32_t i = 0; i < op->n_update; i++)
        ties[op->update[i].out] = (ebb_output_tie){.base = op->in[op->update[i].in]};
    for (uint32_t i = 0; i < op->n_views; i++)
        ties[op->views[i].out] = (ebb_output_tie){op->in[op->views[i].in], op->views[i].offset_bytes};
}

static void find_storages(ebb_live_pass *pass, ebb_output_tie *ties) {
    const ebb_pgraph *graph = pass->graph;
    for (uint32_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].producer == EBB_NONE) add_storage(pass, v);
    for (uint32_t step = 0; step < graph->n_ops; step++) {
        const ebb_pop *op = &graph->ops[step];
        find_ties(op, ties);
        for (uint32_t i = 0; i < op->n_out; i++) {
            ebb_id v = op->out[i];
            if (ties[i].base == EBB_NONE)
                add_storage(pass, v);
            else
                join_storage(pass, v, ties[i].base, ties[i].offset);
        }
    }
}

static void measure_storages(ebb_live_pass *pass) {
    for (uint32_t v = 0; v < pass->graph->n_values; v++) {
        const ebb_life *life = &pass->out->lives[v];
        const ebb_pvalue *value = &pass->graph->values[v];
        if (life->storage == EBB_NONE) continue;
        ebb_storage *storage = &pass->out->storages[life->storage];
        storage->upper = max_u32(storage->upper, life->upper);
        storage->bytes = ebb_max_i64(storage->bytes, life->offset_bytes + value->bytes);
        storage->pinned = storage->pinned || value->role == EBB_ROLE_OUTPUT || is_final(pass, v);
    }
}

ebb_status ebb_live(ebb_arena *arena, const ebb_pgraph *scheduled, ebb_lives *out) {
    uint32_t most_outputs = 0;
    for (uint32_t i = 0; i < scheduled->n_ops; i++)
        most_outputs = max_u32(most_outputs, scheduled->ops[i].n_out);
    memset(out, 0, sizeof *out);
    out->n_steps = scheduled->n_ops;
    out->lives = EBB_NEW(arena, ebb_life, scheduled->n_values);
    out->storages = EBB_NEW(arena, ebb_storage, scheduled->n_values);
    ebb_live_pass pass = {.graph = scheduled, .out = out};
    pass.updated = EBB_NEW(arena, bool, scheduled->n_values);
    ebb_output_tie *ties = EBB_NEW(arena, ebb_output_tie, most_outputs);
    if (!out->lives || !out->storages || !pass.updated || !ties) return EBB_NO_MEMORY;
    find_reads(&pass);
    find_storages(&pass, ties);
    measure_storages(&pass);
    return EBB_OK;
}
