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

static bool is_proved(const ebb_study *p) {
    return p->bound.kind && p->proved_bytes == most_arena_bytes(p);
}

int64_t ebb_study_bound_ns(const ebb_study *p) {
    if (p->options->memory == EBB_MEMORY_BUDGET && p->hint.bound_time_ns > 0) return p->hint.bound_time_ns;
    return is_proved(p) ? p->bound.time_ns : 0;
}

bool ebb_study_none_fits(const ebb_study *p) {
    return is_proved(p) && p->proved_bytes >= 0 && p->bound.least_bytes > p->proved_bytes;
}

ebb_status ebb_study_prove(ebb_study *p) {
    if (is_proved(p)) return EBB_OK;
    ebb_arena_deinit(&p->proof);
    ebb_arena_init(&p->proof, p->env);
    p->proved_bytes = most_arena_bytes(p);
    p->bound = (ebb_bound){.kind = "none"};
    if (p->hint.bound_time_ns > 0) return EBB_OK;
    ebb_status status = ebb_certify(&p->proof, p->facts, p->proved_bytes, p->alignment, &p->bound);
    if (status != EBB_OK) p->bound = (ebb_bound){0};
    return status;
}

ebb_status ebb_study_certify(ebb_study *p, ebb_plan *plan) {
    ebb_status status = ebb_study_prove(p);
    if (status != EBB_OK) return status;
    return ebb_plan_certify(plan, p->base_arena_bytes, p->base_total_bytes, p->base_time_ns,
                            p->bound.time_ns, p->bound.kind, p->bound.json);
}
