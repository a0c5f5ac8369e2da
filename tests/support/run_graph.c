#include "run_graph.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "interpret.h"

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
#define DIGEST_START UINT64_C(14695981039346656037)
static uint64_t digest(uint64_t sum, const void *at, size_t n) {
    for (size_t i = 0; i < n; i++) sum = (sum ^ ((const unsigned char *)at)[i]) * UINT64_C(1099511628211);
    return sum;
}

/* ---- given values ---- */

/* Classes that a label input may name, or rows that ids may; 2 when nothing reads it as either. */
static uint32_t n_classes(const ebb_graph *graph, ebb_id value) {
    for (ebb_id n = 0; n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n];
        const bool loss =
            node->op->code == EBB_OP_softmax_xent || node->op->code == EBB_OP_softmax_xent_value_and_grad;
        if (loss && node->in[1] == value) return (uint32_t)graph->values[node->in[0]].type.dim[1];
        if (node->op->code == EBB_OP_embedding && node->in[1] == value)
            return (uint32_t)graph->values[node->in[0]].type.dim[0];
    }
    return 2;
}

static double draw(const ebb_value *value, ebb_rng *rng) {
    const double unit = 2 * ebb_rng_unit(rng) - 1;
    if (value->role == EBB_ROLE_CONSTANT) return value->fill;
    if (value->role == EBB_ROLE_INPUT)
        return value->type.rank == 0 ? 0.01 : unit; /* a scalar: the learning rate */
    if (value->init == EBB_INIT_ZERO) return 0;
    if (value->init == EBB_INIT_ONE) return 1;
    /* Near enough to what these are: the spread that keeps activations of one size. */
    double fan = 1;
    for (uint32_t d = 1; d < value->type.rank; d++) fan *= (double)value->type.dim[d];
    return unit * sqrt(3 / fan);
}

void test_fill_given(const ebb_graph *graph, ebb_id v, uint64_t seed, uint32_t step, void *to) {
    const ebb_value *value = &graph->values[v];
    const int64_t n = ebb_type_count(&value->type);
    const bool labels = value->type.dtype == EBB_I32;
    const uint32_t classes = labels ? n_classes(graph, v) : 0;
    ebb_rng rng;
    ebb_rng_init(&rng, seed + step, digest(DIGEST_START, value->name, strlen(value->name)));
    for (int64_t i = 0; i < n; i++) {
        if (labels) {
            ((int32_t *)to)[i] = (int32_t)ebb_rng_below(&rng, classes);
        } else if (value->type.dtype == EBB_F64) {
            ((double *)to)[i] = draw(value, &rng);
        } else {
            ((float *)to)[i] = (float)draw(value, &rng);
        }
    }
}

static bool persists(const ebb_value *value) {
    return value->producer == EBB_NONE && (value->role == EBB_ROLE_PARAM || value->role == EBB_ROLE_STATE);
}

/* ---- through a program ---- */

typedef struct runner {
    ebb_env *env;
    const test_run_request *request;
    const ebb_backend_api *api;
    ebb_exec *exec;
    char *host; /* the largest value */
} runner;

static void feed(const runner *r, uint32_t step) {
    const ebb_graph *graph = r->request->graph;
    for (ebb_id v = 0; v < graph->n_values; v++) {
        const ebb_value *value = &graph->values[v];
        if (value->producer != EBB_NONE || (step > 0 && value->role != EBB_ROLE_INPUT)) continue;
        int64_t bytes;
        void *to = ebb_exec_given(r->exec, v, &bytes);
        if (!to) continue; /* nothing reads it */
        cr_assert_eq(bytes, ebb_type_bytes(&value->type));
        test_fill_given(graph, v, r->request->seed, step, r->host);
        TEST_OK(r->env, r->api->copy_in(r->request->backend, to, r->host, bytes));
    }
}

static uint64_t read_value(const runner *r, ebb_id v, uint64_t sum) {
    int64_t bytes;
    const void *from = ebb_exec_final(r->exec, v, &bytes);
    if (!from) return sum;
    TEST_OK(r->env, r->api->copy_out(r->request->backend, r->host, from, bytes));
    return digest(sum, r->host, (size_t)bytes);
}

static void run_step(const runner *r, uint32_t step) {
    const ebb_run_options options = {
        .seed = r->request->seed, .step = step, .n_run_threads = r->request->n_run_threads};
    const uint64_t allocations = ebb_env_allocation_count(r->env);
    if (r->request->by_phase) {
        for (ebb_phase phase = EBB_FORWARD; phase <= EBB_UPDATE; phase++)
            TEST_OK(r->env, ebb_exec_run_phase(r->exec, phase, &options));
    } else {
        TEST_OK(r->env, ebb_exec_run(r->exec, &options));
    }
    if (r->api->computes || step > 0) cr_assert_eq(ebb_env_allocation_count(r->env), allocations);
}

static uint64_t run_all(const runner *r) {
    const ebb_graph *graph = r->request->graph;
    uint64_t sum = DIGEST_START;
    for (uint32_t step = 0; step < r->request->n_steps; step++) {
        feed(r, step);
        run_step(r, step);
        for (ebb_id v = 0; v < graph->n_values; v++) {
            if (graph->values[v].role == EBB_ROLE_OUTPUT) sum = read_value(r, v, sum);
        }
    }
    for (ebb_id v = 0; v < graph->n_values; v++) {
        if (persists(&graph->values[v])) sum = read_value(r, v, sum);
    }
    return sum;
}

static size_t largest_value(const ebb_graph *graph) {
    int64_t most = 1;
    for (ebb_id v = 0; v < graph->n_values; v++)
        most = ebb_max_i64(most, ebb_type_bytes(&graph->values[v].type));
    return (size_t)most;
}

uint64_t test_run_graph(ebb_env *env, const test_run_request *request) {
    runner r = {.env = env, .request = request, .api = request->backend->api};
    const ebb_exec_options options = {.graph = request->graph,
                                      .plan = request->plan,
                                      .backend = request->backend,
                                      .poison = request->poison};
    TEST_OK(env, ebb_exec_create(env, &options, &r.exec));
    const int64_t bytes = request->plan->persistent_bytes + request->plan->arena_bytes;
    void *block = NULL;
    TEST_OK(env, r.api->block_alloc(request->backend, bytes, &block));
    ebb_exec_bind(r.exec, block, (void *)((uintptr_t)block + (uintptr_t)request->plan->persistent_bytes));
    r.host = malloc(largest_value(request->graph));
    cr_assert_not_null(r.host);
    const uint64_t sum = run_all(&r);
    free(r.host);
    r.api->block_free(request->backend, block, bytes);
    ebb_exec_destroy(r.exec);
    return r.api->computes ? sum : 0;
}

/* ---- without one ---- */

static uint64_t digest_value(const test_values *values, ebb_id v, uint64_t sum) {
    return digest(sum, values->at[v], (size_t)ebb_type_bytes(&values->graph->values[v].type));
}

static void carry_updates(test_values *values) {
    const ebb_graph *graph = values->graph;
    for (ebb_id n = 0; n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n];
        for (uint32_t k = 0; k < node->op->n_update; k++) {
            const ebb_id from = node->out[node->op->update[k].out], to = node->in[node->op->update[k].in];
            memcpy(values->at[to], values->at[from], (size_t)ebb_type_bytes(&graph->values[to].type));
        }
    }
}

uint64_t test_interpret_graph(ebb_env *env, const ebb_graph *graph, uint64_t seed, uint32_t n_steps) {
    test_values values;
    test_values_init(&values, graph);
    uint64_t sum = DIGEST_START;
    for (uint32_t step = 0; step < n_steps; step++) {
        for (ebb_id v = 0; v < graph->n_values; v++) {
            const ebb_value *value = &graph->values[v];
            if (value->producer != EBB_NONE || (step > 0 && value->role != EBB_ROLE_INPUT)) continue;
            test_fill_given(graph, v, seed, step, values.at[v]);
        }
        test_interpret(env, &values, seed, step);
        carry_updates(&values);
        for (ebb_id v = 0; v < graph->n_values; v++) {
            if (graph->values[v].role == EBB_ROLE_OUTPUT) sum = digest_value(&values, v, sum);
        }
    }
    for (ebb_id v = 0; v < graph->n_values; v++) {
        if (persists(&graph->values[v])) sum = digest_value(&values, v, sum);
    }
    test_values_deinit(&values);
    return sum;
}
