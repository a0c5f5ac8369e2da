#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static unsigned char bytes_of[8][4096];

void files_fill(uint32_t which, files_set *out) {
    static const ebb_tensor_row first[] = {
        {.name = "conv1.w", .dtype = "F32", .rank = 4, .dim = {3, 2, 3, 3}, .bytes = 216},
        {.name = "bn/gamma", .dtype = "F64", .rank = 1, .dim = {7}, .bytes = 56},
        {.name = "ids", .dtype = "I32", .rank = 2, .dim = {3, 1}, .bytes = 12},
        {.name = "adamw.step", .dtype = "F32", .rank = 0, .bytes = 4},
        {.name = "empty", .dtype = "F32", .rank = 2, .dim = {0, 33}, .bytes = 0}};
    static const ebb_tensor_row second[] = {
        {.name = "mask", .dtype = "BOOL", .rank = 1, .dim = {33}, .bytes = 33},
        {.name = "half", .dtype = "BF16", .rank = 3, .dim = {1, 3, 7}, .bytes = 42},
        {.name = "bytes", .dtype = "U8", .rank = 8, .dim = {1, 1, 3, 1, 1, 7, 1, 1}, .bytes = 21},
        {.name = "wide", .dtype = "I64", .rank = 1, .dim = {1}, .bytes = 8}};
    const ebb_tensor_row *rows = which == 0 ? first : second;
    out->n = which == 0 ? EBB_COUNT(first) : EBB_COUNT(second);
    for (uint32_t i = 0; i < out->n; i++) {
        out->rows[i] = rows[i];
        out->data[i] = bytes_of[i];
        for (int64_t k = 0; k < rows[i].bytes; k++)
            bytes_of[i][k] = (unsigned char)(i * 31 + (uint64_t)k * 7);
    }
}

ebb_status files_write(ebb_env *env, const char *path, const files_set *set) {
    static const ebb_tensors_fact facts[] = {{"ebb.step", "12"}, {"a \"quoted\" key", ""}};
    return ebb_tensors_write(env, path, set->rows, set->data, set->n, facts, EBB_COUNT(facts));
}

ebb_status files_read(ebb_env *env, const char *path) {
    static char room[1 << 20];
    ebb_tensors *file;
    ebb_status status = ebb_tensors_open(env, path, &file);
    for (uint32_t i = 0; status == EBB_OK && i < ebb_tensors_count(file); i++) {
        const ebb_tensor_row *row = ebb_tensors_at(file, i);
        cr_assert_eq(ebb_tensors_find(file, row->name), row);
        cr_assert_leq(row->bytes, (int64_t)sizeof room);
        status = ebb_tensors_read(file, row, 0, row->bytes, room);
    }
    if (file) cr_assert_null(ebb_tensors_at(file, ebb_tensors_count(file)));
    ebb_tensors_close(file);
    return status;
}

/* A file emptied and filled again would wait for the disk on some file systems. */
void files_put(const char *path, const void *bytes, size_t n) {
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, bytes, n, 0), (ssize_t)n);
    cr_assert_eq(ftruncate(fd, (off_t)n), 0);
    cr_assert_eq(close(fd), 0);
}

size_t files_put_header(const char *path, const char *header, size_t n_data) {
    static char bytes[FILES_MAX];
    const size_t n = strlen(header);
    cr_assert_leq(8 + n + n_data, sizeof bytes);
    for (size_t i = 0; i < 8; i++) bytes[i] = (char)((uint64_t)n >> (8 * i) & 0xFF);
    memcpy(bytes + 8, header, n);
    memset(bytes + 8 + n, 7, n_data);
    files_put(path, bytes, 8 + n + n_data);
    return 8 + n + n_data;
}

size_t files_get(const char *path, char bytes[FILES_MAX]) {
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    const size_t n = fread(bytes, 1, FILES_MAX, file);
    cr_assert_eq(fclose(file), 0);
    return n;
}
