/* Budget mode: searches under a limit on live bytes until the packed plan is within the budget, too.
 *
 * takes: the baseline. gives: the fastest plan that fits of all that were packed, so that it is never
 * slower than the baseline where that fits. cost: MAX_TIGHTENINGS searches at most; one, as a rule. Where
 * none fits: least.c.
 */
#include "engine/study/study.h"

/* The search sees live bytes; a packing may need a little more. So often is the search's limit tightened.
 */
#define MAX_TIGHTENINGS   6
#define TRIAL_TIGHTENINGS 4 /* where another size is tried next */
#define MORE_TIGHTENINGS  2 /* where there is an answer already */

void ebb_study_offer(const ebb_study *p, ebb_answer *best, ebb_answer *next) {
    if (ebb_study_fits(p, next->plan) && (!best->plan || next->plan->time_ns < best->plan->time_ns)) {
        ebb_answer other = *best;
        *best = *next;
        *next = other;
    }
    ebb_answer_drop(next);
}

/* A quick packing may be above the budget where one that is asked for fits. So what an interrupted search
 * has found is packed as any answer, but for this long at most. */
#define LAST_PACKING_NS UINT64_C(5000000000)

static ebb_status pack_last(ebb_study *p, const ebb_selection *selection, ebb_plan **out) {
    const uint64_t deadline_ns = p->deadline_ns, soon_ns = ebb_clock_ns(p->env) + LAST_PACKING_NS;
    if (deadline_ns == 0 || soon_ns < deadline_ns) p->deadline_ns = soon_ns;
    ebb_env_hold_stop(p->env, true);
    ebb_status status = ebb_study_pack(p, selection, EBB_REUSE_IN_PLACE, out);
    ebb_env_hold_stop(p->env, false);
    p->deadline_ns = deadline_ns;
    return status;
}

ebb_status ebb_study_answer(ebb_study *p, ebb_method method, int64_t limit_bytes, const uint8_t *genes,
                            uint32_t n_genes, ebb_answer *out) {
    *out = (ebb_answer){0};
    ebb_status status = ebb_study_select(p, method, limit_bytes, genes, n_genes, &out->selection);
    if (!out->selection) return status;
    if (p->hint.most_times > 0 &&
        (double)out->selection->time_ns > p->hint.most_times * (double)p->base_time_ns) {
        ebb_answer_drop(out);
        return status == EBB_OK ? EBB_OVER_BUDGET : status;
    }
    ebb_status packed = status == EBB_INTERRUPTED
                            ? pack_last(p, out->selection, &out->plan)
                            : ebb_study_pack(p, out->selection, EBB_REUSE_IN_PLACE, &out->plan);
    if (packed == EBB_OK) return status;
    ebb_answer_drop(out);
    return packed;
}

/* A quick packing that misses the budget by this part of it was unlucky: a limit that is so much lower
 * would cost more time than packing at length. */
#define UNLUCKY_PART 256
/* So much of the time without recomputation is less than a search under a lower limit can be hoped to gain.
 */
#define NEAR_PART    1000

/* Packs an answer that a quick packing left above the budget once more, at length, if that pays. */
static ebb_status pack_at_length(ebb_study *p, ebb_answer *answer) {
    const int64_t budget = p->options->budget_bytes, excess = answer->plan->total_bytes - budget;
    if (excess <= budget / UNLUCKY_PART) return EBB_OK;
    ebb_plan *plan;
    ebb_status status = ebb_study_pack(p, answer->selection, EBB_REUSE_IN_PLACE, &plan);
    if (status != EBB_OK) return status;
    ebb_plan_destroy(answer->plan);
    answer->plan = plan;
    return EBB_OK;
}

ebb_status ebb_study_pack_next(ebb_study *p, ebb_answer *of, ebb_answer *out) {
    *out = (ebb_answer){.selection = of->selection->next};
    of->selection->next = out->selection->next;
    out->selection->next = NULL;
    p->quick = true;
    const ebb_status status = ebb_study_pack(p, out->selection, EBB_REUSE_IN_PLACE, &out->plan);
    p->quick = false;
    return status;
}

/* The same search's other answers are nearly as fast, and one of them may pack better: the first that fits
 * goes to *best. */
static ebb_status offer_others(ebb_study *p, ebb_answer *fastest, ebb_answer *best) {
    ebb_status status = EBB_OK;
    bool fit = false;
    while (status == EBB_OK && !fit && fastest->selection->next) {
        ebb_answer other;
        status = ebb_study_pack_next(p, fastest, &other);
        fit = status == EBB_OK && ebb_study_fits(p, other.plan);
        ebb_study_offer(p, best, &other);
    }
    return status;
}

/* An answer that a quick packing left above the budget: looks for one nearby that packs better. *done:
 * there is one that is good enough. */
static ebb_status pack_better(ebb_study *p, ebb_answer *last, ebb_answer *best, bool *done) {
    *done = false;
    if (p->hint.fits_or_not || p->hurried) return EBB_OK;
    ebb_status status = offer_others(p, last, best);
    *done = best->plan && best->plan->time_ns - last->plan->time_ns <= p->base_time_ns / NEAR_PART;
    if (status != EBB_OK || *done) return status;
    status = pack_at_length(p, last);
    *done = status == EBB_OK && ebb_study_fits(p, last->plan);
    return status;
}

/* An answer within a time limit that packs badly has a neighbour that packs better: it is looked for once
 * after the limit, since without any answer a search for the fewest bytes would follow, which takes longer.
 * Then the limit is lower by this part more, so that it packs at once. */
#define GRACE_PART 64

/* Has the time limit struck? Nothing is begun after it, but once where there is no answer yet. */
static bool is_late(ebb_study *p, bool answered) {
    if (!ebb_study_is_late(p)) return false;
    if (answered || !p->alone) return true;
    p->alone = false;
    p->deadline_ns = ebb_clock_ns(p->env) + EBB_GRACE_NS;
    return false;
}

/* Limits that differ by less than this part of them are searched alike. Where one is known to be too tight,
 * that ends it: to search on between them took 1.6 times as long for DenseNet-121's 960 images, to the same
 * plan. */
#define ALIKE_PART 256

/* The limit after one whose answer packed badly, or found none: between what is known to be too tight and
 * too loose. Below 0 there is none. */
static int64_t next_limit(const ebb_study *p, int64_t limit, int64_t loose) {
    return limit < 0 || limit > p->tight_bytes ? limit : p->tight_bytes + (loose - p->tight_bytes) / 2;
}

ebb_status ebb_study_tighten(ebb_study *p, const uint8_t *genes, uint32_t n_genes, ebb_answer *out) {
    const int64_t budget = p->options->budget_bytes;
    int64_t limit = ebb_study_room(p), loose = -1; /* a limit whose answers packed badly */
    ebb_answer last = {0};
    /* A search that knows the bound ends near it; a trial's ends soon anyway. */
    ebb_status status = p->hint.fits_or_not ? EBB_OK : ebb_study_prove(p);
    if (status != EBB_OK) return status;
    const bool answered = p->answered || (p->hint.fits_or_not && out->plan);
    const uint32_t most = answered              ? MORE_TIGHTENINGS
                          : p->hint.fits_or_not ? TRIAL_TIGHTENINGS
                                                : MAX_TIGHTENINGS;
    bool done = ebb_study_none_fits(p);
    status = EBB_OVER_BUDGET;
    for (uint32_t k = 0; k < most && limit >= 0 && !done; k++) {
        ebb_answer next;
        p->quick = p->hint.fits_or_not ||
                   k + 1 < most; /* a neighbour is found sooner than a hard packing is solved */
        status = ebb_study_answer(p, EBB_METHOD_BUDGET, limit, genes, n_genes, &next);
        p->quick = false;
        if (p->halvings < 2) p->halvings = 2; /* on from a near answer */
        if (!next.plan && (status != EBB_OVER_BUDGET || loose < 0)) break;
        if (!next.plan) { /* too tight */
            p->tight_bytes = ebb_max_i64(p->tight_bytes, limit);
            limit = next_limit(p, limit, loose);
            done = loose - limit < loose / ALIKE_PART;
            continue;
        }
        ebb_answer_drop(&last);
        last = next;
        done = ebb_study_fits(p, last.plan);
        if (status == EBB_OK && !done) status = pack_better(p, &last, out, &done);
        if (status != EBB_OK || done) break;
        const bool was_alone = p->alone;
        if (is_late(p, out->plan != NULL)) {
            status = EBB_OVER_BUDGET;
            break;
        }
        genes = last.selection->genes; /* the next limit is a little below: its answer is near */
        n_genes = last.selection->n_genes;
        loose = limit;
        limit = ebb_min_i64(limit, last.selection->peak_bytes) - (last.plan->total_bytes - budget);
        if (was_alone && !p->alone) limit -= limit / GRACE_PART;
        limit = next_limit(p, limit, loose);
        done = loose - limit < loose / ALIKE_PART && p->tight_bytes >= 0;
        status = EBB_OVER_BUDGET;
    }
    ebb_study_offer(p, out, &last);
    if (status == EBB_OVER_BUDGET && out->plan) status = EBB_OK;
    if (status != EBB_OVER_BUDGET) return status;
    return ebb_fail(p->env, EBB_OVER_BUDGET, "no plan found within %lld bytes", (long long)budget);
}

ebb_status ebb_study_plan_budget(ebb_study *p, ebb_answer *base, ebb_answer *out) {
    *out = (ebb_answer){0};
    const ebb_compiled *warm = p->hint.warm;
    ebb_status status = EBB_OK;
    if (warm) { /* another size's answer may be one of this size */
        ebb_answer as_it_is;
        status = ebb_study_repeat(p, warm, &as_it_is);
        ebb_study_offer(p, out, &as_it_is);
        if (status == EBB_OVER_BUDGET) status = EBB_OK;
        if (status == EBB_OK && p->hint.no_search && !out->plan)
            status = ebb_fail(p->env, EBB_OVER_BUDGET, "the plan of another size is above the budget");
        if (status != EBB_OK || p->hint.no_search) return status;
    }
    if (!ebb_study_fits(p, base->plan) || ebb_study_may_be_faster(p, base->plan) || p->any_drop)
        status = ebb_study_descend(p, base, warm, out);
    if (status == EBB_OK || status == EBB_INTERRUPTED) {
        if (!p->any_drop) ebb_study_offer(p, out, base);
        return status;
    }
    ebb_answer_drop(out);
    return status;
}
