#include "by_op.h"

#include "xla/hlo/emit.h"
#include "xla/xla.h"

/* Calls of one program: a graph of a node each, and a plan of as many steps. */
typedef struct batch {
    ebb_builder *builder; /* until it is run */
    ebb_graph *graph;
    ebb_xla_program *program;
    ebb_pjrt_buffer
        *given[BY_OP_CALLS][EBB_MAX_OPERANDS]; /* operands, until they are tensors of the graph */
    ebb_pjrt_buffer **tensors;                 /* by value */
    uint32_t n, n_again;                       /* calls that were collected, and that were prepared again */
    uint64_t seed, step;
} batch;

typedef struct by_op {
    ebb_backend base; /* first */
    ebb_pjrt *plugin;
    batch *together;
} by_op;

struct ebb_kernel {
    batch *of;
    uint32_t node, n_in;
    ebb_type in[EBB_MAX_OPERANDS];
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
    by_op_forget(backend);
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

/* ---- a batch ------------------------------------------------------------------------------------- */

static void add_call(ebb_builder *builder, const ebb_call *call, uint64_t seed_key) {
    ebb_id in[EBB_MAX_OPERANDS];
    for (uint32_t i = 0; i < call->n_in; i++) {
        bool updated = false;
        for (uint32_t k = 0; k < call->op->n_update; k++) updated = updated || call->op->update[k].in == i;
        in[i] = ebb_builder_given(builder, NULL, updated ? EBB_ROLE_STATE : EBB_ROLE_INPUT, &call->in[i],
                                  EBB_INIT_ZERO, 0);
    }
    (void)ebb_builder_node(builder, call->op, in, call->n_in, call->attr, NULL, EBB_UPDATE, seed_key);
}

/* The graph's plan: a step for each node, and a buffer of its own for each value. In the arena. */
static ebb_status plan_of(ebb_arena *arena, const ebb_graph *graph, ebb_plan *out) {
    ebb_plan_step *steps = ebb_arena_alloc(arena, graph->n_nodes, sizeof *steps);
    ebb_buffer *buffers = ebb_arena_alloc(arena, graph->n_values, sizeof *buffers);
    if (!steps || !buffers) return EBB_NO_MEMORY;
    for (uint32_t k = 0; k < graph->n_nodes; k++) {
        const ebb_node *node = &graph->nodes[k];
        steps[k] = (ebb_plan_step){.op = k,
                                   .alternative = EBB_NONE,
                                   .reads = node->in,
                                   .n_reads = node->n_in,
                                   .writes = node->out,
                                   .n_writes = node->n_out};
    }
    for (uint32_t v = 0; v < graph->n_values; v++) buffers[v] = (ebb_buffer){.value = v};
    *out = (ebb_plan){
        .steps = steps, .n_steps = graph->n_nodes, .buffers = buffers, .n_buffers = graph->n_values};
    return EBB_OK;
}

static const ebb_hlo_options all = {.keep_all = true};

static void batch_destroy(by_op *b, batch *of) {
    if (!of) return;
    for (uint32_t k = 0; k < of->n; k++)
        for (uint32_t i = 0; i < EBB_MAX_OPERANDS; i++) ebb_pjrt_buffer_destroy(b->plugin, of->given[k][i]);
    for (uint32_t v = 0; of->tensors && v < of->graph->n_values; v++)
        ebb_pjrt_buffer_destroy(b->plugin, of->tensors[v]);
    ebb_cfree(b->base.env, (void *)of->tensors, of->tensors ? of->graph->n_values : 0, sizeof(void *));
    ebb_xla_program_destroy(of->program);
    ebb_graph_destroy(of->graph);
    ebb_builder_destroy(of->builder);
    ebb_cfree(b->base.env, of, 1, sizeof *of);
}

static ebb_status batch_create(by_op *b, batch **out) {
    *out = ebb_calloc(b->base.env, 1, sizeof **out);
    if (!*out) return EBB_NO_MEMORY;
    const ebb_status status = ebb_builder_create(b->base.env, "rows", &(*out)->builder);
    if (status) batch_destroy(b, *out);
    if (status) *out = NULL;
    return status;
}

static ebb_status batch_compile(by_op *b, batch *of) {
    ebb_arena arena;
    ebb_plan plan;
    ebb_builder *builder = of->builder;
    of->builder = NULL;
    ebb_status status = ebb_builder_seal(builder, &of->graph);
    if (status) return status;
    of->tensors = (ebb_pjrt_buffer **)ebb_calloc(b->base.env, of->graph->n_values, sizeof *of->tensors);
    if (!of->tensors) return EBB_NO_MEMORY;
    ebb_arena_init(&arena, b->base.env);
    status = plan_of(&arena, of->graph, &plan);
    if (!status)
        status = ebb_xla_program_create(b->base.env, b->plugin, of->graph, &plan, &all, &of->program);
    ebb_arena_deinit(&arena);
    return status;
}

static ebb_status batch_run(by_op *b, batch *of) {
    bool spent;
    for (uint32_t k = 0; k < of->n; k++)
        for (uint32_t i = 0; i < of->graph->nodes[k].n_in; i++) {
            ebb_pjrt_buffer **tensor = &of->tensors[of->graph->nodes[k].in[i]];
            ebb_pjrt_buffer_destroy(b->plugin, *tensor);
            *tensor = of->given[k][i];
            of->given[k][i] = NULL;
        }
    return ebb_xla_program_run(of->program, of->tensors, of->seed, of->step, &spent);
}

ebb_status by_op_collect(ebb_backend *backend) {
    by_op_forget(backend);
    return batch_create((by_op *)backend, &((by_op *)backend)->together);
}

ebb_status by_op_run(ebb_backend *backend) {
    by_op *b = (by_op *)backend;
    const ebb_status status = batch_compile(b, b->together);
    return status ? status : batch_run(b, b->together);
}

void by_op_forget(ebb_backend *backend) {
    batch_destroy((by_op *)backend, ((by_op *)backend)->together);
    ((by_op *)backend)->together = NULL;
}

ebb_status by_op_text(ebb_env *env, const ebb_call *call, ebb_text *text) {
    ebb_builder *builder;
    ebb_graph *graph;
    ebb_arena arena;
    ebb_plan plan;
    ebb_hlo_signature signature;
    ebb_status status = ebb_builder_create(env, "rows", &builder);
    if (status) return status;
    add_call(builder, call, 0);
    status = ebb_builder_seal(builder, &graph);
    if (status) return status;
    ebb_arena_init(&arena, env);
    status = plan_of(&arena, graph, &plan);
    if (!status) status = ebb_hlo_emit(&arena, graph, &plan, &all, text, &signature);
    ebb_arena_deinit(&arena);
    ebb_graph_destroy(graph);
    return status;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static void release(ebb_backend *backend, ebb_kernel *kernel) {
    if (!kernel) return;
    if (kernel->of != ((by_op *)backend)->together) batch_destroy((by_op *)backend, kernel->of);
    ebb_cfree(backend->env, kernel, 1, sizeof *kernel);
}

static ebb_status prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key, ebb_kernel **out) {
    by_op *b = (by_op *)backend;
    ebb_kernel *kernel = ebb_calloc(backend->env, 1, sizeof *kernel);
    *out = NULL;
    if (!kernel) return EBB_NO_MEMORY;
    kernel->of = b->together;
    ebb_status status = kernel->of ? EBB_OK : batch_create(b, &kernel->of);
    batch *of = kernel->of;
    memcpy(kernel->in, call->in, call->n_in * sizeof *call->in);
    kernel->n_in = call->n_in;
    if (!status && of->graph) {
        kernel->node = of->n_again++;
        if (kernel->node >= of->n || of->graph->nodes[kernel->node].op != call->op)
            status = ebb_fail(backend->env, EBB_INTERNAL, "%s was not collected", call->op->name);
    } else if (!status) {
        kernel->node = of->n;
        if (of->n == BY_OP_CALLS)
            status = ebb_fail(backend->env, EBB_INTERNAL, "more than %d calls", BY_OP_CALLS);
        else
            of->n++;
        if (!status) add_call(of->builder, call, seed_key);
        if (!status && of != b->together) status = batch_compile(b, of);
    }
    if (status) release(backend, kernel);
    if (!status) *out = kernel;
    return status;
}

static ebb_status take_operands(by_op *b, const ebb_kernel *kernel, const ebb_launch *run) {
    ebb_status status = EBB_OK;
    kernel->of->seed = run->seed;
    kernel->of->step = run->step;
    for (uint32_t i = 0; i < kernel->n_in && !status; i++)
        status = ebb_xla_tensor_write(b->plugin, &kernel->in[i], run->in[i],
                                      &kernel->of->given[kernel->node][i]);
    return status;
}

static ebb_status give_results(by_op *b, const ebb_kernel *kernel, const ebb_launch *run) {
    const ebb_graph *graph = kernel->of->graph;
    const ebb_node *node = &graph->nodes[kernel->node];
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < node->n_out && !status; k++)
        status = ebb_pjrt_buffer_read(b->plugin, kernel->of->tensors[node->out[k]], run->out[k],
                                      ebb_type_bytes(&graph->values[node->out[k]].type));
    return status;
}

static ebb_status launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *run) {
    by_op *b = (by_op *)backend;
    const bool alone = kernel->of != b->together, collected = !kernel->of->graph;
    ebb_status status = alone || collected ? take_operands(b, kernel, run) : EBB_OK;
    if (!status && alone) status = batch_run(b, kernel->of);
    return status || collected ? status : give_results(b, kernel, run);
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
