/* cpu/product_launch.c: runs a product: weights into the primitive's layout, the primitive, or the
 * primitive and its result back into ours. Nothing of ours is allocated; oneDNN makes small argument
 * tables. */
#include "exec/cpu/product.h"
#include "exec/cpu/product_state.h"

#include <stdio.h>

static dnnl_status_t bind(const ebb_kernel_run *run, const cpu_product_state *s) {
    void *const at[3] = {run->launch->in[0], run->launch->in[1], run->launch->out[0]};
    dnnl_status_t failed = dnnl_success;
    for (int i = 0; !failed && i < 3; i++) failed = dnnl_memory_set_data_handle(s->plain[i], at[i]);
    if (!failed) failed = dnnl_memory_set_data_handle(s->scratchpad, run->launch->scratch);
    if (failed || !s->reorder) return failed;
    failed = dnnl_memory_set_data_handle(s->own, (char *)run->launch->scratch + s->own_offset);
    if (failed) return failed;
    return dnnl_memory_set_data_handle(s->reorder_scratchpad, run->launch->scratch);
}

static dnnl_status_t run_main(const cpu_backend *cpu, const cpu_product_state *s) {
    dnnl_exec_arg_t args[] = {{s->arg[0], s->plain[0]},
                              {s->arg[1], s->plain[1]},
                              {s->arg[2], s->plain[2]},
                              {DNNL_ARG_SCRATCHPAD, s->scratchpad}};
    if (s->reorder) args[s->free_layout].memory = s->own;
    return dnnl_primitive_execute(s->main, cpu->stream, EBB_COUNT(args), args);
}

static dnnl_status_t run_reorder(const cpu_backend *cpu, const cpu_product_state *s) {
    const bool out = s->free_layout == 2;
    const dnnl_memory_t plain = s->plain[s->free_layout];
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, out ? s->own : plain},
                                    {DNNL_ARG_TO, out ? plain : s->own},
                                    {DNNL_ARG_SCRATCHPAD, s->reorder_scratchpad}};
    return dnnl_primitive_execute(s->reorder, cpu->stream, EBB_COUNT(args), args);
}

ebb_status cpu_product_launch(const ebb_kernel_run *run) {
    const cpu_backend *cpu = cpu_of(run->backend);
    const cpu_product_state *s = run->state;
    const int before = cpu_width_enter(cpu);
    const bool reorder_first = s->reorder && s->free_layout != 2;
    dnnl_status_t failed = bind(run, s);
    if (!failed && reorder_first) failed = run_reorder(cpu, s);
    if (!failed) failed = run_main(cpu, s);
    if (!failed && s->reorder && !reorder_first) failed = run_reorder(cpu, s);
    if (!failed) failed = dnnl_stream_wait(cpu->stream);
    cpu_width_leave(cpu, before);
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
