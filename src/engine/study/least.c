/* Fewer bytes: the smallest plan, and what is done where nothing fits a budget.
 *
 *     tighten -> a peak that is low enough -> the least peak -> another draw of all that -> a refusal
 *
 * takes: a baseline, an answer of another size or none. gives: a plan that fits, or the fewest bytes found.
 * cost: at most MOST_DRAWS x (two searches for the peak, and the tightenings of two starts). */
#include <stdio.h>

#include "engine/study/study.h"

/* What packs to so little more than its live bytes was not unlucky: another would hardly be smaller. */
#define LUCKY_PART 256

static bool fits_or_packs_well(const ebb_study *study, const ebb_answer *answer) {
    const int64_t peak = answer->selection->peak_bytes;
    return study->options->unpacked || ebb_study_fits(study, answer->plan) ||
           answer->plan->arena_bytes - peak <= peak / LUCKY_PART;
}

/* Leaves the smallest of a search's answers in *out: of all, or up to one that is good enough. */
static ebb_status pack_others(ebb_study *study, ebb_pack_effort packing, bool all, ebb_answer *out) {
    ebb_status status = EBB_OK;
    while (status == EBB_OK && out->selection->next && (all || !fits_or_packs_well(study, out))) {
        ebb_answer other;
        status = ebb_study_pack_next(study, out, packing, &other);
        if (status == EBB_OK && ebb_study_needs(study, other.plan) < ebb_study_needs(study, out->plan)) {
            ebb_answer larger = *out;
            other.selection->next = larger.selection->next;
            larger.selection->next = NULL;
            *out = other;
            other = larger;
        }
        ebb_answer_drop(&other);
    }
    return status;
}

ebb_status ebb_study_smallest(ebb_study *study, ebb_answer *out) {
    const ebb_ask ask = {.method = EBB_METHOD_LEAST};
    const ebb_status ended = ebb_study_answer(study, &ask, out);
    return ended == EBB_OK ? pack_others(study, EBB_PACK_QUICKLY, true, out) : ended;
}

ebb_status ebb_study_least(ebb_study *study, int64_t enough_bytes, ebb_answer *out) {
    const ebb_ask ask = {.method = EBB_METHOD_LEAST, .enough_bytes = enough_bytes};
    study->halvings = 2;
    const ebb_status ended = ebb_study_answer(study, &ask, out);
    return ended == EBB_OK ? pack_others(study, EBB_PACK_AT_LENGTH, false, out) : ended;
}

/* Keeps a plan above the budget, the smallest so far, if somebody asks for it. */
static ebb_status keep(ebb_study *study, ebb_answer *answer) {
    if (!study->hint.smallest) return EBB_OK;
    ebb_compiled_deinit(study->env, &study->smallest);
    return ebb_compiled_take(study->env, &study->smallest, answer);
}

/* Goes on from the plan of the least peak, or from the baseline when that packs better, if its live bytes
 * fit: when it packs badly, a neighbour may pack better, unless *low says that this was tried. The search
 * for it ends at enough_bytes. *low: its peak is that low. *smallest_bytes falls to its total, if it is the
 * least. */
static ebb_status plan_from_least(ebb_study *study, int64_t enough_bytes, const ebb_answer *base,
                                  ebb_answer *out, bool *low, int64_t *smallest_bytes) {
    ebb_answer least;
    const bool tried = *low;
    *low = false;
    ebb_status status = ebb_study_least(study, enough_bytes, &least);
    if (!least.plan) return status;
    const bool least_is =
        study->any_drop || ebb_study_needs(study, least.plan) <= ebb_study_needs(study, base->plan);
    const ebb_answer *smallest = least_is ? &least : base;
    const int64_t needs = ebb_study_needs(study, smallest->plan);
    const bool fit = ebb_study_fits(study, smallest->plan), fewer = needs < *smallest_bytes;
    *low = least.selection->peak_bytes <= ebb_study_room(study);
    /* A refusal must name what is found again. What ended early is another plan for another budget; and no
     * other draw follows where the first one's live bytes fit. */
    const bool whole = enough_bytes == 0 || !*low || study->hurried;
    if (study->draw == 0) study->low_bytes = study->standing_bytes + least.selection->peak_bytes;
    const bool drawn = study->draw == 0 || needs < study->low_bytes;
    const bool named = fewer && whole && drawn;
    if (named) *smallest_bytes = needs;
    if (status == EBB_OK && (fit || (!tried && smallest->selection->peak_bytes <= ebb_study_room(study)))) {
        study->halvings = 1; /* of the effort some is spent */
        status = ebb_study_tighten(study, smallest->selection->genes, smallest->selection->n_genes, out);
        if (status == EBB_OVER_BUDGET && fit) status = EBB_OK;
    } else if (status == EBB_OK) {
        status = EBB_OVER_BUDGET;
    }
    const ebb_status kept = named && least_is && !fit ? keep(study, &least) : EBB_OK;
    ebb_study_offer(study, out, &least);
    return kept != EBB_OK ? kept : status;
}

/* Nothing was found within the budget. A peak that is just low enough is a better start than the least
 * there is, which takes long; the least is looked for where that leads nowhere, and named if it is too
 * much. *low: there is such a peak, so that it was the packing that missed the budget. */
static ebb_status plan_from_smallest(ebb_study *study, const ebb_answer *base, ebb_answer *out, bool *low,
                                     int64_t *smallest_bytes) {
    *low = false;
    ebb_status status = plan_from_least(study, ebb_study_room(study), base, out, low, smallest_bytes);
    if (status == EBB_OVER_BUDGET && *low && !study->hurried)
        status = plan_from_least(study, 0, base, out, low, smallest_bytes);
    return status;
}

/* A trial from another size's answer, whose bytes are too many here: they are brought down first, as far as
 * is needed and without another order, which would take as long as all else. */
static ebb_status plan_from_low(ebb_study *study, const ebb_compiled *warm, ebb_answer *out) {
    ebb_selection *low;
    if (study->hurried || ebb_study_none_fits(study)) return EBB_OVER_BUDGET;
    const ebb_ask ask = {.method = EBB_METHOD_LEAST,
                         .enough_bytes = ebb_study_room(study),
                         .genes = warm ? warm->genes : NULL,
                         .n_genes = warm ? warm->n_genes : 0};
    study->halvings = 1;
    ebb_status status = ebb_study_select(study, &ask, &low);
    study->halvings = 0;
    if (status == EBB_OK)
        status = low->peak_bytes <= ebb_study_room(study)
                     ? ebb_study_tighten(study, low->genes, low->n_genes, out)
                     : EBB_OVER_BUDGET;
    ebb_selection_destroy(low);
    return status;
}

/* A smallest plan that misses the budget by no more than this part of the arena came near: another draw of
 * the search may find one within. Not where it is the packing that misses: what another draw finds packs no
 * better, as a rule. */
#define REDRAW_PART 8
#define MOST_DRAWS  2

static ebb_status refuse(ebb_study *study, int64_t smallest_bytes) {
    if (study->hint.smallest_bytes) *study->hint.smallest_bytes = smallest_bytes;
    if (study->hint.smallest) {
        *study->hint.smallest = study->smallest;
        study->smallest = (ebb_compiled){0};
    }
    char proved[64] = "";
    const int64_t fewest_bytes = ebb_study_fewest_bytes(study);
    if (fewest_bytes > 0)
        (void)snprintf(proved, sizeof proved, ", and no plan needs fewer than %lld",
                       (long long)fewest_bytes);
    return ebb_fail(
        study->env, EBB_OVER_BUDGET,
        "%s: no plan within the budget of %lld bytes; the smallest found needs %lld bytes (%lld "
        "of them persistent or fixed)%s; %s",
        study->facts->name, (long long)study->options->budget_bytes, (long long)smallest_bytes,
        (long long)study->standing_bytes, proved,
        study->hurried ? "the time limit cut the search short: give it more, or raise the budget"
                       : "raise the budget or lower the batch");
}

ebb_status ebb_study_descend(ebb_study *study, const ebb_answer *base, const ebb_compiled *warm,
                             ebb_answer *out) {
    const uint32_t near_part = study->hint.near_part > 0 ? study->hint.near_part : REDRAW_PART;
    int64_t smallest = INT64_MAX;
    bool low = false;
    ebb_status status = ebb_study_tighten(study, warm ? warm->genes : NULL, warm ? warm->n_genes : 0, out);
    if (study->hint.fits_or_not)
        return status == EBB_OVER_BUDGET ? plan_from_low(study, warm, out) : status;
    while (status == EBB_OVER_BUDGET) {
        status = plan_from_smallest(study, base, out, &low, &smallest);
        const bool near = smallest - study->options->budget_bytes <= ebb_study_room(study) / near_part;
        if (status != EBB_OVER_BUDGET || !near || low || study->draw + 1 == MOST_DRAWS || study->hurried ||
            ebb_study_none_fits(study))
            break;
        study->draw++;
        study->halvings = 0;
        study->tight_bytes = -1;
        status = ebb_study_tighten(study, NULL, 0, out);
    }
    /* Without any plan, what was said of the search stands. */
    return status == EBB_OVER_BUDGET && smallest < INT64_MAX ? refuse(study, smallest) : status;
}
