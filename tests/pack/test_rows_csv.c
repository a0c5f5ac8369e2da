/* Tables of rows: what is written is read back; what is wrong is named with its line. */
#include "pack/pack.h"
#include "support/env.h"

static ebb_rows *parse(ebb_env *env, const char *text, ebb_status wanted) {
    ebb_rows *rows = NULL;
    TEST_STATUS(env, ebb_rows_parse(env, "t.csv", text, strlen(text), &rows), wanted);
    return rows;
}

Test(rows_csv, columns_come_by_name_in_any_order) {
    static const char *const tables[] = {
        "id,lower,upper,size,alignment\na,0,3,7,1\nb,1,33,1,64\n",
        "alignment,size,upper,lower,id\n1,7,3,0,a\n64,1,33,1,b\n",
        "\xEF\xBB\xBF"
        "id,lower,upper,size,alignment\na,0,3,7,1\nb,1,33,1,64\n",
        "size,unknown,id,lower,alignment,upper,gaps\r\n7,?,a,0,,3,\r\n\r\n1,\"x,\"\"y\",b,1,64,33,\r\n",
        "\xEF\xBB\xBFid,lower,upper,size,alignment\na,0,3,7,1\nb,1,33,1,64\n",
        " id , lower,\tupper,size,alignment\n a , 0 , 3 ,7,1\n  \nb,1,33,1,64",
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(tables); i++) {
        ebb_rows *rows = parse(env, tables[i], EBB_OK);
        cr_assert_eq(rows->n, 2, "table %zu: %u rows", i, rows->n);
        cr_assert_str_eq(rows->ids[0], "a");
        cr_assert_str_eq(rows->ids[1], "b");
        cr_assert(rows->rows[0].lower == 0 && rows->rows[0].upper == 3 && rows->rows[0].size == 7 &&
                  rows->rows[0].alignment == 1);
        cr_assert(rows->rows[1].lower == 1 && rows->rows[1].upper == 33 && rows->rows[1].size == 1 &&
                  rows->rows[1].alignment == 64);
        cr_assert(rows->offsets == NULL);
        ebb_rows_destroy(rows);
    }
    test_env_close(env);
}

Test(rows_csv, a_header_alone_is_no_rows) {
    ebb_env *env = test_env_open();
    ebb_rows *rows = parse(env, "id,lower,upper,size,offset\n", EBB_OK);
    cr_assert_eq(rows->n, 0);
    ebb_rows_destroy(rows);
    test_env_close(env);
}

typedef struct fault {
    const char *table, *text;
} fault;

static const fault faults[] = {
    {"", "empty"},
    {"\n \n\r\n", "empty"},
    {"id,lower,upper\n", "line 1: no column \"size\""},
    {"lower,upper,size\n", "line 1: no column \"id\""},
    {"id,lower,upper,size,size\n", "line 1: column \"size\" is named twice"},
    {"id,lower,upper,size\na,0,1\n", "line 2: 3 fields; the header has 4"},
    {"id,lower,upper,size\na,0,1,2,3\n", "line 2: 5 fields; the header has 4"},
    {"id,lower,upper,size\n\n\na,0,1,2,\n", "line 4: 5 fields"},
    {"id,lower,upper,size\na,0,1,2\nb,1,1,2\n", "line 3: lower 1 is not below upper 1"},
    {"id,lower,upper,size\na,3,1,2\n", "line 2: lower 3 is not below upper 1"},
    {"id,lower,upper,size\na,-1,1,2\n", "line 2: lower is \"-1\""},
    {"id,lower,upper,size\na,0,1,-2\n", "line 2: size is \"-2\""},
    {"id,lower,upper,size\na,0,1,1.5\n", "line 2: size is \"1.5\""},
    {"id,lower,upper,size\na,0,1,\n", "line 2: size is \"\""},
    {"id,lower,upper,size\na,0,1,9223372036854775808\n", "line 2: size is"},
    {"id,lower,upper,size,alignment\na,0,1,2,0\n", "line 2: alignment is \"0\""},
    {"id,lower,upper,size,alignment\na,0,1,2,3\n", "line 2: alignment 3 is no power of two"},
    {"id,lower,upper,size,offset\na,0,1,2,x\n", "line 2: offset is \"x\""},
    {"id,lower,upper,size,offset,alignment\na,0,1,2,3,2\n",
     "line 2: offset 3: need a multiple of the alignment 2"},
    {"id,lower,upper,size,gaps\na,0,9,2,x\n", "line 2: gaps is \"x\""},
    {"id,lower,upper,size,gaps\na,0,9,2,3-5@2:2\n", "line 2: gaps is \"3-5@2:2\""},
    {"id,lower,upper,size,gaps\na,0,9,2,3-5@:2\n", "line 2: gaps is \"3-5@:2\""},
    {"id,lower,upper,size,gaps\na,0,9,2,3-5@1\n", "line 2: gaps is \"3-5@1\""},
    {"id,lower,upper,size,gaps\na,0,9,2,3-5@1:3\n", "line 2: gap 3-5: byte 3 is above the size 2"},
    {"id,lower,upper,size,gaps\na,0,9,2,5-3\n", "line 2: gaps is \"5-3\""},
    {"id,lower,upper,size,gaps\na,0,9,2,3-5 4-6\n", "line 2: gap 4-6: need gaps within 0-9, in order"},
    {"id,lower,upper,size,gaps\na,0,9,2,3-10\n", "line 2: gap 3-10: need gaps within 0-9"},
    {"id,lower,upper,size,gaps\na,0,9,2,0-5 5-9\n", "line 2: the gaps leave no step of 0-9"},
    {"id,lower,upper,size\na,0,1,2\nb,0,1,1152921504606846975\n",
     "line 3: with size 1152921504606846975 all sizes"},
    {"id,lower,upper,size\n\"a,0,1,2\n", "line 2: a quoted field"},
    {"id,lower,upper,size\n\"a\"b,0,1,2\n", "line 2: a quoted field"},
};

Test(rows_csv, gaps_and_fixed_offsets_are_read_and_written) {
    ebb_env *env = test_env_open();
    const char *table = "id,lower,upper,size,gaps,offset\na,0,9,2,3-5 7-8@0:1,\nb,0,9,2,,4\n";
    ebb_rows *rows = parse(env, table, EBB_OK);
    cr_assert(rows->offsets[0] == -1 && rows->offsets[1] == 4);
    cr_assert(rows->gaps_from[0] == 0 && rows->gaps_from[1] == 2 && rows->gaps_from[2] == 2);
    cr_assert(rows->gaps[1].lower == 7 && rows->gaps[1].upper == 8);
    cr_assert(rows->windows[0].upper == 0 && rows->windows[1].lower == 0 && rows->windows[1].upper == 1);
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_rows_print(&text, rows, (int64_t[]){0, 4});
    cr_assert_str_eq(text.at, "id,lower,upper,size,gaps,offset\na,0,9,2,3-5 7-8@0:1,0\nb,0,9,2,,4\n");
    ebb_text_deinit(&text);
    ebb_rows_destroy(rows);
    test_env_close(env);
}

Test(rows_csv, an_id_that_comes_twice_is_named_with_both_lines) {
    ebb_env *env = test_env_open();
    ebb_rows *rows = parse(env, "id,lower,upper,size\na,0,1,2\n\nb,0,1,2\na,3,4,1\n", EBB_OK);
    TEST_STATUS(env, ebb_rows_link(env, rows), EBB_BAD_INPUT);
    cr_assert(strstr(ebb_env_error(env), "t.csv: line 5: id \"a\" is also that of line 2") != NULL, "%s",
              ebb_env_error(env));
    ebb_rows_destroy(rows);
    rows = parse(env, "id,lower,upper,size\na,0,1,2\nb,0,1,2\nA,3,4,1\n", EBB_OK);
    TEST_OK(env, ebb_rows_link(env, rows));
    ebb_rows_destroy(rows);
    test_env_close(env);
}

Test(rows_csv, a_fault_is_named_with_its_line) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(faults); i++) {
        cr_assert(parse(env, faults[i].table, EBB_BAD_INPUT) == NULL);
        cr_assert(strstr(ebb_env_error(env), faults[i].text) != NULL &&
                      strstr(ebb_env_error(env), "t.csv: ") != NULL,
                  "table %zu: %s", i, ebb_env_error(env));
    }
    ebb_rows *rows = NULL;
    TEST_STATUS(env, ebb_rows_parse(env, "t.csv", "id,lower,upper,size\na\0,0,1,2\n", 30, &rows),
                EBB_BAD_INPUT);
    cr_assert(strstr(ebb_env_error(env), "NUL byte at byte 21") != NULL, "%s", ebb_env_error(env));
    test_env_close(env);
}

Test(rows_csv, what_is_printed_reads_back_equal) {
    static const char *const tables[] = {
        "id,lower,upper,size,offset\na,0,3,7,33\n\"b,\"\"c\"\" d\",1,33,1,0\n",
        "id,lower,upper,size,alignment,offset\na,0,3,7,1,33\nb,1,33,1,64,0\n",
        "id,lower,upper,size,offset\n",
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(tables); i++) {
        ebb_rows *rows = parse(env, tables[i], EBB_OK);
        ebb_text text;
        ebb_text_init(&text, env);
        ebb_rows_print(&text, rows, rows->offsets);
        TEST_OK(env, ebb_text_status(&text));
        cr_assert_str_eq(text.at, tables[i]);
        ebb_text_deinit(&text);
        ebb_rows_destroy(rows);
    }
    test_env_close(env);
}

/* Whatever the bytes are: a status, and nothing left behind. */
Test(rows_csv, any_bytes_are_read_or_refused) {
    static const char alphabet[] = "id,lower\nupper,size\r\"0127-9 \t\xff";
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 33, 3);
    for (uint32_t c = 0; c < 20000; c++) {
        char text[96] = "id,lower,upper,size\n";
        size_t n = ebb_rng_below(&rng, 2) ? strlen(text) : 0;
        for (uint32_t left = ebb_rng_below(&rng, 64); left > 0; left--)
            text[n++] = alphabet[ebb_rng_below(&rng, sizeof alphabet)];
        ebb_rows *rows = NULL;
        ebb_status status = ebb_rows_parse(env, "t.csv", text, n, &rows);
        cr_assert(status == EBB_OK || status == EBB_BAD_INPUT, "%s", ebb_status_name(status));
        cr_assert_eq(status == EBB_OK, rows != NULL);
        ebb_rows_destroy(rows);
    }
    test_env_close(env);
}
