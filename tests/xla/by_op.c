#include "by_op.h"

#include "xla/hlo/emit.h"
#include "xla/xla.h"

typedef struct by_op {
    ebb_backend base; /* first */
    ebb_pjrt *plugin;
} by_op;

/* A graph of one node, and a plan of one step: every value in a buffer of its own number. */
struct ebb_kernel {
    ebb_graph *graph;
    ebb_xla_program *program;
    uint32_t n_in, n_out;
};

bool by_op_takes(const ebb_op_info *op) {
    return hlo_table[op->code] != NULL;
}

static ebb_status create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    char path[EBB_PJRT_PATH];
    *out = NULL;
    ebb_status status = ebb_pjrt_find(env, path);
    by_op *b = status ? NULL : ebb_calloc(env, 1, sizeof *b);
    if (!status && !b) status = EBB_NO_MEMORY;
    if (!status) {
        b->base = (ebb_backend){&by_op_api, env, options->n_threads};
        status = ebb_pjrt_open(env, path, &b->plugin);
    }
    if (status)
        ebb_cfree(env, b, 1, b ? sizeof *b : 0);
    else
        *out = &b->base;
    return status;
}

static void destroy(ebb_backend *backend) {
    ebb_pjrt_close(((by_op *)backend)->plugin);
    ebb_cfree(backend->env, backend, 1, sizeof(by_op));
}

static ebb_status facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    *out = (ebb_op_facts){.n_choices = 1, .kind = call->op->name};
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++) {
        const ebb_type *type = i < call->n_in ? &call->in[i] : &call->out[i - call->n_in];
        if (hlo_kind_of(type->dtype) == HLO_NONE)
            return ebb_fail(backend->env, EBB_BAD_INPUT, "no such dtype: %s", ebb_dtype_name(type->dtype));
    }
    return by_op_takes(call->op) ? EBB_OK : ebb_fail(backend->env, EBB_BAD_INPUT, "%s", call->op->name);
}

static ebb_status make_graph(ebb_env *env, const ebb_call *call, uint64_t seed_key, ebb_graph **out) {
    ebb_builder *builder;
    ebb_id in[EBB_MAX_OPERANDS];
    ebb_status status = ebb_builder_create(env, "one", &builder);
    if (status) return status;
    for (uint32_t i = 0; i < call->n_in; i++) {
        bool updated = false;
        for (uint32_t k = 0; k < call->op->n_update; k++) updated = updated || call->op->update[k].in == i;
        in[i] = ebb_builder_given(builder, NULL, updated ? EBB_ROLE_STATE : EBB_ROLE_INPUT, &call->in[i],
                                  EBB_INIT_ZERO, 0);
    }
    (void)ebb_builder_node(builder, call->op, in, call->n_in, call->attr, NULL, EBB_UPDATE, seed_key);
    return ebb_builder_seal(builder, out);
}

/* The graph's plan: one step, and a buffer for each value. It points into itself. */
typedef struct one_step {
    ebb_buffer buffers[EBB_MAX_OPERANDS + EBB_MAX_RESULTS];
    ebb_plan_step step;
    ebb_plan plan;
} one_step;

static const ebb_hlo_options all = {.keep_all = true};

static const ebb_plan *plan_of(const ebb_graph *graph, one_step *one) {
    const ebb_node *node = &graph->nodes[0];
    one->step = (ebb_plan_step){.alternative = EBB_NONE,
                                .reads = node->in,
                                .n_reads = node->n_in,
                                .writes = node->out,
                                .n_writes = node->n_out};
    for (uint32_t v = 0; v < graph->n_values; v++) one->buffers[v] = (ebb_buffer){.value = v};
    one->plan = (ebb_plan){
        .steps = &one->step, .n_steps = 1, .buffers = one->buffers, .n_buffers = graph->n_values};
    return &one->plan;
}

static ebb_status make_program(by_op *b, ebb_kernel *kernel) {
    one_step one;
    return ebb_xla_program_create(b->base.env, b->plugin, kernel->graph, plan_of(kernel->graph, &one), &all,
                                  &kernel->program);
}

ebb_status by_op_text(ebb_env *env, const ebb_call *call, ebb_text *text) {
    ebb_graph *graph;
    ebb_arena arena;
    ebb_hlo_signature signature;
    one_step one;
    ebb_status status = make_graph(env, call, 0, &graph);
    if (status) return status;
    ebb_arena_init(&arena, env);
    status = ebb_hlo_emit(&arena, graph, plan_of(graph, &one), &all, text, &signature);
    ebb_arena_deinit(&arena);
    ebb_graph_destroy(graph);
    return status;
}

static void release(ebb_backend *backend, ebb_kernel *kernel) {
    if (!kernel) return;
    ebb_xla_program_destroy(kernel->program);
    ebb_graph_destroy(kernel->graph);
    ebb_cfree(backend->env, kernel, 1, sizeof *kernel);
}

static ebb_status prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key, ebb_kernel **out) {
    ebb_kernel *kernel = ebb_calloc(backend->env, 1, sizeof *kernel);
    ebb_status status = kernel ? make_graph(backend->env, call, seed_key, &kernel->graph) : EBB_NO_MEMORY;
    if (!status) status = make_program((by_op *)backend, kernel);
    if (status) release(backend, kernel);
    *out = status ? NULL : kernel;
    return status;
}

static ebb_status launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *run) {
    by_op *b = (by_op *)backend;
    const ebb_node *node = &kernel->graph->nodes[0];
    ebb_pjrt_buffer *tensors[EBB_MAX_OPERANDS + EBB_MAX_RESULTS] = {NULL};
    ebb_status status = EBB_OK;
    bool spent;
    for (uint32_t i = 0; i < node->n_in && !status; i++)
        status = ebb_xla_tensor_write(b->plugin, &kernel->graph->values[node->in[i]].type, run->in[i],
                                      &tensors[node->in[i]]);
    if (!status) status = ebb_xla_program_run(kernel->program, tensors, run->seed, run->step, &spent);
    for (uint32_t k = 0; k < node->n_out && !status; k++)
        status = ebb_pjrt_buffer_read(b->plugin, tensors[node->out[k]], run->out[k],
                                      ebb_type_bytes(&kernel->graph->values[node->out[k]].type));
    for (uint32_t v = 0; v < kernel->graph->n_values; v++) ebb_pjrt_buffer_destroy(b->plugin, tensors[v]);
    return status;
}

static ebb_status block_alloc(ebb_backend *backend, int64_t bytes, void **out) {
    *out = ebb_alloc_aligned(backend->env, (size_t)bytes, 64);
    return *out ? EBB_OK : EBB_NO_MEMORY;
}
static void block_free(ebb_backend *backend, void *block, int64_t bytes) {
    if (block) ebb_free_aligned(backend->env, block, (size_t)bytes, 64);
}
static ebb_status copy(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    (void)backend;
    memcpy(to, from, (size_t)bytes);
    return EBB_OK;
}
static ebb_status fill(ebb_backend *backend, void *to, int byte, int64_t bytes) {
    (void)backend;
    memset(to, byte, (size_t)bytes);
    return EBB_OK;
}

const ebb_backend_api by_op_api = {.name = "xla",
                                   .host_memory = true,
                                   .computes = true,
                                   .alignment = 64,
                                   .create = create,
                                   .destroy = destroy,
                                   .facts = facts,
                                   .prepare = prepare,
                                   .release = release,
                                   .launch = launch,
                                   .block_alloc = block_alloc,
                                   .block_free = block_free,
                                   .copy_in = copy,
                                   .copy_out = copy,
                                   .fill = fill};
