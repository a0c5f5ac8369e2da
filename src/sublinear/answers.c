/* What a search leaves: the best of its pool, trimmed side by side, fastest first (of a search for the
 * fewest bytes: lowest first), as steps.
 *
 * takes: a pool. gives: up to request->n_answers selections. cost: EBB_TRIM_WORK steps of tries by each of
 * those that are side by side. Without a time limit all is the same for any number of workers. */
#include "sublinear/select.h"

/* A candidate that may be the answer. */
typedef struct candidate {
    ebb_arrangement *from;
    const uint8_t *genes;
    ebb_trimmed trimmed;
} candidate;

/* The best so far, fastest first or lowest first; no two take the same time and peak. */
typedef struct candidates {
    candidate at[EBB_MOST_ANSWERS];
    uint32_t n, most;
    bool lowest_first;
} candidates;

static bool comes_before(const candidates *best, const ebb_score *a, const ebb_score *b) {
    if (best->lowest_first && a->peak_bytes != b->peak_bytes) return a->peak_bytes < b->peak_bytes;
    return a->time_ns < b->time_ns;
}

static void insert(candidates *best, const candidate *next) {
    const ebb_score *score = &next->trimmed.score;
    uint32_t at = best->n; /* the first among equals stays */
    for (uint32_t k = 0; k < best->n; k++) {
        const ebb_score *other = &best->at[k].trimmed.score;
        if (other->time_ns == score->time_ns && other->peak_bytes == score->peak_bytes) return;
        if (at == best->n && comes_before(best, score, other)) at = k;
    }
    if (at == best->most) return;
    if (best->n < best->most) best->n++;
    for (uint32_t k = best->n - 1; k > at; k--) best->at[k] = best->at[k - 1];
    best->at[at] = *next;
}

#define TRIMMED      20 /* members of the pool, best first */
/* Candidates that are trimmed side by side, at most. Within a time limit only as many as there are workers,
 * for the clock is looked at between them. */
#define SIDE_BY_SIDE 4

/* What is left of the work is each one's; what they used of it is subtracted when all are done. */
typedef struct trimming {
    ebb_arrangement *from;
    ebb_trimmer *trimmers[SIDE_BY_SIDE];
    const uint8_t *genes[SIDE_BY_SIDE];
    int64_t limits[SIDE_BY_SIDE], work[SIDE_BY_SIDE];
    ebb_trimmed trimmed[SIDE_BY_SIDE];
    uint32_t n;
} trimming;

/* EBB_NO_MEMORY. */
static ebb_status open_trimming(ebb_arena *arena, ebb_arrangement *from, uint32_t n, trimming *out) {
    *out = (trimming){.from = from};
    for (uint32_t i = 0; i < n; i++)
        if (!(out->trimmers[i] = ebb_trimmer_new(arena, from->space))) return EBB_NO_MEMORY;
    return ebb_search_hire_scorers(&from->search, n);
}

static void trim_one(void *ctx, uint32_t i, uint32_t worker) {
    trimming *t = ctx;
    ebb_trim(t->trimmers[i], t->from->search.scorers[worker], t->genes[i], t->limits[i], &t->work[i],
             &t->trimmed[i]);
}

static void add_try(trimming *t, const uint8_t *genes, int64_t limit_bytes) {
    t->genes[t->n] = genes;
    t->limits[t->n++] = limit_bytes;
}

/* Trims what was added; those within their limit are answers. EBB_NO_MEMORY. */
static ebb_status try_answers(ebb_arena *arena, trimming *t, int64_t *work, candidates *best) {
    const ebb_search *s = &t->from->search;
    for (uint32_t i = 0; i < t->n; i++) t->work[i] = *work;
    ebb_parallel_for(s->n_workers, t->n, trim_one, t);
    const int64_t before = *work;
    for (uint32_t i = 0; i < t->n; i++) {
        candidate next = {.from = t->from, .genes = t->genes[i], .trimmed = t->trimmed[i]};
        const ebb_score *score = &next.trimmed.score;
        *work -= before - t->work[i];
        if (!score->valid || score->peak_bytes > t->limits[i]) continue;
        next.trimmed.steps =
            ebb_arena_copy(arena, t->trimmed[i].steps, next.trimmed.n_steps, sizeof(ebb_id));
        if (!next.trimmed.steps) return EBB_NO_MEMORY;
        insert(best, &next);
    }
    t->n = 0;
    return EBB_OK;
}

/* Of another arrangement than the pool's, perhaps. EBB_NO_MEMORY. */
static ebb_status try_warm(ebb_selector *c, ebb_arena *arena, int64_t limit_bytes, int64_t *work,
                           candidates *out) {
    trimming t;
    ebb_status status = open_trimming(arena, c->warm, 1, &t);
    if (status != EBB_OK) return status;
    add_try(&t, c->warm_genes, limit_bytes);
    return try_answers(arena, &t, work, out);
}

static ebb_status try_pool(ebb_arena *arena, ebb_arrangement *a, bool least, int64_t limit_bytes,
                           int64_t *work, candidates *out) {
    ebb_search *s = &a->search;
    trimming t;
    const uint32_t n =
        s->time_limit_ns > 0 ? (uint32_t)ebb_min_i64(s->n_workers, SIDE_BY_SIDE) : SIDE_BY_SIDE;
    ebb_status status = open_trimming(arena, a, n, &t);
    for (uint32_t i = 0; i < s->n_members && i < TRIMMED && status == EBB_OK; i++) {
        const int64_t peak = s->members[i].best.peak_bytes;
        if (peak <= limit_bytes) add_try(&t, s->members[i].best_genes, least ? peak : limit_bytes);
        if (t.n == n) {
            status = try_answers(arena, &t, work, out);
            if (status == EBB_OK && out->n > 0 && ebb_search_may_end(s)) return EBB_OK;
        }
    }
    return status == EBB_OK ? try_answers(arena, &t, work, out) : status;
}

/* Peaks above the least by at most one part in so many are nearly as good. */
#define NEARLY_LEAST_PART 64

/* The fastest of the pool's best, trimmed; and of the warm genes, for a search that goes on from them is
 * not to be worse. What pins drop is not to stay, and the baselines are what they are: those are not
 * trimmed. */
static ebb_status find_answers(ebb_selector *c, ebb_arena *arena, ebb_arrangement *a, candidates *out) {
    ebb_search *s = &a->search;
    const ebb_select_request *r = &c->request;
    bool least = r->method == EBB_METHOD_LEAST, searched = least || r->method == EBB_METHOD_BUDGET;
    *out = (candidates){.most = searched && r->n_answers > 1 ? r->n_answers : 1};
    out->lowest_first = least && r->lowest_first;
    if (out->most > EBB_MOST_ANSWERS) out->most = EBB_MOST_ANSWERS;
    if (!searched || a->space->pinned || ebb_stop_asked(c->env) ||
        (r->without & (EBB_WITHOUT_SEARCH | EBB_WITHOUT_TRIM))) {
        out->at[0] = (candidate){.from = a, .genes = s->members[0].best_genes};
        out->n = 1;
        return ebb_trim_nothing(arena, s->scorers[0], out->at[0].genes, s->budget_bytes,
                                &out->at[0].trimmed);
    }
    int64_t work = EBB_TRIM_WORK, limit = least ? s->members[0].best.peak_bytes : s->budget_bytes;
    if (least && out->most > 1) limit += limit / NEARLY_LEAST_PART;
    ebb_status status = EBB_OK;
    if (c->warm_genes) status = try_warm(c, arena, limit, &work, out);
    if (status != EBB_OK || (out->n > 0 && ebb_search_may_end(s))) return status;
    return try_pool(arena, a, least, limit, &work, out);
}

static ebb_status make_selection(const ebb_selector *c, const candidate *answer, ebb_selection **out) {
    const ebb_arrangement *a = answer->from;
    const ebb_trimmed *trimmed = &answer->trimmed;
    ebb_env *env = c->env;
    if (!trimmed->score.valid) return ebb_fail(env, EBB_INTERNAL, "the selected candidate is not valid");
    ebb_selection *to = ebb_calloc(env, 1, sizeof *to);
    if (!to) return EBB_NO_MEMORY;
    ebb_arena_init(&to->arena, env);
    to->n_steps = trimmed->n_steps;
    to->steps = EBB_NEW(&to->arena, ebb_step_choice, trimmed->n_steps);
    to->alternative = EBB_NEW(&to->arena, uint32_t, a->space->n_ops);
    to->genes = ebb_genes_pack(&to->arena, a, answer->genes, &to->n_genes);
    if (!to->steps || !to->alternative || !to->genes) {
        ebb_selection_destroy(to);
        return EBB_NO_MEMORY;
    }
    to->peak_bytes = trimmed->score.peak_bytes;
    to->time_ns = trimmed->score.time_ns;
    to->n_candidates = c->n_scored;
    to->effort = c->whole_effort;
    for (uint32_t i = 0; i < a->space->n_ops; i++)
        to->alternative[a->order ? a->order[i] : i] = ebb_space_way_of(a->space, answer->genes, i);
    for (uint32_t i = 0; i < trimmed->n_steps; i++) {
        ebb_id op = a->order ? a->order[trimmed->steps[i]] : trimmed->steps[i];
        to->steps[i] = (ebb_step_choice){op, to->alternative[op]};
    }
    *out = to;
    return EBB_OK;
}

ebb_status ebb_select_answers(ebb_selector *c, ebb_arrangement *a, ebb_selection **out) {
    ebb_arena arena;
    candidates best;
    ebb_selection **to = out;
    ebb_arena_init(&arena, c->env);
    ebb_status status = find_answers(c, &arena, a, &best);
    if (status == EBB_OK && best.n == 0)
        status = ebb_fail(c->env, EBB_INTERNAL, "the selected candidate is not valid");
    for (uint32_t i = 0; i < best.n && status == EBB_OK; i++) {
        status = make_selection(c, &best.at[i], to);
        if (status == EBB_OK) to = &(*to)->next;
    }
    ebb_arena_deinit(&arena);
    if (status == EBB_OK) return EBB_OK;
    ebb_selection_destroy(*out);
    *out = NULL;
    return status;
}
