/* Programs on the data of a call. */
#include "trace/xla.h"

#include <stdio.h>

ebb_status ebb_number_fill(ebb_trace *trace, uint32_t v) {
    const ebb_traced_value *value = &trace->now->values.at[v];
    ebb_datum *datum = trace->present.at[v].datum;
    if (datum->block) return EBB_OK;
    if (value->source == EBB_SOURCE_ENTRY && trace->now->entries.at[value->at].kind == EBB_ENTRY_NUMBER)
        return ebb_datum_fill(trace->eager, datum, trace->present.at[v].number);
    return ebb_fail(
        trace->env, EBB_USAGE,
        "a tensor that the traced function reads has no value: a call that failed was to make it");
}

ebb_status ebb_value_data(ebb_trace *trace, uint32_t v, ebb_datum **out) {
    const ebb_present *p = &trace->present.at[v];
    *out = p->datum;
    if (!ebb_present_alive(p))
        return ebb_fail(trace->env, EBB_INTERNAL, "value %u of a traced call is not there", v);
    return p->datum->block ? EBB_OK : ebb_number_fill(trace, v);
}

static ebb_status copy(ebb_trace *trace, void *to, const void *from, int64_t bytes) {
    ebb_backend *backend = trace->eager->backend;
    return (backend->api->move ? backend->api->move : backend->api->copy_in)(backend, to, from, bytes);
}

/* ---- tensors that the program updates ------------------------------------------------------- */

/* Holds of the call itself: as a value, and to take an assignment back. */
static uint32_t own_holds(const ebb_trace *trace, const ebb_datum *datum) {
    uint32_t n = 1;
    for (size_t i = 0; i < trace->restore.n; i++) n += trace->restore.at[i].datum == datum;
    return n;
}

/* The block that is updated: the tensor's own when nobody else has its value and the call can fail no more,
 * else another one: a copy where steps write over what they read. The caller holds it. */
static ebb_status block_to_update(ebb_trace *trace, ebb_datum *datum, bool copied, ebb_pool_block **out) {
    *out = datum->block;
    if (trace->ending && datum->n_refs <= own_holds(trace, datum) && ebb_pool_alone(datum->block)) {
        datum->block->n_refs++;
        return EBB_OK;
    }
    const ebb_status status = ebb_pool_take(&trace->eager->pool, datum->block->bytes, out);
    return status || !copied ? status
                             : copy(trace, (*out)->at, datum->block->at, ebb_type_bytes(&datum->type));
}

/* updated[i]: the block of params[i] if it is updated, held; else NULL. */
static ebb_status updates_reserve(ebb_trace *trace, const ebb_traced_program *p, ebb_pool_block **updated) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < p->n_params; i++) {
        ebb_datum *datum;
        status = ebb_value_data(trace, p->params[i].value, &datum);
        if (!status && p->params[i].target != EBB_NONE)
            status = block_to_update(trace, datum, p->exec != NULL, &updated[i]);
    }
    return status;
}

/* Blocks for what will be copied out, before anything is updated: what fails behind that cannot be taken
 * back. */
static ebb_status outputs_reserve(ebb_trace *trace, const ebb_traced_program *p, ebb_pool_block **blocks) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < p->n_outputs; i++) {
        const ebb_present *present = &trace->present.at[p->outputs[i].value];
        if (p->outputs[i].target != EBB_NONE || !ebb_present_alive(present) || present->datum->block)
            continue;
        status = ebb_pool_take(&trace->eager->pool, ebb_type_bytes(&present->datum->type), &blocks[i]);
    }
    return status;
}

/* ---- a run by our kernels ------------------------------------------------------------------- */

static ebb_status params_place(ebb_trace *trace, const ebb_traced_program *p,
                               ebb_pool_block *const *updated) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < p->n_params; i++) {
        ebb_datum *datum;
        status = ebb_value_data(trace, p->params[i].value, &datum);
        if (!status)
            ebb_exec_place(p->exec, p->params[i].id, updated[i] ? updated[i]->at : datum->block->at);
    }
    return status;
}

static ebb_status inputs_feed(ebb_trace *trace, const ebb_traced_program *p) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < p->n_inputs; i++) {
        ebb_datum *datum;
        int64_t bytes;
        void *to = ebb_exec_given(p->exec, p->inputs[i].id, &bytes);
        status = ebb_value_data(trace, p->inputs[i].value, &datum);
        if (!status && to) status = copy(trace, to, datum->block->at, bytes);
    }
    return status;
}

static ebb_status exec_ready(ebb_trace *trace, const ebb_traced_program *p,
                             ebb_pool_block *const *updated) {
    void *arena;
    ebb_status status = params_place(trace, p, updated);
    if (!status) status = ebb_eager_arena(trace->eager, p->compiled.plan->arena_bytes, &arena);
    if (status) return status;
    ebb_exec_bind(p->exec, NULL, arena);
    return inputs_feed(trace, p);
}

static ebb_status exec_run(ebb_trace *trace, const ebb_traced_program *p, ebb_pool_block *const *blocks,
                           bool *touched) {
    if (p->profile) ebb_profile_begin_run(p->profile);
    const ebb_run_options run = {.seed = trace->seed,
                                 .step = trace->draws,
                                 .step_ns = p->profile ? ebb_profile_row(p->profile) : NULL};
    ebb_status status = ebb_exec_run(p->exec, &run);
    *touched = ebb_exec_touched(p->exec);
    if (!status && p->profile) ebb_profile_end_run(p->profile);
    for (uint32_t i = 0; !status && i < p->n_outputs; i++) {
        int64_t bytes;
        const void *from = blocks[i] ? ebb_exec_final(p->exec, p->outputs[i].id, &bytes) : NULL;
        if (from) status = copy(trace, blocks[i]->at, from, bytes);
    }
    return status;
}

/* ---- a run ---------------------------------------------------------------------------------- */

/* What was computed becomes the data of the call. */
static void outputs_take(ebb_trace *trace, const ebb_traced_program *p, ebb_pool_block *const *updated,
                         ebb_pool_block *const *blocks) {
    for (uint32_t i = 0; i < p->n_outputs; i++) {
        const ebb_traced_at *at = &p->outputs[i];
        const ebb_present *present = &trace->present.at[at->value];
        ebb_pool_block *block = blocks[i];
        if (!ebb_present_alive(present) || present->datum->block) continue;
        for (uint32_t k = 0; at->target != EBB_NONE && k < p->n_params; k++)
            if (p->params[k].id == at->target) block = updated[k];
        present->datum->block = block;
        block->n_refs++;
    }
}

/* *touched: what it updates where it lies may be of no step, whatever the status. */
static ebb_status program_run(ebb_trace *trace, const ebb_traced_program *p, ebb_pool_block **updated,
                              bool *touched) {
    ebb_pool_block **blocks = updated + p->n_params;
    ebb_status status = ebb_eager_settle(trace->eager);
    if (!status) status = updates_reserve(trace, p, updated);
    if (!status && p->exec) status = exec_ready(trace, p, updated);
    if (!status) status = outputs_reserve(trace, p, blocks);
    if (status) return status;
    status = p->exec ? exec_run(trace, p, blocks, touched)
                     : ebb_traced_xla_run(trace, p, updated, blocks, touched);
    if (!status) outputs_take(trace, p, updated, blocks);
    trace->facts.n_runs += !status;
    return status;
}

/* The program failed after its first update: what it updates where it lies is of no step, and has no value
 * until it is assigned one. */
static ebb_status updates_lose(ebb_trace *trace, const ebb_traced_program *p, ebb_pool_block **updated,
                               ebb_status status) {
    char why[1024];
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_params; i++) {
        ebb_datum *datum = trace->present.at[p->params[i].value].datum;
        if (!updated[i] || datum->block != updated[i]) continue;
        ebb_pool_drop(&trace->eager->pool, datum->block);
        datum->block = NULL;
        n++;
    }
    if (n == 0) return status;
    (void)snprintf(why, sizeof why, "%s", ebb_env_error(trace->env));
    return ebb_fail(trace->env, status,
                    "%s; the %u tensors that the step updates have no value: assign them", why, n);
}

static ebb_status run(ebb_trace *trace, const ebb_traced_program *p) {
    const size_t n = (size_t)p->n_params + p->n_outputs;
    ebb_pool_block **updated = ebb_calloc(trace->env, n, sizeof *updated);
    if (!updated) return EBB_NO_MEMORY;
    bool touched = false;
    ebb_status status = program_run(trace, p, updated, &touched);
    if (status && touched) status = updates_lose(trace, p, updated, status);
    for (size_t i = 0; i < n; i++) ebb_pool_drop(&trace->eager->pool, updated[i]);
    ebb_cfree(trace->env, updated, n, sizeof *updated);
    return status;
}

/* ---- segments ------------------------------------------------------------------------------- */

bool ebb_outputs_find(const ebb_trace *trace, ebb_recorded *r, uint32_t begin, uint32_t end) {
    bool more = false;
    for (uint32_t e = begin; e < end; e++) {
        const ebb_entry *entry = &r->entries.at[e];
        if (entry->kind != EBB_ENTRY_OP && entry->kind != EBB_ENTRY_BACKWARD) continue;
        for (uint32_t v = entry->out; v < entry->out + entry->n_out; v++) {
            ebb_traced_value *value = &r->values.at[v];
            if (value->output || !ebb_present_alive(&trace->present.at[v])) continue;
            more = value->output = true;
        }
    }
    return more;
}

ebb_status ebb_segment_run(ebb_trace *trace, uint32_t s) {
    ebb_recorded *r = trace->now;
    ebb_segment *segment = &r->segments.at[s];
    const bool more = ebb_outputs_find(trace, r, segment->begin, segment->end);
    ebb_status status = EBB_OK;
    if (trace->eager->seed != trace->seed)
        return ebb_fail(trace->env, EBB_USAGE,
                        "the seed was changed inside of a traced call: change it outside");
    if (trace->options.record_only) return EBB_OK;
    if (r->refused && trace->options.plan_only)
        return ebb_fail(trace->env, EBB_BAD_INPUT, "a traced function has no plan: %s", r->refused);
    if (r->refused && trace->plugin) return ebb_trace_xla_refuse(trace, r->refused);
    if (r->refused) return ebb_segment_play(trace, segment->begin, segment->end);
    if (more || !segment->made) {
        ebb_traced_program_destroy(trace->env, segment->program);
        segment->program = NULL;
        segment->made = false;
        status = ebb_program_make(trace, r, s, &segment->program);
        segment->made = !status;
    }
    if (trace->options.plan_only) return status;
    if (status == EBB_BAD_INPUT && !trace->plugin) {
        r->refused = ebb_arena_text(&r->arena, ebb_env_error(trace->env));
        if (!r->refused) r->refused = "no program can be made of it";
        ebb_log(trace->env, EBB_LOG_WARN, "a traced function has no plan and runs op by op: %s",
                r->refused);
        return ebb_segment_play(trace, segment->begin, segment->end);
    }
    return status || !segment->program ? status : run(trace, segment->program);
}
