/* cpu/product_launch.c: runs a product, chunk by chunk: operands into the primitive's layouts, the
 * primitive, and its result back into ours. Nothing of ours is allocated; oneDNN makes small argument
 * tables. */
#include "exec/cpu/product.h"
#include "exec/cpu/product_state.h"

#include <stdio.h>

/* Operand i, its part in a chunk. */
static dnnl_status_t bind_operand(const ebb_kernel_run *run, const cpu_product_operand *operand, void *at,
                                  int64_t chunk) {
    char *scratch = run->launch->scratch;
    dnnl_status_t failed =
        dnnl_memory_set_data_handle(operand->plain, (char *)at + chunk * operand->chunk_bytes);
    if (failed || !operand->reorder) return failed;
    failed = dnnl_memory_set_data_handle(operand->own, scratch + operand->own_offset);
    return failed ? failed : dnnl_memory_set_data_handle(operand->reorder_scratchpad, scratch);
}

static dnnl_status_t bind(const ebb_kernel_run *run, const cpu_product_state *s, int64_t chunk) {
    char *scratch = run->launch->scratch;
    void *const at[3] = {run->launch->in[0], run->launch->in[1], run->launch->out[0]};
    dnnl_status_t failed = dnnl_memory_set_data_handle(s->scratchpad, scratch);
    for (int i = 0; !failed && i < 3; i++) failed = bind_operand(run, &s->at[i], at[i], chunk);
    if (!failed && s->result) failed = dnnl_memory_set_data_handle(s->result, scratch + s->result_offset);
    return failed;
}

static dnnl_memory_t memory_of(const cpu_product_operand *operand) {
    return operand->reorder ? operand->own : operand->plain;
}

static dnnl_status_t run_main(const cpu_backend *cpu, const cpu_product_state *s, dnnl_memory_t out) {
    const dnnl_exec_arg_t args[] = {{s->at[0].arg, memory_of(&s->at[0])},
                                    {s->at[1].arg, memory_of(&s->at[1])},
                                    {s->at[2].arg, out},
                                    {DNNL_ARG_SCRATCHPAD, s->scratchpad}};
    return dnnl_primitive_execute(s->main, cpu->stream, EBB_COUNT(args), args);
}

static dnnl_status_t run_reorder(const cpu_backend *cpu, const cpu_product_operand *operand, bool out) {
    if (!operand->reorder) return dnnl_success;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, out ? operand->own : operand->plain},
                                    {DNNL_ARG_TO, out ? operand->plain : operand->own},
                                    {DNNL_ARG_SCRATCHPAD, operand->reorder_scratchpad}};
    return dnnl_primitive_execute(operand->reorder, cpu->stream, EBB_COUNT(args), args);
}

typedef struct addition {
    float *to;
    const float *x;
} addition;

CPU_VECTOR static void add_span(const void *ctx, int64_t begin, int64_t end) {
    const addition a = *(const addition *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) a.to[i] += a.x[i];
}

void cpu_product_add(cpu_backend *cpu, float *to, const float *x, int64_t n) {
    const addition a = {to, x};
    cpu_spans(cpu, n, CPU_ALIGNMENT / (int64_t)sizeof(float), 12 * n, add_span, &a);
}

static dnnl_status_t add_result(cpu_backend *cpu, const cpu_product_state *s) {
    void *to, *x;
    dnnl_status_t failed = dnnl_memory_get_data_handle(memory_of(&s->at[2]), &to);
    if (!failed) failed = dnnl_memory_get_data_handle(s->result, &x);
    if (failed) return failed;
    cpu_product_add(cpu, to, x, s->result_floats);
    return dnnl_success;
}

static dnnl_status_t run_chunk(const ebb_kernel_run *run, int64_t chunk) {
    cpu_backend *cpu = cpu_of(run->backend);
    const cpu_product_state *s = run->state;
    const bool first = chunk == 0, more = s->result && !first, last = chunk == s->n_more;
    dnnl_status_t failed = bind(run, s, chunk);
    for (int i = 0; i < 2 && !failed; i++) {
        if (first || s->at[i].chunk_bytes > 0) failed = run_reorder(cpu, &s->at[i], false);
    }
    if (!failed) failed = run_main(cpu, s, more ? s->result : memory_of(&s->at[2]));
    if (!failed && more) {
        failed = dnnl_stream_wait(cpu->stream);
        if (!failed) failed = add_result(cpu, s);
    }
    if (!failed && (last || s->at[2].chunk_bytes > 0)) failed = run_reorder(cpu, &s->at[2], true);
    return failed ? failed : dnnl_stream_wait(cpu->stream);
}

ebb_status cpu_product_launch(const ebb_kernel_run *run) {
    const cpu_product_state *s = run->state;
    const int before = cpu_team_enter(s->team);
    dnnl_status_t failed = dnnl_success;
    for (int64_t chunk = 0; chunk <= s->n_more && !failed; chunk++) failed = run_chunk(run, chunk);
    cpu_team_leave(before);
    return cpu_onednn(run->backend->env, run->call, "primitive_execute", failed);
}

/* ---- errors --------------------------------------------------------------------------------------- */

const char *cpu_call_text(const ebb_call *call, char text[CPU_CALL_TEXT]) {
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < call->n_in + call->n_out && n < CPU_CALL_TEXT; i++) {
        const bool out = i >= call->n_in;
        char type[EBB_TYPE_TEXT];
        (void)ebb_type_text(out ? &call->out[i - call->n_in] : &call->in[i], type);
        const char *before = i == call->n_in ? " -> " : i ? ", " : "";
        const int printed = snprintf(text + n, CPU_CALL_TEXT - n, "%s%s", before, type);
        if (printed < 0) break;
        n += (size_t)printed;
    }
    return text;
}

static ebb_status status_of(dnnl_status_t failed) {
    switch (failed) {
    case dnnl_out_of_memory:
        return EBB_NO_MEMORY;
    case dnnl_unimplemented:
        return EBB_BAD_INPUT;
    case dnnl_invalid_arguments:
        return EBB_INTERNAL;
    default:
        return EBB_DEVICE;
    }
}

static const char *reason_of(dnnl_status_t failed) {
    switch (failed) {
    case dnnl_out_of_memory:
        return "out of memory";
    case dnnl_unimplemented:
        return "oneDNN has no implementation for these shapes";
    case dnnl_invalid_arguments:
        return "invalid arguments";
    case dnnl_not_required:
        return "not required";
    default:
        return "runtime error";
    }
}

ebb_status cpu_onednn(ebb_env *env, const ebb_call *call, const char *what, dnnl_status_t status) {
    if (status == dnnl_success) return EBB_OK;
    if (!call) {
        return ebb_fail(env, status == dnnl_out_of_memory ? EBB_NO_MEMORY : EBB_UNAVAILABLE,
                        "backend cpu: oneDNN's %s failed: %s (%d)", what, reason_of(status), (int)status);
    }
    char text[CPU_CALL_TEXT];
    return ebb_fail(env, status_of(status), "backend cpu: %s %s: oneDNN's %s failed: %s (%d)",
                    call->op->name, cpu_call_text(call, text), what, reason_of(status), (int)status);
}
