/* What the base tests share. */
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/skip.h"

/* Before each block: what it was asked for, to be compared when it is freed. */
typedef struct block_note {
    size_t bytes, alignment;
} block_note;

static size_t note_room(size_t alignment) {
    return alignment > sizeof(block_note) ? alignment : sizeof(block_note);
}

static void *watched_alloc(void *ctx, size_t bytes, size_t alignment) {
    test_memory *memory = ctx;
    if (memory->n_calls++ == memory->fail_at) return NULL;
    size_t room = note_room(alignment), total = (room + bytes + alignment - 1) & ~(alignment - 1);
    char *block = aligned_alloc(alignment, total);
    if (block == NULL) return NULL;
    memset(block, 0xA5, total);
    block_note note = {bytes, alignment};
    memcpy(block + room - sizeof note, &note, sizeof note);
    memory->n_live++;
    return block + room;
}

static void watched_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    test_memory *memory = ctx;
    block_note note;
    memcpy(&note, (char *)ptr - sizeof note, sizeof note);
    if (note.bytes != bytes || note.alignment != alignment) memory->n_wrong_frees++;
    memory->n_live--;
    free((char *)ptr - note_room(note.alignment));
}

ebb_env *test_env_create(test_memory *memory, uint64_t fail_at) {
    *memory = (test_memory){.fail_at = fail_at};
    ebb_env_options options = {.alloc = watched_alloc, .free = watched_free, .alloc_ctx = memory};
    ebb_env *env = NULL;
    ebb_status status = ebb_env_create(&options, &env);
    cr_assert_eq(status, fail_at == 0 ? EBB_NO_MEMORY : EBB_OK);
    cr_assert_eq(env == NULL, fail_at == 0);
    return env;
}

ebb_env *test_env(void) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_not_null(env);
    return env;
}

void test_env_end(ebb_env *env) {
    cr_assert_eq(ebb_env_allocated_bytes(env), 0, "%zu bytes were left", ebb_env_allocated_bytes(env));
    ebb_env_destroy(env);
}

void test_folder(char path[64]) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || strlen(base) > 40) base = "/tmp";
    snprintf(path, 64, "%s/ebb-test-XXXXXX", base);
    cr_assert_not_null(mkdtemp(path));
}

void test_folder_end(const char *path) {
    cr_assert_eq(rmdir(path), 0, "%s is not empty", path);
}

void test_path(char path[512], const char *folder, const char *name) {
    cr_assert_lt(snprintf(path, 512, "%s/%s", folder, name), 512);
}

size_t test_folder_count(const char *path) {
    DIR *dir = opendir(path);
    cr_assert_not_null(dir);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

void test_drop_root(void) {
    enum { NOBODY = 65534 };
    if (geteuid() != 0) return;
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) TEST_SKIP("root cannot be given up here");
    cr_assert_neq(geteuid(), 0);
}
