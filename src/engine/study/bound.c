/* What no plan within the options' budget can be faster than: proved once a budget, before the search,
 * which ends there, and stored in the plan. */
#include "engine/study/study.h"

/* What no plan of the graph has less of beside its arena: the fixed bytes, and the given persistent values,
 * which lie apart and begin at multiples of the alignment. Whichever is the last need not fill its last
 * unit, and that may be the one that leaves most of it. */
static int64_t least_standing_bytes(const ebb_study *study) {
    int64_t sum = study->facts->fixed_bytes, slack = 0; /* the baseline has them, so the sum fits */
    for (uint32_t v = 0; v < study->facts->n_values; v++) {
        const ebb_pvalue *value = &study->facts->values[v];
        if (value->producer != EBB_NONE || !ebb_role_persistent(value->role)) continue;
        int64_t rounded = ebb_align_up(value->bytes, study->alignment);
        sum += rounded;
        slack = ebb_max_i64(slack, rounded - value->bytes);
    }
    return sum - slack;
}

/* What a plan within the options' budget may use at once, as ebb_certify takes it. */
static int64_t most_arena_bytes(const ebb_study *study) {
    return study->options->memory == EBB_MEMORY_BUDGET
               ? study->options->budget_bytes - least_standing_bytes(study)
               : -1;
}

/* Of the options' budget; NULL: not proved yet. */
static const ebb_bound *proved(const ebb_study *study, int64_t arena_bytes) {
    for (size_t i = 0; i < study->proofs.n; i++)
        if (study->proofs.at[i].arena_bytes == arena_bytes) return &study->proofs.at[i].bound;
    return NULL;
}

int64_t ebb_study_bound_ns(const ebb_study *study) {
    if (study->options->memory == EBB_MEMORY_BUDGET && study->hint.bound_time_ns > 0)
        return study->hint.bound_time_ns;
    const ebb_bound *bound = proved(study, most_arena_bytes(study));
    return bound ? bound->time_ns : 0;
}

bool ebb_study_none_fits(const ebb_study *study) {
    const int64_t arena_bytes = most_arena_bytes(study);
    const ebb_bound *bound = proved(study, arena_bytes);
    return bound && arena_bytes >= 0 && bound->least_bytes > arena_bytes;
}

int64_t ebb_study_fewest_bytes(const ebb_study *study) {
    const ebb_bound *bound = proved(study, most_arena_bytes(study));
    return bound && bound->least_bytes > 0 ? least_standing_bytes(study) + bound->least_bytes : 0;
}

static ebb_status prove(ebb_study *study, int64_t arena_bytes) {
    if (proved(study, arena_bytes)) return EBB_OK;
    ebb_proof proof = {arena_bytes, {.kind = "none"}};
    const bool late = arena_bytes >= 0 && ebb_study_is_late(study); /* else there is nothing to leave out */
    ebb_status status = EBB_OK;
    if (study->hint.bound_time_ns <= 0)
        status = ebb_certify(&study->proof, study->facts, late ? -1 : proof.arena_bytes, study->alignment,
                             &proof.bound);
    study->hurried = study->hurried || late;
    if (status == EBB_OK && !EBB_PUSH(study->env, &study->proofs, proof)) status = EBB_NO_MEMORY;
    return status;
}

ebb_status ebb_study_prove(ebb_study *study) {
    return prove(study, most_arena_bytes(study));
}

ebb_status ebb_study_certify(ebb_study *study, ebb_plan *plan) {
    if (study->options->unpacked && plan->total_bytes > plan->budget_bytes) plan->budget_bytes = -1;
    const int64_t arena_bytes = plan->budget_bytes < 0 ? -1 : most_arena_bytes(study);
    ebb_status status = prove(study, arena_bytes);
    if (status != EBB_OK) return status;
    const ebb_bound *bound = proved(study, arena_bytes);
    return ebb_plan_certify(plan, study->base_arena_bytes, study->base_total_bytes, study->base_time_ns,
                            bound->time_ns, bound->kind, bound->json);
}
