/* The rescorer's face: a candidate that stands, genes that change, and the order in which rounds look
 * again.
 */
#include "sublinear/score/rounds.h"

/* ---- for which spaces ------------------------------------------------------------------------------- */

static bool update_replaces_computed(const ebb_space *space) {
    for (uint32_t i = 0; i < space->n_ops; i++)
        for (uint32_t k = 0; k < space->ops[i].n_updates; k++) {
            ebb_pair update = space->updates[space->ops[i].first_update + k];
            for (uint32_t w = 0; w < space->ops[i].n_ways; w++) {
                const ebb_space_way *way = &space->ways[space->ops[i].first_way + w];
                if (space->values[space->ins[way->first_in + update.in]].producer != EBB_NONE) return true;
            }
        }
    return false;
}

/* All lives of a candidate over all positions, and all its steps' time, sum to no more than int64 holds. */
static bool sums_fit(const ebb_space *space) {
    int64_t sum = 0, longest_ns = 0, rounds = space->step_limit / space->n_ops + 2;
    for (uint32_t v = 0; v < space->n_values; v++) sum += space->values[v].bytes;
    for (uint32_t w = 0; w < space->ops[space->n_ops - 1].first_way + space->ops[space->n_ops - 1].n_ways;
         w++) {
        sum += space->ways[w].scratch_bytes;
        longest_ns = ebb_max_i64(longest_ns, space->ways[w].time_ns);
    }
    return ebb_mul_i64(longest_ns, space->step_limit, &longest_ns) && ebb_mul_i64(sum, rounds, &sum) &&
           ebb_mul_i64(sum, (int64_t)space->n_ops + 1, &sum) && sum < INT64_MAX / 4;
}

bool ebb_rescore_applies(const ebb_space *space) {
    return space->n_ops > 0 && space->n_ops < INT32_MAX / 2 && space->ops[0].lazy_gene == EBB_NONE &&
           !update_replaces_computed(space) && sums_fit(space);
}

/* ---- lives ------------------------------------------------------------------------------------------ */

static bool grow(ebb_rescorer *r) {
    uint32_t n = r->max_lives > 0 ? 2 * r->max_lives : 2 * r->space->n_values + 64;
    ebb_arena *a = &r->arena;
    ebb_rescore_life *lives = EBB_NEW(a, ebb_rescore_life, n);
    int32_t *life_pos = EBB_NEW(a, int32_t, n);
    uint32_t **tables[] = {&r->free_lives, &r->dirty_roots, &r->dead,      &r->life_mark,
                           &r->life_made,  &r->life_step,   &r->life_taken};
    if (n > INT32_MAX / 2 || !lives || !life_pos) return false;
    memset(lives, 0, n * sizeof *lives);
    if (r->max_lives > 0) memcpy(lives, r->lives, r->max_lives * sizeof *lives);
    if (r->max_lives > 0) memcpy(life_pos, r->life_pos, r->max_lives * sizeof *life_pos);
    for (size_t k = 0; k < EBB_COUNT(tables); k++) {
        uint32_t *table = EBB_NEW(a, uint32_t, n);
        if (!table) return false;
        memset(table, 0, n * sizeof *table);
        if (r->max_lives > 0) memcpy(table, *tables[k], r->max_lives * sizeof *table);
        *tables[k] = table;
    }
    r->lives = lives;
    r->life_pos = life_pos;
    r->max_lives = n;
    return true;
}

void ebb_rescore_enlist(ebb_rescorer *r, uint32_t id) {
    ebb_ids *list = &r->lives_of[r->lives[id].value];
    uint32_t k = list->n++;
    for (; k > 0 && r->life_pos[list->at[k - 1]] > r->life_pos[id]; k--) list->at[k] = list->at[k - 1];
    list->at[k] = id;
}

void ebb_rescore_delist(ebb_rescorer *r, uint32_t id) {
    ebb_ids *list = &r->lives_of[r->lives[id].value];
    uint32_t k = 0;
    while (list->at[k] != id) k++;
    memmove(list->at + k, list->at + k + 1, (list->n - k - 1) * sizeof *list->at);
    list->n--;
}

uint32_t ebb_rescore_new_life(ebb_rescorer *r, ebb_id value, int32_t pos) {
    ebb_ids *list = &r->lives_of[value];
    if (r->n_free_lives == 0 && r->n_lives == r->max_lives && !grow(r)) r->pool.failed = true;
    if (r->pool.failed || !ebb_ids_reserve(&r->pool, list, list->n + 1)) return EBB_NONE;
    if (r->n_free_lives > 0 && r->journal.freed) r->journal.on = false; /* back() loads instead */
    uint32_t id = r->n_free_lives > 0 ? r->free_lives[--r->n_free_lives] : r->n_lives++;
    ebb_rescore_life *life = &r->lives[id];
    *life = (ebb_rescore_life){.value = value,
                               .root = r->space->values[value].bytes > 0 ? id : EBB_NONE,
                               .counted = EBB_UNCOUNTED,
                               .at_start = true,
                               .touches = {life->touches.at, 0, life->touches.cap}};
    r->life_pos[id] = pos;
    ebb_rescore_enlist(r, id);
    ebb_rescore_note(r, EBB_NOTE_MADE, id, 0, 0);
    if (life->root == id) ebb_rescore_mark_root(r, id);
    return id;
}

/* ---- create ----------------------------------------------------------------------------------------- */

static void find_replaced(ebb_rescorer *r) {
    const ebb_space *space = r->space;
    memset(r->replaced, 0xFF, space->n_values * sizeof *r->replaced);
    for (uint32_t i = 0; i < space->n_ops; i++)
        for (uint32_t k = 0; k < space->ops[i].n_updates; k++) {
            uint32_t first = space->ways[space->ops[i].first_way].first_in;
            ebb_id value = space->ins[first + space->updates[space->ops[i].first_update + k].in];
            const ebb_space_value *v = &space->values[value];
            r->replaced[value] = i;
            for (uint32_t f = 0; f < v->n_views; f++) r->replaced[space->followers[v->first_view + f]] = i;
        }
}

/* What is noted at most; a candidate that changes more is taken back by running everything again. */
#define NOTES_AN_OP 16
#define MIN_NOTES   4096

static bool reserve(ebb_rescorer *r) {
    const ebb_space *s = r->space;
    ebb_arena *a = &r->arena;
    r->genes = EBB_NEW(a, uint8_t, s->n_genes);
    r->begins = EBB_NEW(a, uint32_t, s->n_genes);
    r->replaced = EBB_NEW(a, uint32_t, s->n_values);
    r->rounds = EBB_NEW(a, ebb_round, s->n_ops);
    r->asks = EBB_NEW(a, ebb_ids, s->n_values);
    r->lives_of = EBB_NEW(a, ebb_ids, s->n_values);
    r->span = EBB_NEW(a, int64_t, s->n_ops);
    r->inner = EBB_NEW(a, int64_t, s->n_ops);
    r->blocks = EBB_NEW(a, ebb_block, s->n_ops / EBB_BLOCK + 1);
    r->queue = EBB_NEW(a, uint64_t, s->n_ops / 64 + 1);
    r->sweeps = EBB_NEW(a, uint32_t, s->n_ops);
    r->to_sweep = EBB_NEW(a, bool, s->n_ops);
    r->value_epoch = EBB_NEW(a, uint32_t, s->n_values);
    r->value_life = EBB_NEW(a, uint32_t, s->n_values);
    r->value_mark = EBB_NEW(a, uint32_t, s->n_values);
    r->stack = EBB_NEW(a, ebb_frame, s->n_ops + 1);
    r->journal.max = NOTES_AN_OP * s->n_ops + MIN_NOTES;
    r->journal.notes = EBB_NEW(a, ebb_note, r->journal.max);
    r->journal.rounds = EBB_NEW(a, ebb_round, s->n_ops);
    r->journal.blocks = EBB_NEW(a, ebb_block, s->n_ops / EBB_BLOCK + 1);
    bool ok = r->genes && r->begins && r->replaced && r->rounds && r->asks && r->lives_of && r->span &&
              r->inner && r->blocks && r->queue && r->sweeps && r->to_sweep && r->value_epoch &&
              r->value_life && r->value_mark && r->stack && r->journal.notes && r->journal.rounds &&
              r->journal.blocks && grow(r);
    if (!ok) return false;
    memset(r->rounds, 0, s->n_ops * sizeof *r->rounds);
    memset(r->journal.rounds, 0, s->n_ops * sizeof *r->journal.rounds);
    memset(r->asks, 0, s->n_values * sizeof *r->asks);
    memset(r->lives_of, 0, s->n_values * sizeof *r->lives_of);
    memset(r->queue, 0, (s->n_ops / 64 + 1) * sizeof *r->queue);
    memset(r->to_sweep, 0, s->n_ops * sizeof *r->to_sweep);
    memset(r->value_mark, 0, s->n_values * sizeof *r->value_mark);
    return true;
}

static void forget_epochs(ebb_rescorer *r) {
    memset(r->value_epoch, 0, r->space->n_values * sizeof *r->value_epoch);
    for (uint32_t k = 0; k < r->space->n_givens; k++) {
        r->value_epoch[r->space->givens[k]] = EBB_EVERY_EPOCH;
        r->value_life[r->space->givens[k]] = k;
    }
}

ebb_status ebb_rescorer_create(ebb_env *env, const ebb_space *space, ebb_rescorer **out) {
    *out = NULL;
    ebb_rescorer *r = ebb_calloc(env, 1, sizeof *r);
    if (!r) return EBB_NO_MEMORY;
    r->env = env;
    r->space = space;
    r->broken = true;
    ebb_arena_init(&r->arena, env);
    r->pool.arena = &r->arena;
    if (!reserve(r)) {
        ebb_rescorer_destroy(r);
        return EBB_NO_MEMORY;
    }
    find_replaced(r);
    forget_epochs(r);
    for (uint32_t k = 0; k < space->n_genes; k++) r->begins[k] = space->genes[k].begin;
    memcpy(r->genes, space->base_genes, space->n_genes);
    *out = r;
    return EBB_OK;
}

void ebb_rescorer_destroy(ebb_rescorer *rescorer) {
    if (!rescorer) return;
    ebb_env *env = rescorer->env;
    ebb_arena_deinit(&rescorer->arena);
    ebb_cfree(env, rescorer, 1, sizeof *rescorer);
}

/* ---- scoring ---------------------------------------------------------------------------------------- */

static void next_epoch(ebb_rescorer *r) {
    if (++r->epoch < UINT32_MAX / 4) return;
    forget_epochs(r);
    memset(r->value_mark, 0, r->space->n_values * sizeof *r->value_mark);
    memset(r->life_mark, 0, r->max_lives * sizeof *r->life_mark);
    memset(r->life_made, 0, r->max_lives * sizeof *r->life_made);
    r->epoch = 1;
}

/* Rounds only ever queue later ones. */
static void settle(ebb_rescorer *r) {
    for (uint32_t word = r->queue_first; word < r->queue_last && !r->broken && !r->pool.failed;) {
        if (r->queue[word] == 0) {
            word++;
            continue;
        }
        uint32_t bit = (uint32_t)__builtin_ctzll(r->queue[word]);
        r->queue[word] &= r->queue[word] - 1;
        next_epoch(r);
        ebb_rescore_round(r, word * 64 + bit);
    }
    r->queue_first = UINT32_MAX;
    r->queue_last = 0;
}

/* From nothing: no lives but the given, no round run. */
static void start_over(ebb_rescorer *r) {
    const ebb_space *s = r->space;
    for (uint32_t v = 0; v < s->n_values; v++) r->asks[v].n = r->lives_of[v].n = 0;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        ebb_round *round = &r->rounds[i];
        round->steps.n = round->reads.n = round->made.n = round->touched.n = 0;
        round->time_ns = 0;
        round->invalid = r->to_sweep[i] = false;
        r->span[i] = 0;
        r->inner[i] = INT64_MIN / 2;
    }
    for (uint32_t b = 0; b <= s->n_ops / EBB_BLOCK; b++) r->blocks[b] = (ebb_block){.dirty = true};
    memset(r->queue, 0, (s->n_ops / 64 + 1) * sizeof *r->queue);
    r->journal.on = false;
    r->n_lives = r->n_free_lives = r->n_dirty_roots = r->n_dead = r->n_sweeps = 0;
    r->sums.time_ns = r->sums.n_steps = r->sums.n_reads = r->sums.n_invalid = 0;
    r->sums.n_made = s->n_givens;
    r->broken = false;
    for (uint32_t k = 0; k < s->n_givens; k++)
        if (ebb_rescore_new_life(r, s->givens[k], EBB_GIVEN_POS) == EBB_NONE) return;
    for (uint32_t i = 0; i < s->n_ops; i++) ebb_rescore_queue(r, i);
    r->queue_first = 0;
}

void ebb_rescorer_load(ebb_rescorer *rescorer, const uint8_t *genes) {
    memcpy(rescorer->genes, genes, rescorer->space->n_genes);
    rescorer->broken = true;
}

ebb_score ebb_rescorer_time(ebb_rescorer *r) {
    bool anew = r->broken;
    if (anew && !r->pool.failed) start_over(r);
    settle(r);
    if (r->broken && !anew && !r->pool.failed) { /* too many with rounds that were still to shrink? */
        start_over(r);
        settle(r);
    }
    return (ebb_score){.valid = !r->broken && !r->pool.failed && r->sums.n_invalid == 0,
                       .time_ns = r->sums.time_ns,
                       .n_steps = (uint32_t)r->sums.n_steps};
}

ebb_score ebb_rescorer_score(ebb_rescorer *r, int64_t limit_bytes) {
    ebb_score score = ebb_rescorer_time(r);
    if (!r->broken && !r->pool.failed) ebb_rescore_bytes(r);
    if (score.valid) ebb_rescore_peak(r, limit_bytes, &score);
    return score;
}

const uint8_t *ebb_rescorer_genes(const ebb_rescorer *rescorer) {
    return rescorer->genes;
}

bool ebb_rescorer_failed(const ebb_rescorer *rescorer) {
    return rescorer->pool.failed;
}
