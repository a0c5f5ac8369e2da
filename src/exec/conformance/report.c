/* conformance/report.c: all tables on one backend, op by op. */
#include "exec/conformance.h"

#include <stdio.h>

#include "base/base.h"
#include "exec/conformance/checks.h"

typedef struct reporter {
    ebb_checker checker;
    ebb_conformance_row row; /* of the op that is tried */
} reporter;

static ebb_env *env_of(const reporter *r) {
    return r->checker.device.backend->env;
}

/* After an error of the device: does an empty run go through it? A library may refuse one call alone. */
static bool still_works(const reporter *r) {
    ebb_backend *backend = r->checker.device.backend;
    const ebb_run run = {0};
    if (!backend->api->begin) return true;
    if (backend->api->begin(backend, &run) != EBB_OK) return false;
    return !backend->api->end || backend->api->end(backend) == EBB_OK;
}

/* A call that does not hold is the op's; what keeps the device from going on is everybody's. */
static ebb_status try_call(reporter *r, const ebb_case_table *cases, uint32_t row, ebb_dtype real) {
    ebb_case_outcome outcome;
    if (ebb_stop_asked(env_of(r)))
        return ebb_fail(env_of(r), EBB_INTERRUPTED, "interrupted before %s", cases->op->name);
    const ebb_status status = ebb_case_check(&r->checker, cases, row, real, EBB_CHECK_ALL, &outcome);
    r->row.n_calls += outcome.n_calls;
    r->row.n_runs += outcome.n_runs;
    r->row.worst = fmax(r->row.worst, outcome.worst);
    if (status == EBB_OK || status == EBB_INTERNAL || status == EBB_NO_MEMORY) return status;
    if (r->row.n_faults++ == 0)
        (void)snprintf(r->row.fault, sizeof r->row.fault, "%s", ebb_env_error(env_of(r)));
    if (status == EBB_DEVICE && still_works(r)) return EBB_OK;
    return status == EBB_VIOLATION ? EBB_OK : status;
}

static ebb_status try_set(reporter *r, const ebb_op_cases *cases, ebb_case_set set) {
    static const ebb_dtype reals[] = {EBB_F32, EBB_F64, EBB_F16, EBB_BF16};
    const ebb_case_table table = ebb_case_table_of(cases, set);
    ebb_status status = EBB_OK;
    for (uint32_t row = 0; row < table.n_rows && status == EBB_OK; row++) {
        const size_t n_reals = ebb_case_set_small(set) ? EBB_COUNT(reals) : 1;
        for (size_t k = 0; k < n_reals && status == EBB_OK; k++)
            status = try_call(r, &table, row, reals[k]);
    }
    return status;
}

static ebb_status try_op(reporter *r, const ebb_op_cases *cases) {
    ebb_status status = EBB_OK;
    r->row = (ebb_conformance_row){.op = cases->op->name, .family = ebb_family_title(cases->op->family)};
    for (ebb_case_set set = 0; set < EBB_N_SETS && status == EBB_OK; set++) status = try_set(r, cases, set);
    return status;
}

static const char *op_with_cases(const void *ctx, size_t i) {
    (void)ctx;
    return i < ebb_n_op_cases ? ebb_op_cases_all[i]->op->name : NULL;
}

static ebb_status check_names(ebb_env *env, const char *const *names, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = 0;
        while (i < ebb_n_op_cases && strcmp(names[k], op_with_cases(NULL, i)) != 0) i++;
        if (i < ebb_n_op_cases) continue;
        const char *near = ebb_word_nearest(names[k], strlen(names[k]), op_with_cases, NULL);
        return ebb_fail(env, EBB_USAGE, "no op \"%.60s\" has kernels to try%s%s%s", names[k],
                        near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
    }
    return EBB_OK;
}

static bool is_asked(const char *const *names, uint32_t n, const char *op) {
    bool found = n == 0;
    for (uint32_t k = 0; k < n && !found; k++) found = strcmp(names[k], op) == 0;
    return found;
}

ebb_status ebb_conformance_run(ebb_backend *backend, double product_tolerance, const char *const *names,
                               uint32_t n_names, ebb_conformance_hook *on_row, void *ctx) {
    reporter r;
    if (!backend->api->computes)
        return ebb_fail(backend->env, EBB_USAGE, "device %s computes nothing: it has no kernels to try",
                        backend->api->name);
    ebb_status status = check_names(backend->env, names, n_names);
    if (status != EBB_OK) return status;
    status = ebb_checker_init(&r.checker, backend);
    r.checker.product_tolerance = product_tolerance;
    for (uint32_t k = 0; k < ebb_n_op_cases && status == EBB_OK; k++) {
        if (!is_asked(names, n_names, ebb_op_cases_all[k]->op->name)) continue;
        status = try_op(&r, ebb_op_cases_all[k]);
        if (r.row.n_runs > 0 || r.row.n_faults > 0) on_row(ctx, &r.row);
    }
    ebb_checker_deinit(&r.checker);
    return status;
}

double ebb_conformance_tolerance(const ebb_op_info *op, double product_tolerance) {
    const ebb_op_cases *cases = ebb_op_cases_of(op);
    return cases ? fmax(cases->tolerance, cases->rounds_factors ? product_tolerance : 0) : 0;
}
