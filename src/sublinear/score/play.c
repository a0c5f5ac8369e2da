/* Scores a candidate in two passes. The first, here, plays the base order with the genes and lists the
 * steps and which life of each value every step reads; the second counts their bytes (sweep.c). */
#include "sublinear/score/play.h"

ebb_status ebb_scorer_create(ebb_env *env, const ebb_space *space, ebb_scorer **out) {
    *out = NULL;
    ebb_scorer *s = ebb_calloc(env, 1, sizeof *s);
    if (!s) return EBB_NO_MEMORY;
    s->env = env;
    s->space = space;
    ebb_arena_init(&s->arena, env);
    ebb_arena *a = &s->arena;
    s->resident = EBB_NEW(a, uint32_t, space->n_values);
    s->gap_at = EBB_NEW(a, uint32_t, space->n_values);
    s->stack = EBB_NEW(a, ebb_frame, space->n_ops + 1);
    s->made = EBB_NEW(a, ebb_id, space->life_limit);
    s->steps = EBB_NEW(a, ebb_id, space->step_limit);
    s->positions = EBB_NEW(a, uint32_t, space->step_limit);
    s->live = EBB_NEW(a, int64_t, space->step_limit);
    s->reads = EBB_NEW(a, uint32_t, space->read_limit);
    s->life_last = EBB_NEW(a, uint32_t, space->life_limit);
    s->lies = EBB_NEW(a, ebb_lie, space->life_limit);
    s->dying = EBB_NEW(a, int64_t, (size_t)space->step_limit + 1);
    bool ok = s->resident && s->gap_at && s->stack && s->made && s->steps && s->positions && s->live &&
              s->reads && s->life_last && s->lies && s->dying;
    if (!ok) {
        ebb_scorer_destroy(s);
        return EBB_NO_MEMORY;
    }
    *out = s;
    return EBB_OK;
}

void ebb_scorer_destroy(ebb_scorer *scorer) {
    if (!scorer) return;
    ebb_env *env = scorer->env;
    ebb_arena_deinit(&scorer->arena);
    ebb_cfree(env, scorer, 1, sizeof *scorer);
}

uint32_t ebb_space_way_of(const ebb_space *space, const uint8_t *genes, ebb_id op) {
    uint32_t gene = space->ops[op].way_gene;
    return gene == EBB_NONE || genes[gene] == 0 ? EBB_NONE : genes[gene] - 1u;
}

static inline bool emit(ebb_scorer *s, ebb_id op_id, ebb_id base) {
    const ebb_space *space = s->space;
    const ebb_space_op *op = &space->ops[op_id];
    const ebb_space_way *way = ebb_scorer_way_of(s, op);
    uint32_t step = s->n_steps;
    if (step >= space->step_limit || s->n_reads + way->n_in > space->read_limit ||
        s->n_lives + op->n_out > space->life_limit)
        return false;
    s->steps[step] = op_id;
    s->positions[step] = base;
    s->n_steps++;
    if (__builtin_add_overflow(s->time_ns, way->time_ns, &s->time_ns)) return false;
    const ebb_id *ins = &space->ins[way->first_in];
    uint32_t *reads = &s->reads[s->n_reads];
    for (uint32_t k = 0; k < way->n_in; k++) {
        reads[k] = s->resident[ins[k]];
        s->life_last[reads[k]] = step;
    }
    s->n_reads += way->n_in;
    for (uint32_t k = 0; k < op->n_updates; k++)
        ebb_scorer_drop(s, space->ins[way->first_in + space->updates[op->first_update + k].in],
                        EBB_REPLACED);
    for (uint32_t k = 0; k < op->n_out; k++) {
        ebb_id value = space->outs[op->first_out + k];
        ebb_scorer_new_life(s, value, step);
        s->made[s->n_made++] = value;
    }
    return true;
}

/* Runs op after whatever it needs and cannot find; to any depth, each op at most once per call. */
static bool run(ebb_scorer *s, ebb_id base) {
    const ebb_space *space = s->space;
    uint32_t depth = 0;
    s->stack[depth++] = (ebb_frame){base, 0};
    while (depth > 0) {
        ebb_frame *f = &s->stack[depth - 1];
        const ebb_space_way *way = ebb_scorer_way_of(s, &space->ops[f->op]);
        const ebb_id *ins = &space->ins[way->first_in];
        uint32_t k = f->next_in;
        while (k < way->n_in && s->resident[ins[k]] < EBB_REPLACED) k++;
        if (k < way->n_in) {
            if (s->resident[ins[k]] == EBB_REPLACED) return false;
            f->next_in = k;
            s->stack[depth++] = (ebb_frame){space->values[ins[k]].producer, 0};
            continue;
        }
        if (!emit(s, f->op, base)) return false;
        depth--;
    }
    return true;
}

/* After a base op: gaps that begin here are kept or not; recomputed values are held or released. */
static void settle(ebb_scorer *s, ebb_id base) {
    const ebb_space *space = s->space;
    const ebb_space_op *op = &space->ops[base];
    for (uint32_t k = op->first_touched; k < op->first_touched + op->n_touched; k++) {
        s->gap_at[space->touched[k]] = space->touched_genes[k];
        if (s->genes[space->touched_genes[k]] != EBB_KEEP) ebb_scorer_drop(s, space->touched[k], EBB_NONE);
    }
    for (uint32_t k = 0; k < s->n_made; k++) {
        ebb_id value = s->made[k];
        const ebb_space_value *v = &space->values[value];
        if (v->first_gap == EBB_NONE) continue;
        uint8_t state = s->genes[s->gap_at[value]];
        bool begins = v->producer == base; /* gap 0 */
        bool early = state == EBB_LATE && base < space->genes[s->gap_at[value]].late;
        if (state == EBB_RELEASE || early || (state == EBB_HOLD && begins))
            ebb_scorer_drop(s, value, EBB_NONE);
    }
    s->n_made = 0;
}

bool ebb_scorer_emit(ebb_scorer *scorer, ebb_id op, ebb_id base) {
    return emit(scorer, op, base);
}

void ebb_scorer_begin(ebb_scorer *s) {
    const ebb_space *space = s->space;
    memset(s->resident, 0xFF, space->n_values * sizeof(uint32_t));
    for (uint32_t v = 0; v < space->n_values; v++) s->gap_at[v] = space->values[v].first_gap;
    s->n_steps = s->n_reads = s->n_lives = s->n_made = 0;
    s->time_ns = 0;
    for (uint32_t k = 0; k < space->n_givens; k++) ebb_scorer_new_life(s, space->givens[k], 0);
}

static bool play(ebb_scorer *s) {
    const ebb_space *space = s->space;
    ebb_scorer_begin(s);
    for (uint32_t i = 0; i < space->n_ops; i++) {
        ebb_id op = s->order ? s->order[i] : i;
        uint32_t lazy = space->ops[op].lazy_gene;
        if ((lazy != EBB_NONE && s->genes[lazy]) || (i > 0 && ebb_space_waits(space, s->genes, op)))
            s->n_made = 0;
        else if (!run(s, op))
            return false;
        settle(s, op);
    }
    return true;
}

void ebb_scorer_set_order(ebb_scorer *scorer, const ebb_id *order) {
    scorer->order = order;
}

ebb_score ebb_score_time(ebb_scorer *scorer, const uint8_t *genes) {
    scorer->genes = genes;
    const bool valid = play(scorer);
    return (ebb_score){.valid = valid, .time_ns = scorer->time_ns, .n_steps = scorer->n_steps};
}

void ebb_score_bytes(ebb_scorer *scorer, int64_t limit_bytes, ebb_score *score) {
    if (score->valid) ebb_scorer_sweep(scorer, limit_bytes, false, score);
}

ebb_score ebb_score_genes(ebb_scorer *scorer, const uint8_t *genes, int64_t limit_bytes) {
    ebb_score score = ebb_score_time(scorer, genes);
    ebb_score_bytes(scorer, limit_bytes, &score);
    return score;
}

static bool all_there(const ebb_scorer *s, ebb_id op) {
    const ebb_space_way *way = ebb_scorer_way_of(s, &s->space->ops[op]);
    for (uint32_t k = 0; k < way->n_in; k++)
        if (s->resident[s->space->ins[way->first_in + k]] >= EBB_REPLACED) return false;
    return true;
}

ebb_score ebb_score_steps(ebb_scorer *scorer, const uint8_t *genes, const ebb_id *steps, uint32_t n_steps,
                          int64_t limit_bytes) {
    ebb_score score = {.valid = true};
    scorer->genes = genes;
    ebb_scorer_begin(scorer);
    for (uint32_t i = 0; i < n_steps && score.valid; i++) {
        score.valid = all_there(scorer, steps[i]) && emit(scorer, steps[i], steps[i]);
        scorer->n_made = 0;
    }
    score.n_steps = scorer->n_steps;
    score.time_ns = scorer->time_ns;
    if (score.valid) ebb_scorer_sweep(scorer, limit_bytes, true, &score);
    return score;
}

const ebb_id *ebb_scorer_steps(const ebb_scorer *scorer) {
    return scorer->steps;
}
const int64_t *ebb_scorer_live(const ebb_scorer *scorer) {
    return scorer->live;
}
const uint32_t *ebb_scorer_positions(const ebb_scorer *scorer) {
    return scorer->positions;
}
