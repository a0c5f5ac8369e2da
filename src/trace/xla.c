/* Programs that XLA runs: tensors of the plugin's that live as long as a run; data come and go by copies.
 */
#include "trace/xla.h"

#include <stdlib.h>

/* ---- the plugin ----------------------------------------------------------------------------- */

/* What an eager's traces share. */
typedef struct shared_client {
    ebb_env *env;
    ebb_pjrt *plugin;
    char path[EBB_PJRT_PATH];
} shared_client;

static void client_destroy(void *above) {
    shared_client *client = above;
    ebb_pjrt_close(client->plugin);
    ebb_cfree(client->env, client, 1, sizeof *client);
}

static ebb_status client_open(ebb_eager *eager, const char path[EBB_PJRT_PATH]) {
    shared_client *client = ebb_calloc(eager->env, 1, sizeof *client);
    if (!client) return EBB_NO_MEMORY;
    client->env = eager->env;
    memcpy(client->path, path, sizeof client->path);
    const ebb_status status = ebb_pjrt_open(eager->env, path, &client->plugin);
    if (status) {
        client_destroy(client);
        return status;
    }
    eager->above = client;
    eager->above_destroy = client_destroy;
    return EBB_OK;
}

static ebb_status check(const ebb_trace *trace) {
    const ebb_backend_api *device = trace->eager->backend->api;
    const char *target = getenv("EBB_PJRT_TARGET");
    if (trace->options.n_profiled > 0)
        return ebb_fail(trace->env, EBB_USAGE,
                        "backend xla: ops have no times of their own there: leave profiling out");
    if (!device->host_memory)
        return ebb_fail(trace->env, EBB_USAGE,
                        "backend xla: a trace hands on tensors in the host's memory, and the device is %s: "
                        "take cpu",
                        device->name);
    if (target && *target)
        return ebb_fail(trace->env, EBB_UNAVAILABLE,
                        "backend xla: EBB_PJRT_TARGET describes a device, which runs nothing: unset it");
    return EBB_OK;
}

ebb_status ebb_trace_xla_open(ebb_trace *trace) {
    ebb_eager *eager = trace->eager;
    char path[EBB_PJRT_PATH] = "";
    ebb_status status = check(trace);
    if (!status) status = ebb_pjrt_find(trace->env, path);
    if (!status && !eager->above) status = client_open(eager, path);
    if (status) return status;
    const shared_client *client = eager->above;
    if (strcmp(client->path, path) != 0)
        return ebb_fail(trace->env, EBB_UNAVAILABLE,
                        "backend xla: %.300s is open, and one plugin serves all traces: %.300s cannot be "
                        "another",
                        client->path, path);
    trace->plugin = client->plugin;
    return EBB_OK;
}

ebb_status ebb_trace_xla_refuse(ebb_trace *trace, const char *why) {
    return ebb_fail(trace->env, EBB_USAGE, "backend xla: no program can be made of this call: %s", why);
}

/* ---- programs ------------------------------------------------------------------------------- */

ebb_status ebb_traced_xla_make(ebb_trace *trace, ebb_traced_program *p) {
    static const ebb_hlo_options options = {.no_barriers = false};
    return ebb_xla_program_create(trace->env, trace->plugin, p->compiled.graph, p->compiled.plan, &options,
                                  &p->xla);
}

static ebb_status tensors_write(ebb_trace *trace, const ebb_graph *graph, const ebb_traced_at *at,
                                uint32_t n, ebb_pjrt_buffer **tensors) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < n; i++) {
        ebb_datum *datum;
        status = ebb_value_data(trace, at[i].value, &datum);
        if (!status)
            status = ebb_xla_tensor_write(trace->plugin, &graph->values[at[i].id].type, datum->block->at,
                                          &tensors[at[i].id]);
    }
    return status;
}

/* What has a block: next values of params, and outputs. */
static ebb_status tensors_read(ebb_trace *trace, const ebb_graph *graph, const ebb_traced_at *at,
                               uint32_t n, ebb_pool_block *const *blocks, ebb_pjrt_buffer **tensors) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < n; i++) {
        if (!blocks[i]) continue;
        status = ebb_pjrt_buffer_read(trace->plugin, tensors[at[i].id], blocks[i]->at,
                                      ebb_type_bytes(&graph->values[at[i].id].type));
    }
    return status;
}

ebb_status ebb_traced_xla_run(ebb_trace *trace, const ebb_traced_program *p, ebb_pool_block *const *updated,
                              ebb_pool_block *const *blocks, bool *touched) {
    const ebb_graph *graph = p->compiled.graph;
    const size_t n = graph->n_values;
    bool spent; /* tensors are copies: nothing of the caller's is */
    *touched = false;
    ebb_pjrt_buffer **tensors = ebb_calloc(trace->env, n, sizeof *tensors);
    if (!tensors) return EBB_NO_MEMORY;
    ebb_status status = tensors_write(trace, graph, p->params, p->n_params, tensors);
    if (!status) status = tensors_write(trace, graph, p->inputs, p->n_inputs, tensors);
    if (!status) status = ebb_xla_program_run(p->xla, tensors, trace->seed, trace->draws, &spent);
    if (!status) status = tensors_read(trace, graph, p->outputs, p->n_outputs, blocks, tensors);
    *touched = !status;
    if (!status) status = tensors_read(trace, graph, p->params, p->n_params, updated, tensors);
    for (size_t v = 0; v < n; v++) ebb_pjrt_buffer_destroy(trace->plugin, tensors[v]);
    ebb_cfree(trace->env, tensors, n, sizeof *tensors);
    return status;
}
