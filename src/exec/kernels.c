/* exec/kernels.c: kernel objects of backends that have a table of kernels. */
#include "exec/kernels.h"

#include <stdio.h>

enum { TAKEN_TEXT = 96 };

/* "f32" or "f32 and f64": those of the wanted kind, real or not, that a kernel takes. */
static const char *taken_text(uint32_t takes, bool real, char text[TAKEN_TEXT]) {
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t d = 0; takes >> d && n + 16 < TAKEN_TEXT; d++) {
        if (!(takes >> d & 1) || ebb_dtype_real((ebb_dtype)d) != real) continue;
        n += (size_t)snprintf(text + n, TAKEN_TEXT - n, "%s%s", n ? " and " : "",
                              ebb_dtype_name((ebb_dtype)d));
    }
    return n ? text : "no dtype of this kind";
}

static ebb_status dtypes_check(ebb_backend *backend, const ebb_kernel_info *info, const ebb_call *call) {
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++) {
        const ebb_type *type = i < call->n_in ? &call->in[i] : &call->out[i - call->n_in];
        if (info->takes >> type->dtype & 1) continue;
        char text[EBB_TYPE_TEXT], taken[TAKEN_TEXT];
        return ebb_fail(backend->env, EBB_BAD_INPUT,
                        "backend %s: %s of %s: only %s is supported: use the backend ref for %s",
                        backend->api->name, call->op->name, ebb_type_text(type, text),
                        taken_text(info->takes, ebb_dtype_real(type->dtype), taken),
                        ebb_dtype_name(type->dtype));
    }
    return EBB_OK;
}

ebb_status ebb_kernel_find(ebb_backend *backend, const ebb_kernel_info *const table[EBB_N_OPS],
                           const ebb_call *call, const ebb_kernel_info **out) {
    const ebb_kernel_info *info = *out = table[call->op->code];
    if (!info) {
        return ebb_fail(backend->env, EBB_BAD_INPUT, "backend %s: %s has no kernel: it is %s",
                        backend->api->name, call->op->name,
                        call->op->view     ? "a view"
                        : call->op->n_ways ? "a choice of others"
                                           : "composite, lower the graph first");
    }
    const ebb_status status = dtypes_check(backend, info, call);
    return status == EBB_OK && info->supports ? info->supports(backend, call) : status;
}

static ebb_kernel *kernel_alloc(ebb_env *env, const ebb_call *call) {
    const size_t n_types = (size_t)call->n_in + call->n_out, n_attrs = call->op->n_attrs;
    const size_t bytes = sizeof(ebb_kernel) + n_types * sizeof(ebb_type) + n_attrs * sizeof(ebb_attr);
    ebb_kernel *kernel = ebb_calloc(env, 1, bytes);
    if (!kernel) return NULL;
    ebb_attr *attr = (ebb_attr *)(kernel + 1);
    ebb_type *in = (ebb_type *)(attr + n_attrs), *results = in + call->n_in;
    if (n_attrs) memcpy(attr, call->attr, n_attrs * sizeof *attr);
    if (call->n_in) memcpy(in, call->in, call->n_in * sizeof *in);
    if (call->n_out) memcpy(results, call->out, call->n_out * sizeof *results);
    kernel->call = *call;
    kernel->call.in = in;
    kernel->call.out = results;
    kernel->call.attr = attr;
    kernel->bytes = bytes;
    return kernel;
}

ebb_status ebb_kernel_make(ebb_backend *backend, const ebb_kernel_info *info, const ebb_call *call,
                           uint64_t seed_key, ebb_kernel **out) {
    *out = NULL;
    ebb_kernel *kernel = kernel_alloc(backend->env, call);
    if (!kernel) return EBB_NO_MEMORY;
    kernel->info = info;
    kernel->seed_key = seed_key;
    const ebb_status status =
        info->prepare ? info->prepare(backend, &kernel->call, &kernel->state) : EBB_OK;
    if (status != EBB_OK) {
        ebb_cfree(backend->env, kernel, 1, kernel->bytes);
        return status;
    }
    *out = kernel;
    return EBB_OK;
}

void ebb_kernel_release(ebb_backend *backend, ebb_kernel *kernel) {
    if (!kernel) return;
    if (kernel->info->release) kernel->info->release(backend, kernel->state);
    ebb_cfree(backend->env, kernel, 1, kernel->bytes);
}

/* An update whose condition is false: what it updates is what it was. */
static bool is_held(const ebb_kernel *kernel, const ebb_launch *launch) {
    const ebb_call *call = &kernel->call;
    if (!call->op->conditional || call->n_in < call->op->max_in || kernel->info->obeys) return false;
    return !*(const uint8_t *)launch->in[call->n_in - 1];
}

static void hold(const ebb_call *call, const ebb_launch *launch) {
    for (uint32_t k = 0; k < call->op->n_update; k++) {
        const ebb_pair pair = call->op->update[k];
        const void *from = launch->in[pair.in];
        if (from != launch->out[pair.out])
            memcpy(launch->out[pair.out], from, (size_t)ebb_type_bytes(&call->out[pair.out]));
    }
}

ebb_status ebb_kernel_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    if (is_held(kernel, launch)) {
        hold(&kernel->call, launch);
        return EBB_OK;
    }
    const ebb_kernel_run run = {.backend = backend,
                                .call = &kernel->call,
                                .state = kernel->state,
                                .seed_key = kernel->seed_key,
                                .launch = launch};
    return kernel->info->launch(&run);
}

bool ebb_fuses_always(ebb_backend *backend) {
    (void)backend;
    return true;
}

ebb_kernel_rate ebb_kernel_rate_of(const ebb_backend *backend, const ebb_kernel_info *info,
                                   const ebb_call *call, const char **kind) {
    ebb_kernel_rate rate = info->rate;
    *kind = call->op->name;
    if (info->rate_of) info->rate_of(backend, call, &rate, kind);
    return rate;
}
