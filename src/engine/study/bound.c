/* What no plan within the options' budget can be faster than: proved once a budget, before the search,
 * which ends there, and stored in the plan. */
#include "engine/study/study.h"

/* What no plan of the graph has less of beside its arena: the fixed bytes, and the given persistent values,
 * which lie apart and begin at multiples of the alignment. Whichever is the last need not fill its last
 * unit, and that may be the one that leaves most of it. */
static int64_t least_standing_bytes(const ebb_study *p) {
    int64_t sum = p->facts->fixed_bytes, slack = 0; /* the baseline has them, so the sum fits */
    for (uint32_t v = 0; v < p->facts->n_values; v++) {
        const ebb_pvalue *value = &p->facts->values[v];
        if (value->producer != EBB_NONE || !ebb_role_persistent(value->role)) continue;
        int64_t rounded = ebb_align_up(value->bytes, p->alignment);
        sum += rounded;
        slack = ebb_max_i64(slack, rounded - value->bytes);
    }
    return sum - slack;
}

/* What a plan within the options' budget may use at once, as ebb_certify takes it. */
static int64_t most_arena_bytes(const ebb_study *p) {
    return p->options->memory == EBB_MEMORY_BUDGET ? p->options->budget_bytes - least_standing_bytes(p)
                                                   : -1;
}

/* Of the options' budget; NULL: not proved yet. */
static const ebb_bound *proved(const ebb_study *p) {
    const int64_t arena_bytes = most_arena_bytes(p);
    for (size_t i = 0; i < p->proofs.n; i++)
        if (p->proofs.at[i].arena_bytes == arena_bytes) return &p->proofs.at[i].bound;
    return NULL;
}

int64_t ebb_study_bound_ns(const ebb_study *p) {
    if (p->options->memory == EBB_MEMORY_BUDGET && p->hint.bound_time_ns > 0) return p->hint.bound_time_ns;
    const ebb_bound *bound = proved(p);
    return bound ? bound->time_ns : 0;
}

bool ebb_study_none_fits(const ebb_study *p) {
    const ebb_bound *bound = proved(p);
    return bound && most_arena_bytes(p) >= 0 && bound->least_bytes > most_arena_bytes(p);
}

ebb_status ebb_study_prove(ebb_study *p) {
    if (proved(p)) return EBB_OK;
    ebb_proof proof = {most_arena_bytes(p), {.kind = "none"}};
    const bool late = ebb_study_is_late(p);
    ebb_status status = EBB_OK;
    if (p->hint.bound_time_ns <= 0)
        status =
            ebb_certify(&p->proof, p->facts, late ? -1 : proof.arena_bytes, p->alignment, &proof.bound);
    p->hurried = p->hurried || late;
    if (status == EBB_OK && !EBB_PUSH(p->env, &p->proofs, proof)) status = EBB_NO_MEMORY;
    return status;
}

ebb_status ebb_study_certify(ebb_study *p, ebb_plan *plan) {
    ebb_status status = ebb_study_prove(p);
    if (status != EBB_OK) return status;
    const ebb_bound *bound = proved(p);
    return ebb_plan_certify(plan, p->base_arena_bytes, p->base_total_bytes, p->base_time_ns, bound->time_ns,
                            bound->kind, bound->json);
}
