/* inplace: joins an output to the storage of a dying input, where the op allows it.
 *
 *     address             p dies in step 1, y is born there: y may take p's bytes
 *       8 |--p--+--y--+
 *       0 +--+--+--+--+-> step
 *          0     1
 *
 * takes: a scheduled graph and its lives. gives: the lives with storages joined by the rule in planner.h.
 * requires: ebb_live ran. cost: O(values + edges). */
#include "planner/planner.h"

typedef struct ebb_inplace_pass {
    const ebb_pgraph *graph;
    ebb_lives *lives;
    int64_t alignment;
    uint32_t *into;     /* [n_storages] the storage that it was joined to; itself when none */
    uint32_t *operands; /* [n_storages] how often the step at hand reads it, and has outputs in it */
} ebb_inplace_pass;

/* A storage is joined only in the step of its birth, into one that was born before and is its own: one hop
 * is all. */
static uint32_t storage_of(const ebb_inplace_pass *pass, ebb_id v) {
    uint32_t storage = pass->lives->lives[v].storage;
    return storage == EBB_NONE ? EBB_NONE : pass->into[storage];
}

/* Rounded-up bytes agree; false also when rounding would leave int64. */
static bool same_bytes(const ebb_inplace_pass *pass, int64_t a, int64_t b) {
    if (a > INT64_MAX - pass->alignment || b > INT64_MAX - pass->alignment) return false;
    return ebb_align_up(a, pass->alignment) == ebb_align_up(b, pass->alignment);
}

static void join(ebb_inplace_pass *pass, uint32_t out, uint32_t in) {
    ebb_storage *to = &pass->lives->storages[in];
    const ebb_storage *from = &pass->lives->storages[out];
    pass->into[out] = in;
    if (from->upper > to->upper) to->upper = from->upper;
    to->bytes = ebb_max_i64(to->bytes, from->bytes);
    to->pinned = to->pinned || from->pinned;
    pass->operands[in]++; /* taken: no other output of this step may have it */
}

static void count_operands(ebb_inplace_pass *pass, const ebb_pop *op, bool clear) {
    for (uint32_t i = 0; i < op->n_in + op->n_out; i++) {
        uint32_t storage = storage_of(pass, i < op->n_in ? op->in[i] : op->out[i - op->n_in]);
        if (storage != EBB_NONE) pass->operands[storage] = clear ? 0 : pass->operands[storage] + 1;
    }
}

/* The pairs by output, each output's in the listed order: pairs[first[o] .. first[o + 1]). */
typedef struct ebb_pair_index {
    uint32_t *first; /* [most outputs + 1] */
    ebb_pair *pairs; /* [most pairs] */
} ebb_pair_index;

static void index_pairs(const ebb_pair_index *index, const ebb_pop *op) {
    memset(index->first, 0, (op->n_out + 1) * sizeof *index->first);
    for (uint32_t i = 0; i < op->n_in_place; i++) index->first[op->in_place[i].out + 1]++;
    for (uint32_t o = 0; o < op->n_out; o++) index->first[o + 1] += index->first[o];
    for (uint32_t i = 0; i < op->n_in_place; i++)
        index->pairs[index->first[op->in_place[i].out]++] = op->in_place[i];
    /* each start has moved to the next one's; move them back */
    for (uint32_t o = op->n_out; o > 0; o--) index->first[o] = index->first[o - 1];
    index->first[0] = 0;
}

/* ---- the rule's questions ---------------------------------------------------------------------------- */

typedef struct ebb_inplace_step {
    const ebb_inplace_pass *pass;
    const ebb_pop *op;
    uint32_t step;
} ebb_inplace_step;

static uint32_t storage_at(const void *at, uint32_t in) {
    const ebb_inplace_step *s = at;
    return storage_of(s->pass, s->op->in[in]);
}

/* And no other operand of the step lies in it, nor an output: those were counted. */
static bool dies(const void *at, uint32_t root) {
    const ebb_inplace_step *s = at;
    const ebb_storage *storage = &s->pass->lives->storages[root];
    return !storage->persistent && !storage->pinned && storage->upper == s->step + 1 &&
           s->pass->operands[root] == 1;
}

static bool fits(const void *at, uint32_t in, uint32_t root, int64_t bytes) {
    const ebb_inplace_step *s = at;
    return s->pass->lives->lives[s->op->in[in]].offset_bytes == 0 &&
           same_bytes(s->pass, s->pass->lives->storages[root].bytes, bytes);
}

static const ebb_in_place in_place = {storage_at, dies, fits};

static void run_step(ebb_inplace_pass *pass, const ebb_pair_index *index, uint32_t step) {
    const ebb_pop *op = &pass->graph->ops[step];
    if (op->n_in_place == 0) return;
    const ebb_inplace_step at = {pass, op, step};
    count_operands(pass, op, false);
    index_pairs(index, op);
    for (uint32_t o = 0; o < op->n_out; o++) {
        ebb_id out = op->out[o];
        uint32_t own = storage_of(pass, out);
        /* a view or an update shares its storage with an input of the step, so that it counts twice */
        if (own == EBB_NONE || pass->operands[own] != 1) continue;
        uint32_t root =
            ebb_in_place_find(&in_place, &at, 0, &index->pairs[index->first[o]],
                              index->first[o + 1] - index->first[o], o, pass->graph->values[out].bytes);
        if (root == EBB_NONE) continue;
        pass->operands[own] = 0; /* storage_of no longer leads there */
        join(pass, own, root);
    }
    count_operands(pass, op, true);
}

/* Leaves out the joined storages; those that stay keep their order. */
static void compact(ebb_inplace_pass *pass, uint32_t *renumbered) {
    ebb_lives *lives = pass->lives;
    uint32_t n = 0;
    for (uint32_t s = 0; s < lives->n_storages; s++) {
        renumbered[s] = n;
        if (pass->into[s] == s) lives->storages[n++] = lives->storages[s];
    }
    for (uint32_t v = 0; v < pass->graph->n_values; v++)
        if (lives->lives[v].storage != EBB_NONE) lives->lives[v].storage = renumbered[storage_of(pass, v)];
    lives->n_storages = n;
}

ebb_status ebb_inplace(ebb_arena *arena, const ebb_pgraph *scheduled, int64_t alignment, ebb_lives *lives) {
    uint32_t most_outputs = 0, most_pairs = 0;
    for (uint32_t i = 0; i < scheduled->n_ops; i++) {
        if (scheduled->ops[i].n_out > most_outputs) most_outputs = scheduled->ops[i].n_out;
        if (scheduled->ops[i].n_in_place > most_pairs) most_pairs = scheduled->ops[i].n_in_place;
    }
    ebb_inplace_pass pass = {.graph = scheduled, .lives = lives, .alignment = alignment};
    ebb_pair_index index;
    index.first = EBB_NEW(arena, uint32_t, (size_t)most_outputs + 1);
    index.pairs = EBB_NEW(arena, ebb_pair, most_pairs);
    pass.into = EBB_NEW(arena, uint32_t, lives->n_storages);
    pass.operands = EBB_NEW(arena, uint32_t, lives->n_storages);
    if (!index.first || !index.pairs || !pass.into || !pass.operands) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < lives->n_storages; s++) pass.into[s] = s;
    for (uint32_t step = 0; step < scheduled->n_ops; step++) run_step(&pass, &index, step);
    compact(&pass, pass.operands); /* all zero again: free for another use */
    return EBB_OK;
}
