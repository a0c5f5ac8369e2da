/* Printing JSON. */
#include "support.h"

#include <stdio.h>

typedef struct printed {
    ebb_env *env;
    ebb_text text;
    ebb_json_out out;
} printed;

static void begin(printed *p) {
    p->env = test_env();
    ebb_text_init(&p->text, p->env);
    ebb_json_out_init(&p->out, &p->text);
}

/* Compares, and reads it back: what is printed must be JSON. */
static void end(printed *p, const char *wanted) {
    cr_assert_eq(ebb_text_status(&p->text), EBB_OK);
    if (wanted != NULL) cr_expect_str_eq(p->text.at, wanted, "%s", p->text.at);
    ebb_json *json = NULL;
    cr_expect_eq(ebb_json_parse(p->env, "printed", p->text.at, p->text.n, &json), EBB_OK, "%s",
                 ebb_env_error(p->env));
    ebb_json_free(json);
    ebb_text_deinit(&p->text);
    test_env_end(p->env);
}

Test(json_print, puts_commas_between_and_nowhere_else) {
    printed p;
    begin(&p);
    ebb_json_begin(&p.out, NULL, '{', false);
    ebb_json_put_i64(&p.out, "min", INT64_MIN);
    ebb_json_put_i64(&p.out, "max", INT64_MAX);
    ebb_json_put_u64(&p.out, "most", INT64_MAX);
    ebb_json_put_u64(&p.out, "more", UINT64_C(1) << 63);
    ebb_json_begin(&p.out, "empty", '[', false);
    ebb_json_end(&p.out, ']');
    ebb_json_begin(&p.out, "list", '[', false);
    ebb_json_put_bool(&p.out, NULL, true);
    ebb_json_put_bool(&p.out, NULL, false);
    ebb_json_put_null(&p.out, NULL);
    ebb_json_begin(&p.out, NULL, '{', false);
    ebb_json_end(&p.out, '}');
    ebb_json_put_text(&p.out, NULL, "[");
    ebb_json_put_text(&p.out, NULL, "");
    ebb_json_put_text(&p.out, NULL, NULL);
    ebb_json_end(&p.out, ']');
    ebb_json_put_null(&p.out, "last");
    ebb_json_end(&p.out, '}');
    end(&p, "{\"min\": -9223372036854775808, \"max\": 9223372036854775807, "
            "\"most\": 9223372036854775807, \"more\": \"9223372036854775808\", \"empty\": [], "
            "\"list\": [true, false, null, {}, \"[\", \"\", null], \"last\": null}");
}

Test(json_print, gives_wide_members_a_line_each) {
    printed p;
    begin(&p);
    ebb_json_begin(&p.out, NULL, '{', true);
    ebb_json_put_text(&p.out, "schema", "ebb.plan/1");
    ebb_json_begin(&p.out, "steps", '[', true);
    for (int64_t i = 0; i < 2; i++) {
        ebb_json_begin(&p.out, NULL, '{', false);
        ebb_json_put_i64(&p.out, "op", i);
        ebb_json_put_i64(&p.out, "peak", 33);
        ebb_json_end(&p.out, '}');
    }
    ebb_json_end(&p.out, ']');
    ebb_json_begin(&p.out, "none", '[', true);
    ebb_json_end(&p.out, ']');
    ebb_json_put_i64(&p.out, "n", 7);
    ebb_json_end(&p.out, '}');
    end(&p, "{\n  \"schema\": \"ebb.plan/1\",\n  \"steps\": [\n    {\"op\": 0, \"peak\": 33},\n"
            "    {\"op\": 1, \"peak\": 33}\n  ],\n  \"none\": [],\n  \"n\": 7\n}");
}

Test(json_print, forgets_the_width_of_a_neighbour) {
    printed p;
    begin(&p);
    ebb_json_begin(&p.out, NULL, '[', false);
    ebb_json_begin(&p.out, NULL, '[', true);
    ebb_json_put_i64(&p.out, NULL, 1);
    ebb_json_end(&p.out, ']');
    ebb_json_begin(&p.out, NULL, '[', false);
    ebb_json_put_i64(&p.out, NULL, 2);
    ebb_json_end(&p.out, ']');
    ebb_json_end(&p.out, ']');
    end(&p, "[[\n    1\n  ], [2]]");
}

Test(json_print, escapes_what_must_not_stand_in_a_string) {
    static const struct {
        const char *value, *shown;
    } rows[] = {
        {"plain", "\"plain\""},
        {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
        {"\n\r\t\b\f\x01\x1f\x7f", "\"\\n\\r\\t\\u0008\\u000c\\u0001\\u001f\\u007f\""},
        {"\xC2\x9B", "\"\\u009b\""},
        {"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8A", "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8A\""},
        {"\xFFx", "\"\xEF\xBF\xBDx\""},
        {"x\xC3", "\"x\xEF\xBF\xBD\""},
        {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        char wanted[128];
        printed p;
        begin(&p);
        ebb_json_begin(&p.out, NULL, '[', false);
        ebb_json_put_text(&p.out, NULL, rows[i].value);
        ebb_json_end(&p.out, ']');
        snprintf(wanted, sizeof wanted, "[%s]", rows[i].shown);
        end(&p, wanted);
        begin(&p);
        ebb_json_begin(&p.out, NULL, '{', false);
        ebb_json_put_i64(&p.out, rows[i].value, 1);
        ebb_json_end(&p.out, '}');
        snprintf(wanted, sizeof wanted, "{%s: 1}", rows[i].shown);
        end(&p, wanted);
    }
}

Test(json_print, nests_deeper_than_its_mask) {
    static const int depths[] = {1, 3, 62, 63, 64, 65, 133};
    for (size_t row = 0; row < EBB_COUNT(depths); row++) {
        for (int wide = 0; wide < 2; wide++) {
            printed p;
            begin(&p);
            for (int i = 0; i < depths[row]; i++) {
                ebb_json_begin(&p.out, NULL, '[', wide == 1);
                ebb_json_put_i64(&p.out, NULL, i);
            }
            for (int i = 0; i < depths[row]; i++) {
                ebb_json_put_i64(&p.out, NULL, i);
                ebb_json_end(&p.out, ']');
            }
            /* At each depth the mask holds: two numbers, the array between them (not in the innermost), and
             * the bracket that ends it. */
            int n_lines = 0, n_wide = depths[row] < 63 ? depths[row] : 63;
            for (size_t i = 0; i < p.text.n; i++) n_lines += p.text.at[i] == '\n';
            cr_expect_eq(n_lines, wide * (4 * n_wide - (depths[row] <= 63)), "%d deep: %d", depths[row],
                         n_lines);
            end(&p, NULL);
        }
    }
}

Test(json_print, stands_alone_after_what_the_text_held) {
    printed p;
    begin(&p);
    for (int64_t i = 0; i < 2; i++) {
        ebb_json_begin(&p.out, NULL, '{', false);
        ebb_json_put_i64(&p.out, "i", i);
        ebb_json_end(&p.out, '}');
        ebb_text_put(&p.text, "\n", 1);
    }
    cr_expect_str_eq(p.text.at, "{\"i\": 0}\n{\"i\": 1}\n");
    ebb_text_deinit(&p.text);
    test_env_end(p.env);
}
