/* conformance/bench.c: lays a case out in a block, runs its kernel there and looks at every byte
 * afterwards. */
#include "exec/conformance/bench.h"

#include <stdio.h>

/* Guards are of large numbers (3.4e38 as f32): one that is read where it should not shows in any sum or
 * maximum; times zero only NaN shows, which a bench may ask for. What is not written shows as NaN. */
enum { PAGE = 4096, GUARD = 64, GUARD_BYTE = 0x7F, UNWRITTEN_BYTE = 0xFF };

void ebb_bench_init(ebb_bench *bench, ebb_backend *backend) {
    *bench = (ebb_bench){.backend = backend, .guard = GUARD_BYTE};
}

void ebb_bench_deinit(ebb_bench *bench) {
    ebb_env *env = bench->backend->env;
    if (bench->block) bench->backend->api->block_free(bench->backend, bench->block, bench->bytes + PAGE);
    ebb_cfree(env, bench->before, bench->before ? (size_t)bench->bytes : 0, 1);
    ebb_cfree(env, bench->after, bench->after ? (size_t)bench->bytes : 0, 1);
    bench->block = bench->before = bench->after = NULL;
    bench->bytes = 0;
}

/* Room for a block that begins at a page. */
static ebb_status reserve(ebb_bench *bench, int64_t bytes) {
    if (bytes <= bench->bytes) return EBB_OK;
    ebb_bench_deinit(bench);
    ebb_env *env = bench->backend->env;
    bench->bytes = bytes;
    bench->before = ebb_calloc(env, (size_t)bytes, 1);
    bench->after = ebb_calloc(env, (size_t)bytes, 1);
    ebb_status status = bench->before && bench->after ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK)
        status = bench->backend->api->block_alloc(bench->backend, bytes + PAGE, &bench->block);
    if (status != EBB_OK) {
        bench->block = NULL;
        ebb_bench_deinit(bench);
    }
    return status;
}

ebb_status ebb_bench_prepare(ebb_bench *bench, const ebb_call *call, ebb_bench_kernel *out) {
    const ebb_backend_api *api = bench->backend->api;
    *out = (ebb_bench_kernel){0};
    ebb_status status = api->facts(bench->backend, call, &out->facts);
    if (status == EBB_BAD_INPUT) return EBB_OK;
    if (status == EBB_OK &&
        (out->facts.time_ns < 0 || out->facts.scratch_bytes < 0 || out->facts.n_choices < 1))
        return ebb_fail(bench->backend->env, EBB_VIOLATION,
                        "%s on %s: facts of %lld ns, %lld scratch bytes, %u choices", call->op->name,
                        api->name, (long long)out->facts.time_ns, (long long)out->facts.scratch_bytes,
                        out->facts.n_choices);
    if (status == EBB_OK) status = api->prepare(bench->backend, call, EBB_BENCH_SEED_KEY, &out->kernel);
    return status;
}

void ebb_bench_release(ebb_bench *bench, ebb_bench_kernel *kernel) {
    if (kernel->kernel) bench->backend->api->release(bench->backend, kernel->kernel);
    *kernel = (ebb_bench_kernel){0};
}

/* Where each operand of one run lies in the block. */
typedef struct layout {
    int64_t in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS], scratch, scratch_bytes, end;
} layout;

static int64_t place_next(int64_t *end, int64_t bytes, int64_t alignment, int64_t shift) {
    const int64_t at = ebb_align_up(*end + GUARD, alignment) + shift;
    *end = at + bytes;
    return at;
}

static layout lay_out(const ebb_call *call, const ebb_bench_place *place, int64_t alignment,
                      int64_t scratch_bytes) {
    layout l = {.scratch_bytes = scratch_bytes};
    for (uint32_t i = 0; i < call->n_in; i++)
        l.in[i] = place_next(&l.end, ebb_type_bytes(&call->in[i]), alignment, place->shift);
    for (uint32_t o = 0; o < call->n_out; o++) {
        l.out[o] = -1;
        for (uint32_t k = 0; k < place->n_over; k++) {
            if (place->over[k].out == o) l.out[o] = l.in[place->over[k].in];
        }
        if (l.out[o] < 0)
            l.out[o] = place_next(&l.end, ebb_type_bytes(&call->out[o]), alignment, place->shift);
    }
    l.scratch = place_next(&l.end, scratch_bytes, alignment, place->shift);
    l.end = ebb_align_up(l.end + GUARD, PAGE);
    return l;
}

/* The block's bytes before the run, inputs last: outputs may lie over them. */
static void fill_block(ebb_bench *bench, const ebb_call *call, const layout *l,
                       const ebb_case_inputs *inputs) {
    memset(bench->before, bench->guard, (size_t)l->end);
    for (uint32_t o = 0; o < call->n_out; o++)
        memset(bench->before + l->out[o], UNWRITTEN_BYTE, (size_t)ebb_type_bytes(&call->out[o]));
    memset(bench->before + l->scratch, UNWRITTEN_BYTE, (size_t)l->scratch_bytes);
    for (uint32_t i = 0; i < call->n_in; i++)
        memcpy(bench->before + l->in[i], inputs->at[i], (size_t)ebb_type_bytes(&call->in[i]));
}

/* The backend's refusal of what it said it can do, with the op before it; its other errors as they are. */
static ebb_status failed(const ebb_bench *bench, const ebb_call *call, ebb_status status) {
    ebb_env *env = bench->backend->env;
    if (status == EBB_OK || status == EBB_VIOLATION) return status;
    const bool passes = status == EBB_DEVICE || status == EBB_NO_MEMORY || status == EBB_UNAVAILABLE;
    return ebb_fail(env, passes ? status : EBB_VIOLATION, "%s on %s: %s", call->op->name,
                    bench->backend->api->name, ebb_env_error(env));
}

static ebb_status launch_once(ebb_bench *bench, const ebb_call *call, ebb_kernel *kernel,
                              const ebb_launch *run) {
    ebb_env *env = bench->backend->env;
    const uint64_t allocations = ebb_env_allocation_count(env);
    const ebb_status status = bench->backend->api->launch(bench->backend, kernel, run);
    if (status == EBB_OK && ebb_env_allocation_count(env) != allocations)
        return ebb_fail(env, EBB_VIOLATION, "%s on %s allocates in launch", call->op->name,
                        bench->backend->api->name);
    return status;
}

/* Between begin and end: launched, or recorded and then replayed. */
static ebb_status launch_or_replay(ebb_bench *bench, const ebb_call *call, ebb_kernel *kernel,
                                   const ebb_launch *run, bool recorded, ebb_recording **recording) {
    const ebb_backend_api *api = bench->backend->api;
    if (!recorded) return launch_once(bench, call, kernel, run);
    ebb_status status = api->record_begin(bench->backend);
    if (status != EBB_OK) return status;
    const ebb_status launched = launch_once(bench, call, kernel, run);
    status = api->record_end(bench->backend, recording);
    if (launched == EBB_OK && status == EBB_OK) status = api->replay(bench->backend, *recording);
    return launched == EBB_OK ? status : launched;
}

static ebb_status launch(ebb_bench *bench, const ebb_call *call, ebb_kernel *kernel, char *block,
                         const layout *l, const ebb_bench_place *place) {
    const ebb_backend_api *api = bench->backend->api;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS];
    int64_t in_bytes[EBB_MAX_OPERANDS], out_bytes[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < call->n_in; i++) {
        in[i] = block + l->in[i];
        in_bytes[i] = ebb_type_bytes(&call->in[i]);
    }
    for (uint32_t o = 0; o < call->n_out; o++) {
        out[o] = block + l->out[o];
        out_bytes[o] = ebb_type_bytes(&call->out[o]);
    }
    const ebb_launch run = {.in = in,
                            .out = out,
                            .scratch = l->scratch_bytes ? block + l->scratch : NULL,
                            .in_bytes = in_bytes,
                            .out_bytes = out_bytes,
                            .scratch_bytes = l->scratch_bytes,
                            .seed = EBB_BENCH_SEED,
                            .step = EBB_BENCH_STEP};
    const ebb_run begun = {place->n_run_threads, EBB_BENCH_SEED, EBB_BENCH_STEP};
    ebb_status status = api->begin ? api->begin(bench->backend, &begun) : EBB_OK;
    if (status != EBB_OK) return status;
    ebb_recording *recording = NULL;
    status = launch_or_replay(bench, call, kernel, &run, place->recorded, &recording);
    ebb_env_hold_error(bench->backend->env, status != EBB_OK);
    const ebb_status ended = api->end ? api->end(bench->backend) : EBB_OK;
    ebb_env_hold_error(bench->backend->env, false);
    if (recording) api->record_free(bench->backend, recording);
    return status == EBB_OK ? ended : status;
}

/* Everything but outputs and scratch must be as it was. */
static ebb_status check_untouched(ebb_bench *bench, const ebb_call *call, const layout *l) {
    for (uint32_t o = 0; o < call->n_out; o++)
        memcpy(bench->before + l->out[o], bench->after + l->out[o], (size_t)ebb_type_bytes(&call->out[o]));
    memcpy(bench->before + l->scratch, bench->after + l->scratch, (size_t)l->scratch_bytes);
    if (memcmp(bench->before, bench->after, (size_t)l->end) == 0) return EBB_OK;
    int64_t i = 0;
    while (bench->before[i] == bench->after[i]) i++;
    return ebb_fail(bench->backend->env, EBB_VIOLATION,
                    "%s on %s writes byte %lld, which is not its own (its output begins at %lld)",
                    call->op->name, bench->backend->api->name, (long long)i, (long long)l->out[0]);
}

static ebb_status take_results(ebb_bench *bench, const ebb_call *call, const layout *l,
                               ebb_case_results *out) {
    ebb_env *env = bench->backend->env;
    out->n = call->n_out;
    for (uint32_t o = 0; o < out->n; o++) {
        out->bytes[o] = ebb_type_bytes(&call->out[o]);
        out->at[o] = ebb_calloc(env, 1, (size_t)out->bytes[o]);
        if (!out->at[o]) {
            ebb_case_results_deinit(env, out);
            return EBB_NO_MEMORY;
        }
        memcpy(out->at[o], bench->after + l->out[o], (size_t)out->bytes[o]);
    }
    return EBB_OK;
}

ebb_status ebb_bench_run(ebb_bench *bench, const ebb_call *call, const ebb_bench_kernel *kernel,
                         const ebb_case_inputs *inputs, const ebb_bench_place *place,
                         ebb_case_results *out) {
    ebb_backend *backend = bench->backend;
    *out = (ebb_case_results){0};
    const layout l = lay_out(call, place, backend->api->alignment, kernel->facts.scratch_bytes);
    ebb_status status = reserve(bench, l.end);
    if (status != EBB_OK) return status;
    char *block = (char *)bench->block + (-(uintptr_t)bench->block & (PAGE - 1));
    fill_block(bench, call, &l, inputs);
    status = backend->api->copy_in(backend, block, bench->before, l.end);
    if (status == EBB_OK) status = launch(bench, call, kernel->kernel, block, &l, place);
    if (status == EBB_OK) status = backend->api->copy_out(backend, bench->after, block, l.end);
    if (status == EBB_OK) status = check_untouched(bench, call, &l);
    if (status != EBB_OK) return failed(bench, call, status);
    return take_results(bench, call, &l, out);
}
