#include "setting.h"

#include "support/plan_graph.h"
#include "support/random_graph.h"

void setting_begin_in(setting *s, ebb_env *env, bool phased) {
    const random_graph_options small = {.n_nodes = 12, .max_elements = 200};
    ebb_graph *model = NULL;
    s->env = env;
    s->backend = test_backend_open(env, "ref", 2);
    TEST_OK(env, random_graph(env, 5, &small, &model));
    s->graph = test_train_graph(s->env, model, phased);
    s->facts = test_query(s->env, s->graph, s->backend);
    s->plan = test_plan(s->env, s->facts, NULL, s->backend, EBB_REUSE_IN_PLACE);
}

void setting_begin(setting *s, bool phased) {
    setting_begin_in(s, test_env_open(), phased);
}

void setting_end(setting *s) {
    ebb_plan_destroy(s->plan);
    ebb_pgraph_destroy(s->facts);
    ebb_graph_destroy(s->graph);
    s->backend->api->destroy(s->backend);
    test_env_close(s->env);
}

void setting_bind(const setting *s, bound *b) {
    const ebb_exec_options options = {.graph = s->graph, .plan = s->plan, .backend = s->backend};
    void *block = NULL;
    b->bytes = s->plan->persistent_bytes + s->plan->arena_bytes;
    TEST_OK(s->env, ebb_exec_create(s->env, &options, &b->exec));
    TEST_OK(s->env, s->backend->api->block_alloc(s->backend, b->bytes, &block));
    b->block = block;
    memset(b->block, 0, (size_t)b->bytes);
    ebb_exec_bind(b->exec, b->block, b->block + s->plan->persistent_bytes);
}

void setting_unbind(const setting *s, bound *b) {
    s->backend->api->block_free(s->backend, b->block, b->bytes);
    ebb_exec_destroy(b->exec);
}
