/* Budget mode: searches under a limit on live bytes until the packed plan is within the budget, too.
 *
 * takes: the baseline. gives: the fastest plan that fits of all that were packed, so that it is never
 * slower than the baseline where that fits. cost: MAX_TIGHTENINGS searches at most; one, as a rule. Where
 * none fits: least.c.
 */
#include "engine/study/study.h"

/* The search sees live bytes; a packing may need a little more. So often is the search's limit tightened,
 * before a search for the fewest bytes says more. */
#define MAX_TIGHTENINGS  4
#define MORE_TIGHTENINGS 2 /* where there is an answer already */

void ebb_study_offer(const ebb_study *study, ebb_answer *best, ebb_answer *next) {
    if (ebb_study_fits(study, next->plan) && (!best->plan || next->plan->time_ns < best->plan->time_ns)) {
        ebb_answer other = *best;
        *best = *next;
        *next = other;
    }
    ebb_answer_drop(next);
}

/* A quick packing may be above the budget where one that is asked for fits. So what an interrupted search
 * has found is packed as any answer, but for this long at most. */
#define LAST_PACKING_NS UINT64_C(5000000000)

static ebb_status pack_last(ebb_study *study, const ebb_selection *selection, ebb_pack_effort packing,
                            ebb_plan **out) {
    const uint64_t deadline_ns = study->deadline_ns, soon_ns = ebb_clock_ns(study->env) + LAST_PACKING_NS;
    if (deadline_ns == 0 || soon_ns < deadline_ns) study->deadline_ns = soon_ns;
    ebb_env_hold_stop(study->env, true);
    ebb_status status = ebb_study_pack(study, selection, EBB_REUSE_IN_PLACE, packing, out);
    ebb_env_hold_stop(study->env, false);
    study->deadline_ns = deadline_ns;
    return status;
}

ebb_status ebb_study_answer(ebb_study *study, const ebb_ask *ask, ebb_answer *out) {
    *out = (ebb_answer){0};
    ebb_status status = ebb_study_select(study, ask, &out->selection);
    if (!out->selection) return status;
    if (study->hint.most_times > 0 &&
        (double)out->selection->time_ns > study->hint.most_times * (double)study->base_time_ns) {
        ebb_answer_drop(out);
        return status == EBB_OK ? EBB_OVER_BUDGET : status;
    }
    ebb_status packed =
        status == EBB_INTERRUPTED
            ? pack_last(study, out->selection, ask->packing, &out->plan)
            : ebb_study_pack(study, out->selection, EBB_REUSE_IN_PLACE, ask->packing, &out->plan);
    if (packed == EBB_OK) return status;
    ebb_answer_drop(out);
    return packed;
}

/* A quick packing that misses the budget by less than the first part of it was unlucky: a limit that is so
 * much lower costs little. One that misses it by more than the second is not mended by packing at length,
 * as a rule, which takes as long as a search under a lower limit. */
#define UNLUCKY_PART   256
#define HOPELESS_PART  48
/* So much of the time without recomputation is less than a search under a lower limit can be hoped to gain.
 */
#define NEAR_TIME_PART 1000

/* Packs an answer that a quick packing left above the budget once more, at length, if that pays. */
static ebb_status pack_at_length(ebb_study *study, ebb_answer *answer) {
    const int64_t budget = study->options->budget_bytes,
                  excess = ebb_study_needs(study, answer->plan) - budget;
    if (excess <= budget / UNLUCKY_PART || excess > budget / HOPELESS_PART) return EBB_OK;
    ebb_plan *plan;
    ebb_status status =
        ebb_study_pack(study, answer->selection, EBB_REUSE_IN_PLACE, EBB_PACK_AT_LENGTH, &plan);
    if (status != EBB_OK) return status;
    ebb_plan_destroy(answer->plan);
    answer->plan = plan;
    return EBB_OK;
}

ebb_status ebb_study_pack_next(ebb_study *study, ebb_answer *of, ebb_pack_effort packing, ebb_answer *out) {
    *out = (ebb_answer){.selection = of->selection->next};
    of->selection->next = out->selection->next;
    out->selection->next = NULL;
    return ebb_study_pack(study, out->selection, EBB_REUSE_IN_PLACE, packing, &out->plan);
}

/* Arenas that differ by less than this part of them are what the same few values leave. */
#define SAME_ARENA_PART 65536

/* The same search's other answers are nearly as fast, and one of them may pack better: the first that fits
 * goes to *best. One that packs the very same differs where it does not matter, and so do those behind it.
 */
static ebb_status offer_others(ebb_study *study, ebb_answer *fastest, ebb_answer *best) {
    ebb_status status = EBB_OK;
    int64_t arena = fastest->plan->arena_bytes;
    bool done = false;
    while (status == EBB_OK && !done && fastest->selection->next && !ebb_study_is_late(study)) {
        ebb_answer other;
        status = ebb_study_pack_next(study, fastest, EBB_PACK_QUICKLY, &other);
        if (status == EBB_OK) {
            const int64_t before = arena;
            arena = other.plan->arena_bytes;
            done = ebb_study_fits(study, other.plan) ||
                   ebb_max_i64(arena - before, before - arena) <= arena / SAME_ARENA_PART;
        }
        ebb_study_offer(study, best, &other);
    }
    return status;
}

/* An answer that a quick packing left above the budget: looks for one nearby that packs better. *done:
 * there is one that is good enough. */
static ebb_status pack_better(ebb_study *study, ebb_answer *last, ebb_answer *best, bool *done) {
    *done = false;
    if (ebb_study_is_late(study)) return EBB_OK;
    const ebb_plan *before = best->plan;
    ebb_status status = offer_others(study, last, best);
    if (study->hint.fits_or_not) { /* any other will do; a packing at length takes as long as a search */
        *done = best->plan != before;
        return status;
    }
    *done = best->plan && best->plan->time_ns - last->plan->time_ns <= study->base_time_ns / NEAR_TIME_PART;
    if (status != EBB_OK || *done) return status;
    status = pack_at_length(study, last);
    *done = status == EBB_OK && ebb_study_fits(study, last->plan);
    return status;
}

/* An answer within a time limit that packs badly has a neighbour that packs better: it is looked for once
 * after the limit, since without any answer a search for the fewest bytes would follow, which takes longer.
 * Then the limit is lower by this part more, so that it packs at once. */
#define GRACE_PART 64

/* Has the time limit struck? Nothing is begun after it, but once where there is no answer yet. */
static bool is_late(ebb_study *study, bool answered) {
    if (!ebb_study_is_late(study)) return false;
    if (answered || !study->alone) return true;
    study->alone = false;
    study->deadline_ns = ebb_clock_ns(study->env) + EBB_GRACE_NS;
    return false;
}

/* Limits that differ by less than this part of them are searched alike. Where one is known to be too tight,
 * that ends it: to search on between them took 1.6 times as long for DenseNet-121's 960 images, to the same
 * plan. */
#define ALIKE_PART 256

/* Nothing was found under so many halved limits: the fewest bytes say more. */
#define MAX_RAISES 2

/* The limit on live bytes that is tried, and one whose answers packed badly; -1: none did. Those known to
 * be too tight are the study's. */
typedef struct tightening {
    int64_t limit, loose;
    uint32_t n_raised;
    bool done;
} tightening;

/* Between what is known to be too tight and too loose. Below 0 there is none. */
static int64_t between(const ebb_study *study, int64_t limit, int64_t loose) {
    return limit < 0 || limit > study->tight_bytes ? limit
                                                   : study->tight_bytes + (loose - study->tight_bytes) / 2;
}

/* Nothing was found under the limit. */
static void raise_limit(ebb_study *study, tightening *t) {
    study->tight_bytes = ebb_max_i64(study->tight_bytes, t->limit);
    t->limit = between(study, t->limit, t->loose);
    t->done = t->loose - t->limit < t->loose / ALIKE_PART || t->n_raised++ == MAX_RAISES;
}

/* What was found under the limit is above the budget once it is packed. */
static void lower_limit(const ebb_study *study, const ebb_answer *found, bool after_deadline,
                        tightening *t) {
    const int64_t excess = ebb_study_needs(study, found->plan) - study->options->budget_bytes;
    int64_t limit = ebb_min_i64(t->limit, found->selection->peak_bytes) - excess;
    if (after_deadline) limit -= limit / GRACE_PART;
    t->loose = t->limit;
    t->limit = between(study, limit, t->loose);
    t->done = t->loose - t->limit < t->loose / ALIKE_PART && study->tight_bytes >= 0;
}

/* An answer was found, which may fit, or lead to one that does; else the limit is lowered. */
static ebb_status take_answer(ebb_study *study, ebb_status ended, ebb_answer *found, ebb_answer *best,
                              tightening *t) {
    const bool was_alone = study->alone;
    ebb_status status = ended;
    t->done = true;
    if (status != EBB_OK || ebb_study_fits(study, found->plan)) return status;
    status = pack_better(study, found, best, &t->done);
    if (status != EBB_OK || t->done) {
        t->done = true;
        return status;
    }
    t->done = is_late(study, best->plan != NULL);
    if (!t->done) lower_limit(study, found, was_alone && !study->alone, t);
    return EBB_OVER_BUDGET;
}

/* Room that is left for packing where time is short and the baseline packs badly: its excess is a few times
 * that much once values are dropped, and there may be no time for a second search. */
#define MORE_EXCESS 4

static int64_t first_limit(const ebb_study *study) {
    const int64_t room = ebb_study_room(study);
    if (study->deadline_ns == 0 || room <= 0) return room;
    const double excess =
        (double)study->base_excess_bytes / (double)ebb_max_i64(1, study->base_arena_bytes);
    return room - ebb_min_i64((int64_t)(MORE_EXCESS * excess * (double)room), room / GRACE_PART);
}

ebb_status ebb_study_tighten(ebb_study *study, const uint8_t *genes, uint32_t n_genes, ebb_answer *out) {
    /* A search that knows the bound ends near it; a trial's ends soon anyway. */
    ebb_status status = study->hint.fits_or_not ? EBB_OK : ebb_study_prove(study);
    if (status != EBB_OK) return status;
    const bool answered = study->answered || (study->hint.fits_or_not && out->plan);
    const uint32_t most = answered ? MORE_TIGHTENINGS : MAX_TIGHTENINGS;
    tightening t = {.limit = first_limit(study), .loose = -1, .done = ebb_study_none_fits(study)};
    ebb_ask ask = {.method = EBB_METHOD_BUDGET, .genes = genes, .n_genes = n_genes};
    ebb_answer last = {0};
    status = EBB_OVER_BUDGET;
    for (uint32_t k = 0; k < most && t.limit >= 0 && !t.done; k++) {
        ebb_answer next;
        ask.limit_bytes = t.limit;
        /* A neighbour is found sooner than a hard packing is solved. */
        ask.packing = study->hint.fits_or_not || k + 1 < most ? EBB_PACK_QUICKLY : EBB_PACK_AT_LENGTH;
        status = ebb_study_answer(study, &ask, &next);
        if (study->halvings < 2) study->halvings = 2; /* on from a near answer */
        if (next.plan) {
            ebb_answer_drop(&last);
            last = next;
            status = take_answer(study, status, &last, out, &t);
            ask.genes = last.selection->genes; /* the next limit is a little below: its answer is near */
            ask.n_genes = last.selection->n_genes;
        } else if (status == EBB_OVER_BUDGET && t.loose >= 0) {
            raise_limit(study, &t);
        } else {
            t.done = true;
        }
    }
    ebb_study_offer(study, out, &last);
    if (status == EBB_OVER_BUDGET && out->plan) status = EBB_OK;
    if (status != EBB_OVER_BUDGET) return status;
    return ebb_fail(study->env, EBB_OVER_BUDGET, "no plan found within %lld bytes",
                    (long long)study->options->budget_bytes);
}

ebb_status ebb_study_plan_budget(ebb_study *study, ebb_answer *base, ebb_answer *out) {
    *out = (ebb_answer){0};
    const ebb_compiled *warm = study->hint.warm;
    ebb_status status = EBB_OK;
    if (warm) { /* another size's answer may be one of this size */
        ebb_answer as_it_is;
        status = ebb_study_repeat(study, warm, &as_it_is);
        ebb_study_offer(study, out, &as_it_is);
        if (status == EBB_OVER_BUDGET) status = EBB_OK;
        if (status == EBB_OK && study->hint.no_search && !out->plan)
            status = ebb_fail(study->env, EBB_OVER_BUDGET, "the plan of another size is above the budget");
        if (status != EBB_OK || study->hint.no_search) return status;
    }
    if (!ebb_study_fits(study, base->plan) || ebb_study_may_be_faster(study, base->plan) || study->any_drop)
        status = ebb_study_descend(study, base, warm, out);
    if (status == EBB_OK || status == EBB_INTERRUPTED) {
        if (!study->any_drop) ebb_study_offer(study, out, base);
        return status;
    }
    ebb_answer_drop(out);
    return status;
}
