#include "recorded.h"

#include "support/plan_graph.h"
#include "support/random_graph.h"

void recorded_begin_as(recorded *s, uint64_t seed, bool phased, bool poison, bool no_record) {
    const random_graph_options small = {.n_nodes = 14, .max_elements = 200};
    ebb_graph *model = NULL;
    *s = (recorded){.env = test_env_open()};
    s->recorder = test_recorder_open(s->env, 1);
    ebb_backend *backend = &s->recorder->base;
    TEST_OK(s->env, random_graph(s->env, seed, &small, &model));
    s->graph = test_train_graph(s->env, model, phased);
    s->facts = test_query(s->env, s->graph, backend);
    s->plan = test_plan(s->env, s->facts, NULL, backend, EBB_REUSE_IN_PLACE);
    const ebb_exec_options options = {
        .graph = s->graph, .plan = s->plan, .backend = backend, .poison = poison, .no_record = no_record};
    TEST_OK(s->env, ebb_exec_create(s->env, &options, &s->exec));
    s->bytes = s->plan->persistent_bytes + s->plan->arena_bytes;
    void *block = NULL, *other = NULL;
    TEST_OK(s->env, backend->api->block_alloc(backend, s->bytes, &block));
    TEST_OK(s->env, backend->api->block_alloc(backend, s->bytes, &other));
    memset(block, 0, (size_t)s->bytes);
    memset(other, 0, (size_t)s->bytes);
    s->block = block;
    s->other = other;
    ebb_exec_bind(s->exec, s->block, s->block + s->plan->persistent_bytes);
    test_recorder_forget(s->recorder);
}

void recorded_begin(recorded *s) {
    recorded_begin_as(s, 5, false, false, false);
}

void recorded_end(recorded *s) {
    ebb_backend *backend = &s->recorder->base;
    ebb_exec_destroy(s->exec);
    backend->api->block_free(backend, s->block, s->bytes);
    backend->api->block_free(backend, s->other, s->bytes);
    ebb_plan_destroy(s->plan);
    ebb_pgraph_destroy(s->facts);
    ebb_graph_destroy(s->graph);
    cr_assert_null(s->recorder->fault, "%s", s->recorder->fault);
    backend->api->destroy(backend);
    test_env_close(s->env);
}

ebb_status recorded_run(recorded *s, uint64_t step) {
    return ebb_exec_run(s->exec, &(ebb_run_options){.seed = 7, .step = step});
}

uint32_t recorded_count(const recorded *s, test_event event) {
    return test_recorder_count(s->recorder, event);
}

uint32_t recorded_n_launches(const recorded *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->plan->n_steps; i++) n += !s->graph->nodes[s->plan->steps[i].op].op->view;
    return n;
}
