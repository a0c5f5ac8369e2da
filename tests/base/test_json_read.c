/* Reading JSON. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

static ebb_json *parse(ebb_env *env, const char *text) {
    ebb_json *json = NULL;
    cr_assert_eq(ebb_json_parse(env, "t.json", text, strlen(text), &json), EBB_OK, "%s",
                 ebb_env_error(env));
    cr_assert_not_null(json);
    return json;
}

Test(json_parse, names_the_place_and_the_fault) {
    static const struct {
        const char *text, *place, *fault;
    } rows[] = {
        {"", "line 1, column 1", "expected near end of file"},
        {"{", "line 1, column 1", "end of file"},
        {"{\n  \"a\": 1,\n  \"a\": 2\n}", "line 3, column 5", "duplicate object key"},
        {"{\"a\": {\"b\": 1, \"c\": 2, \"b\": 3}}", "line 1, column 26", "duplicate object key"},
        {"[1, 2,\n3, }", "line 2, column 4", "unexpected token near '}'"},
        {"[1] [2]", "line 1, column 5", "end of file expected"},
        {"[01]", "line 1, column 2", "invalid token"},
        {"[1,]", "line 1", "unexpected token near ']'"},
        {"{\"a\" 1}", "line 1", "':' expected"},
        {"[NaN]", "line 1", "invalid token"},
        {"['a']", "line 1", "invalid token"},
        {"[\"\\u0000\"]", "line 1", "\\u0000 is not allowed"},
        {"[\"\\ud800\"]", "line 1", "invalid Unicode"},
        {"[\"\xFF\"]", "line 1", "unable to decode byte 0xff"},
        {"[\"\xC0\xAF\"]", "line 1", "unable to decode byte 0xc0"},
        {"[\"a\nb\"]", "line 1", "unexpected newline"},
        {"7", "line 1", "'[' or '{' expected"},
        {"\"text\"", "line 1", "'[' or '{' expected"},
        {"[9223372036854775808]", "line 1", "a number is beyond 64 bits"},
        {"[1,\n-9223372036854775809]", "line 2", "a number is beyond 64 bits"},
        {"[1e999]", "line 1", "a number is beyond 64 bits"},
    };
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        char left;
        ebb_json *json = (ebb_json *)&left;
        cr_expect_eq(ebb_json_parse(env, "t.json", rows[i].text, strlen(rows[i].text), &json),
                     EBB_BAD_INPUT, "row %zu", i);
        cr_expect_null(json);
        const char *error = ebb_env_error(env);
        cr_expect_eq(strncmp(error, "t.json: ", 8), 0);
        cr_expect_not_null(strstr(error, rows[i].place), "row %zu: %s", i, error);
        cr_expect_not_null(strstr(error, rows[i].fault), "row %zu: %s", i, error);
    }
    test_env_end(env);
}

Test(json_parse, refuses_a_nul_byte_and_takes_no_byte_beyond_n) {
    ebb_env *env = test_env();
    ebb_json *json = NULL;
    cr_expect_eq(ebb_json_parse(env, "t", "[1]\0[2]", 7, &json), EBB_BAD_INPUT);
    cr_expect_eq(ebb_json_parse(env, "t", NULL, 0, &json), EBB_BAD_INPUT);
    cr_expect_eq(ebb_json_parse(env, "t", "[1]junk", 3, &json), EBB_OK);
    ebb_json_free(json);
    ebb_json_free(NULL);
    test_env_end(env);
}

Test(json_parse, refuses_nesting_that_would_exhaust_the_stack) {
    static const size_t depths[] = {1, 3, 33, 1000, 100000};
    static char text[200001];
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(depths); i++) {
        memset(text, '[', depths[i]);
        memset(text + depths[i], ']', depths[i]);
        ebb_json *json = NULL;
        ebb_status status = ebb_json_parse(env, "t.json", text, 2 * depths[i], &json);
        cr_expect_eq(status, depths[i] > 2048 ? EBB_BAD_INPUT : EBB_OK, "%zu", depths[i]);
        if (status == EBB_OK) ebb_json_free(json);
    }
    cr_expect_not_null(strstr(ebb_env_error(env), "nested deeper than 2048"), "%s", ebb_env_error(env));
    test_env_end(env);
}

Test(json_i64, takes_integers_within_the_bounds_only) {
    static const struct {
        const char *value;
        int64_t min, max;
        const char *fault; /* NULL: good */
        int64_t wanted;
    } rows[] = {
        {"0", 0, 0, NULL, 0},
        {"-0", 0, 0, NULL, 0},
        {"33", 1, 33, NULL, 33},
        {"9223372036854775807", INT64_MIN, INT64_MAX, NULL, INT64_MAX},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, NULL, INT64_MIN},
        {"34", 1, 33, "t.json: steps[3]: \"n\" is 34 and must be 1 to 33", 0},
        {"0", 1, 33, "t.json: steps[3]: \"n\" is 0 and must be 1 to 33", 0},
        {"1.0", 0, 9, "\"n\" is a number with a fraction or exponent and must be an integer", 0},
        {"1e3", 0, 9999, "\"n\" is a number with a fraction or exponent and must be an integer", 0},
        {"\"1\"", 0, 9, "\"n\" is a text and must be an integer", 0},
        {"true", 0, 9, "\"n\" is a boolean and must be an integer", 0},
        {"[1]", 0, 9, "\"n\" is an array and must be an integer", 0},
        {"{}", 0, 9, "\"n\" is an object and must be an integer", 0},
        {"null", 0, 9, "\"n\" is missing", 0},
    };
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"n\": %s}", rows[i].value);
        ebb_json *json = parse(env, text);
        int64_t got = -77;
        ebb_status status =
            ebb_json_i64(env, json, "t.json: steps[3]", "n", rows[i].min, rows[i].max, NULL, &got);
        cr_expect_eq(status, rows[i].fault == NULL ? EBB_OK : EBB_BAD_INPUT, "%s", rows[i].value);
        cr_expect_eq(got, rows[i].fault == NULL ? rows[i].wanted : -77, "%s", rows[i].value);
        if (rows[i].fault != NULL)
            cr_expect_not_null(strstr(ebb_env_error(env), rows[i].fault), "%s", ebb_env_error(env));
        ebb_json_free(json);
    }
    test_env_end(env);
}

typedef struct answers {
    int64_t i64;
    bool boolean;
    const char *text;
    const ebb_json *array, *object;
    size_t n;
} answers;

static ebb_status ask(ebb_env *env, const ebb_json *json, int getter, const char *key, bool *present,
                      answers *a) {
    switch (getter) {
    case 0:
        return ebb_json_i64(env, json, "w", key, INT64_MIN, INT64_MAX, present, &a->i64);
    case 1:
        return ebb_json_bool(env, json, "w", key, present, &a->boolean);
    case 2:
        return ebb_json_text(env, json, "w", key, present, &a->text);
    case 3:
        return ebb_json_array(env, json, "w", key, present, &a->array, &a->n);
    default:
        return ebb_json_object(env, json, "w", key, present, &a->object);
    }
}

static const char *const getters[] = {"i", "b", "t", "a", "o"};

Test(json_getters, take_their_own_kind_and_no_other) {
    ebb_env *env = test_env();
    ebb_json *json = parse(
        env, "{\"i\": -33, \"b\": true, \"t\": \"caf\\u00e9\", \"a\": [1, 2, 3], \"o\": {}, \"r\": 0.5}");
    answers a = {0};
    for (int getter = 0; getter < (int)EBB_COUNT(getters); getter++) {
        static const char *const keys[] = {"i", "b", "t", "a", "o", "r"};
        for (size_t k = 0; k < EBB_COUNT(keys); k++) {
            bool fits = strcmp(keys[k], getters[getter]) == 0, present = false;
            cr_expect_eq(ask(env, json, getter, keys[k], NULL, &a), fits ? EBB_OK : EBB_BAD_INPUT);
            cr_expect_eq(ask(env, json, getter, keys[k], &present, &a), fits ? EBB_OK : EBB_BAD_INPUT);
            cr_expect_eq(present, fits);
        }
    }
    cr_expect_eq(a.i64, -33);
    cr_expect(a.boolean);
    cr_expect_str_eq(a.text, "caf\xC3\xA9");
    cr_expect_eq(a.n, 3);
    int64_t third = 0;
    cr_expect_eq(ebb_json_at_i64(env, a.array, "w", 2, 0, 9, &third), EBB_OK);
    cr_expect_eq(third, 3);
    bool present = true;
    cr_expect_eq(ask(env, a.object, 0, "i", &present, &a), EBB_OK);
    cr_expect_not(present);
    ebb_json_free(json);
    test_env_end(env);
}

Test(json_getters, leave_the_default_when_a_member_is_absent_or_null) {
    ebb_env *env = test_env();
    ebb_json *json = parse(env, "{\"null\": null}");
    static const char *const keys[] = {"null", "absent"};
    for (int getter = 0; getter < (int)EBB_COUNT(getters); getter++) {
        for (size_t k = 0; k < EBB_COUNT(keys); k++) {
            answers a = {-7, true, "default", json, json, 33};
            bool present = true;
            cr_expect_eq(ask(env, json, getter, keys[k], &present, &a), EBB_OK);
            cr_expect_not(present);
            cr_expect(a.i64 == -7 && a.boolean && a.array == json && a.object == json && a.n == 33);
            cr_expect_str_eq(a.text, "default");
            cr_expect_eq(ask(env, json, getter, keys[k], NULL, &a), EBB_BAD_INPUT);
            cr_expect_not_null(strstr(ebb_env_error(env), "is missing: add it"));
            cr_expect_not_null(strstr(ebb_env_error(env), keys[k]));
        }
    }
    ebb_json_free(json);
    test_env_end(env);
}

Test(json_getters, want_an_object_to_look_in) {
    ebb_env *env = test_env();
    ebb_json *json = parse(env, "[7, \"x\", [], null]");
    answers a = {0};
    for (int getter = 0; getter < (int)EBB_COUNT(getters); getter++) {
        bool present = true;
        cr_expect_eq(ask(env, json, getter, "k", &present, &a), EBB_BAD_INPUT);
        for (size_t i = 0; i < 6; i++) /* 4 and 5 are beyond the end */
            cr_expect_eq(ask(env, ebb_json_at(json, i), getter, "k", &present, &a), EBB_BAD_INPUT);
    }
    cr_expect_str_eq(ebb_env_error(env), "w: nothing where an object with \"k\" must be");
    ebb_json_free(json);
    test_env_end(env);
}

Test(json_at_i64, takes_integers_within_the_bounds_only) {
    ebb_env *env = test_env();
    ebb_json *json = parse(env, "[7, 34, 1.0, \"1\", null]");
    static const char *const faults[] = {
        NULL,
        "t.json: shape[1] is 34 and must be 1 to 33",
        "t.json: shape[2] is a number with a fraction or exponent and must be an integer",
        "t.json: shape[3] is a text and must be an integer",
        "t.json: shape[4] is null and must be an integer",
        "t.json: shape[5] is nothing and must be an integer",
    };
    for (size_t i = 0; i < EBB_COUNT(faults); i++) {
        int64_t got = -77;
        ebb_status status = ebb_json_at_i64(env, json, "t.json: shape", i, 1, 33, &got);
        cr_expect_eq(status, faults[i] == NULL ? EBB_OK : EBB_BAD_INPUT);
        cr_expect_eq(got, faults[i] == NULL ? 7 : -77);
        if (faults[i] != NULL) cr_expect_str_eq(ebb_env_error(env), faults[i]);
    }
    ebb_json_free(json);
    test_env_end(env);
}

Test(json, the_first_key_that_is_not_known_is_named) {
    static const char *const known[] = {"a", "b"};
    static const struct {
        const char *text, *unknown;
    } rows[] = {{"{}", NULL},
                {"{\"b\": 1, \"a\": 2}", NULL},
                {"{\"a\": 1, \"B\": 2, \"c\": 3}", "B"},
                {"{\"\": 1}", ""}};
    ebb_env *env;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ebb_json *json;
        cr_assert_eq(ebb_json_parse(env, "t", rows[i].text, strlen(rows[i].text), &json), EBB_OK);
        const char *key = ebb_json_unknown_key(json, known, 2);
        if (rows[i].unknown)
            cr_assert_str_eq(key, rows[i].unknown);
        else
            cr_assert_null(key);
        ebb_json_free(json);
    }
    ebb_env_destroy(env);
}
