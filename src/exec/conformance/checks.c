/* conformance/checks.c: see checks.h. */
#include "exec/conformance/checks.h"

ebb_status ebb_checker_init(ebb_checker *checker, ebb_backend *backend) {
    *checker = (ebb_checker){0};
    ebb_bench_init(&checker->device, backend);
    const ebb_backend_options options = {.n_threads = 1};
    const ebb_status status = ebb_backend_find("ref")->create(backend->env, &options, &checker->ref);
    if (status == EBB_OK) ebb_bench_init(&checker->reference, checker->ref);
    return status;
}

void ebb_checker_deinit(ebb_checker *checker) {
    if (checker->device.backend) ebb_bench_deinit(&checker->device);
    if (!checker->ref) return;
    ebb_bench_deinit(&checker->reference);
    checker->ref->api->destroy(checker->ref);
    checker->ref = NULL;
}

/* One row under one choice, and what its kernel gave where nothing was asked for. */
typedef struct trial {
    ebb_checker *checker;
    const ebb_case_table *cases;
    uint32_t row;
    ebb_dtype real;
    ebb_case_call call;
    ebb_case_inputs inputs;
    ebb_bench_kernel kernel;
    ebb_case_results plain;
    ebb_case_outcome *outcome;
} trial;

static ebb_env *env_of(const trial *t) {
    return t->checker->device.backend->env;
}

static const char *name_of(const trial *t) {
    return t->checker->device.backend->api->name;
}

static ebb_status run(trial *t, const ebb_bench_place *place, ebb_case_results *out) {
    t->outcome->n_runs++;
    return ebb_bench_run(&t->checker->device, &t->call.call, &t->kernel, &t->inputs, place, out);
}

/* ---- agreement with the reference ------------------------------------------------------------------- */

static double largest(const ebb_type *type, const void *at) {
    double most = 0; /* fmax passes over NaNs */
    for (int64_t i = 0; i < ebb_type_count(type); i++)
        most = fmax(most, fabs(ebb_element_get(type, at, i)));
    return most;
}

/* The reference's answer to the same numbers in f64, whose rounding is far below every tolerance; of 16
 * bits in them, for an op that is fused of several rounds between them. */
static ebb_status reference_of(trial *t, ebb_case_call *precise, ebb_case_results *out) {
    ebb_env *env = env_of(t);
    const ebb_bench_place place = {0};
    ebb_bench_kernel kernel = {0};
    ebb_case_inputs inputs = {0};
    *out = (ebb_case_results){0};
    ebb_status status =
        ebb_case_read(env, t->cases, t->row, ebb_dtype_low(t->real) ? t->real : EBB_F64, precise);
    if (status != EBB_OK) return status;
    status = ebb_case_inputs_cast(env, &t->call.call, &t->inputs, &precise->call, &inputs);
    if (status == EBB_OK) status = ebb_bench_prepare(&t->checker->reference, &precise->call, &kernel);
    if (status == EBB_OK && !kernel.kernel)
        status = ebb_fail(env, EBB_INTERNAL, "%s has no reference", t->cases->op->name);
    if (status == EBB_OK)
        status = ebb_bench_run(&t->checker->reference, &precise->call, &kernel, &inputs, &place, out);
    ebb_bench_release(&t->checker->reference, &kernel);
    ebb_case_inputs_deinit(env, &precise->call, &inputs);
    return status;
}

static double tolerance_of(const trial *t) {
    const double rounded = t->cases->rounds_factors ? t->checker->product_tolerance : 0;
    const double low = ebb_dtype_low(t->real) ? ebb_dtype_unit(t->real) : 0;
    return fmax(fmax(t->cases->tolerance, t->kernel.facts.tile_tolerance), fmax(rounded, low));
}

/* x's difference from y as a part of what is allowed; above 1: too much. A tolerance of 0 means one
 * rounding of the exact result, so that the dtype's own rounding remains, and the sign of a zero. */
static double part_of(double tolerance, const ebb_type *type, double scale, double x, double y) {
    const double unit = 0.52 * ebb_dtype_unit(type->dtype); /* whole numbers must be equal */
    if (isnan(y)) return isnan(x) ? 0 : (double)INFINITY;
    if (isnan(x) || (tolerance == 0 && signbit(x) != signbit(y))) return (double)INFINITY;
    if (x == y) return 0;
    return fabs(x - y) / (tolerance > 0 ? tolerance * scale : unit * fabs(y));
}

static ebb_status compare(const trial *t, const ebb_case_call *precise, const ebb_case_results *want) {
    for (uint32_t o = 0; o < want->n; o++) {
        const ebb_type *type = &t->call.out[o];
        const double scale = fmax(largest(&precise->out[o], want->at[o]), 1);
        for (int64_t i = 0; i < ebb_type_count(type); i++) {
            const double x = ebb_element_get(type, t->plain.at[o], i);
            const double y = ebb_element_get(&precise->out[o], want->at[o], i);
            const double part = part_of(tolerance_of(t), type, scale, x, y);
            t->outcome->worst = fmax(t->outcome->worst, part);
            if (part <= 1) continue;
            return ebb_fail(env_of(t), EBB_VIOLATION,
                            "%s on %s, %s %s: result %u element %lld is %.9g, not %.9g, in %s",
                            t->cases->op->name, name_of(t), t->cases->rows[t->row].inputs,
                            t->cases->rows[t->row].attrs, o, (long long)i, x, y, ebb_dtype_name(t->real));
        }
    }
    return EBB_OK;
}

static ebb_status check_agreement(trial *t) {
    ebb_case_call precise;
    ebb_case_results want;
    ebb_status status = reference_of(t, &precise, &want);
    if (status == EBB_OK) status = compare(t, &precise, &want);
    ebb_case_results_deinit(env_of(t), &want);
    return status;
}

/* ---- the same bits ---------------------------------------------------------------------------------- */

static ebb_status check_same(trial *t, const ebb_bench_place *place, const char *what) {
    ebb_case_results got;
    ebb_status status = run(t, place, &got);
    if (status == EBB_OK && !ebb_case_results_equal(&t->plain, &got))
        status = ebb_fail(env_of(t), EBB_VIOLATION, "%s on %s, %s %s %s: other bits %s", t->cases->op->name,
                          name_of(t), ebb_dtype_name(t->real), t->cases->rows[t->row].inputs,
                          t->cases->rows[t->row].attrs, what);
    ebb_case_results_deinit(env_of(t), &got);
    return status;
}

static ebb_status check_addresses(trial *t) {
    static const int64_t shifts[] = {1, 3, 63}; /* times the alignment: within a page, and to another one */
    const int64_t alignment = t->checker->device.backend->api->alignment;
    ebb_status status = EBB_OK;
    for (size_t k = 0; k < EBB_COUNT(shifts) && status == EBB_OK; k++) {
        const ebb_bench_place place = {.shift = shifts[k] * alignment};
        status = check_same(t, &place, "at another address");
    }
    return status;
}

static ebb_status check_in_place(trial *t) {
    const ebb_op_info *op = t->cases->op;
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < op->n_may_overwrite && status == EBB_OK; k++) {
        const ebb_bench_place place = {.over = &op->may_overwrite[k], .n_over = 1};
        if (ebb_may_lie_over(&t->call.call, op->may_overwrite[k]))
            status = check_same(t, &place, "in place");
    }
    const ebb_bench_place all = {.over = op->update, .n_over = op->n_update};
    if (op->n_update && status == EBB_OK) status = check_same(t, &all, "as an update in place");
    return status;
}

static ebb_status check_threads(trial *t) {
    ebb_status status = EBB_OK;
    for (uint32_t n = 1; n <= t->checker->device.backend->n_threads && status == EBB_OK; n++) {
        const ebb_bench_place place = {.n_run_threads = n};
        status = check_same(t, &place, "with fewer threads");
    }
    return status;
}

static ebb_status check_recorded(trial *t) {
    if (!t->checker->device.backend->api->record_begin) return EBB_OK;
    const ebb_bench_place place = {.recorded = true};
    return check_same(t, &place, "when it is recorded and replayed");
}

/* ---- a row ------------------------------------------------------------------------------------------ */

static ebb_status check_all(trial *t, uint32_t checks) {
    static const struct {
        uint32_t check;
        ebb_status (*run)(trial *t);
    } all[] = {{EBB_CHECK_AGREEMENT, check_agreement},
               {EBB_CHECK_ADDRESSES, check_addresses},
               {EBB_CHECK_IN_PLACE, check_in_place},
               {EBB_CHECK_THREADS, check_threads},
               {EBB_CHECK_RECORDED, check_recorded}};
    const ebb_bench_place plain = {0};
    ebb_status status = run(t, &plain, &t->plain);
    for (size_t k = 0; k < EBB_COUNT(all) && status == EBB_OK; k++) {
        if (checks & all[k].check) status = all[k].run(t);
    }
    ebb_case_results_deinit(env_of(t), &t->plain);
    return status;
}

static ebb_status check_choice(trial *t, uint32_t checks) {
    ebb_status status = ebb_bench_prepare(&t->checker->device, &t->call.call, &t->kernel);
    if (status == EBB_OK && t->kernel.kernel) {
        t->outcome->n_calls++;
        status = check_all(t, checks);
    } else if (status == EBB_OK && t->real == EBB_F32 &&
               (!t->cases->op->fuses || ebb_backend_fuses(t->checker->device.backend))) {
        status = ebb_fail(env_of(t), EBB_VIOLATION, "%s does not support %s %s %s", name_of(t),
                          t->cases->op->name, t->cases->rows[t->row].inputs, t->cases->rows[t->row].attrs);
    }
    return status;
}

ebb_status ebb_case_check(ebb_checker *checker, const ebb_case_table *cases, uint32_t row, ebb_dtype real,
                          uint32_t checks, ebb_case_outcome *out) {
    ebb_env *env = checker->device.backend->env;
    trial t = {.checker = checker, .cases = cases, .row = row, .real = real, .outcome = out};
    *out = (ebb_case_outcome){0};
    ebb_status status = ebb_case_read(env, cases, row, real, &t.call);
    if (status == EBB_OK) status = ebb_case_inputs_init(env, cases, &t.call.call, &t.inputs);
    for (uint32_t n = 1; status == EBB_OK && t.call.call.choice < n; t.call.call.choice++) {
        status = check_choice(&t, checks);
        n = t.kernel.facts.n_choices;
        ebb_bench_release(&checker->device, &t.kernel);
    }
    ebb_case_inputs_deinit(env, &t.call.call, &t.inputs);
    return status;
}
