/* One round: what runs for a base op, which life each step reads, and who must look again when that
 * changes. The rules are those of play.c's first pass, asked for one position instead of played from the
 * start. */
#include "sublinear/score/rounds.h"

/* The gap of the leader that begins before (or: at) the position, the last such one; or its first. */
static inline uint32_t gap_before(const ebb_rescorer *r, const ebb_space_value *v, int64_t position) {
    uint32_t gap = v->first_gap + v->n_gaps - 1;
    while (gap > v->first_gap && r->begins[gap] >= position) gap--;
    return gap;
}

static const ebb_space_value *leader_of(const ebb_space *space, ebb_id value) {
    const ebb_space_value *v = &space->values[value];
    return v->follows ? &space->values[v->leader] : v;
}

/* What is made again at a position inside the gap stays until its end. */
static inline bool stays(const ebb_gene *gap, uint8_t state, int64_t position) {
    return state != EBB_RELEASE && (state != EBB_LATE || position >= gap->late);
}

/* The life that a reader in the round at p finds before anything ran there: the last one made earlier,
 * unless it was dropped since. */
static uint32_t resident(const ebb_rescorer *r, ebb_id value, int32_t p) {
    const ebb_ids *list = &r->lives_of[value];
    uint32_t k = list->n;
    while (k > 0 && r->life_pos[list->at[k - 1]] >= p) k--;
    if (k == 0) return EBB_NONE;
    const uint32_t life = list->at[k - 1];
    const ebb_space_value *v = leader_of(r->space, value);
    if (v->first_gap == EBB_NONE) return life;
    const int64_t made = r->life_pos[life];
    for (uint32_t gap = gap_before(r, v, p);; gap--) {
        const uint8_t state = r->genes[gap];
        const int64_t begin = r->begins[gap];
        if (made > begin) return stays(&r->space->genes[gap], state, made) ? life : EBB_NONE;
        if (state != EBB_KEEP) return EBB_NONE;
        if (made == begin || gap == v->first_gap) return life;
    }
}

static inline uint32_t find(ebb_rescorer *r, ebb_id value, int32_t p) {
    if (r->value_epoch[value] < r->epoch) {
        r->value_epoch[value] = r->epoch;
        r->value_life[value] = resident(r, value, p);
    }
    return r->value_life[value];
}

/* ---- running ---------------------------------------------------------------------------------------- */

static inline void push(ebb_rescorer *r, ebb_ids *list, uint32_t id) {
    if (list->n == list->cap && !ebb_ids_reserve(&r->pool, list, list->n + 1)) return;
    list->at[list->n++] = id;
}

static void queue_after(ebb_rescorer *r, ebb_id value, int32_t p);

static uint32_t life_at(ebb_rescorer *r, ebb_id value, int32_t p) {
    const ebb_ids *list = &r->lives_of[value];
    for (uint32_t k = list->n; k-- > 0 && r->life_pos[list->at[k]] >= p;)
        if (r->life_pos[list->at[k]] == p) return list->at[k];
    uint32_t life = ebb_rescore_new_life(r, value, p);
    if (life != EBB_NONE) queue_after(r, value, p);
    return life;
}

static void lay_view(ebb_rescorer *r, ebb_view view, const uint32_t *reads, const uint32_t *made) {
    ebb_rescore_life *life = &r->lives[made[view.out]];
    const ebb_rescore_life *base = &r->lives[reads[view.in]];
    if (r->space->values[life->value].bytes == 0 || base->root == EBB_NONE) return;
    const bool at_start = base->at_start && view.offset_bytes == 0;
    if (life->root == base->root && life->at_start == at_start) return;
    ebb_rescore_note(r, EBB_NOTE_VIEW, made[view.out], (int32_t)life->root, life->at_start);
    life->at_start = at_start;
    if (life->root == base->root) return;
    if (r->space->values[life->value].output) { /* made once, by its base op */
        if (life->root != made[view.out]) r->lives[life->root].pins--;
        r->lives[base->root].pins++;
        ebb_rescore_mark_root(r, base->root);
    }
    ebb_rescore_mark_root(r, life->root); /* of a new life: it has no storage of its own */
    life->root = base->root;
    const int32_t pos = r->life_pos[made[view.out]];
    queue_after(r, life->value, pos); /* its readers touch another storage */
    const ebb_ids *asks = &r->asks[life->value];
    for (uint32_t k = asks->n; k-- > 0 && (int64_t)asks->at[k] > pos;)
        ebb_rescore_mark_sweep(r, asks->at[k]);
}

static bool emit(ebb_rescorer *r, ebb_round *round, ebb_id op_id, int32_t p) {
    const ebb_space *space = r->space;
    const ebb_space_op *op = &space->ops[op_id];
    const ebb_space_way *way = ebb_rescore_way(r, op_id);
    uint32_t first_read = r->reads.n, first_made = r->made.n;
    if (r->sums.n_steps + r->steps.n >= space->step_limit ||
        r->sums.n_reads + r->reads.n + way->n_in > space->read_limit ||
        r->sums.n_made + r->made.n + op->n_out > space->life_limit)
        return !(r->broken = true);
    push(r, &r->steps, op_id);
    round->time_ns += way->time_ns;
    if (!ebb_ids_reserve(&r->pool, &r->reads, first_read + way->n_in)) return false;
    const ebb_id *ins = &space->ins[way->first_in];
    for (uint32_t k = 0; k < way->n_in; k++) { /* all found in this epoch */
        r->reads.at[first_read + k] = r->value_life[ins[k]];
        round->invalid |= (int64_t)r->replaced[ins[k]] < p;
    }
    r->reads.n = first_read + way->n_in;
    for (uint32_t j = 0; j < op->n_out; j++) {
        ebb_id value = space->outs[op->first_out + j];
        uint32_t life = life_at(r, value, p);
        if (life == EBB_NONE || r->pool.failed) return !(r->pool.failed = true);
        push(r, &r->made, life);
        r->value_epoch[value] = r->epoch;
        r->value_life[value] = life;
    }
    if (r->pool.failed) return false;
    for (uint32_t k = 0; k < op->n_views; k++)
        lay_view(r, space->views[op->first_view + k], r->reads.at + first_read, r->made.at + first_made);
    return true;
}

/* Runs the base op after whatever it needs and cannot find; to any depth, each op at most once. */
static bool run(ebb_rescorer *r, ebb_round *round, uint32_t p) {
    const ebb_space *space = r->space;
    uint32_t depth = 0;
    r->steps.n = r->reads.n = r->made.n = r->touched.n = 0;
    round->time_ns = 0;
    round->invalid = false;
    uint32_t lazy = space->ops[p].lazy_gene;
    if ((lazy != EBB_NONE && r->genes[lazy]) || ebb_space_waits(space, r->genes, p)) return true;
    r->stack[depth++] = (ebb_frame){p, 0};
    while (depth > 0) {
        ebb_frame *f = &r->stack[depth - 1];
        const ebb_space_way *way = ebb_rescore_way(r, f->op);
        while (f->next_in < way->n_in &&
               find(r, space->ins[way->first_in + f->next_in], (int32_t)p) != EBB_NONE)
            f->next_in++;
        if (f->next_in < way->n_in) {
            ebb_id maker = space->values[space->ins[way->first_in + f->next_in]].producer;
            r->stack[depth++] = (ebb_frame){maker, 0};
            continue;
        }
        if (!emit(r, round, f->op, (int32_t)p)) return false;
        depth--;
    }
    return true;
}

/* ---- who looks again -------------------------------------------------------------------------------- */

void ebb_rescore_queue_readers(ebb_rescorer *r, ebb_id value, int64_t after, int64_t until) {
    const ebb_ids *asks = &r->asks[value];
    for (uint32_t k = asks->n; k-- > 0 && asks->at[k] > after;)
        if (asks->at[k] <= until) ebb_rescore_queue(r, asks->at[k]);
}

/* Readers that may find a life made at p: as far as it is not dropped. */
static void queue_after(ebb_rescorer *r, ebb_id value, int32_t p) {
    const ebb_space *space = r->space;
    const ebb_space_value *v = leader_of(space, value);
    int64_t until = space->n_ops;
    if (r->asks[value].n == 0) return;
    if (v->first_gap != EBB_NONE) {
        uint32_t gap = gap_before(r, v, (int64_t)p + 1); /* or at p */
        const uint32_t last = v->first_gap + v->n_gaps - 1;
        if (!stays(&space->genes[gap], r->genes[gap], p) ||
            (r->genes[gap] != EBB_KEEP && r->begins[gap] == (uint32_t)p))
            return;
        while (gap < last && r->genes[gap + 1] == EBB_KEEP) gap++;
        until = space->genes[gap].end;
    }
    ebb_rescore_queue_readers(r, value, p, until);
}

/* ---- settling --------------------------------------------------------------------------------------- */

static void list_touched(ebb_rescorer *r) {
    for (uint32_t k = 0; k < r->reads.n; k++) {
        const uint32_t root = r->lives[r->reads.at[k]].root;
        if (root == EBB_NONE || r->life_mark[root] == 2 * r->epoch) continue;
        r->life_mark[root] = 2 * r->epoch;
        push(r, &r->touched, root);
    }
}

/* Who asks for a value: most that a round reads, it has read before. Given values, whose lives come first,
 * are there for everybody. */
static void settle_reads(ebb_rescorer *r, const ebb_round *round, uint32_t p) {
    const uint32_t before = 2 * r->epoch, seen = before + 1, n_givens = r->space->n_givens;
    for (uint32_t k = 0; k < round->reads.n; k++)
        r->value_mark[r->lives[round->reads.at[k]].value] = before;
    for (uint32_t k = 0; k < r->reads.n; k++) {
        if (r->reads.at[k] < n_givens) continue;
        const ebb_id value = r->lives[r->reads.at[k]].value;
        if (r->value_mark[value] < before) {
            ebb_ids_insert(&r->pool, &r->asks[value], p);
            ebb_rescore_note(r, EBB_NOTE_ASKED, value, (int32_t)p, 0);
        }
        r->value_mark[value] = seen;
    }
    for (uint32_t k = 0; k < round->reads.n; k++) {
        if (round->reads.at[k] < n_givens) continue;
        const ebb_id value = r->lives[round->reads.at[k]].value;
        if (r->value_mark[value] != before) continue;
        ebb_ids_erase(&r->asks[value], p);
        ebb_rescore_note(r, EBB_NOTE_NOT_ASKED, value, (int32_t)p, 0);
        r->value_mark[value] = seen;
    }
}

static void settle_touches(ebb_rescorer *r, const ebb_round *round, uint32_t p) {
    for (uint32_t k = 0; k < round->touched.n; k++) {
        uint32_t root = round->touched.at[k];
        if (r->life_mark[root] == 2 * r->epoch) {
            r->life_mark[root]++; /* in both */
            continue;
        }
        ebb_ids_erase(&r->lives[root].touches, p);
        ebb_rescore_note(r, EBB_NOTE_NOT_TOUCHED, root, (int32_t)p, 0);
        ebb_rescore_mark_root(r, root);
    }
    for (uint32_t k = 0; k < r->touched.n; k++) {
        uint32_t root = r->touched.at[k];
        if (r->life_mark[root] != 2 * r->epoch) continue;
        ebb_ids_insert(&r->pool, &r->lives[root].touches, p);
        ebb_rescore_note(r, EBB_NOTE_TOUCHED, root, (int32_t)p, 0);
        ebb_rescore_mark_root(r, root);
    }
}

static void settle_made(ebb_rescorer *r, const ebb_round *round, int32_t p) {
    for (uint32_t k = 0; k < r->made.n; k++) r->life_made[r->made.at[k]] = r->epoch;
    for (uint32_t k = 0; k < round->made.n; k++) {
        uint32_t id = round->made.at[k];
        ebb_rescore_life *life = &r->lives[id];
        if (r->life_made[id] == r->epoch) continue;
        ebb_rescore_delist(r, id);
        life->dead = true;
        ebb_rescore_note(r, EBB_NOTE_NOT_MADE, id, 0, 0);
        r->dead[r->n_dead++] = id;
        if (life->root == id) ebb_rescore_mark_root(r, id);
        queue_after(r, life->value, p);
    }
}

static bool same(const ebb_ids *a, const ebb_ids *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n * sizeof *a->at) == 0);
}

void ebb_rescore_round(ebb_rescorer *r, uint32_t position) {
    ebb_round *round = &r->rounds[position], now = {0};
    r->sums.n_steps -= round->steps.n;
    r->sums.n_reads -= round->reads.n;
    r->sums.n_made -= round->made.n;
    if (!run(r, &now, position)) return;
    r->sums.n_steps += r->steps.n;
    r->sums.n_reads += r->reads.n;
    r->sums.n_made += r->made.n;
    const bool same_reads = same(&r->reads, &round->reads);
    list_touched(r);
    if (!same_reads) settle_reads(r, round, position);
    const bool as_before = same_reads && now.time_ns == round->time_ns && now.invalid == round->invalid &&
                           same(&r->steps, &round->steps) && same(&r->touched, &round->touched) &&
                           same(&r->made, &round->made);
    if (as_before) return;
    const ebb_round *before = ebb_rescore_replace_round(r, position);
    r->sums.time_ns += now.time_ns - before->time_ns;
    r->sums.n_invalid += now.invalid - before->invalid;
    settle_touches(r, before, position);
    settle_made(r, before, (int32_t)position);
    ebb_ids_assign(&r->pool, &round->steps, r->steps.at, r->steps.n);
    ebb_ids_assign(&r->pool, &round->reads, r->reads.at, r->reads.n);
    ebb_ids_assign(&r->pool, &round->made, r->made.at, r->made.n);
    ebb_ids_assign(&r->pool, &round->touched, r->touched.at, r->touched.n);
    round->time_ns = now.time_ns;
    round->invalid = now.invalid;
    ebb_rescore_mark_sweep(r, position);
}
