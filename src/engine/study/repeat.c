/* The very steps of another size's plan, packed for this one. */
#include "engine/study/study.h"

/* The ops of both sizes, and the ways to run them, are the same. */
static bool can_repeat(const ebb_study *study, const ebb_plan *plan) {
    if (plan->graph->n_ops != study->facts->n_ops) return false;
    for (uint32_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].alternative != EBB_NONE &&
            plan->steps[i].alternative >= study->facts->ops[plan->steps[i].op].n_alternatives)
            return false;
    return true;
}

static ebb_selection *repeated(const ebb_study *study, const ebb_compiled *other) {
    ebb_selection *to = ebb_calloc(study->env, 1, sizeof *to);
    if (!to) return NULL;
    const ebb_plan *plan = other->plan;
    ebb_arena_init(&to->arena, study->env);
    to->n_steps = plan->n_steps;
    to->steps = EBB_NEW(&to->arena, ebb_step_choice, plan->n_steps);
    to->alternative = EBB_NEW(&to->arena, uint32_t, study->facts->n_ops);
    if (other->n_genes > 0) to->genes = ebb_arena_copy(&to->arena, other->genes, other->n_genes, 1);
    to->n_genes = other->n_genes;
    if (!to->steps || !to->alternative || (other->n_genes > 0 && !to->genes)) {
        ebb_selection_destroy(to);
        return NULL;
    }
    memset(to->alternative, 0, study->facts->n_ops * sizeof *to->alternative);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        to->steps[i] = (ebb_step_choice){plan->steps[i].op, plan->steps[i].alternative};
        to->alternative[plan->steps[i].op] = plan->steps[i].alternative;
    }
    return to;
}

ebb_status ebb_study_repeat(ebb_study *study, const ebb_compiled *other, ebb_answer *out) {
    *out = (ebb_answer){0};
    if (!can_repeat(study, other->plan))
        return ebb_fail(study->env, EBB_OVER_BUDGET, "another size has other ops");
    out->selection = repeated(study, other);
    if (!out->selection) return EBB_NO_MEMORY;
    ebb_status status =
        ebb_study_pack(study, out->selection, EBB_REUSE_IN_PLACE, EBB_PACK_QUICKLY, &out->plan);
    if (status != EBB_OK) ebb_answer_drop(out);
    return status;
}
