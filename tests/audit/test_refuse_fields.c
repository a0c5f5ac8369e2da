/* What no file can say, since reading it checks the form, a plan in memory can; and every field of a plan
 * in turn. */
#include "wrong_plans.h"

/* ---- wrong forms ---- */

static void run_no_op(open_plan *p) {
    p->steps[3].op = 10;
}
static void take_no_alternative(open_plan *p) {
    p->steps[8].alternative = 1;
}
static void read_too_few(open_plan *p) {
    p->steps[3].n_reads = 1;
}
static void write_too_many(open_plan *p) {
    p->steps[3].n_writes = 2;
}
static void read_no_buffer(open_plan *p) {
    static const ebb_id far_buffer[] = {13};
    p->steps[1].reads = far_buffer;
}
static void hold_no_value(open_plan *p) {
    p->buffers[2].value = 12;
}
static void lie_below_nothing(open_plan *p) {
    p->buffers[6].offset = -8;
}
static void put_scratch_below_nothing(open_plan *p) {
    p->steps[0].scratch_offset = -8;
}
static void align_to_12(open_plan *p) {
    p->plan->alignment = 12;
}
static void align_to_0(open_plan *p) {
    p->plan->alignment = 0;
}
static void shrink_below_nothing(open_plan *p) {
    p->plan->arena_bytes = -1;
}
static void bound_below_nothing(open_plan *p) {
    p->plan->bound_time_ns = -1;
}

static const struct {
    const char *name;
    void (*break_it)(open_plan *p);
    const char *words;
} forms[] = {
    {"an op that is not there", run_no_op, "step 3 runs op 10, but the graph has 10"},
    {"an alternative that is not there", take_no_alternative,
     "step 8 \"wgrad\" takes alternative 1, but its op has 1"},
    {"a read too few", read_too_few, "step 3 \"loss\" reads 1 buffers, but its op has 2"},
    {"a write too many", write_too_many, "step 3 \"loss\" writes 2 buffers, but its op has 1"},
    {"a buffer that is not there", read_no_buffer,
     "step 1 \"relu\" reads buffer 13 at position 0, but there are 13"},
    {"a value that is not there", hold_no_value, "buffer 2 holds value 12, but the graph has 12"},
    {"a negative offset", lie_below_nothing, "buffer 6 \"y\" has offset -8 and 8 bytes: negative"},
    {"negative scratch", put_scratch_below_nothing,
     "step 0 \"fc\": 24 bytes of scratch at offset -8: negative"},
    {"an alignment of no power of two", align_to_12, "alignment 12 is not a power of two"},
    {"an alignment of nothing", align_to_0, "alignment 0 is not a power of two"},
    {"a negative region", shrink_below_nothing, "regions of -1 and 16 bytes"},
    {"a negative bound", bound_below_nothing, "the certificate's bound is -1 ns"},
};

Test(audit_refuse, wrong_forms) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(forms); i++) {
        open_plan p = open_small_plan(env);
        forms[i].break_it(&p);
        cr_expect_eq(ebb_plan_audit(env, p.plan), EBB_VIOLATION, "%s", forms[i].name);
        cr_expect_not_null(strstr(ebb_env_error(env), forms[i].words), "%s: %s", forms[i].name,
                           ebb_env_error(env));
        ebb_plan_destroy(p.plan);
    }
    test_env_close(env);
}

/* ---- every field in turn ---- */

static void expect_violation(ebb_env *env, const ebb_plan *plan, const char *field, uint32_t i,
                             int64_t now) {
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "%s of %u is %lld", field, i, (long long)now);
}

/* Puts each other id in place of one of a step's buffers. */
static void try_ids(ebb_env *env, open_plan *p, uint32_t s, const ebb_id **list, uint32_t n,
                    const char *field) {
    const ebb_id *were = *list;
    for (uint32_t k = 0; k < n; k++)
        for (ebb_id b = 0; b < p->plan->n_buffers; b++) {
            ebb_id ids[2] = {were[0], n > 1 ? were[1] : EBB_NONE};
            ids[k] = b;
            *list = ids;
            if (b != were[k]) expect_violation(env, p->plan, field, s, b);
            *list = were;
        }
}

static void try_step(ebb_env *env, open_plan *p, uint32_t s) {
    ebb_plan_step *step = &p->steps[s], was = *step;
    try_ids(env, p, s, &step->reads, step->n_reads, "reads");
    try_ids(env, p, s, &step->writes, step->n_writes, "writes");
    for (ebb_id op = 0; op < p->plan->graph->n_ops; op++) {
        step->op = op;
        if (op != was.op) expect_violation(env, p->plan, "op", s, op);
    }
    *step = was;
    step->recompute = !was.recompute;
    expect_violation(env, p->plan, "recompute", s, step->recompute);
    *step = was;
    step->alternative = was.alternative == EBB_NONE ? 0 : EBB_NONE;
    expect_violation(env, p->plan, "alternative", s, step->alternative);
    *step = was;
    step->scratch_bytes += 8;
    expect_violation(env, p->plan, "scratch_bytes", s, step->scratch_bytes);
    *step = was;
}

static void try_buffer(ebb_env *env, open_plan *p, ebb_id b) {
    ebb_buffer *buffer = &p->buffers[b], was = *buffer;
    for (ebb_id v = 0; v < p->plan->graph->n_values; v++) {
        buffer->value = v;
        if (v != was.value) expect_violation(env, p->plan, "value", b, v);
    }
    *buffer = was;
    buffer->persistent = !was.persistent;
    expect_violation(env, p->plan, "region", b, buffer->persistent);
    *buffer = was;
    for (int change = -1; change <= 1; change += 2) {
        buffer->bytes = was.bytes + change;
        expect_violation(env, p->plan, "bytes", b, buffer->bytes);
        *buffer = was;
        buffer->lower = was.lower + (uint32_t)change;
        expect_violation(env, p->plan, "lower", b, buffer->lower);
        *buffer = was;
        buffer->upper = was.upper + (uint32_t)change;
        expect_violation(env, p->plan, "upper", b, buffer->upper);
        *buffer = was;
        buffer->offset = was.offset + change;
        if (was.bytes > 0) expect_violation(env, p->plan, "offset", b, buffer->offset);
        *buffer = was;
    }
}

Test(audit_refuse, any_change_of_any_one_field) {
    ebb_env *env = test_env_open();
    open_plan p = open_small_plan(env);
    for (uint32_t s = 0; s < p.plan->n_steps; s++) try_step(env, &p, s);
    for (ebb_id b = 0; b < p.plan->n_buffers; b++) try_buffer(env, &p, b);
    int64_t *const sums[] = {&p.plan->arena_bytes, &p.plan->persistent_bytes, &p.plan->total_bytes,
                             &p.plan->max_live_bytes, &p.plan->time_ns};
    for (uint32_t i = 0; i < EBB_COUNT(sums); i++)
        for (int change = -1; change <= 1; change += 2) {
            *sums[i] += change;
            expect_violation(env, p.plan, "sum", i, *sums[i]);
            *sums[i] -= change;
        }
    cr_expect_eq(ebb_plan_audit(env, p.plan), EBB_OK, "%s", ebb_env_error(env));
    ebb_plan_destroy(p.plan);
    test_env_close(env);
}
