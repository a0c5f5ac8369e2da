/* One op on data. */
#include "eager/eager.h"

/* ---- runs of a device ----------------------------------------------------------------------- */

/* A device's run stays open from op to op, so that launches follow one another; the host's ends with each,
 * for it changes settings of the calling thread. */
static ebb_status enter(ebb_eager *eager, uint64_t draw, bool seeded) {
    const ebb_backend_api *api = eager->backend->api;
    if (!api->begin || (eager->running && !seeded)) return EBB_OK;
    ebb_status status = ebb_eager_settle(eager);
    if (!status) status = api->begin(eager->backend, &(ebb_run){.seed = eager->seed, .step = draw});
    eager->running = !status;
    return status;
}

ebb_status ebb_eager_settle(ebb_eager *eager) {
    if (!eager->running) return EBB_OK;
    eager->running = false;
    return eager->backend->api->end(eager->backend);
}

/* ---- a launch ------------------------------------------------------------------------------- */

static ebb_status launch(ebb_eager *eager, const ebb_known_call *call, ebb_launch *at) {
    const ebb_backend_api *api = eager->backend->api;
    ebb_pool_block *scratch = NULL;
    ebb_status status = EBB_OK;
    if (call->scratch_bytes) status = ebb_pool_take(&eager->pool, call->scratch_bytes, &scratch);
    if (status) return status;
    at->scratch = scratch ? scratch->at : NULL;
    at->scratch_bytes = call->scratch_bytes;
    at->seed = eager->seed;
    status = enter(eager, at->step, call->call.op->effect == EBB_SEEDED);
    if (!status) {
        status = api->launch(eager->backend, call->kernel, at);
        eager->n_launches++;
        if (status || api->host_memory) {
            ebb_env_hold_error(eager->env, status != EBB_OK);
            const ebb_status ended = ebb_eager_settle(eager);
            ebb_env_hold_error(eager->env, false);
            if (!status) status = ended;
        }
    }
    ebb_pool_drop(&eager->pool, scratch);
    return status;
}

/* ---- results -------------------------------------------------------------------------------- */

/* The operand that result i updates, or EBB_NONE. */
static uint32_t target_of(const ebb_op_info *op, uint32_t i) {
    for (uint32_t u = 0; u < op->n_update; u++) {
        if (op->update[u].out == i) return op->update[u].in;
    }
    return EBB_NONE;
}

static bool is_alone(const ebb_known_call *call, ebb_datum *const *in, uint32_t target, uint32_t alone) {
    const ebb_datum *datum = in[target];
    if (datum->n_refs > alone || !ebb_pool_alone(datum->block)) return false;
    for (uint32_t i = 0; i < call->call.n_in; i++) {
        if (i != target && in[i] == datum) return false;
    }
    return true;
}

/* A datum in the operand's own bytes, or in a copy of them. */
static ebb_status result_over(ebb_eager *eager, const ebb_known_call *call, ebb_datum *const *in,
                              uint32_t i, uint32_t target, uint32_t alone, ebb_datum **out) {
    const ebb_backend_api *api = eager->backend->api;
    ebb_datum *from = in[target];
    if (is_alone(call, in, target, alone)) {
        *out = ebb_datum_create(eager, &call->out[i]);
        if (!*out) return EBB_NO_MEMORY;
        (*out)->block = from->block;
        from->block->n_refs++;
        return EBB_OK;
    }
    ebb_status status = ebb_datum_create_full(eager, &call->out[i], out);
    if (!status && !api->host_memory) status = ebb_eager_settle(eager);
    if (!status)
        status = (api->move ? api->move : api->copy_in)(eager->backend, (*out)->block->at, from->block->at,
                                                        ebb_type_bytes(&from->type));
    return status;
}

static ebb_status results_make(ebb_eager *eager, const ebb_known_call *call, ebb_datum *const *in,
                               uint32_t alone, ebb_datum **out) {
    const ebb_op_info *op = call->call.op;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < op->n_out; i++) {
        const uint32_t target = target_of(op, i);
        if (target != EBB_NONE) {
            status = result_over(eager, call, in, i, target, alone, &out[i]);
        } else if (op->view) {
            out[i] = ebb_datum_create(eager, &call->out[i]);
            if (!out[i]) return EBB_NO_MEMORY;
            out[i]->block = in[0]->block;
            in[0]->block->n_refs++;
        } else {
            status = ebb_datum_create_full(eager, &call->out[i], &out[i]);
        }
    }
    return status;
}

static ebb_status compute(ebb_eager *eager, ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                          uint32_t alone, ebb_datum **out) {
    const ebb_op_info *op = call->call.op;
    void *in_at[EBB_MAX_OPERANDS], *out_at[EBB_MAX_RESULTS];
    int64_t in_bytes[EBB_MAX_OPERANDS], out_bytes[EBB_MAX_RESULTS];
    ebb_status status = results_make(eager, call, in, alone, out);
    if (status || op->view) return status;
    status = ebb_call_prepare(eager, call);
    if (status) return status;
    for (uint32_t i = 0; i < call->call.n_in; i++) {
        in_at[i] = in[i]->block->at;
        in_bytes[i] = ebb_type_bytes(&in[i]->type);
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        out_at[i] = out[i]->block->at;
        out_bytes[i] = ebb_type_bytes(&out[i]->type);
        const uint32_t target = target_of(op, i);
        if (target != EBB_NONE) in_at[target] = out_at[i];
    }
    ebb_launch at = {
        .in = in_at, .out = out_at, .in_bytes = in_bytes, .out_bytes = out_bytes, .step = draw};
    return launch(eager, call, &at);
}

/* One op that is not composite, and nobody watches: out gets data that the caller holds. An update is done
 * in the bytes of its operand when that has no other holder than `alone` of them, else in a copy. */
static ebb_status apply_now(ebb_eager *eager, ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                            uint32_t alone, ebb_datum **out) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < EBB_MAX_RESULTS; i++) out[i] = NULL;
    for (uint32_t i = 0; !status && i < call->call.n_in; i++) {
        if (!in[i]->block) status = ebb_datum_need(eager, in[i]);
    }
    if (!status) status = compute(eager, call, in, draw, alone, out);
    for (uint32_t i = 0; status && i < call->call.n_out; i++) {
        ebb_datum_drop(eager, out[i]);
        out[i] = NULL;
    }
    return status;
}

ebb_status ebb_apply_data(ebb_eager *eager, const ebb_op_info *op, ebb_datum *const *in, uint32_t n_in,
                          const ebb_attr *attr, uint64_t draw, uint32_t alone, ebb_datum **out) {
    const ebb_type *types[EBB_MAX_OPERANDS];
    ebb_known_call *call;
    for (uint32_t i = 0; i < EBB_MAX_RESULTS; i++) out[i] = NULL;
    for (uint32_t i = 0; i < n_in; i++) types[i] = &in[i]->type;
    ebb_status status = ebb_call_know(eager, op, types, n_in, attr, &call);
    if (status) return status;
    const ebb_recorder *recorder = eager->recorder;
    bool took = false;
    if (recorder) status = recorder->apply(eager->recorder_ctx, call, in, draw, out, &took);
    if (!status && !took) {
        status = apply_now(eager, call, in, draw, alone, out);
        if (!status && recorder) status = recorder->applied(eager->recorder_ctx, call, in, draw, out);
    }
    if (!status && eager->tapes) status = ebb_tapes_record(eager, call, in, draw, out);
    for (uint32_t i = 0; status && i < op->n_out; i++) {
        ebb_datum_drop(eager, out[i]);
        out[i] = NULL;
    }
    return status;
}
