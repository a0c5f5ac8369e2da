/* What a file says is checked before it is believed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"

#define ONE "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"

Test(tensors, what_is_written_is_read_again) {
    char folder[64], path[512];
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    ebb_env *env = test_env();
    for (uint32_t which = 0; which < 2; which++) {
        files_set set;
        ebb_tensors *file;
        files_fill(which, &set);
        cr_assert_eq(files_write(env, path, &set), EBB_OK, "%s", ebb_env_error(env));
        cr_assert_eq(ebb_tensors_open(env, path, &file), EBB_OK, "%s", ebb_env_error(env));
        cr_assert_eq(ebb_tensors_count(file), set.n);
        cr_expect_str_eq(ebb_tensors_fact_find(file, "ebb.step"), "12");
        cr_expect_str_eq(ebb_tensors_fact_find(file, "a \"quoted\" key"), "");
        cr_expect_null(ebb_tensors_fact_find(file, "ebb.seed"));
        cr_expect_null(ebb_tensors_find(file, "nobody"));
        for (uint32_t i = 0; i < set.n; i++) {
            const ebb_tensor_row *want = &set.rows[i], *row = ebb_tensors_find(file, want->name);
            char room[512], text[EBB_TENSOR_ROW_TEXT], want_text[EBB_TENSOR_ROW_TEXT];
            cr_assert_not_null(row, "%s", want->name);
            ebb_tensor_row_text(row, text);
            ebb_tensor_row_text(want, want_text);
            cr_expect_str_eq(text, want_text);
            cr_expect_eq(row->offset % (want->bytes > 0 ? ebb_tensors_dtype_bytes(row->dtype) : 1), 0, "%s",
                         want->name);
            cr_assert_eq(ebb_tensors_read(file, row, 0, row->bytes, room), EBB_OK);
            cr_expect_eq(memcmp(room, set.data[i], (size_t)row->bytes), 0, "%s", want->name);
            cr_expect_eq(ebb_tensors_read(file, row, row->bytes, 1, room), EBB_USAGE);
            cr_expect_eq(ebb_tensors_read(file, row, 1, INT64_MAX, room), EBB_USAGE);
        }
        ebb_tensors_close(file);
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

static const struct {
    const char *header;
    size_t n_data;
    const char *says;
} wrong_headers[] = {
    {"{}", 0, NULL},
    {"{}      ", 0, NULL},
    {"{" ONE "}", 8, NULL},
    {"{\"__metadata__\":{\"k\":\"v\"}," ONE "}", 8, NULL},
    {"{\"e\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[8,8]}," ONE "}", 8, NULL},
    {"{\"e\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}," ONE "}", 8,
     "\"e\" and \"a\" share|share byte"},
    {"[]", 0, "does not begin with {"},
    {" {}", 0, "does not begin with {"},
    {"{\"a\":", 0, "line 1"},
    {"{}x", 0, "line 1"},
    {"{" ONE "}", 7, "bytes 0 to 8 of the 7"},
    {"{" ONE "}", 9, "byte 8 of the data's 9"},
    {"{}", 1, "byte 0 of the data's 1"},
    {"{" ONE "," ONE "}", 8, "duplicate|twice"},
    {"{" ONE ",\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
     "\"a\" and \"b\" share byte 4"},
    {"{" ONE ",\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}", 16,
     "byte 8 of the data's 16"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "bytes 8 to 0"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8,
     "8 bytes at data_offsets, but 12"},
    {"{\"a\":{\"dtype\":\"F31\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "unknown dtype \"F31\""},
    {"{\"\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "no name"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8, "shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, "shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]}}", 8, "rank 9"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4611686018427387904],\"data_offsets\":["
     "0,8]}}",
     8, "63 bits"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", 8, "1 data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,99999999999999999999]}}", 8,
     "64 bits|number"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}}", 8,
     "unknown member \"more\""},
    {"{\"a\":1}", 8, "tensor \"a\""},
    {"{\"__metadata__\":[]," ONE "}", 8, "__metadata__"},
    {"{\"__metadata__\":{\"k\":1}," ONE "}", 8, "\"k\"|k"},
    {"{\"__metadata__\":{\"k\":null}," ONE "}", 8, "null"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[[[2]]],\"data_offsets\":[0,8]}}", 8, "levels"},
    {"{\"a\\u001b[2J\":{\"dtype\":\"?\",\"shape\":[],\"data_offsets\":[0,8]}}", 8, "unknown dtype"},
};

Test(tensors, a_wrong_header_is_refused_in_a_line_that_says_why) {
    char folder[64], path[512];
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(wrong_headers); i++) {
        (void)files_put_header(path, wrong_headers[i].header, wrong_headers[i].n_data);
        const ebb_status status = files_read(env, path);
        cr_expect_eq(status, wrong_headers[i].says ? EBB_BAD_INPUT : EBB_OK, "%s: %s: %s",
                     wrong_headers[i].header, ebb_status_name(status), ebb_env_error(env));
        if (!wrong_headers[i].says) continue;
        char words[128], *rest = words, *word;
        bool said = false;
        (void)snprintf(words, sizeof words, "%s", wrong_headers[i].says);
        while ((word = strsep(&rest, "|"))) said = said || strstr(ebb_env_error(env), word);
        cr_expect(said, "%s: %s", wrong_headers[i].header, ebb_env_error(env));
        cr_expect_null(strpbrk(ebb_env_error(env), "\n\033"), "%s", ebb_env_error(env));
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(tensors, what_is_no_file_is_refused) {
    char folder[64], path[512];
    test_folder(folder);
    test_path(path, folder, "none");
    ebb_env *env = test_env();
    cr_expect_eq(files_read(env, folder), EBB_IO);
    cr_expect_eq(files_read(env, path), EBB_IO);
    cr_expect_eq(files_read(env, "/dev/null"), EBB_IO);
    test_folder_end(folder);
    test_env_end(env);
}

Test(tensors, every_truncation_is_refused) {
    static char bytes[FILES_MAX];
    char folder[64], path[512];
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    ebb_env *env = test_env();
    for (uint32_t which = 0; which < 2; which++) {
        files_set set;
        files_fill(which, &set);
        cr_assert_eq(files_write(env, path, &set), EBB_OK);
        const size_t n = files_get(path, bytes);
        for (size_t cut = 0; cut < n; cut++) {
            files_put(path, bytes, cut);
            cr_assert_eq(files_read(env, path), EBB_BAD_INPUT, "%zu of %zu bytes", cut, n);
        }
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

/* One to four changes of a byte, a bit, or a piece that is put elsewhere, or a number made large; most in
 * the header. */
static void mutate(ebb_rng *rng, char *bytes, size_t n, size_t n_header) {
    static const char tokens[] = "{}[],:\"0123456789-.eFIUB\\ \n";
    for (uint32_t i = ebb_rng_below(rng, 4) + 1; i-- > 0;) {
        const size_t at = ebb_rng_below(rng, (uint32_t)(ebb_rng_below(rng, 8) > 0 ? n_header : n));
        const size_t from = ebb_rng_below(rng, (uint32_t)n), most = n - (at > from ? at : from);
        switch (ebb_rng_below(rng, 4)) {
        case 0:
            bytes[at] = (char)ebb_rng_u32(rng);
            break;
        case 1:
            bytes[at] = (char)(bytes[at] ^ 1 << ebb_rng_below(rng, 8));
            break;
        case 2:
            bytes[at] = tokens[ebb_rng_below(rng, sizeof tokens - 1)];
            break;
        default:
            memmove(bytes + at, bytes + from, most < 24 ? most : ebb_rng_below(rng, 24));
        }
    }
}

/* EBB_MUTATIONS: how many of each file (default 4000). */
Test(tensors, mutated_files_are_read_or_refused_within_bounds, .timeout = 3600) {
    static char bytes[FILES_MAX], changed[FILES_MAX];
    char folder[64], path[512];
    const char *wish = getenv("EBB_MUTATIONS");
    int64_t n_each = 4000, n_read = 0;
    if (wish) cr_assert(ebb_parse_i64(wish, 1, INT64_MAX, &n_each));
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    ebb_env *env = test_env();
    for (uint32_t which = 0; which < 2; which++) {
        files_set set;
        ebb_rng rng;
        files_fill(which, &set);
        ebb_rng_init(&rng, 21, which);
        cr_assert_eq(files_write(env, path, &set), EBB_OK);
        const size_t n = files_get(path, bytes),
                     n_header = 8 + (unsigned char)bytes[0] + 256u * (unsigned char)bytes[1];
        for (int64_t i = 0; i < n_each; i++) {
            memcpy(changed, bytes, n);
            mutate(&rng, changed, n, n_header < n ? n_header : n);
            files_put(path, changed, n);
            const ebb_status status = files_read(env, path);
            cr_assert(status == EBB_OK || status == EBB_BAD_INPUT, "mutation %lld: %s: %s", (long long)i,
                      ebb_status_name(status), ebb_env_error(env));
            n_read += status == EBB_OK;
            if (status != EBB_OK) cr_assert_null(strchr(ebb_env_error(env), '\n'));
        }
    }
    cr_expect_gt(n_read, 0);
    cr_expect_leq(ebb_env_peak_bytes(env), 4 * sizeof bytes + (64u << 20));
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}
