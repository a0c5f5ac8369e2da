/* The planning graph: what is read, what is filled in, and that printing and reading agree. */
#include "test_pgraph_support.h"

Test(pgraph, reads_every_member) {
    ebb_env *env = test_env_open();
    quoted q = graph_text(FULL_VALUES, FULL_OPS);
    ebb_pgraph *g = parse_graph(env, q.text);
    cr_assert_eq(g->n_values, 11);
    cr_assert_eq(g->n_ops, 6);
    cr_expect_eq(ebb_pgraph_time_ns(g), 17);
    static const struct {
        const char *name;
        int64_t bytes;
        ebb_role role;
        ebb_id producer;
        uint32_t result;
    } values[] = {
        {"x", 33, EBB_ROLE_INPUT, EBB_NONE, 0},   {"w", 7, EBB_ROLE_PARAM, EBB_NONE, 0},
        {"k", 3, EBB_ROLE_CONSTANT, EBB_NONE, 0}, {"a", 33, EBB_ROLE_ACTIVATION, 0, 0},
        {"v", 1, EBB_ROLE_ACTIVATION, 1, 0},      {"t", 0, EBB_ROLE_ACTIVATION, 2, 0},
        {"y", 33, EBB_ROLE_OUTPUT, 3, 0},         {"g", 7, EBB_ROLE_GRADIENT, 4, 0},
        {"w2", 7, EBB_ROLE_PARAM, 5, 0},          {"s", 3, EBB_ROLE_STATE, EBB_NONE, 0},
        {"s2", 3, EBB_ROLE_STATE, 5, 1},
    };
    for (ebb_id v = 0; v < g->n_values; v++) {
        cr_expect_str_eq(g->values[v].name, values[v].name);
        cr_expect_eq(g->values[v].bytes, values[v].bytes, "%s", values[v].name);
        cr_expect_eq(g->values[v].role, values[v].role, "%s", values[v].name);
        cr_expect_eq(g->values[v].producer, values[v].producer, "%s", values[v].name);
        cr_expect_eq(g->values[v].result, values[v].result, "%s", values[v].name);
        cr_expect_eq(g->value_origin[v], v);
    }
    const ebb_pop *fc = &g->ops[0], *log = &g->ops[2], *act = &g->ops[3], *bw = &g->ops[4],
                  *sgd = &g->ops[5];
    cr_expect_str_eq(fc->kind, "linear");
    cr_expect_eq(fc->scratch_bytes, 5);
    cr_expect(fc->recomputable && !fc->optional && !fc->ordered);
    cr_expect(log->ordered && !log->recomputable);
    cr_expect(act->optional && act->n_in_place == 1);
    cr_expect(bw->phase == EBB_BACKWARD && bw->n_after == 2 && bw->after[0] == 2 && bw->after[1] == 0);
    cr_expect(sgd->phase == EBB_UPDATE && sgd->n_update == 2 && sgd->update[1].out == 1 &&
              sgd->update[1].in == 2);
    cr_expect(g->ops[1].n_views == 1 && g->ops[1].views[0].offset_bytes == 32);
    cr_expect_eq(bw->origin, 4);
    ebb_pgraph_destroy(g);
    test_env_close(env);
}

static void keep_line(void *ctx, ebb_log_level level, const char *line) {
    char *kept = ctx;
    if (level == EBB_LOG_WARN) (void)snprintf(kept, 512, "%s", line);
}

Test(pgraph, tells_members_that_it_does_not_know) {
    static const struct {
        const char *value, *op, *alternative, *line;
    } rows[] = {
        {"", "", "", ""},
        {"'_from': 1, ", "'_note': {'time_ns': 1}, ", "'_': 0, ", ""},
        {"", "'recomputabel': false, ", "",
         "t: ops[0]: member \"recomputabel\" is not known and is ignored: did you mean \"recomputable\"?"},
        {"'author': 'me', ", "", "", "t: values[0]: member \"author\" is not known and is ignored"},
        {"", "", "'recomputable': true, ",
         "t: ops[0]: alternatives[0]: member \"recomputable\" is not known and is ignored"},
        {"'author': 'me', ", "'colour': 3, ", "'colour': 3, ",
         "t: values[0]: member \"author\" is not known and is ignored (and 2 more like it)"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char line[512] = "", value[128], op[256];
        ebb_env *env = NULL;
        ebb_pgraph *g = NULL;
        cr_assert_eq(ebb_env_create(&(ebb_env_options){.log = keep_line, .log_ctx = line}, &env), EBB_OK);
        (void)snprintf(value, sizeof value, "{%s'id': 0, 'bytes': 1, 'role': 'output'}", rows[k].value);
        (void)snprintf(
            op, sizeof op,
            "{%s'id': 0, 'inputs': [], 'outputs': [0], 'time_ns': 0, 'alternatives': [{%s'time_ns': "
            "7}]}",
            rows[k].op, rows[k].alternative);
        quoted q = graph_text(value, op);
        TEST_OK(env, ebb_pgraph_parse(env, "t", q.text, strlen(q.text), &g));
        cr_expect_str_eq(line, rows[k].line, "row %zu", k);
        ebb_pgraph_destroy(g);
        ebb_env_destroy(env);
    }
}

Test(pgraph, fills_in_what_may_be_left_out) {
    ebb_env *env = test_env_open();
    quoted q = graph_text("{'id': 0, 'bytes': 1, 'role': 'input', 'unknown': [1, {}]}, {'id': 1, 'bytes': "
                          "3, 'role': 'output',"
                          " 'name': null}",
                          "{'id': 0, 'inputs': [0], 'outputs': [1], 'time_ns': 0, 'stranger': null,"
                          " 'alternatives': [{'time_ns': 7}]}");
    ebb_pgraph *g = parse_graph(env, q.text);
    cr_expect_str_eq(g->name, "");
    cr_expect_eq(g->fixed_bytes, 0);
    cr_expect_str_eq(g->values[1].name, "v1");
    cr_expect_str_eq(g->ops[0].name, "op0");
    cr_expect_str_eq(g->ops[0].kind, "op");
    cr_expect_eq(g->ops[0].phase, EBB_FORWARD);
    cr_expect_eq(g->ops[0].scratch_bytes, 0);
    cr_expect(g->ops[0].recomputable && !g->ops[0].optional && !g->ops[0].ordered);
    cr_expect_str_eq(g->ops[0].alternatives[0].name, "alternative0");
    ebb_pgraph_destroy(g);
    test_env_close(env);
}

Test(pgraph, a_graph_may_be_empty) {
    ebb_env *env = test_env_open();
    quoted q = graph_text("", "");
    ebb_pgraph *g = parse_graph(env, q.text);
    cr_expect_eq(g->n_values, 0);
    cr_expect_eq(g->n_ops, 0);
    cr_expect_eq(ebb_pgraph_time_ns(g), 0);
    ebb_pgraph_destroy(g);
    test_env_close(env);
}

Test(pgraph, an_alternative_keeps_what_it_does_not_say) {
    ebb_env *env = test_env_open();
    quoted q = graph_text(FULL_VALUES, FULL_OPS);
    ebb_pgraph *g = parse_graph(env, q.text);
    static const struct {
        uint32_t alternative, n_in, n_in_place;
        int64_t time_ns, scratch_bytes;
    } rows[] = {{EBB_NONE, 2, 0, 9, 5}, {0, 2, 0, 33, 0}, {1, 3, 1, 7, 1}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_pop_way way = ebb_pop_under(&g->ops[0], rows[i].alternative);
        cr_expect_eq(way.n_in, rows[i].n_in, "row %zu", i);
        cr_expect_eq(way.n_in_place, rows[i].n_in_place, "row %zu", i);
        cr_expect_eq(way.time_ns, rows[i].time_ns, "row %zu", i);
        cr_expect_eq(way.scratch_bytes, rows[i].scratch_bytes, "row %zu", i);
        cr_expect_eq(way.in[1], 1);
    }
    cr_expect_eq(ebb_pop_under(&g->ops[0], 1).in[2], 2);
    /* Whatever its flag says, an update runs once; so does what is ordered. */
    static const bool repeatable[] = {true, true, false, true, true, false};
    for (ebb_id i = 0; i < g->n_ops; i++)
        cr_expect_eq(ebb_pop_repeatable(&g->ops[i]), repeatable[i], "op %u", i);
    cr_expect(g->ops[5].recomputable);
    ebb_pgraph_destroy(g);
    test_env_close(env);
}

Test(pgraph, prints_one_value_or_op_a_line) {
    ebb_env *env = test_env_open();
    quoted q = graph_text("{'id': 0, 'name': 'a \\n\\'quoted\\' \\u00fc', 'bytes': 1, 'role': 'input'}",
                          "{'id': 0, 'name': 'sink', 'inputs': [0, 0], 'outputs': [], 'time_ns': 7}");
    for (char *c = q.text; *c != '\0'; c++)
        if (c[0] == '\\' && c[1] == '\'') c[1] = '"';
    ebb_pgraph *g = parse_graph(env, q.text);
    ebb_text text = print_graph(env, g);
    cr_expect_str_eq(
        text.at,
        "{\n"
        "  \"schema\": \"ebb.graph/1\",\n"
        "  \"name\": \"\",\n"
        "  \"fixed_bytes\": 0,\n"
        "  \"values\": [\n"
        "    {\"id\": 0, \"name\": \"a \\n\\\"quoted\\\" \xC3\xBC\", \"bytes\": 1, \"role\": \"input\"}\n"
        "  ],\n"
        "  \"ops\": [\n"
        "    {\"id\": 0, \"name\": \"sink\", \"kind\": \"op\", \"phase\": \"forward\", \"inputs\": [0, 0], "
        "\"outputs\": [], \"time_ns\": 7, \"scratch_bytes\": 0}\n"
        "  ]\n"
        "}");
    ebb_text_deinit(&text);
    expect_stable_print(env, g);
    ebb_pgraph_destroy(g);
    test_env_close(env);
}

/* Two graphs with the same facts, found member by member. */
static void expect_equal(const ebb_pgraph *a, const ebb_pgraph *b) {
    cr_assert_eq(a->n_values, b->n_values);
    cr_assert_eq(a->n_ops, b->n_ops);
    cr_expect_str_eq(a->name, b->name);
    cr_expect_eq(a->fixed_bytes, b->fixed_bytes);
    for (ebb_id v = 0; v < a->n_values; v++) {
        const ebb_pvalue *x = &a->values[v], *y = &b->values[v];
        cr_expect_str_eq(x->name, y->name);
        cr_expect(x->bytes == y->bytes && x->role == y->role && x->producer == y->producer &&
                  x->result == y->result);
    }
    for (ebb_id i = 0; i < a->n_ops; i++) {
        const ebb_pop *x = &a->ops[i], *y = &b->ops[i];
        cr_expect_str_eq(x->name, y->name);
        cr_expect_str_eq(x->kind, y->kind);
        cr_expect(x->phase == y->phase && x->time_ns == y->time_ns && x->scratch_bytes == y->scratch_bytes);
        cr_expect(x->recomputable == y->recomputable && x->optional == y->optional &&
                  x->ordered == y->ordered);
        cr_assert(x->n_in == y->n_in && x->n_out == y->n_out && x->n_after == y->n_after &&
                  x->n_views == y->n_views);
        cr_assert(x->n_in_place == y->n_in_place && x->n_update == y->n_update);
        cr_assert_eq(x->n_alternatives, y->n_alternatives);
        cr_expect(x->n_in == 0 || memcmp(x->in, y->in, x->n_in * sizeof *x->in) == 0);
        cr_expect(x->n_out == 0 || memcmp(x->out, y->out, x->n_out * sizeof *x->out) == 0);
        cr_expect(x->n_after == 0 || memcmp(x->after, y->after, x->n_after * sizeof *x->after) == 0);
        cr_expect(x->n_in_place == 0 ||
                  memcmp(x->in_place, y->in_place, x->n_in_place * sizeof *x->in_place) == 0);
        cr_expect(x->n_update == 0 || memcmp(x->update, y->update, x->n_update * sizeof *x->update) == 0);
        for (uint32_t k = 0; k < x->n_views; k++)
            cr_expect(x->views[k].out == y->views[k].out && x->views[k].in == y->views[k].in &&
                      x->views[k].offset_bytes == y->views[k].offset_bytes);
        for (uint32_t k = 0; k < x->n_alternatives; k++) {
            const ebb_alternative *p = &x->alternatives[k], *q = &y->alternatives[k];
            cr_expect_str_eq(p->name, q->name);
            cr_assert(p->n_in == q->n_in && p->has_inputs == q->has_inputs &&
                      p->has_in_place == q->has_in_place);
            cr_assert_eq(p->n_in_place, q->n_in_place);
            cr_expect(p->time_ns == q->time_ns && p->scratch_bytes == q->scratch_bytes);
            cr_expect(p->n_in == 0 || memcmp(p->in, q->in, p->n_in * sizeof *p->in) == 0);
            cr_expect(p->n_in_place == 0 ||
                      memcmp(p->in_place, q->in_place, p->n_in_place * sizeof *p->in_place) == 0);
        }
    }
}

Test(pgraph, print_then_read_gives_an_equal_graph) {
    ebb_env *env = test_env_open();
    quoted q = graph_text(FULL_VALUES, FULL_OPS);
    ebb_pgraph *g = parse_graph(env, q.text);
    ebb_text text = print_graph(env, g);
    ebb_pgraph *again = parse_graph(env, text.at);
    expect_equal(g, again);
    expect_stable_print(env, g);
    ebb_text_deinit(&text);
    ebb_pgraph_destroy(again);
    ebb_pgraph_destroy(g);
    test_env_close(env);
}

Test(pgraph, names_of_roles_and_phases_end_where_they_end) {
    cr_expect_str_eq(ebb_role_name(EBB_ROLE_OUTPUT), "output");
    cr_expect_null(ebb_role_name((ebb_role)EBB_N_ROLES));
    cr_expect_null(ebb_role_name((ebb_role)-1));
    cr_expect_str_eq(ebb_phase_name(EBB_UPDATE), "update");
    cr_expect_null(ebb_phase_name((ebb_phase)3));
    cr_expect_null(ebb_phase_name((ebb_phase)-1));
}

#define WITH_COSTS(costs) "{\"schema\": \"ebb.graph/1\", \"costs\": " costs ", \"values\": [], \"ops\": []}"

Test(pgraph, tells_where_its_times_come_from) {
    static const struct {
        const char *text, *fault; /* NULL: it is read */
    } rows[] = {
        {WITH_COSTS(
             "{\"machine\": \"m\", \"id\": \"7\", \"measured\": 3, \"calibrated\": 2, \"built_in\": 1}"),
         NULL},
        {WITH_COSTS("null"), NULL},
        {WITH_COSTS("7"), "\"costs\""},
        {WITH_COSTS("{\"machine\": \"m\", \"measured\": 3, \"calibrated\": 2, \"built_in\": 1}"),
         "costs: \"id\" is missing"},
        {WITH_COSTS(
             "{\"machine\": \"m\", \"id\": \"7\", \"measured\": -3, \"calibrated\": 2, \"built_in\": 1}"),
         "costs: \"measured\" is -3"},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_env *env = test_env_open();
        ebb_pgraph *g = NULL;
        ebb_status status = ebb_pgraph_parse(env, "g.json", rows[i].text, strlen(rows[i].text), &g);
        cr_expect_eq(status, rows[i].fault ? EBB_BAD_INPUT : EBB_OK, "row %zu: %s", i, ebb_env_error(env));
        if (rows[i].fault)
            cr_expect_not_null(strstr(ebb_env_error(env), rows[i].fault), "row %zu: %s", i,
                               ebb_env_error(env));
        if (i == 0) {
            ebb_text text = print_graph(env, g);
            cr_expect_not_null(strstr(text.at,
                                      "\"costs\": {\"machine\": \"m\", \"id\": \"7\", \"measured\": 3, "
                                      "\"calibrated\": 2, \"built_in\": 1}"));
            ebb_text_deinit(&text);
        }
        if (i == 1) cr_expect_null(g->costs.machine);
        ebb_pgraph_destroy(g);
        test_env_close(env);
    }
}
