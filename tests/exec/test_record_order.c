/* What a replay does: the same work in the same order, with the run's own seed and step, and to the bit
 * what it is without a recording. */
#include <stdlib.h>

#include "recorded.h"
#include "support/plan_graph.h"
#include "support/random_graph.h"
#include "support/run_graph.h"

/* What was done since the log was forgotten, in order. */
typedef struct done {
    uint32_t n;
    const void *at[4096], *to[4096];
} done;

static void read_done(const recorded *s, done *out) {
    out->n = 0;
    for (uint32_t i = 0; i < s->recorder->n_log; i++) {
        const test_entry *e = &s->recorder->log[i];
        if (e->event != TEST_DONE) continue;
        cr_assert_lt(out->n, 4096);
        out->at[out->n] = e->at;
        out->to[out->n++] = e->to;
    }
}

static void check_same(const done *a, const done *b) {
    cr_assert_gt(a->n, 0);
    cr_assert_eq(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++)
        cr_assert(a->at[i] == b->at[i] && a->to[i] == b->to[i], "work %u", i);
}

Test(record, a_replay_does_the_very_same_sequence) {
    static done first, again;
    for (int poison = 0; poison < 2; poison++) {
        recorded s;
        recorded_begin_as(&s, 5, false, poison, false);
        TEST_OK(s.env, recorded_run(&s, 0));
        read_done(&s, &first);
        for (uint32_t i = 1; i < 4; i++) {
            memset(s.block, 0, (size_t)s.bytes); /* poison took the labels */
            test_recorder_forget(s.recorder);
            TEST_OK(s.env, recorded_run(&s, i));
            read_done(&s, &again);
            check_same(&first, &again);
        }
        recorded_end(&s);
    }
}

Test(record, work_is_done_in_the_plans_order) {
    recorded s;
    recorded_begin(&s);
    for (uint32_t i = 0; i < 3; i++) {
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, recorded_run(&s, i));
        uint32_t step = 0;
        for (uint32_t k = 0; k < s.recorder->n_log; k++) {
            const test_entry *e = &s.recorder->log[k];
            if (e->event != TEST_DONE) continue;
            while (s.graph->nodes[s.plan->steps[step].op].op->view) step++;
            const ebb_buffer *b = &s.plan->buffers[s.plan->steps[step].writes[0]];
            const char *region = s.block + (b->persistent ? 0 : s.plan->persistent_bytes);
            cr_assert_eq(e->to, region + b->offset, "run %u, step %u", i, step);
            step++;
        }
        while (step < s.plan->n_steps && s.graph->nodes[s.plan->steps[step].op].op->view) step++;
        cr_assert_eq(step, s.plan->n_steps);
    }
    recorded_end(&s);
}

/* A view is the bytes of another buffer: the one that was written. */
static ebb_id root_of(const recorded *s, ebb_id buffer) {
    for (uint32_t i = 0; i < s->plan->n_steps; i++) {
        const ebb_plan_step *step = &s->plan->steps[i];
        if (step->n_writes == 1 && step->writes[0] == buffer && s->graph->nodes[step->op].op->view)
            return root_of(s, step->reads[0]);
    }
    return buffer;
}

/* Whose bytes they are, by the order of what is done in the stream; *owner of each byte of the block. */
static void own(const recorded *s, ebb_id *owner, const void *at, int64_t bytes, ebb_id buffer) {
    const int64_t first = (const char *)at - s->block;
    cr_assert(first >= 0 && first + bytes <= s->bytes);
    for (int64_t i = 0; i < bytes; i++) owner[first + i] = root_of(s, buffer);
}

static void own_given(const recorded *s, ebb_id *owner) {
    for (ebb_id v = 0; v < s->graph->n_values; v++) {
        int64_t bytes;
        const void *at = ebb_exec_given(s->exec, v, &bytes);
        for (ebb_id b = 0; at && b < s->plan->n_buffers; b++) {
            if (s->plan->buffers[b].value == v && s->plan->buffers[b].lower == 0)
                own(s, owner, at, bytes, b);
        }
    }
}

/* What a launch reads was last written, of all that came before it in the stream, by the launch that the
 * plan says. */
Test(record, every_read_comes_after_its_write_and_before_the_next_one) {
    for (uint64_t seed = 0; seed < 12; seed++) {
        recorded s;
        recorded_begin_as(&s, seed, false, false, false);
        ebb_id *owner = malloc((size_t)s.bytes * sizeof *owner);
        cr_assert_not_null(owner);
        for (uint32_t i = 0; i < 3; i++) {
            test_recorder_forget(s.recorder);
            memset(s.block, 0, (size_t)s.bytes); /* labels */
            TEST_OK(s.env, recorded_run(&s, i));
            for (int64_t k = 0; k < s.bytes; k++) owner[k] = EBB_NONE;
            own_given(&s, owner);
            uint32_t step = 0;
            for (uint32_t k = 0; k < s.recorder->n_log; k++) {
                const ebb_launch *l = &s.recorder->log[k].launch;
                if (s.recorder->log[k].event != TEST_DONE) continue;
                while (s.graph->nodes[s.plan->steps[step].op].op->view) step++;
                const ebb_plan_step *planned = &s.plan->steps[step++];
                for (uint32_t in = 0; in < planned->n_reads; in++) {
                    const int64_t first = (const char *)l->in[in] - s.block;
                    for (int64_t b = first; b < first + l->in_bytes[in]; b++)
                        cr_assert_eq(owner[b], root_of(&s, planned->reads[in]),
                                     "seed %llu, run %u, step %u, input %u", (unsigned long long)seed, i,
                                     step - 1, in);
                }
                for (uint32_t o = 0; o < planned->n_writes; o++)
                    own(&s, owner, l->out[o], l->out_bytes[o], planned->writes[o]);
                if (l->scratch) own(&s, owner, l->scratch, l->scratch_bytes, EBB_NONE);
            }
        }
        free(owner);
        recorded_end(&s);
    }
}

Test(record, seed_and_step_are_those_of_the_run_and_not_of_the_recording) {
    recorded s;
    recorded_begin(&s);
    for (uint32_t i = 0; i < 5; i++) {
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, recorded_run(&s, 100 + i));
        for (uint32_t k = 0; k < s.recorder->n_log; k++) {
            if (s.recorder->log[k].event != TEST_DONE) continue;
            cr_assert_eq(s.recorder->log[k].step, 100 + i);
            cr_assert_eq(s.recorder->log[k].seed, 7);
        }
    }
    recorded_end(&s);
}

/* Random models, dropout among their ops. */
Test(record, changes_no_bit) {
    for (uint64_t seed = 0; seed < 24; seed++) {
        for (int by_phase = 0; by_phase < 2; by_phase++) {
            ebb_env *env = test_env_open();
            test_recorder *recorder = test_recorder_open(env, 1);
            ebb_graph *model = NULL;
            TEST_OK(env, random_graph(env, seed, NULL, &model));
            ebb_graph *graph = test_train_graph(env, model, by_phase);
            ebb_pgraph *facts = test_query(env, graph, &recorder->base);
            ebb_plan *plan = test_plan(env, facts, NULL, &recorder->base, EBB_REUSE_IN_PLACE);
            const test_run_request request = {.graph = graph,
                                              .plan = plan,
                                              .backend = &recorder->base,
                                              .seed = seed,
                                              .n_steps = 5,
                                              .poison = seed % 2,
                                              .by_phase = by_phase};
            const uint64_t got = test_run_graph(env, &request);
            cr_assert_eq(got, test_interpret_graph(env, graph, seed, 5), "seed %llu",
                         (unsigned long long)seed);
            cr_assert_null(recorder->fault, "%s", recorder->fault);
            cr_assert_eq(test_recorder_count(recorder, TEST_REPLAY), by_phase ? 12 : 4);
            ebb_plan_destroy(plan);
            ebb_pgraph_destroy(facts);
            ebb_graph_destroy(graph);
            recorder->base.api->destroy(&recorder->base);
            test_env_close(env);
        }
    }
}
