/* Programs on a backend that records: what is launched, recorded and replayed in which run; and what goes
 * wrong in a recording leaves a program that runs. */
#include <stdlib.h>

#include "recorded.h"

Test(record, the_first_run_is_launched_the_second_recorded_and_later_ones_replayed) {
    recorded s;
    recorded_begin(&s);
    const uint32_t n = recorded_n_launches(&s);
    const struct {
        uint32_t launches, records, replays;
    } rows[] = {{n, 0, 0}, {n, 1, 1}, {0, 0, 1}, {0, 0, 1}};
    for (uint32_t i = 0; i < EBB_COUNT(rows); i++) {
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, recorded_run(&s, i));
        cr_assert_eq(recorded_count(&s, TEST_LAUNCH), rows[i].launches, "run %u", i);
        cr_assert_eq(recorded_count(&s, TEST_RECORD_BEGIN), rows[i].records, "run %u", i);
        cr_assert_eq(recorded_count(&s, TEST_RECORD_END), rows[i].records, "run %u", i);
        cr_assert_eq(recorded_count(&s, TEST_REPLAY), rows[i].replays, "run %u", i);
        cr_assert_eq(recorded_count(&s, TEST_DONE), n, "run %u", i);
        cr_assert_eq(recorded_count(&s, TEST_BEGIN), 1);
        cr_assert_eq(recorded_count(&s, TEST_END), 1);
    }
    recorded_end(&s);
}

Test(record, phases_are_recorded_apart) {
    recorded s;
    recorded_begin_as(&s, 5, true, false, false);
    for (uint32_t i = 0; i < 3; i++) {
        for (ebb_phase phase = EBB_FORWARD; phase <= EBB_UPDATE; phase++) {
            const ebb_run_options options = {.seed = 7, .step = i};
            test_recorder_forget(s.recorder);
            TEST_OK(s.env, ebb_exec_run_phase(s.exec, phase, &options));
            cr_assert_eq(recorded_count(&s, TEST_RECORD_BEGIN), i == 1, "run %u of %s", i,
                         ebb_phase_name(phase));
            cr_assert_eq(recorded_count(&s, TEST_REPLAY), i >= 1, "run %u of %s", i, ebb_phase_name(phase));
        }
    }
    cr_assert_eq(s.recorder->n_recordings, 3);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, recorded_run(&s, 3));
    cr_assert_eq(recorded_count(&s, TEST_LAUNCH), recorded_n_launches(&s),
                 "the whole is another recording");
    recorded_end(&s);
}

Test(record, other_addresses_are_recorded_anew_and_the_same_ones_are_not) {
    recorded s;
    recorded_begin(&s);
    for (uint32_t i = 0; i < 2; i++) TEST_OK(s.env, recorded_run(&s, i));
    ebb_exec_bind(s.exec, s.block, s.block + s.plan->persistent_bytes);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, recorded_run(&s, 2));
    cr_assert_eq(recorded_count(&s, TEST_LAUNCH), 0);
    ebb_exec_bind(s.exec, s.other, s.other + s.plan->persistent_bytes);
    cr_assert_eq(s.recorder->n_recordings, 0);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, recorded_run(&s, 3));
    cr_assert_eq(recorded_count(&s, TEST_LAUNCH), recorded_n_launches(&s));
    cr_assert_eq(recorded_count(&s, TEST_REPLAY), 0);
    for (uint32_t k = 0; k < s.recorder->n_log; k++) {
        if (s.recorder->log[k].event != TEST_DONE) continue;
        const char *to = s.recorder->log[k].to;
        cr_assert(to >= s.other && to <= s.other + s.bytes);
    }
    recorded_end(&s);
}

Test(record, no_record_launches_every_run) {
    recorded s;
    recorded_begin_as(&s, 5, false, false, true);
    for (uint32_t i = 0; i < 4; i++) TEST_OK(s.env, recorded_run(&s, i));
    cr_assert_eq(recorded_count(&s, TEST_RECORD_BEGIN), 0);
    cr_assert_eq(recorded_count(&s, TEST_LAUNCH), 4 * recorded_n_launches(&s));
    recorded_end(&s);
}

Test(record, a_timed_run_is_launched_and_its_times_are_those_between_marks) {
    recorded s;
    recorded_begin(&s);
    uint64_t *ns = calloc(s.plan->n_steps, sizeof *ns);
    cr_assert_not_null(ns);
    for (uint32_t i = 0; i < 4; i++) {
        ebb_run_options options = {.seed = 7, .step = i, .step_ns = i == 3 ? ns : NULL};
        test_recorder_forget(s.recorder);
        TEST_OK(s.env, ebb_exec_run(s.exec, &options));
    }
    cr_assert_eq(recorded_count(&s, TEST_REPLAY), 0);
    cr_assert_eq(recorded_count(&s, TEST_LAUNCH), recorded_n_launches(&s));
    cr_assert_eq(recorded_count(&s, TEST_MARK), s.plan->n_steps + 1);
    for (uint32_t i = 0; i < s.plan->n_steps; i++)
        cr_assert_eq(ns[i], s.graph->nodes[s.plan->steps[i].op].op->view ? 0 : 1, "step %u", i);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, recorded_run(&s, 4));
    cr_assert_eq(recorded_count(&s, TEST_LAUNCH), 0, "what was recorded before is still good");
    free(ns);
    recorded_end(&s);
}

/* Nothing of a recording is done until it is replayed: what cannot be recorded is run as it was before. */
static void check_unrecorded(recorded *s) {
    test_recorder_forget(s->recorder);
    TEST_OK(s->env, recorded_run(s, 1));
    cr_assert_eq(recorded_count(s, TEST_RECORD_END), 1, "the recording is closed");
    cr_assert_eq(recorded_count(s, TEST_END), 1, "the run is ended");
    cr_assert_eq(recorded_count(s, TEST_DONE), recorded_n_launches(s), "and done, once");
    for (uint32_t i = 2; i < 4; i++) {
        test_recorder_forget(s->recorder);
        TEST_OK(s->env, recorded_run(s, i));
        cr_assert_eq(recorded_count(s, TEST_RECORD_BEGIN), 0);
        cr_assert_eq(recorded_count(s, TEST_DONE), recorded_n_launches(s));
    }
}

Test(record, a_launch_that_cannot_be_recorded_is_launched) {
    recorded s;
    recorded_begin(&s);
    TEST_OK(s.env, recorded_run(&s, 0));
    s.recorder->fail_recorded = 3;
    check_unrecorded(&s);
    recorded_end(&s);
}

Test(record, a_recording_that_cannot_be_made_is_launched_step_by_step) {
    recorded s;
    recorded_begin(&s);
    TEST_OK(s.env, recorded_run(&s, 0));
    s.recorder->fail_end = 1;
    check_unrecorded(&s);
    recorded_end(&s);
}

Test(record, a_first_run_that_fails_is_no_warm_up) {
    recorded s;
    recorded_begin(&s);
    s.recorder->fail_launch = 2;
    cr_assert_eq(recorded_run(&s, 0), EBB_DEVICE);
    test_recorder_forget(s.recorder);
    TEST_OK(s.env, recorded_run(&s, 0));
    cr_assert_eq(recorded_count(&s, TEST_RECORD_BEGIN), 0);
    recorded_end(&s);
}
