#include "recorder.h"

#include <stdlib.h>

#include "check.h"

typedef struct work {
    bool fill;
    ebb_kernel *kernel;
    ebb_launch launch; /* its tables are the program's */
    void *to;
    int byte;
    int64_t bytes;
    int64_t mark; /* >= 0: this is a mark */
} work;

typedef struct test_tape {
    work *at;
    uint32_t n, cap;
} test_tape;

static test_recorder *of(ebb_backend *backend) {
    return (test_recorder *)backend;
}

static void log_event(test_recorder *r, test_event event, const void *at, const void *to) {
    if (r->n_log == r->max_log) {
        r->max_log = r->max_log ? 2 * r->max_log : 256;
        r->log = realloc(r->log, r->max_log * sizeof *r->log);
        cr_assert_not_null(r->log);
    }
    r->log[r->n_log++] =
        (test_entry){.event = event, .at = at, .to = to, .seed = r->run.seed, .step = r->run.step};
}

static void blame(test_recorder *r, const char *fault) {
    if (!r->fault) r->fault = fault;
}

/* What must wait for the stream, or cannot be recorded. */
static void alone(test_recorder *r, const char *under_way, const char *in_recording) {
    if (r->open) blame(r, in_recording);
    if (r->pending->n > 0) blame(r, under_way);
}

static void put(test_recorder *r, const work *w) {
    test_tape *tape = r->open ? r->open : r->pending;
    if (tape->n == tape->cap) {
        tape->cap = tape->cap ? 2 * tape->cap : 64;
        tape->at = realloc(tape->at, tape->cap * sizeof *tape->at);
        cr_assert_not_null(tape->at);
    }
    tape->at[tape->n++] = *w;
}

static void tape_free(test_tape *tape) {
    if (tape) free(tape->at);
    free(tape);
}

/* ---- done ---- */

static ebb_status do_work(test_recorder *r, work *w) {
    const ebb_backend_api *api = r->ref->api;
    if (w->mark >= 0) {
        r->marks[w->mark] = r->n_done;
        return EBB_OK;
    }
    r->n_done++;
    log_event(r, TEST_DONE, w->fill ? w->to : (void *)w->kernel, w->fill ? w->to : w->launch.out[0]);
    if (!w->fill) r->log[r->n_log - 1].launch = w->launch;
    if (w->fill) return api->fill(r->ref, w->to, w->byte, w->bytes);
    /* As a device's kernels read them: where they are when the work is done. */
    w->launch.seed = r->run.seed;
    w->launch.step = r->run.step;
    return api->launch(r->ref, w->kernel, &w->launch);
}

static ebb_status do_all(test_recorder *r, test_tape *tape) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; status == EBB_OK && i < tape->n; i++) status = do_work(r, &tape->at[i]);
    return status;
}

/* ---- the backend ---- */

static void recorder_destroy(ebb_backend *backend) {
    test_recorder *r = of(backend);
    cr_assert_eq(r->n_recordings, 0, "%u recordings are left", r->n_recordings);
    r->ref->api->destroy(r->ref);
    tape_free(r->pending);
    free(r->log);
    free(r->marks);
    free((void *)(uintptr_t)r->base.api);
    free(r);
}

static ebb_status recorder_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    return of(backend)->ref->api->facts(of(backend)->ref, call, out);
}

static ebb_status recorder_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                                   ebb_kernel **out) {
    return of(backend)->ref->api->prepare(of(backend)->ref, call, seed_key, out);
}

static void recorder_release(ebb_backend *backend, ebb_kernel *kernel) {
    of(backend)->ref->api->release(of(backend)->ref, kernel);
}

static ebb_status recorder_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    test_recorder *r = of(backend);
    uint32_t *fail = r->open ? &r->fail_recorded : &r->fail_launch;
    if (*fail > 0 && --*fail == 0) return ebb_fail(backend->env, EBB_DEVICE, "refused on purpose");
    log_event(r, TEST_LAUNCH, kernel, launch->out[0]);
    put(r, &(work){.kernel = kernel, .launch = *launch, .mark = -1});
    return EBB_OK;
}

static ebb_status recorder_alloc(ebb_backend *backend, int64_t bytes, void **out) {
    test_recorder *r = of(backend);
    alone(r, "an allocation while work is under way", "an allocation in a recording");
    log_event(r, TEST_ALLOC, NULL, NULL);
    return r->ref->api->block_alloc(r->ref, bytes, out);
}

static void recorder_free(ebb_backend *backend, void *block, int64_t bytes) {
    test_recorder *r = of(backend);
    alone(r, "a free while work is under way", "a free in a recording");
    log_event(r, TEST_FREE, block, block);
    r->ref->api->block_free(r->ref, block, bytes);
}

static ebb_status recorder_copy(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    test_recorder *r = of(backend);
    alone(r, "a copy while work is under way", "a copy in a recording");
    log_event(r, TEST_COPY, from, to);
    memcpy(to, from, (size_t)bytes);
    return EBB_OK;
}

static ebb_status recorder_fill(ebb_backend *backend, void *to, int byte, int64_t bytes) {
    test_recorder *r = of(backend);
    log_event(r, TEST_FILL, to, to);
    put(r, &(work){.fill = true, .to = to, .byte = byte, .bytes = bytes, .mark = -1});
    return EBB_OK;
}

static ebb_status recorder_begin(ebb_backend *backend, const ebb_run *run) {
    test_recorder *r = of(backend);
    alone(r, "a run while another is under way", "a run's begin in a recording");
    r->run = *run;
    log_event(r, TEST_BEGIN, NULL, NULL);
    return EBB_OK;
}

static ebb_status recorder_end(ebb_backend *backend) {
    test_recorder *r = of(backend);
    if (r->open) blame(r, "a run's end in a recording");
    const ebb_status status = do_all(r, r->pending);
    r->pending->n = 0;
    log_event(r, TEST_END, NULL, NULL);
    return status;
}

static ebb_status recorder_record_begin(ebb_backend *backend) {
    test_recorder *r = of(backend);
    if (r->open) blame(r, "a recording in a recording");
    log_event(r, TEST_RECORD_BEGIN, NULL, NULL);
    r->open = calloc(1, sizeof *r->open);
    cr_assert_not_null(r->open);
    return EBB_OK;
}

static ebb_status recorder_record_end(ebb_backend *backend, ebb_recording **out) {
    test_recorder *r = of(backend);
    test_tape *tape = r->open;
    *out = NULL;
    if (!tape) blame(r, "a recording's end without its begin");
    r->open = NULL;
    log_event(r, TEST_RECORD_END, NULL, NULL);
    if (r->fail_end > 0 && --r->fail_end == 0) {
        tape_free(tape);
        return ebb_fail(backend->env, EBB_DEVICE, "cannot be recorded, on purpose");
    }
    r->n_recordings++;
    *out = (ebb_recording *)tape;
    return EBB_OK;
}

static ebb_status recorder_replay(ebb_backend *backend, ebb_recording *recording) {
    test_recorder *r = of(backend);
    if (r->open) blame(r, "a replay in a recording");
    log_event(r, TEST_REPLAY, recording, NULL);
    const test_tape *tape = (test_tape *)recording;
    for (uint32_t i = 0; i < tape->n; i++) put(r, &tape->at[i]);
    return EBB_OK;
}

static void recorder_record_free(ebb_backend *backend, ebb_recording *recording) {
    test_recorder *r = of(backend);
    alone(r, "a recording is freed while work is under way", "a recording is freed in a recording");
    log_event(r, TEST_RECORD_FREE, recording, NULL);
    r->n_recordings--;
    tape_free((test_tape *)recording);
}

static ebb_status recorder_marks_reserve(ebb_backend *backend, uint32_t n_marks) {
    test_recorder *r = of(backend);
    alone(r, "marks while work is under way", "marks in a recording");
    if (n_marks <= r->n_marks) return EBB_OK;
    r->marks = realloc(r->marks, n_marks * sizeof *r->marks);
    cr_assert_not_null(r->marks);
    r->n_marks = n_marks;
    return EBB_OK;
}

static ebb_status recorder_mark(ebb_backend *backend, uint32_t i) {
    test_recorder *r = of(backend);
    if (r->open) blame(r, "a mark in a recording");
    cr_assert_lt(i, r->n_marks);
    log_event(r, TEST_MARK, NULL, NULL);
    put(r, &(work){.mark = i});
    return EBB_OK;
}

/* A nanosecond is a piece of work. */
static ebb_status recorder_marks_read(ebb_backend *backend, uint32_t n_marks, uint64_t *ns) {
    test_recorder *r = of(backend);
    alone(r, "marks are read while work is under way", "marks are read in a recording");
    for (uint32_t i = 0; i + 1 < n_marks; i++) ns[i] = r->marks[i + 1] - r->marks[i];
    return EBB_OK;
}

test_recorder *test_recorder_open(ebb_env *env, uint32_t n_threads) {
    test_recorder *r = calloc(1, sizeof *r);
    ebb_backend_api *api = malloc(sizeof *api);
    cr_assert(r && api && (r->pending = calloc(1, sizeof *r->pending)));
    r->ref = test_backend_open(env, "ref", n_threads);
    *api = *r->ref->api;
    api->destroy = recorder_destroy;
    api->facts = recorder_facts;
    api->prepare = recorder_prepare;
    api->release = recorder_release;
    api->launch = recorder_launch;
    api->block_alloc = recorder_alloc;
    api->block_free = recorder_free;
    api->copy_in = recorder_copy;
    api->copy_out = recorder_copy;
    api->fill = recorder_fill;
    api->begin = recorder_begin;
    api->end = recorder_end;
    api->record_begin = recorder_record_begin;
    api->record_end = recorder_record_end;
    api->replay = recorder_replay;
    api->record_free = recorder_record_free;
    api->marks_reserve = recorder_marks_reserve;
    api->mark = recorder_mark;
    api->marks_read = recorder_marks_read;
    r->base = (ebb_backend){api, env, n_threads};
    return r;
}

void test_recorder_forget(test_recorder *recorder) {
    recorder->n_log = 0;
}

uint32_t test_recorder_count(const test_recorder *recorder, test_event event) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < recorder->n_log; i++) n += recorder->log[i].event == event;
    return n;
}
