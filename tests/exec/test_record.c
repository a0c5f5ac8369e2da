/* Programs on a backend that records: what is launched once is replayed, in the same order, with the run's
 * own seed and step, and to the bit what it is without; and what goes wrong in a recording leaves a program
 * that runs. */
#include <stdlib.h>

#include "exec/exec.h"
#include "support/check.h"
#include "support/plan_graph.h"
#include "support/random_graph.h"
#include "support/recorder.h"
#include "support/run_graph.h"

typedef struct setting {
    ebb_env *env;
    test_recorder *recorder;
    ebb_graph *graph;
    ebb_pgraph *facts;
    ebb_plan *plan;
    ebb_exec *exec;
    char *block, *other; /* two places to be bound to */
    int64_t bytes;
} setting;

static void begin_as(setting *s, uint64_t seed, bool phased, bool poison, bool no_record) {
    const random_graph_options small = {.n_nodes = 14, .max_elements = 200};
    ebb_graph *model = NULL;
    *s = (setting){.env = test_env_open()};
    s->recorder = test_recorder_open(s->env, 1);
    ebb_backend *backend = &s->recorder->base;
    TEST_OK(s->env, random_graph(s->env, seed, &small, &model));
    s->graph = test_train_graph(s->env, model, phased);
    s->facts = test_query(s->env, s->graph, backend);
    s->plan = test_plan(s->env, s->facts, NULL, backend, EBB_REUSE_IN_PLACE);
    const ebb_exec_options options = {
        .graph = s->graph, .plan = s->plan, .backend = backend, .poison = poison, .no_record = no_record};
    TEST_OK(s->env, ebb_exec_create(s->env, &options, &s->exec));
    s->bytes = s->plan->persistent_bytes + s->plan->arena_bytes;
    void *block = NULL, *other = NULL;
    TEST_OK(s->env, backend->api->block_alloc(backend, s->bytes, &block));
    TEST_OK(s->env, backend->api->block_alloc(backend, s->bytes, &other));
    memset(block, 0, (size_t)s->bytes);
    memset(other, 0, (size_t)s->bytes);
    s->block = block;
    s->other = other;
    ebb_exec_bind(s->exec, s->block, s->block + s->plan->persistent_bytes);
    test_recorder_forget(s->recorder);
}

static void begin(setting *s) {
    begin_as(s, 5, false, false, false);
}

static void end(setting *s) {
    ebb_backend *backend = &s->recorder->base;
    ebb_exec_destroy(s->exec);
    backend->api->block_free(backend, s->block, s->bytes);
    backend->api->block_free(backend, s->other, s->bytes);
    ebb_plan_destroy(s->plan);
    ebb_pgraph_destroy(s->facts);
    ebb_graph_destroy(s->graph);
    cr_assert_null(s->recorder->fault, "%s", s->recorder->fault);
    backend->api->destroy(backend);
    test_env_close(s->env);
}

static ebb_status run(setting *s, uint64_t step) {
    return ebb_exec_run(s->exec, &(ebb_run_options){.seed = 7, .step = step});
}

static uint32_t count(const setting *s, test_event event) {
    return test_recorder_count(s->recorder, event);
}

/* Steps that have a kernel. */
static uint32_t n_launches(const setting *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->plan->n_steps; i++) n += !s->graph->nodes[s->plan->steps[i].op].op->view;
    return n;
}

/* What was done since the log was forgotten, in order. */
typedef struct done {
    uint32_t n;
    const void *at[4096], *to[4096];
} done;

static void read_done(const setting *s, done *out) {
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

Test(record, the_first_run_is_launched_the_second_recorded_and_later_ones_replayed) {
    setting s;
    begin(&s);
    const uint32_t n = n_launches(&s);
    const struct {
        uint32_t launches, records, replays;
    } rows[] = {{n, 0, 0}, {n, 1, 1}, {0, 0, 1}, {0, 0, 1}};
    for (uint32_t i = 0; i < EBB_COUNT(rows); i++) {
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, run(&s, i));
        cr_assert_eq(count(&s, TEST_LAUNCH), rows[i].launches, "run %u", i);
        cr_assert_eq(count(&s, TEST_RECORD_BEGIN), rows[i].records, "run %u", i);
        cr_assert_eq(count(&s, TEST_RECORD_END), rows[i].records, "run %u", i);
        cr_assert_eq(count(&s, TEST_REPLAY), rows[i].replays, "run %u", i);
        cr_assert_eq(count(&s, TEST_DONE), n, "run %u", i);
        cr_assert_eq(count(&s, TEST_BEGIN), 1);
        cr_assert_eq(count(&s, TEST_END), 1);
    }
    end(&s);
}

Test(record, a_replay_does_the_very_same_sequence) {
    static done first, again;
    for (int poison = 0; poison < 2; poison++) {
        setting s;
        begin_as(&s, 5, false, poison, false);
        TEST_OK(s.env, run(&s, 0));
        read_done(&s, &first);
        for (uint32_t i = 1; i < 4; i++) {
            memset(s.block, 0, (size_t)s.bytes); /* poison took the labels */
            test_recorder_forget(s.recorder);
            TEST_OK(s.env, run(&s, i));
            read_done(&s, &again);
            check_same(&first, &again);
        }
        end(&s);
    }
}

Test(record, work_is_done_in_the_plans_order) {
    setting s;
    begin(&s);
    for (uint32_t i = 0; i < 3; i++) {
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, run(&s, i));
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
    end(&s);
}

/* A view is the bytes of another buffer: the one that was written. */
static ebb_id root_of(const setting *s, ebb_id buffer) {
    for (uint32_t i = 0; i < s->plan->n_steps; i++) {
        const ebb_plan_step *step = &s->plan->steps[i];
        if (step->n_writes == 1 && step->writes[0] == buffer && s->graph->nodes[step->op].op->view)
            return root_of(s, step->reads[0]);
    }
    return buffer;
}

/* Whose bytes they are, by the order of what is done in the stream; *owner of each byte of the block. */
static void own(const setting *s, ebb_id *owner, const void *at, int64_t bytes, ebb_id buffer) {
    const int64_t first = (const char *)at - s->block;
    cr_assert(first >= 0 && first + bytes <= s->bytes);
    for (int64_t i = 0; i < bytes; i++) owner[first + i] = root_of(s, buffer);
}

static void own_given(const setting *s, ebb_id *owner) {
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
        setting s;
        begin_as(&s, seed, false, false, false);
        ebb_id *owner = malloc((size_t)s.bytes * sizeof *owner);
        cr_assert_not_null(owner);
        for (uint32_t i = 0; i < 3; i++) {
            test_recorder_forget(s.recorder);
            memset(s.block, 0, (size_t)s.bytes); /* labels */
            TEST_OK(s.env, run(&s, i));
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
        end(&s);
    }
}

Test(record, seed_and_step_are_those_of_the_run_and_not_of_the_recording) {
    setting s;
    begin(&s);
    for (uint32_t i = 0; i < 5; i++) {
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, run(&s, 100 + i));
        for (uint32_t k = 0; k < s.recorder->n_log; k++) {
            if (s.recorder->log[k].event != TEST_DONE) continue;
            cr_assert_eq(s.recorder->log[k].step, 100 + i);
            cr_assert_eq(s.recorder->log[k].seed, 7);
        }
    }
    end(&s);
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

Test(record, phases_are_recorded_apart) {
    setting s;
    begin_as(&s, 5, true, false, false);
    for (uint32_t i = 0; i < 3; i++) {
        for (ebb_phase phase = EBB_FORWARD; phase <= EBB_UPDATE; phase++) {
            const ebb_run_options options = {.seed = 7, .step = i};
            test_recorder_forget(s.recorder);
            TEST_OK(s.env, ebb_exec_run_phase(s.exec, phase, &options));
            cr_assert_eq(count(&s, TEST_RECORD_BEGIN), i == 1, "run %u of %s", i, ebb_phase_name(phase));
            cr_assert_eq(count(&s, TEST_REPLAY), i >= 1, "run %u of %s", i, ebb_phase_name(phase));
        }
    }
    cr_assert_eq(s.recorder->n_recordings, 3);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, run(&s, 3));
    cr_assert_eq(count(&s, TEST_LAUNCH), n_launches(&s), "the whole is another recording");
    end(&s);
}

Test(record, other_addresses_are_recorded_anew_and_the_same_ones_are_not) {
    setting s;
    begin(&s);
    for (uint32_t i = 0; i < 2; i++) TEST_OK(s.env, run(&s, i));
    ebb_exec_bind(s.exec, s.block, s.block + s.plan->persistent_bytes);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, run(&s, 2));
    cr_assert_eq(count(&s, TEST_LAUNCH), 0);
    ebb_exec_bind(s.exec, s.other, s.other + s.plan->persistent_bytes);
    cr_assert_eq(s.recorder->n_recordings, 0);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, run(&s, 3));
    cr_assert_eq(count(&s, TEST_LAUNCH), n_launches(&s));
    cr_assert_eq(count(&s, TEST_REPLAY), 0);
    for (uint32_t k = 0; k < s.recorder->n_log; k++) {
        if (s.recorder->log[k].event != TEST_DONE) continue;
        const char *to = s.recorder->log[k].to;
        cr_assert(to >= s.other && to <= s.other + s.bytes);
    }
    end(&s);
}

Test(record, no_record_launches_every_run) {
    setting s;
    begin_as(&s, 5, false, false, true);
    for (uint32_t i = 0; i < 4; i++) TEST_OK(s.env, run(&s, i));
    cr_assert_eq(count(&s, TEST_RECORD_BEGIN), 0);
    cr_assert_eq(count(&s, TEST_LAUNCH), 4 * n_launches(&s));
    end(&s);
}

Test(record, a_timed_run_is_launched_and_its_times_are_those_between_marks) {
    setting s;
    begin(&s);
    uint64_t *ns = calloc(s.plan->n_steps, sizeof *ns);
    cr_assert_not_null(ns);
    for (uint32_t i = 0; i < 4; i++) {
        ebb_run_options options = {.seed = 7, .step = i, .step_ns = i == 3 ? ns : NULL};
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, ebb_exec_run(s.exec, &options));
    }
    cr_assert_eq(count(&s, TEST_REPLAY), 0);
    cr_assert_eq(count(&s, TEST_LAUNCH), n_launches(&s));
    cr_assert_eq(count(&s, TEST_MARK), s.plan->n_steps + 1);
    for (uint32_t i = 0; i < s.plan->n_steps; i++)
        cr_assert_eq(ns[i], s.graph->nodes[s.plan->steps[i].op].op->view ? 0 : 1, "step %u", i);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, run(&s, 4));
    cr_assert_eq(count(&s, TEST_LAUNCH), 0, "what was recorded before is still good");
    free(ns);
    end(&s);
}

/* Nothing of a recording is done until it is replayed: what cannot be recorded is run as it was before. */
static void check_unrecorded(setting *s) {
    test_recorder_forget(s->recorder);
    TEST_OK(s->env, run(s, 1));
    cr_assert_eq(count(s, TEST_RECORD_END), 1, "the recording is closed");
    cr_assert_eq(count(s, TEST_END), 1, "the run is ended");
    cr_assert_eq(count(s, TEST_DONE), n_launches(s), "and done, once");
    for (uint32_t i = 2; i < 4; i++) {
        test_recorder_forget(s->recorder);
        TEST_OK(s->env, run(s, i));
        cr_assert_eq(count(s, TEST_RECORD_BEGIN), 0);
        cr_assert_eq(count(s, TEST_DONE), n_launches(s));
    }
}

Test(record, a_launch_that_cannot_be_recorded_is_launched) {
    setting s;
    begin(&s);
    TEST_OK(s.env, run(&s, 0));
    s.recorder->fail_recorded = 3;
    check_unrecorded(&s);
    end(&s);
}

Test(record, a_recording_that_cannot_be_made_is_launched_step_by_step) {
    setting s;
    begin(&s);
    TEST_OK(s.env, run(&s, 0));
    s.recorder->fail_end = 1;
    check_unrecorded(&s);
    end(&s);
}

Test(record, a_first_run_that_fails_is_no_warm_up) {
    setting s;
    begin(&s);
    s.recorder->fail_launch = 2;
    cr_assert_eq(run(&s, 0), EBB_DEVICE);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, run(&s, 0));
    cr_assert_eq(count(&s, TEST_RECORD_BEGIN), 0);
    end(&s);
}
