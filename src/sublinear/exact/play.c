/* Plays the base order with genes that are decided on the way (score/play.c plays it with all of them at
 * hand: what is said there is not said again). */
#include "sublinear/exact/tree.h"

/* The answer to the question that comes next; negative: no answer is worth a look. */
static int ask(ebb_tree *t, uint32_t n_answers) {
    if (t->next == t->n_path) {
        if (!ebb_tree_promises(t)) return -1;
        t->path[t->n_path++] = (ebb_question){0, (uint8_t)n_answers};
    }
    return t->path[t->next++].answer;
}

/* Asks for one of the states of an op's gene. */
static bool ask_state(ebb_tree *t, uint32_t gene) {
    const ebb_gene *g = &t->space->genes[gene];
    int answer = g->n_states > 1 ? ask(t, g->n_states - g->first_state) : 0;
    if (answer < 0) return false;
    t->genes[gene] = (uint8_t)((g->n_states > 1 ? g->first_state : 0) + answer);
    return true;
}

/* Is the gap's state among `some`? Asks when it may be and may not be. */
static bool ask_among(ebb_tree *t, uint32_t gene, uint8_t some, bool *is) {
    uint8_t with = t->known[gene] & some, without = t->known[gene] & (uint8_t)~some;
    *is = with != 0;
    if (with && without) {
        int answer = ask(t, 2);
        if (answer < 0) return false;
        *is = answer == 0;
    }
    uint8_t left = *is ? with : without;
    t->known[gene] = left;
    t->genes[gene] = (uint8_t)__builtin_ctz(left); /* the first of them */
    return true;
}

static inline uint32_t gap_of(const ebb_tree *t, ebb_id value) {
    return t->scorer->gap_at[value];
}

static void take_away(ebb_tree *t, ebb_id value) {
    ebb_scorer_drop(t->scorer, value, EBB_NONE);
    t->sure[value] = 0;
}

/* Ends the doubt about a value: it stays, or has been dropped all the while. */
static bool resolve(ebb_tree *t, ebb_id value) {
    if (t->doubt[value] == EBB_NO_DOUBT) return true;
    static const uint8_t stay[] = {[EBB_DOUBT_KEPT] = EBB_MAY_KEEP,
                                   [EBB_DOUBT_HELD] = EBB_MAY_KEEP | EBB_MAY_HOLD,
                                   [EBB_DOUBT_LATE] = EBB_MAY_KEEP | EBB_MAY_HOLD | EBB_MAY_LATE};
    bool stays;
    if (!ask_among(t, gap_of(t, value), stay[t->doubt[value]], &stays)) return false;
    t->doubt[value] = EBB_NO_DOUBT;
    t->sure[value] = stays;
    if (!stays) take_away(t, value);
    return true;
}

/* *life: what a reader of the value would take now. */
static bool look_for(ebb_tree *t, ebb_id value, uint32_t *life) {
    const ebb_space_value *v = &t->space->values[value];
    bool sound = resolve(t, v->follows ? v->leader : value);
    *life = t->scorer->resident[value];
    return sound;
}

static bool push(ebb_tree *t, ebb_id op) {
    t->scorer->stack[t->depth++] = (ebb_frame){op, 0};
    if (t->way_known[op]) return true;
    if (!ask_state(t, t->space->ops[op].way_gene)) return false;
    t->way_known[op] = 1;
    return true;
}

/* What an op makes takes the place of what it made before, which must be settled until then. */
static bool emit(ebb_tree *t, ebb_id op_id) {
    const ebb_space_op *op = &t->space->ops[op_id];
    const ebb_id *outs = &t->space->outs[op->first_out];
    for (uint32_t k = 0; k < op->n_out; k++)
        if (!resolve(t, outs[k])) return false;
    for (uint32_t k = 0; k < op->n_out; k++) t->sure[outs[k]] = 0;
    t->depth--;
    t->ran[op_id] = 1;
    return ebb_scorer_emit(t->scorer, op_id, t->position);
}

static bool run(ebb_tree *t, ebb_id op_id) {
    const ebb_space *space = t->space;
    if (!push(t, op_id)) return false;
    while (t->depth > 0) {
        ebb_frame *f = &t->scorer->stack[t->depth - 1];
        const ebb_space_way *way = ebb_scorer_way_of(t->scorer, &space->ops[f->op]);
        uint32_t life = EBB_NONE;
        while (f->next_in < way->n_in) {
            if (!look_for(t, space->ins[way->first_in + f->next_in], &life)) return false;
            if (life >= EBB_REPLACED) break;
            f->next_in++;
        }
        if (f->next_in < way->n_in) {
            ebb_id value = space->ins[way->first_in + f->next_in];
            if (life == EBB_REPLACED || !push(t, space->values[value].producer)) return false;
        } else if (!emit(t, f->op)) {
            return false;
        }
    }
    return true;
}

/* ---- between rounds -------------------------------------------------------------------------- */

/* A gap begins. KEEP is HOLD when the value is not there. Otherwise it is asked about at once where the
 * value is certain to be needed at the end (so that bounds know what is held until then), else when
 * somebody looks for it. */
static bool begin_gap(ebb_tree *t, ebb_id value) {
    uint32_t gene = gap_of(t, value);
    if (t->scorer->resident[value] == EBB_NONE) return true;
    bool stays = t->known[gene] == EBB_MAY_KEEP;
    if (!stays && (t->known[gene] & EBB_MAY_KEEP)) {
        if (!t->certain[gene]) {
            t->doubt[value] = EBB_DOUBT_KEPT;
            return true;
        }
        if (!ask_among(t, gene, EBB_MAY_KEEP, &stays)) return false;
    }
    t->sure[value] = stays;
    if (!stays) take_away(t, value);
    return true;
}

static bool settle(ebb_tree *t) {
    const ebb_space *space = t->space;
    const ebb_space_op *op = &space->ops[t->position];
    const ebb_id *touched = &space->touched[op->first_touched];
    for (uint32_t k = 0; k < op->n_touched; k++) t->sure[touched[k]] = 0;
    for (uint32_t k = 0; k < op->n_touched; k++) {
        if (!resolve(t, touched[k])) return false;
        t->sure[touched[k]] = 0;
        t->scorer->gap_at[touched[k]] = space->touched_genes[op->first_touched + k];
        if (!begin_gap(t, touched[k])) return false;
    }
    for (uint32_t k = 0; k < t->scorer->n_made; k++) {
        ebb_id value = t->scorer->made[k];
        const ebb_space_value *v = &space->values[value];
        if (v->first_gap == EBB_NONE) continue;
        if (v->producer == t->position) {
            if (!begin_gap(t, value)) return false;
            continue;
        }
        if (t->scorer->resident[value] == EBB_NONE || t->doubt[value] || t->sure[value]) continue;
        const bool late = t->position >= space->genes[gap_of(t, value)].late;
        const uint8_t known = t->known[gap_of(t, value)],
                      gone = late ? EBB_MAY_RELEASE : EBB_MAY_RELEASE | EBB_MAY_LATE;
        if ((known & gone) == known)
            take_away(t, value);
        else if (known & gone)
            t->doubt[value] = late ? EBB_DOUBT_LATE : EBB_DOUBT_HELD;
        else
            t->sure[value] = 1;
    }
    t->scorer->n_made = 0;
    return true;
}

/* As ebb_space_waits. */
static bool ask_waits(ebb_tree *t, const ebb_space_op *op, bool *waits) {
    *waits = op->may_wait;
    for (uint32_t k = 0; *waits && k < op->n_out; k++) {
        uint32_t gene = t->space->values[t->space->outs[op->first_out + k]].first_gap;
        bool kept = false;
        if (gene != EBB_NONE && !ask_among(t, gene, EBB_MAY_KEEP, &kept)) return false;
        *waits = !kept;
    }
    return true;
}

static bool play_round(ebb_tree *t) {
    const ebb_space_op *op = &t->space->ops[t->position];
    bool waits = false;
    if (op->lazy_gene != EBB_NONE) {
        if (!ask_state(t, op->lazy_gene)) return false;
        waits = t->genes[op->lazy_gene] != 0;
    }
    if (!waits && !ask_waits(t, op, &waits)) return false;
    if (waits)
        t->scorer->n_made = 0;
    else if (!run(t, t->position))
        return false;
    return settle(t);
}

/* All is open that pins leave open. */
static void forget(ebb_tree *t) {
    const ebb_space *space = t->space;
    for (uint32_t k = 0; k < space->n_genes; k++) {
        const ebb_gene *g = &space->genes[k];
        uint8_t first = g->n_states > 1 ? g->first_state : 0;
        if (g->kind == EBB_GENE_GAP) t->known[k] = (uint8_t)((1u << g->n_states) - (1u << first));
        t->genes[k] = first;
    }
    memset(t->doubt, EBB_NO_DOUBT, space->n_values);
    memset(t->sure, 0, space->n_values);
    memset(t->ran, 0, space->n_ops);
    for (uint32_t i = 0; i < space->n_ops; i++) {
        uint32_t gene = space->ops[i].way_gene;
        t->way_known[i] = gene == EBB_NONE || space->genes[gene].n_states < 2;
    }
    t->next = t->depth = 0;
}

bool ebb_tree_play(ebb_tree *t) {
    forget(t);
    ebb_scorer_begin(t->scorer);
    t->scorer->genes = t->genes;
    for (t->position = 0; t->position < t->space->n_ops; t->position++)
        if (!play_round(t)) return false;
    return ebb_tree_promises(t);
}
