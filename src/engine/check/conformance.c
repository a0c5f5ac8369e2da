/* Tries every kernel of a device: opens it, hands it to exec's conformance suite, and adds up. */
#include "ebb/check.h"

#include <stdio.h>

#include "engine/compile/compile.h"
#include "exec/conformance.h"

typedef struct adder {
    void (*on_row)(void *ctx, const ebb_conformance_row *row);
    void *ctx;
    ebb_conformance_result *sum;
    char fault[256]; /* the first */
} adder;

static void add_row(void *ctx, const ebb_conformance_row *row) {
    adder *a = ctx;
    if (a->sum->n_faults == 0 && row->n_faults > 0)
        (void)snprintf(a->fault, sizeof a->fault, "%s", row->fault);
    a->sum->n_ops++;
    a->sum->n_calls += row->n_calls;
    a->sum->n_runs += row->n_runs;
    a->sum->n_faults += row->n_faults;
    if (row->worst > a->sum->worst) a->sum->worst = row->worst;
    if (a->on_row) a->on_row(a->ctx, row);
}

ebb_status ebb_conformance(ebb_env *env, const ebb_options *options, const char *const *ops, uint32_t n_ops,
                           void (*on_row)(void *ctx, const ebb_conformance_row *row), void *ctx,
                           ebb_conformance_result *out) {
    adder a = {.on_row = on_row, .ctx = ctx, .sum = out};
    ebb_backend *backend;
    *out = (ebb_conformance_result){0};
    if (ebb_device_is_file(options->device))
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "%.200s describes a device: it has no kernels to try: give the device cuda",
                        options->device);
    ebb_status status = ebb_options_check_but_mode(env, options);
    if (status == EBB_OK) status = ebb_open_backend(env, options, &backend);
    if (status != EBB_OK) return status;
    status = ebb_conformance_run(backend, ebb_product_tolerance(options), ops, n_ops, add_row, &a);
    backend->api->destroy(backend);
    out->peak_bytes = (int64_t)ebb_env_peak_bytes(env);
    if (status != EBB_OK || out->n_faults == 0) return status;
    return ebb_fail(env, EBB_VIOLATION, "%u of %u calls do not hold on device %s; the first: %s",
                    out->n_faults, out->n_calls, options->device, a.fault);
}
