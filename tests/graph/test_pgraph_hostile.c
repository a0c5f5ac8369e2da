/* Planning graphs that are cut, changed or hostile, and memory that runs out: each is answered, and nothing
 * is left. */
#include "support/scarce.h"
#include "test_pgraph_support.h"

/* ---- hostile bytes ---- */

Test(pgraph_refuse, every_cut_and_every_changed_byte_is_answered) {
    ebb_env *env = test_env_open();
    quoted q = graph_text(FULL_VALUES, FULL_OPS);
    static const char changes[] = "0-9\"[]{},:e\x01\xFF";
    size_t n = strlen(q.text), n_ok = 0;
    for (size_t i = 0; i < n; i++) {
        ebb_pgraph *graph = NULL;
        cr_expect_eq(ebb_pgraph_parse(env, "cut", q.text, i, &graph), EBB_BAD_INPUT);
        char was = q.text[i];
        for (const char *c = changes; *c != '\0'; c++) {
            q.text[i] = *c;
            ebb_status status = ebb_pgraph_parse(env, "changed", q.text, n, &graph);
            cr_expect(status == EBB_OK || status == EBB_BAD_INPUT, "byte %zu: %s", i,
                      ebb_status_name(status));
            cr_expect_eq(graph != NULL, status == EBB_OK);
            n_ok += status == EBB_OK;
            ebb_pgraph_destroy(graph);
        }
        q.text[i] = was;
    }
    cr_expect_gt(n_ok, 33); /* digits within sizes, letters within names */
    test_env_close(env);
}

Test(pgraph_refuse, a_long_or_hostile_name_does_not_hide_the_fault) {
    ebb_env *env = test_env_open();
    static char name[3000], values[5000];
    memset(name, 'n', sizeof name - 1);
    snprintf(values, sizeof values, "{'id': 0, 'name': '%s\\u001b[2J', 'bytes': 1, 'role': 'gradient'}",
             name);
    quoted q = graph_text(values, "");
    ebb_pgraph *graph = NULL;
    cr_expect_eq(ebb_pgraph_parse(env, "g.json", q.text, strlen(q.text), &graph), EBB_BAD_INPUT);
    cr_expect_not_null(strstr(ebb_env_error(env), "role gradient, but no op makes it"), "%s",
                       ebb_env_error(env));
    q = graph_text("{'id': 0, 'name': 'a\\u001b[2J', 'bytes': 1, 'role': 'gradient'}", "");
    cr_expect_eq(ebb_pgraph_parse(env, "g.json", q.text, strlen(q.text), &graph), EBB_BAD_INPUT);
    cr_expect_null(strchr(ebb_env_error(env), '\x1b'));
    test_env_close(env);
}

Test(pgraph_refuse, every_refused_allocation_is_reported_and_leaks_nothing) {
    quoted q = graph_text(FULL_VALUES, FULL_OPS);
    ebb_status status = EBB_NO_MEMORY;
    uint64_t n = 0;
    for (; status != EBB_OK; n++) {
        scarce_memory memory = {.fail_at = n + 1, .once = true}; /* 0 is the env's own */
        ebb_env *env = scarce_env(&memory);
        ebb_pgraph *graph = NULL;
        status = ebb_pgraph_parse(env, "g.json", q.text, strlen(q.text), &graph);
        cr_assert(status == (memory.n_calls > memory.fail_at ? EBB_NO_MEMORY : EBB_OK), "%s",
                  ebb_env_error(env));
        cr_expect_eq(graph != NULL, status == EBB_OK);
        ebb_pgraph_destroy(graph);
        test_env_close(env);
    }
    cr_expect_geq(n, 4);
}
