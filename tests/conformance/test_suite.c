/* The suite itself: what it must find in kernels that are wrong, in one way each, and that it leaves a
 * device's memory to the backend. The backend here is the reference with faults, whose blocks the host
 * cannot touch.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "exec/conformance.h"
#include "harness.h"
#include "support/away.h"

enum fault {
    NOTHING,
    WRONG_VALUE,
    NOT_WRITTEN,
    OVERRUN,
    WRITES_INPUT,
    BY_ADDRESS,
    IN_PLACE,
    BY_THREADS,
    REPLAYED,
    SECOND_CHOICE,
    ALLOCATES,
    REFUSES,
    UNSUPPORTED,
    BREAKS,
    BREAKS_DOWN /* and does not even begin from then on */
};

static struct {
    enum fault fault;
    uint32_t n_run_threads;
    bool recording;
    ebb_launch recorded;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS]; /* of what was recorded */
    ebb_kernel *kernel;
    const ebb_op_info *op;     /* that is wrong; NULL: all */
    const ebb_op_info *breaks; /* this one's launches fail; NULL: none */
    bool broken;
} state;

static ebb_status faulty_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    const ebb_status status = ebb_backend_ref.facts(backend, call, out);
    if (state.fault == SECOND_CHOICE) out->n_choices = 2;
    if (state.fault == UNSUPPORTED) return ebb_fail(backend->env, EBB_BAD_INPUT, "not today");
    return status;
}
static ebb_status faulty_begin(ebb_backend *backend, const ebb_run *run) {
    state.n_run_threads = run->n_threads;
    return state.broken ? ebb_fail(backend->env, EBB_DEVICE, "it is broken") : EBB_OK;
}

static ebb_status spoil(ebb_backend *backend, const away_kernel *kernel, const ebb_launch *run,
                        bool replayed) {
    char *out = run->out[0], *in = run->in[0];
    const int64_t last = run->out_bytes[0] - 1;
    void *p;
    if (kernel->op == state.breaks) return ebb_fail(backend->env, EBB_DEVICE, "it smokes");
    if (state.op && kernel->op != state.op) return EBB_OK;
    switch (state.fault) {
    case WRONG_VALUE:
        out[last] ^= 0x40;
        break;
    case OVERRUN:
        out[last + 1] ^= 1;
        break;
    case WRITES_INPUT:
        if (in != out) in[0] ^= 1;
        break;
    case BY_ADDRESS:
        out[0] ^= (uintptr_t)out / 64 % 4 == 1;
        break;
    case IN_PLACE:
        out[0] ^= in == out;
        break;
    case BY_THREADS:
        out[0] ^= state.n_run_threads == 2;
        break;
    case REPLAYED:
        out[0] ^= replayed;
        break;
    case SECOND_CHOICE:
        if (kernel->choice == 1) out[last] ^= 0x40;
        break;
    case ALLOCATES:
        p = ebb_calloc(backend->env, 1, 1);
        ebb_cfree(backend->env, p, 1, 1);
        break;
    case REFUSES:
        return ebb_fail(backend->env, EBB_BAD_INPUT, "will not");
    case BREAKS_DOWN:
        state.broken = true;
        return ebb_fail(backend->env, EBB_DEVICE, "it smokes");
    case BREAKS:
        return ebb_fail(backend->env, EBB_DEVICE, "it smokes");
    default:
        break;
    }
    return EBB_OK;
}

static ebb_status run_here(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch,
                           bool replayed) {
    ebb_launch here;
    char last[4], *end = (char *)away_here(launch->out[0]) + launch->out_bytes[0] - sizeof last;
    memcpy(last, end, sizeof last);
    const ebb_status status = away_run(backend, kernel, launch, &here);
    if (state.fault == NOT_WRITTEN) memcpy(end, last, sizeof last);
    return status == EBB_OK ? spoil(backend, (away_kernel *)kernel, &here, replayed) : status;
}

static ebb_status faulty_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    const away_kernel *k = (away_kernel *)kernel;
    if (!state.recording) return run_here(backend, kernel, launch, false);
    state.kernel = kernel;
    state.recorded = *launch;
    memcpy(state.in, launch->in, k->n_in * sizeof *state.in);
    memcpy(state.out, launch->out, k->n_out * sizeof *state.out);
    state.recorded.in = state.in;
    state.recorded.out = state.out;
    return EBB_OK;
}
static ebb_status faulty_record_begin(ebb_backend *backend) {
    (void)backend;
    state.recording = true;
    return EBB_OK;
}
static ebb_status faulty_record_end(ebb_backend *backend, ebb_recording **out) {
    state.recording = false;
    *out = (ebb_recording *)backend; /* any */
    return EBB_OK;
}
static ebb_status faulty_replay(ebb_backend *backend, ebb_recording *recording) {
    (void)recording;
    return run_here(backend, state.kernel, &state.recorded, true);
}
static void faulty_record_free(ebb_backend *backend, ebb_recording *recording) {
    (void)backend, (void)recording;
}

static const ebb_backend_api *faulty(void) {
    static ebb_backend_api api;
    away_fill_api(&api, "faulty");
    api.facts = faulty_facts;
    api.begin = faulty_begin;
    api.launch = faulty_launch;
    api.record_begin = faulty_record_begin;
    api.record_end = faulty_record_end;
    api.replay = faulty_replay;
    api.record_free = faulty_record_free;
    return &api;
}

static ebb_backend *open_faulty(ebb_env **env, uint32_t n_threads) {
    memset(&state, 0, sizeof state);
    ebb_backend *backend = NULL;
    cr_assert_eq(ebb_env_create(NULL, env), EBB_OK);
    cr_assert_eq(ebb_backend_ref.create(*env, &(ebb_backend_options){.n_threads = n_threads}, &backend),
                 EBB_OK);
    backend->api = faulty();
    return backend;
}

static const struct row {
    enum fault fault;
    ebb_status status;
    const char *text;
} rows[] = {
    {NOTHING, EBB_OK, ""},
    {WRONG_VALUE, EBB_VIOLATION, "relu on faulty, [3] : result 0 element 2 is "},
    {NOT_WRITTEN, EBB_VIOLATION, "nan, not "},
    {OVERRUN, EBB_VIOLATION, "relu on faulty writes byte "},
    {WRITES_INPUT, EBB_VIOLATION, "relu on faulty writes byte 64,"},
    {BY_ADDRESS, EBB_VIOLATION, "other bits at another address"},
    {IN_PLACE, EBB_VIOLATION, "other bits in place"},
    {BY_THREADS, EBB_VIOLATION, "other bits with fewer threads"},
    {REPLAYED, EBB_VIOLATION, "other bits when it is recorded and replayed"},
    {SECOND_CHOICE, EBB_VIOLATION, "relu on faulty, [3] : result 0 element 2 is "},
    {ALLOCATES, EBB_VIOLATION, "relu on faulty allocates in launch"},
    {REFUSES, EBB_VIOLATION, "relu on faulty: will not"},
    {UNSUPPORTED, EBB_VIOLATION, "faulty does not support relu [3]"},
    {BREAKS, EBB_DEVICE, "relu on faulty: it smokes"},
};

Test(suite, finds_what_is_wrong_with_a_kernel) {
    static const ebb_op_case one[] = {{"[3]", ""}};
    static const ebb_case_table cases = {.op = &ebb_op_relu, .fills = "u", .rows = one, .n_rows = 1};
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_env *env;
        ebb_checker checker;
        ebb_case_outcome outcome;
        ebb_backend *backend = open_faulty(&env, 3);
        state.fault = rows[k].fault;
        cr_assert_eq(ebb_checker_init(&checker, backend), EBB_OK);
        const ebb_status status = ebb_case_check(&checker, &cases, 0, EBB_F32, EBB_CHECK_ALL, &outcome);
        cr_assert(status == rows[k].status && strstr(ebb_env_error(env), rows[k].text), "fault %d: %s, %s",
                  rows[k].fault, ebb_status_name(status), ebb_env_error(env));
        if (rows[k].fault == SECOND_CHOICE) cr_assert_eq(outcome.n_calls, 2);
        ebb_checker_deinit(&checker);
        backend->api->destroy(backend);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0);
        ebb_env_destroy(env);
    }
}

typedef struct seen {
    uint32_t n_ops, n_faulty_ops, n_calls, n_faults;
    char faulty[64]; /* the first faulty ops, a space after each */
} seen;

static void on_row(void *ctx, const ebb_conformance_row *row) {
    seen *s = ctx;
    const size_t n = strlen(s->faulty);
    s->n_ops++;
    s->n_calls += row->n_calls;
    s->n_faults += row->n_faults;
    if (row->n_faults == 0) return;
    s->n_faulty_ops++;
    (void)snprintf(s->faulty + n, sizeof s->faulty - n, "%s ", row->op);
    cr_assert(strstr(row->fault, row->op) == row->fault, "%s: %s", row->op, row->fault);
}

static void close_faulty(ebb_env *env, ebb_backend *backend) {
    backend->api->destroy(backend);
    ebb_env_destroy(env);
}

static seen run_faulty(ebb_backend *backend, const char *const *names, uint32_t n_names,
                       ebb_status expected) {
    seen s = {0};
    const ebb_status status = ebb_conformance_run(backend, 0, names, n_names, on_row, &s);
    cr_assert_eq(status, expected, "%s", ebb_env_error(backend->env));
    return s;
}

Test(suite, tells_of_the_ops_that_are_wrong_and_tries_the_rest) {
    static const char *const names[] = {"relu", "silu", "concat", "fill", "scale"};
    ebb_env *env;
    ebb_backend *backend = open_faulty(&env, 1); /* no fault here is of threads */
    state.fault = WRONG_VALUE;
    state.op = &ebb_op_concat;
    state.breaks = &ebb_op_silu; /* of a library, perhaps, that refuses this call alone */
    seen s = run_faulty(backend, names, EBB_COUNT(names), EBB_OK);
    cr_assert(s.n_ops == EBB_COUNT(names) && strcmp(s.faulty, "silu concat ") == 0, "%u ops, %s", s.n_ops,
              s.faulty);
    state.fault = BREAKS_DOWN; /* then nothing after it is tried */
    state.breaks = NULL;
    s = run_faulty(backend, names, EBB_COUNT(names), EBB_DEVICE);
    cr_assert(s.n_ops == 3 && strcmp(s.faulty, "concat ") == 0, "%u ops, %s", s.n_ops, s.faulty);
    cr_assert_lt(ebb_env_peak_bytes(env), 64 << 20);
    close_faulty(env, backend);
}

Test(suite, tries_every_op_where_none_is_named) {
    ebb_env *env;
    ebb_backend *backend = open_faulty(&env, 1);
    state.fault = REFUSES;
    const seen s = run_faulty(backend, NULL, 0, EBB_OK);
    cr_assert(s.n_ops == ebb_n_op_cases && s.n_faulty_ops == s.n_ops, "%u of %u", s.n_faulty_ops, s.n_ops);
    close_faulty(env, backend);
}

Test(suite, tries_what_is_asked_for_in_every_dtype_of_real_numbers) {
    static const char *const relu[] = {"relu"}, *const wrong[] = {"relu", "reluu"};
    ebb_env *env;
    ebb_backend *backend = open_faulty(&env, 1);
    uint32_t n_calls = 0;
    for (ebb_case_set set = 0; set < EBB_N_SETS; set++)
        n_calls += ebb_case_table_of(ebb_op_cases_of(&ebb_op_relu), set).n_rows *
                   (ebb_case_set_small(set) ? 4 : 1); /* f32, f64, f16, bf16 */
    state.fault = WRONG_VALUE;
    const seen s = run_faulty(backend, relu, 1, EBB_OK);
    cr_assert(strcmp(s.faulty, "relu ") == 0 && s.n_calls == n_calls && s.n_faults == n_calls,
              "%u ops, %s: %u calls, not %u", s.n_ops, s.faulty, s.n_calls, n_calls);
    (void)run_faulty(backend, wrong, 2, EBB_USAGE);
    cr_assert(strstr(ebb_env_error(env), "did you mean relu?"), "%s", ebb_env_error(env));
    close_faulty(env, backend);
}

/* Tables are held to f32: where factors are rounded (TF32) products are allowed more. */
Test(suite, allows_products_what_their_rounded_factors_cost) {
    static const ebb_op_case one[] = {{"[2,33] [3,33]", ""}};
    static const ebb_case_table cases = {.op = &ebb_op_linear,
                                         .fills = "u",
                                         .tolerance = 1e-30,
                                         .rounds_factors = true,
                                         .rows = one,
                                         .n_rows = 1};
    ebb_env *env;
    ebb_checker checker;
    ebb_case_outcome outcome;
    ebb_backend *backend = open_faulty(&env, 3);
    cr_assert_eq(ebb_checker_init(&checker, backend), EBB_OK);
    cr_assert_eq(ebb_case_check(&checker, &cases, 0, EBB_F32, EBB_CHECK_ALL, &outcome), EBB_VIOLATION);
    checker.product_tolerance = 1e-3;
    cr_assert_eq(ebb_case_check(&checker, &cases, 0, EBB_F32, EBB_CHECK_ALL, &outcome), EBB_OK);
    cr_assert(outcome.worst > 0 && outcome.worst < 1e-3);
    ebb_checker_deinit(&checker);
    close_faulty(env, backend);
}
