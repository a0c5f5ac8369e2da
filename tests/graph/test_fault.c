/* Every allocation of every step refused once: the status says so, nothing is left, nothing is half made.
 */
#include "passes.h"

#include <stdlib.h>

#include "support/random_graph.h"

typedef struct memory {
    uint64_t n_calls, fail_at, n_live;
} memory;

static void *take(void *ctx, size_t bytes, size_t alignment) {
    memory *m = ctx;
    void *at = NULL;
    if (m->n_calls++ == m->fail_at) return NULL;
    if (posix_memalign(&at, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes)) return NULL;
    memset(at, 0xA5, bytes);
    m->n_live++;
    return at;
}

static void give(void *ctx, void *at, size_t bytes, size_t alignment) {
    memory *m = ctx;
    (void)bytes, (void)alignment;
    m->n_live -= at != NULL;
    free(at);
}

/* Draws, prints, reads back and takes it through all passes; EBB_NO_MEMORY at the first refusal. */
static ebb_status work(ebb_env *env) {
    static const char *const passes[] = {"lower-train", "algebra",   "fuse",     "mark=*2",  "grad",
                                         "clip",        "adamw",     "simplify", "narrow",   "bits",
                                         "loss",        "norm-bias", "qkv-bias", "pointwise"};
    ebb_graph *graph = NULL, *again = NULL;
    random_graph_options options = {.n_nodes = 20};
    ebb_status status = random_graph(env, 7, &options, &graph);
    for (size_t i = 0; !status && i < EBB_COUNT(passes); i++) status = graph_pass(env, passes[i], &graph);
    if (!status) {
        ebb_text text;
        ebb_text_init(&text, env);
        ebb_graph_print(&text, graph);
        status = ebb_text_status(&text);
        if (!status) status = ebb_graph_parse(env, "f", text.at, text.n, NULL, &again);
        ebb_text_deinit(&text);
    }
    if (!status) status = ebb_graph_verify(env, again);
    if (!status) cr_expect_null(graph_difference(graph, again));
    ebb_graph_destroy(graph);
    ebb_graph_destroy(again);
    return status;
}

Test(fault, every_refused_allocation_is_reported_and_leaves_nothing) {
    ebb_status status = EBB_NO_MEMORY;
    uint64_t n_refused = 0;
    for (uint64_t fail_at = 0; status == EBB_NO_MEMORY; fail_at++) {
        memory m = {.fail_at = UINT64_MAX};
        ebb_env_options options = {.alloc = take, .free = give, .alloc_ctx = &m};
        ebb_env *env = NULL;
        cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
        uint64_t own = m.n_live;
        m.fail_at = m.n_calls + fail_at;
        status = work(env);
        cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "call %lu: %s: %s", (unsigned long)fail_at,
                  ebb_status_name(status), ebb_env_error(env));
        cr_assert_eq(m.n_live, own, "call %lu left %lu", (unsigned long)fail_at,
                     (unsigned long)(m.n_live - own));
        ebb_env_destroy(env);
        cr_assert_eq(m.n_live, 0u);
        n_refused = fail_at;
    }
    cr_expect_gt(n_refused, 50u);
}
