/* Plan files: printed, read back, and refused when their form is wrong. */
#include <stdio.h>
#include <unistd.h>

#include "plans.h"
#include "support/scarce.h"

static ebb_text print_plan(ebb_env *env, const ebb_plan *plan) {
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_plan_print(&json, plan);
    cr_assert_eq(ebb_text_status(&text), EBB_OK);
    return text;
}

static const plan_text *const plans[] = {&small_plan, &twice_plan, &chain_plan,
                                         &pair_plan,  &view_plan,  &empty_plan};

Test(plan_json, prints_and_reads_back_the_same_bytes) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(plans); i++) {
        ebb_plan *plan = parse_edited(env, plans[i], NULL, 0), *again = NULL;
        ebb_text once = print_plan(env, plan);
        cr_assert_eq(ebb_plan_parse(env, "again", once.at, once.n, &again), EBB_OK, "%s",
                     ebb_env_error(env));
        ebb_text twice = print_plan(env, again);
        cr_expect_str_eq(once.at, twice.at);
        cr_expect_eq(ebb_plan_audit(env, again), EBB_OK, "%s", ebb_env_error(env));
        ebb_text_deinit(&once);
        ebb_text_deinit(&twice);
        ebb_plan_destroy(plan);
        ebb_plan_destroy(again);
    }
    test_env_close(env);
}

Test(plan_json, prints_one_step_or_buffer_a_line) {
    ebb_env *env = test_env_open();
    ebb_plan *plan = parse_edited(env, &pair_plan, NULL, 0);
    plan->bound_json = " { \"cut\" :[1,\n2] , \"note\":\"a, b: c\", \"nested\":{ \"x\" : null } } ";
    ebb_text text = print_plan(env, plan);
    const char *at = strstr(text.at, "  \"backend\"");
    cr_assert_not_null(at);
    cr_expect_str_eq(at, "  \"backend\": \"none\",\n"
                         "  \"n_threads\": 1,\n"
                         "  \"alignment\": 8,\n"
                         "  \"steps\": [\n"
                         "    {\"op\": 0, \"alternative\": null, \"recompute\": false, \"reads\": [0, 1], "
                         "\"writes\": [2, 3], "
                         "\"scratch_offset\": 32, \"scratch_bytes\": 8}\n"
                         "  ],\n"
                         "  \"buffers\": [\n"
                         "    {\"id\": 0, \"value\": 0, \"region\": \"transient\", \"offset\": 0, "
                         "\"bytes\": 24, \"lower\": 0, \"upper\": 1},\n"
                         "    {\"id\": 1, \"value\": 1, \"region\": \"transient\", \"offset\": 24, "
                         "\"bytes\": 8, \"lower\": 0, \"upper\": 1},\n"
                         "    {\"id\": 2, \"value\": 2, \"region\": \"transient\", \"offset\": 0, "
                         "\"bytes\": 8, \"lower\": 0, \"upper\": 1},\n"
                         "    {\"id\": 3, \"value\": 3, \"region\": \"transient\", \"offset\": 24, "
                         "\"bytes\": 8, \"lower\": 0, \"upper\": 1}\n"
                         "  ],\n"
                         "  \"arena_bytes\": 40,\n"
                         "  \"persistent_bytes\": 0,\n"
                         "  \"total_bytes\": 40,\n"
                         "  \"max_live_bytes\": 40,\n"
                         "  \"budget_bytes\": null,\n"
                         "  \"time_ns\": 3,\n"
                         "  \"baseline\": {\"arena_bytes\": 40, \"total_bytes\": 40, \"time_ns\": 3},\n"
                         "  \"certificate\": {\"time_ns_lower_bound\": 3, \"kind\": \"none\", \"cut\": [1, "
                         "2], \"note\": \"a, b: c\", "
                         "\"nested\": {\"x\": null}}\n"
                         "}");
    ebb_text_deinit(&text);
    ebb_plan_destroy(plan);
    test_env_close(env);
}

Test(plan_json, keeps_the_certificates_further_members) {
    static const struct {
        const char *certificate, *kept;
    } rows[] = {
        {"{'time_ns_lower_bound': 3, 'kind': 'none'}", NULL},
        {"{'kind': 'none', 'time_ns_lower_bound': 3, 'a': 7}", "{\"a\": 7}"},
        {"{'a': [ ], 'kind': 'none', 'b': {'kind': 'x', 'c':\n[1,{'d':2}]}, 'time_ns_lower_bound': 3}",
         "{\"a\": [], \"b\": {\"kind\": \"x\", \"c\": [1, {\"d\": 2}]}}"},
        {"{'x\\\\': 'a\\\\\\\\', 'y': '}],{', 'time_ns_lower_bound': 3, 'kind': 'none', 'z': -0.5e1}",
         "{\"x\\\\\": \"a\\\\\\\\\", \"y\": \"}],{\", \"z\": -0.5e1}"},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        edit edits[] = {{"{'time_ns_lower_bound': 3, 'kind': 'none'}", rows[i].certificate}};
        ebb_plan *plan = parse_edited(env, &pair_plan, edits, 1);
        if (rows[i].kept == NULL)
            cr_expect_null(plan->bound_json);
        else
            cr_expect_str_eq(plan->bound_json, rows[i].kept);
        cr_expect_eq(plan->bound_time_ns, 3);
        ebb_plan_destroy(plan);
    }
    test_env_close(env);
}

Test(plan_json, a_summary_has_the_files_figures) {
    ebb_env *env = test_env_open();
    ebb_plan *plan = parse_edited(env, &small_plan, NULL, 0);
    ebb_plan_summary s;
    ebb_plan_summarize(plan, &s);
    cr_expect_str_eq(s.graph_name, "small");
    cr_expect_str_eq(s.backend, "none");
    const int64_t found[] = {
        s.n_threads,        s.n_steps,          s.n_recomputed,         s.n_buffers,
        s.arena_bytes,      s.persistent_bytes, s.total_bytes,          s.max_live_bytes,
        s.budget_bytes,     s.time_ns,          s.baseline_arena_bytes, s.baseline_total_bytes,
        s.baseline_time_ns, s.bound_time_ns};
    static const int64_t wanted[] = {1, 11, 2, 13, 64, 16, 85, 64, 90, 40, 72, 93, 32, 28};
    for (size_t i = 0; i < EBB_COUNT(wanted); i++) cr_expect_eq(found[i], wanted[i], "figure %zu", i);
    ebb_plan_destroy(plan);
    plan = parse_edited(env, &twice_plan, NULL, 0);
    ebb_plan_summarize(plan, &s);
    cr_expect_eq(s.budget_bytes, -1);
    ebb_plan_destroy(plan);
    ebb_plan_destroy(NULL);
    test_env_close(env);
}

/* ---- files ------------------------------------------------------------------------------------------ */

Test(plan_json, a_file_is_written_and_read_back) {
    char folder[] = "/tmp/ebb-test-XXXXXX", path[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/plan.json", folder);
    ebb_env *env = test_env_open();
    ebb_plan *plan = parse_edited(env, &small_plan, NULL, 0), *again = NULL;
    cr_expect_eq(ebb_plan_read(env, path, &again), EBB_IO);
    cr_expect_null(again);
    cr_assert_eq(ebb_plan_write(env, plan, path), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(ebb_plan_read(env, path, &again), EBB_OK, "%s", ebb_env_error(env));
    ebb_text a = print_plan(env, plan), b = print_plan(env, again);
    cr_expect_str_eq(a.at, b.at);
    char *file = NULL;
    size_t n = 0;
    cr_assert_eq(ebb_file_read(env, path, 1 << 20, &file, &n), EBB_OK);
    cr_expect_eq(n, a.n + 1);
    cr_expect_eq(file[n - 1], '\n');
    ebb_file_free(env, file, n);
    cr_expect_eq(ebb_file_write(env, path, "{}", 2), EBB_OK);
    ebb_plan_destroy(again);
    cr_expect_eq(ebb_plan_read(env, path, &again), EBB_BAD_INPUT);
    cr_expect_null(again);
    cr_expect_not_null(strstr(ebb_env_error(env), path), "%s", ebb_env_error(env));
    cr_expect_eq(ebb_plan_write(env, plan, "/nowhere/at/all/plan.json"), EBB_IO);
    ebb_text_deinit(&a);
    ebb_text_deinit(&b);
    ebb_plan_destroy(plan);
    cr_expect_eq(unlink(path), 0);
    cr_expect_eq(rmdir(folder), 0);
    test_env_close(env);
}

/* ---- wrong forms ---- */

static const struct {
    edit edit;
    const char *place, *fault;
} rows[] = {
    {{"'schema': 'ebb.plan/1'", "'schema': 'ebb.plan/2'"},
     "p.json",
     "schema \"ebb.plan/2\" is unknown: it must be ebb.plan/1"},
    {{"'schema': 'ebb.plan/1', ", ""}, "p.json", "\"schema\" is missing"},
    {{"'schema': 'ebb.graph/1'", "'schema': 'ebb.graph/3'"},
     "p.json: graph",
     "schema \"ebb.graph/3\" is unknown"},
    {{"'inputs': [5, 2]", "'inputs': [5, 12]"},
     "p.json: graph: ops[3] \"loss\"",
     "inputs[1] = 12 is not a value (0..11)"},
    {{"'backend': 'none',", ""}, "p.json", "\"backend\" is missing"},
    {{"'n_threads': 1", "'n_threads': -1"}, "p.json", "\"n_threads\" is -1"},
    {{"'n_threads': 1", "'n_threads': 4294967296"}, "p.json", "\"n_threads\" is 4294967296"},
    {{"'alignment': 8", "'alignment': 24"}, "p.json", "alignment = 24 is not a power of two"},
    {{"'alignment': 8", "'alignment': 0"}, "p.json", "alignment = 0 is not a power of two"},
    {{"'steps': [", "'steps': 7, 'was': ["}, "p.json", "\"steps\" is an integer and must be an array"},
    {{"{'step': 0,", "7, {'step': 0,"}, "steps[0]", "where an object"},
    {{"'step': 3, 'op': 3", "'step': 3, 'op': 10"}, "steps[3]", "\"op\" is 10 and must be 0 to 9"},
    {{"'step': 8, 'op': 7, 'alternative': 0", "'step': 8, 'op': 7, 'alternative': 1"},
     "steps[8]",
     "alternative = 1, but op 7 \"wgrad\" has 1"},
    {{"'step': 3, 'op': 3, 'alternative': null", "'step': 3, 'op': 3, 'alternative': -1"},
     "steps[3]",
     "\"alternative\" is -1"},
    {{"'step': 3, 'op': 3, 'alternative': null, 'recompute': false", "'step': 3, 'op': 3, 'recompute': 0"},
     "steps[3]",
     "must be true or false"},
    {{"'reads': [5, 2]", "'reads': [5]"}, "steps[3]", "reads has 1 buffers, but the op has 2"},
    {{"'reads': [5, 2]", "'reads': [5, 13]"}, "steps[3]", "reads[1] = 13 is not one of 13 buffers"},
    {{"'reads': [5, 2]", "'reads': [5, -1]"}, "steps[3]", "reads[1] = -1 is not one of 13 buffers"},
    {{"'reads': [5, 2]", "'reads': [5, null]"}, "steps[3]: reads[1]", "null and must be an integer"},
    {{"'writes': [12]", "'writes': []"}, "steps[10]", "writes has 0 buffers, but the op has 1"},
    {{"'scratch_offset': 48", "'scratch_offset': -48"}, "steps[8]", "\"scratch_offset\" is -48"},
    {{"'id': 5, 'value': 5", "'id': 4, 'value': 5"},
     "buffers[5]",
     "id = 4, but ids are list indices: it must be 5"},
    {{"'id': 5, 'value': 5", "'id': 5, 'value': 12"},
     "buffers[5]",
     "value = 12 is not one of the graph's 12"},
    {{"'value': 5, 'region': 'transient'", "'value': 5, 'region': 'arena'"},
     "buffers[5]",
     "region \"arena\" is unknown"},
    {{"'offset': 24, 'bytes': 8", "'offset': -24, 'bytes': 8"}, "buffers[5]", "\"offset\" is -24"},
    {{"'offset': 24, 'bytes': 8", "'offset': 9223372036854775807, 'bytes': 8"},
     "buffers[5]",
     "\"bytes\" is 8 and must be 0 to 0"},
    {{"'lower': 2, 'upper': 4", "'lower': 2, 'upper': 12"},
     "buffers[5]",
     "\"upper\" is 12 and must be 0 to 11"},
    {{"'lower': 2, 'upper': 4", "'lower': 5, 'upper': 4"}, "buffers[5]", "lower = 5 is past upper = 4"},
    {{"'arena_bytes': 64", "'arena_bytes': -64"}, "p.json", "\"arena_bytes\" is -64"},
    {{"'max_live_bytes': 64,", ""}, "p.json", "\"max_live_bytes\" is missing"},
    {{"'budget_bytes': 90", "'budget_bytes': -1"}, "p.json", "\"budget_bytes\" is -1"},
    {{"'time_ns': 40", "'time_ns': 40.0"}, "p.json", "must be an integer"},
    {{"'baseline': {", "'baseline': null, 'was': {"}, "p.json", "\"baseline\" is missing"},
    {{"'total_bytes': 93", "'total_bytes': '93'"}, "p.json: baseline", "\"total_bytes\" is a text"},
    {{"'certificate': {", "'proof': {"}, "p.json", "\"certificate\" is missing"},
    {{"'time_ns_lower_bound': 28", "'time_ns_lower_bound': -28"},
     "p.json: certificate",
     "\"time_ns_lower_bound\" is -28"},
    {{"'kind': 'hand'", "'kind': 7"}, "p.json: certificate", "\"kind\" is an integer"},
};

Test(plan_json, a_wrong_form_names_the_place_and_the_fault) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_text text = edit_plan(env, &small_plan, &rows[i].edit, 1);
        ebb_plan *plan = NULL;
        cr_expect_eq(ebb_plan_parse(env, "p.json", text.at, text.n, &plan), EBB_BAD_INPUT, "row %zu", i);
        cr_expect_null(plan);
        const char *error = ebb_env_error(env);
        cr_expect_not_null(strstr(error, rows[i].place), "row %zu: %s", i, error);
        cr_expect_not_null(strstr(error, rows[i].fault), "row %zu: %s", i, error);
        ebb_text_deinit(&text);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    }
    test_env_close(env);
}

Test(plan_json, every_cut_and_many_changed_bytes_are_answered) {
    static const char changes[] = "09-\"[]{},x\xFF";
    ebb_env *env = test_env_open();
    ebb_text text = edit_plan(env, &twice_plan, NULL, 0);
    size_t n_read = 0, n_right = 0;
    for (size_t i = 0; i < text.n; i++) {
        ebb_plan *plan = NULL;
        cr_expect_eq(ebb_plan_parse(env, "cut", text.at, i, &plan), EBB_BAD_INPUT);
        char was = text.at[i];
        for (const char *c = changes; *c != '\0'; c++) {
            text.at[i] = *c;
            ebb_status status = ebb_plan_parse(env, "changed", text.at, text.n, &plan);
            cr_expect(status == EBB_OK || status == EBB_BAD_INPUT, "byte %zu: %s", i,
                      ebb_status_name(status));
            if (status != EBB_OK) continue;
            n_read++;
            status = ebb_plan_audit(env, plan);
            cr_expect(status == EBB_OK || status == EBB_VIOLATION, "byte %zu: %s", i,
                      ebb_status_name(status));
            n_right += status == EBB_OK;
            ebb_plan_destroy(plan);
        }
        text.at[i] = was;
    }
    cr_expect_gt(n_read, 33);
    cr_expect_lt(n_right, n_read);
    ebb_text_deinit(&text);
    test_env_close(env);
}

Test(plan_json, every_refused_allocation_is_reported_and_leaks_nothing) {
    ebb_env *env = test_env_open();
    ebb_text text = edit_plan(env, &small_plan, NULL, 0);
    ebb_status status = EBB_NO_MEMORY;
    for (uint64_t n = 1; status != EBB_OK; n++) {
        scarce_memory memory = {.fail_at = n, .once = true};
        ebb_env *other = scarce_env(&memory);
        ebb_plan *plan = NULL;
        status = ebb_plan_parse(other, "p.json", text.at, text.n, &plan);
        if (status == EBB_OK) status = ebb_plan_write(other, plan, "/dev/null");
        cr_assert_eq(status, memory.n_calls > memory.fail_at ? EBB_NO_MEMORY : EBB_OK, "%s",
                     ebb_env_error(other));
        ebb_plan_destroy(plan);
        test_env_close(other);
    }
    ebb_text_deinit(&text);
    test_env_close(env);
}
