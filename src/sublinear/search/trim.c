/* Leaves out runs of ops, one after the other; each try is scored whole. */
#include "sublinear/search/search.h"

#include <stdlib.h>

#define PASSES 3 /* what one run leaves may let another go */

/* A run of an op: the k-th, so that it is found again when others are gone. */
typedef struct run {
    ebb_id op;
    uint32_t k;
    int64_t time_ns;
} run;

struct ebb_trimmer {
    const ebb_env *env;
    const ebb_space *space;
    ebb_scorer *scorer;
    const uint8_t *genes;
    int64_t limit_bytes, *work;
    ebb_id *steps, *try; /* [step_limit] */
    run *runs;           /* likewise */
    uint32_t *n_runs;    /* per op */
    bool *needed;        /* per value */
};

static const ebb_space_way *way_of(const ebb_trimmer *t, ebb_id op) {
    uint32_t way = ebb_space_way_of(t->space, t->genes, op);
    return &t->space->ways[t->space->ops[op].first_way + (way == EBB_NONE ? 0 : way + 1)];
}

static void count_runs(ebb_trimmer *t, const ebb_id *steps, uint32_t n) {
    memset(t->n_runs, 0, t->space->n_ops * sizeof *t->n_runs);
    for (uint32_t i = 0; i < n; i++) t->n_runs[steps[i]]++;
}

/* Leaves out runs that nobody reads, but first ones: others may have to come after those. Returns how many
 * steps are left. */
static uint32_t sweep_unread(ebb_trimmer *t, ebb_id *steps, uint32_t n) {
    const ebb_space *space = t->space;
    uint32_t to = n;
    count_runs(t, steps, n);
    for (uint32_t v = 0; v < space->n_values; v++) t->needed[v] = space->values[v].output;
    for (uint32_t i = n; i-- > 0;) {
        const ebb_space_op *op = &space->ops[steps[i]];
        const ebb_space_way *way = way_of(t, steps[i]);
        bool read = false, first = --t->n_runs[steps[i]] == 0;
        for (uint32_t k = 0; k < op->n_out; k++) read = read || t->needed[space->outs[op->first_out + k]];
        if (!read && !first) continue;
        for (uint32_t k = 0; k < op->n_out; k++) t->needed[space->outs[op->first_out + k]] = false;
        for (uint32_t k = 0; k < way->n_in; k++) t->needed[space->ins[way->first_in + k]] = true;
        steps[--to] = steps[i];
    }
    memmove(steps, steps + to, (n - to) * sizeof *steps);
    return n - to;
}

/* Dearest first; later ones before earlier ones. */
static int compare_runs(const void *a, const void *b) {
    const run *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    if (x->op != y->op) return x->op > y->op ? -1 : 1;
    return x->k > y->k ? -1 : x->k < y->k;
}

static uint32_t list_runs(ebb_trimmer *t, const ebb_trimmed *now) {
    uint32_t n = 0;
    memset(t->n_runs, 0, t->space->n_ops * sizeof *t->n_runs);
    for (uint32_t i = 0; i < now->n_steps; i++) {
        ebb_id op = now->steps[i];
        uint32_t k = t->n_runs[op]++;
        if (k > 0) t->runs[n++] = (run){op, k, way_of(t, op)->time_ns};
    }
    qsort(t->runs, n, sizeof *t->runs, compare_runs);
    return n;
}

/* The steps without the k-th run of an op; 0: there is none. */
static uint32_t leave_out(ebb_trimmer *t, const ebb_trimmed *now, const run *left_out) {
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < now->n_steps; i++)
        if (now->steps[i] != left_out->op || k++ != left_out->k) t->try[n++] = now->steps[i];
    return n < now->n_steps ? sweep_unread(t, t->try, n) : 0;
}

/* Runs are counted anew by each try: one that has moved up since is tried in its next pass. */
static bool run_pass(ebb_trimmer *t, ebb_trimmed *now) {
    bool gained = false;
    uint32_t n_runs = list_runs(t, now);
    for (uint32_t k = 0; k<n_runs && * t->work> 0 && !ebb_stop_asked(t->env); k++) {
        *t->work -= now->n_steps;
        uint32_t n = leave_out(t, now, &t->runs[k]);
        if (n == 0) continue;
        ebb_score score = ebb_score_steps(t->scorer, t->genes, t->try, n, t->limit_bytes);
        if (!score.valid || score.peak_bytes > t->limit_bytes || score.time_ns > now->score.time_ns)
            continue;
        memcpy(now->steps, t->try, n * sizeof *t->try);
        now->n_steps = n;
        now->score = score;
        gained = true;
    }
    return gained;
}

ebb_status ebb_trim_nothing(ebb_arena *arena, ebb_scorer *scorer, const uint8_t *genes, int64_t limit_bytes,
                            ebb_trimmed *out) {
    out->score = ebb_score_genes(scorer, genes, limit_bytes);
    out->n_steps = out->score.n_steps;
    out->steps = ebb_arena_copy(arena, ebb_scorer_steps(scorer), out->n_steps, sizeof(ebb_id));
    return out->steps ? EBB_OK : EBB_NO_MEMORY;
}

ebb_trimmer *ebb_trimmer_new(ebb_arena *arena, const ebb_space *space) {
    ebb_trimmer *t = EBB_NEW(arena, ebb_trimmer, 1);
    if (!t) return NULL;
    t->env = arena->env;
    t->space = space;
    t->steps = EBB_NEW(arena, ebb_id, space->step_limit);
    t->try = EBB_NEW(arena, ebb_id, space->step_limit);
    t->runs = EBB_NEW(arena, run, space->step_limit);
    t->n_runs = EBB_NEW(arena, uint32_t, space->n_ops);
    t->needed = EBB_NEW(arena, bool, space->n_values);
    return t->steps && t->try && t->runs && t->n_runs && t->needed ? t : NULL;
}

void ebb_trim(ebb_trimmer *t, ebb_scorer *scorer, const uint8_t *genes, int64_t limit_bytes, int64_t *work,
              ebb_trimmed *out) {
    t->scorer = scorer;
    t->genes = genes;
    t->limit_bytes = limit_bytes;
    t->work = work;
    *out = (ebb_trimmed){.steps = t->steps, .score = ebb_score_genes(scorer, genes, limit_bytes)};
    out->n_steps = out->score.n_steps;
    memcpy(t->steps, ebb_scorer_steps(scorer), out->n_steps * sizeof(ebb_id));
    if (!out->score.valid || out->score.peak_bytes > limit_bytes) return;
    for (uint32_t pass = 0; pass < PASSES && run_pass(t, out); pass++) continue;
}
