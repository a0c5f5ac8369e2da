/* exec/program.c: makes a program of a plan, and binds it to memory.
 *
 * Takes a plan, its graph and a backend; gives tables of steps. One kernel object per op of the graph,
 * shared by every run of it: that is why a recomputed value has the same bits. Cost: one facts and one
 * prepare call an op; O(steps + buffers + values) else.
 */
#include "exec/program.h"

/* The kernel of an op, whose runs all take the same alternative, and the scratch that it needs. */
static ebb_status prepare_op(ebb_exec *exec, ebb_id op, uint32_t alternative, int64_t *scratch_bytes) {
    const ebb_backend_api *api = exec->backend->api;
    ebb_alternative_call by;
    const ebb_status status = ebb_alternative_find(exec->backend, exec->graph, op, alternative, &by);
    if (status != EBB_OK) return status;
    if (by.facts.n_choices > 1 && !exec->plan->graph->ops[op].listed)
        return ebb_fail(
            exec->env, EBB_USAGE,
            "plan of %s: op %u (%s): it names none of the %u choices of backend %s: plan for this backend",
            exec->plan->graph->name, op, exec->plan->graph->ops[op].name, by.facts.n_choices, api->name);
    *scratch_bytes = by.facts.scratch_bytes;
    return api->prepare(exec->backend, &by.call, exec->graph->nodes[op].seed_key, &exec->kernels[op]);
}

static ebb_status prepare_steps(ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    if (!exec->backend->api->computes) return EBB_OK;
    int64_t *needs = EBB_NEW(&exec->arena, int64_t, plan->graph->n_ops);
    if (!needs) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        const ebb_plan_step *step = &plan->steps[s];
        if (exec->graph->nodes[step->op].op->view) continue;
        if (!exec->kernels[step->op]) {
            const ebb_status status = prepare_op(exec, step->op, step->alternative, &needs[step->op]);
            if (status != EBB_OK) return status;
        }
        if (step->scratch_bytes < needs[step->op]) {
            return ebb_fail(
                exec->env, EBB_USAGE,
                "plan: step %u (%s): %lld scratch bytes, backend %s needs %lld: plan for this backend", s,
                plan->graph->ops[step->op].name, (long long)step->scratch_bytes, exec->backend->api->name,
                (long long)needs[step->op]);
        }
        exec->steps[s].kernel = exec->kernels[step->op];
    }
    return EBB_OK;
}

/* One row's tables: addresses (written by bind), buffers and bytes of n_in reads and n_out writes. */
static ebb_status fill_operands(ebb_exec *exec, ebb_exec_step *row, const ebb_id *reads, uint32_t n_in,
                                const ebb_id *writes, uint32_t n_out) {
    const size_t n = (size_t)n_in + n_out;
    void **at = EBB_NEW(&exec->arena, void *, n);
    int64_t *bytes = EBB_NEW(&exec->arena, int64_t, n);
    if (!at || !bytes) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n_in; i++) bytes[i] = exec->plan->buffers[reads[i]].bytes;
    for (uint32_t i = 0; i < n_out; i++) bytes[n_in + i] = exec->plan->buffers[writes[i]].bytes;
    row->in = at;
    row->out = at + n_in;
    row->launch = (ebb_launch){.in = row->in,
                               .out = row->out,
                               .in_buffer = reads,
                               .out_buffer = writes,
                               .in_bytes = bytes,
                               .out_bytes = bytes + n_in};
    row->check.n_in = n_in;
    row->check.n_out = n_out;
    return EBB_OK;
}

static ebb_status fill_step(ebb_exec *exec, uint32_t s) {
    const ebb_plan_step *step = &exec->plan->steps[s];
    const ebb_pop *op = &exec->plan->graph->ops[step->op];
    const ebb_pop_way way = ebb_pop_under(op, step->alternative);
    ebb_exec_step *row = &exec->steps[s];
    const ebb_status status =
        fill_operands(exec, row, step->reads, step->n_reads, step->writes, step->n_writes);
    if (status != EBB_OK) return status;
    row->launch.scratch_bytes = step->scratch_bytes;
    row->check.in_place = way.in_place;
    row->check.n_in_place = way.n_in_place;
    row->check.update = op->update;
    row->check.n_update = op->n_update;
    row->check.views = op->views;
    row->check.n_views = op->n_views;
    exec->step_names[s] = op->name;
    return EBB_OK;
}

/* given and final: where a value is before the first step and after the last. */
static void find_ends(ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    for (ebb_id v = 0; v < plan->graph->n_values; v++) exec->given[v] = exec->final[v] = EBB_NONE;
    for (ebb_id i = 0; i < plan->n_buffers; i++) {
        const ebb_buffer *b = &plan->buffers[i];
        const ebb_pvalue *value = &plan->graph->values[b->value];
        const bool persistent = ebb_role_persistent(value->role);
        exec->buffer_names[i] = value->name;
        if (value->producer == EBB_NONE) exec->given[b->value] = i;
        const bool survives = b->upper == plan->n_steps && (persistent || value->role == EBB_ROLE_OUTPUT);
        if (value->producer == EBB_NONE ? persistent : survives) exec->final[b->value] = i;
    }
}

/* The row after the last step: reads what must be intact, which a value whose bytes an update took is not.
 */
static ebb_status fill_last_row(ebb_exec *exec) {
    const ebb_pgraph *graph = exec->plan->graph;
    bool *taken = EBB_NEW(&exec->arena, bool, graph->n_values);
    ebb_id *reads = EBB_NEW(&exec->arena, ebb_id, graph->n_values);
    if (!taken || !reads) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < exec->plan->n_steps; s++) {
        const ebb_pop *op = &graph->ops[exec->plan->steps[s].op];
        for (uint32_t i = 0; i < op->n_update; i++) taken[op->in[op->update[i].in]] = true;
    }
    uint32_t n = 0;
    for (ebb_id v = 0; v < graph->n_values; v++) {
        if (exec->final[v] != EBB_NONE && !taken[v]) reads[n++] = exec->final[v];
    }
    exec->step_names[exec->plan->n_steps] = "the end";
    return fill_operands(exec, &exec->steps[exec->plan->n_steps], reads, n, NULL, 0);
}

static ebb_status fill_rows(ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    find_ends(exec);
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        const ebb_status status = fill_step(exec, s);
        if (status != EBB_OK) return status;
    }
    const ebb_status status = fill_last_row(exec);
    if (status != EBB_OK) return status;
    for (uint32_t s = 0; s <= plan->n_steps; s++) {
        ebb_exec_step *row = &exec->steps[s];
        row->check.step = s;
        row->check.step_names = exec->step_names;
        row->check.buffer_names = exec->buffer_names;
        if (!exec->backend->api->computes) row->launch.check = &row->check;
    }
    return EBB_OK;
}

/* Transient buffers grouped by the step after which they die; those that live to the end are in no group.
 */
static ebb_status group_dying(ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    if (!exec->poison) return EBB_OK;
    exec->dying = EBB_NEW(&exec->arena, ebb_id, plan->n_buffers);
    uint32_t *first = exec->dying_first = EBB_NEW(&exec->arena, uint32_t, (size_t)plan->n_steps + 2);
    if (!exec->dying || !first) return EBB_NO_MEMORY;
    for (uint32_t pass = 0; pass < 2; pass++) { /* count, then place */
        for (ebb_id i = 0; i < plan->n_buffers; i++) {
            const ebb_buffer *b = &plan->buffers[i];
            if (b->persistent || b->bytes == 0 || b->upper == 0 || b->upper >= plan->n_steps) continue;
            if (pass == 0) {
                first[b->upper + 1]++;
            } else {
                exec->dying[first[b->upper]++] = i;
            }
        }
        for (uint32_t s = 0; pass == 0 && s <= plan->n_steps; s++) first[s + 1] += first[s];
    }
    return EBB_OK;
}

static ebb_status new_tables(ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    exec->kernels = EBB_NEW(&exec->arena, ebb_kernel *, plan->graph->n_ops);
    exec->steps = EBB_NEW(&exec->arena, ebb_exec_step, (size_t)plan->n_steps + 1);
    exec->step_names = EBB_NEW(&exec->arena, const char *, (size_t)plan->n_steps + 1);
    exec->buffer_names = EBB_NEW(&exec->arena, const char *, plan->n_buffers);
    exec->given = EBB_NEW(&exec->arena, ebb_id, plan->graph->n_values);
    exec->final = EBB_NEW(&exec->arena, ebb_id, plan->graph->n_values);
    exec->mark_ns =
        EBB_NEW(&exec->arena, uint64_t, exec->backend->api->mark ? (size_t)plan->n_steps + 1 : 0);
    const bool all = exec->kernels && exec->steps && exec->step_names && exec->buffer_names &&
                     exec->given && exec->final && exec->mark_ns;
    return all ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_exec_create(ebb_env *env, const ebb_exec_options *options, ebb_exec **out) {
    *out = NULL;
    ebb_exec *exec = ebb_calloc(env, 1, sizeof *exec);
    if (!exec) return EBB_NO_MEMORY;
    exec->env = env;
    exec->graph = options->graph;
    exec->plan = options->plan;
    exec->backend = options->backend;
    exec->poison = options->poison;
    exec->no_record = options->no_record;
    ebb_arena_init(&exec->arena, env);
    ebb_status status = ebb_program_check(exec);
    if (status == EBB_OK) status = new_tables(exec);
    if (status == EBB_OK) status = fill_rows(exec);
    if (status == EBB_OK) status = ebb_program_find_bases(exec);
    if (status == EBB_OK) status = group_dying(exec);
    if (status == EBB_OK) status = prepare_steps(exec);
    if (status != EBB_OK) {
        ebb_exec_destroy(exec);
        return status;
    }
    *out = exec;
    return EBB_OK;
}

void ebb_exec_destroy(ebb_exec *exec) {
    if (!exec) return;
    ebb_replays_clear(exec);
    for (ebb_id i = 0; exec->kernels && i < exec->plan->graph->n_ops; i++) {
        if (exec->kernels[i]) exec->backend->api->release(exec->backend, exec->kernels[i]);
    }
    ebb_arena_deinit(&exec->arena);
    ebb_cfree(exec->env, exec, 1, sizeof *exec);
}

void ebb_exec_bind(ebb_exec *exec, void *persistent, void *transient) {
    const ebb_plan *plan = exec->plan;
    const bool same = !exec->moved && exec->persistent == (uintptr_t)persistent &&
                      exec->transient == (uintptr_t)transient;
    if (exec->bound && same) return; /* what was recorded stays right */
    ebb_replays_clear(exec);
    const bool placed = exec->n_placed == exec->n_bases;
    exec->moved = false;
    exec->bound =
        (persistent || placed || plan->persistent_bytes == 0) && (transient || plan->arena_bytes == 0);
    exec->persistent = (uintptr_t)persistent;
    exec->transient = (uintptr_t)transient;
    if (!exec->bound) return;
    for (uint32_t s = 0; s <= plan->n_steps; s++) {
        ebb_exec_step *row = &exec->steps[s];
        for (uint32_t i = 0; i < row->check.n_in; i++)
            row->in[i] = ebb_program_address(exec, row->launch.in_buffer[i]);
        for (uint32_t i = 0; i < row->check.n_out; i++)
            row->out[i] = ebb_program_address(exec, row->launch.out_buffer[i]);
        if (row->launch.scratch_bytes) {
            row->launch.scratch = (void *)(exec->transient + (uintptr_t)plan->steps[s].scratch_offset);
        }
    }
}

static void *end_of(const ebb_exec *exec, const ebb_id *ends, ebb_id value, int64_t *bytes) {
    *bytes = 0;
    if (!exec->bound || value >= exec->plan->graph->n_values || ends[value] == EBB_NONE) return NULL;
    *bytes = exec->plan->buffers[ends[value]].bytes;
    return ebb_program_address(exec, ends[value]);
}

void *ebb_exec_given(const ebb_exec *exec, ebb_id value, int64_t *bytes) {
    return end_of(exec, exec->given, value, bytes);
}

void *ebb_exec_final(const ebb_exec *exec, ebb_id value, int64_t *bytes) {
    return end_of(exec, exec->final, value, bytes);
}
