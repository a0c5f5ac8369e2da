/* Plans of another graph, width or backend, and plans whose numbers leave their regions: a program of them
 * is refused, and it is said why. */
#include "setting.h"

static ebb_buffer *buffer(setting *s, uint32_t i) {
    return &((ebb_buffer *)s->plan->buffers)[i];
}

static ebb_plan_step *step(setting *s, uint32_t i) {
    return &((ebb_plan_step *)s->plan->steps)[i];
}

static void other_width(setting *s) {
    s->plan->n_threads = 3;
}

static void small_alignment(setting *s) {
    s->plan->alignment = 32;
}

static void other_values(setting *s) {
    s->plan->graph->n_values--;
}

static void other_bytes(setting *s) {
    ((ebb_pvalue *)s->plan->graph->values)[1].bytes += 4;
}

static void other_operand(setting *s) {
    ((ebb_id *)s->plan->graph->ops[2].in)[0]++;
}

static void far_buffer(setting *s) {
    buffer(s, 2)->offset = INT64_MAX - 63;
}

static void negative_buffer(setting *s) {
    buffer(s, 2)->offset = -64;
}

static void crooked_buffer(setting *s) {
    buffer(s, 2)->offset += 4;
}

static void short_buffer(setting *s) {
    buffer(s, 2)->bytes -= 4;
}

static void long_life(setting *s) {
    buffer(s, 2)->upper = s->plan->n_steps + 1;
}

static void unknown_value(setting *s) {
    buffer(s, 2)->value = 100000;
}

static void unknown_op(setting *s) {
    step(s, 1)->op = 100000;
}

static void unknown_buffer(setting *s) {
    ((ebb_id *)step(s, 1)->reads)[0] = 100000;
}

static void wrong_buffer(setting *s) {
    ((ebb_id *)step(s, 1)->writes)[0] = 0;
}

static void missing_read(setting *s) {
    step(s, 1)->n_reads--;
}

static void far_scratch(setting *s) {
    step(s, 1)->scratch_bytes = 64;
    step(s, 1)->scratch_offset = s->plan->arena_bytes;
}

static void alternative(setting *s) {
    step(s, 1)->alternative = 0;
}

static const struct misfit {
    void (*make)(setting *s);
    ebb_status status;
    const char *text;
} misfits[] = {
    {other_width, EBB_USAGE, "made for 3 threads, backend ref was created for 2"},
    {small_alignment, EBB_USAGE, "alignment 32, backend ref needs a multiple of 64"},
    {other_values, EBB_USAGE, "plan this graph"},
    {other_bytes, EBB_USAGE, "plan this graph"},
    {other_operand, EBB_USAGE, "other operands"},
    {far_buffer, EBB_BAD_INPUT, "buffer 2"},
    {negative_buffer, EBB_BAD_INPUT, "buffer 2"},
    {crooked_buffer, EBB_BAD_INPUT, "buffer 2"},
    {short_buffer, EBB_BAD_INPUT, "buffer 2"},
    {long_life, EBB_BAD_INPUT, "buffer 2"},
    {unknown_value, EBB_BAD_INPUT, "value 100000"},
    {unknown_op, EBB_BAD_INPUT, "op 100000"},
    {unknown_buffer, EBB_BAD_INPUT, "do not hold the op's operands"},
    {wrong_buffer, EBB_BAD_INPUT, "do not hold the op's operands"},
    {missing_read, EBB_BAD_INPUT, "do not hold the op's operands"},
    {far_scratch, EBB_BAD_INPUT, "64 scratch bytes"},
    {alternative, EBB_USAGE, "alternative 0"},
};

Test(refusals, a_plan_that_does_not_fit_is_refused_with_a_reason) {
    for (size_t k = 0; k < EBB_COUNT(misfits); k++) {
        setting s;
        setting_begin(&s, true);
        const uint32_t n_values = s.plan->graph->n_values;
        misfits[k].make(&s);
        const ebb_exec_options options = {.graph = s.graph, .plan = s.plan, .backend = s.backend};
        ebb_exec *exec = NULL;
        const ebb_status status = ebb_exec_create(s.env, &options, &exec);
        cr_assert_eq(status, misfits[k].status, "row %zu: %s", k, ebb_status_name(status));
        cr_assert_null(exec);
        cr_assert_not_null(strstr(ebb_env_error(s.env), misfits[k].text), "row %zu: %s", k,
                           ebb_env_error(s.env));
        s.plan->graph->n_values = n_values;
        setting_end(&s);
    }
}

Test(refusals, a_planning_graph_runs_on_no_backend_that_computes) {
    setting s;
    setting_begin(&s, true);
    const ebb_exec_options options = {.plan = s.plan, .backend = s.backend};
    ebb_exec *exec = NULL;
    cr_assert_eq(ebb_exec_create(s.env, &options, &exec), EBB_USAGE);
    cr_assert_null(exec);
    setting_end(&s);
}
