/* What the base tests share: envs with a watched allocator, and a folder of their own. */
#ifndef EBB_TESTS_BASE_SUPPORT_H
#define EBB_TESTS_BASE_SUPPORT_H

#include <criterion/criterion.h>

#include "base/base.h"
#include "support/scarce.h"

#define NEVER UINT64_MAX

/* Call fail_at alone is refused; the env's own block is call 0. NULL when that was refused. */
ebb_env *test_env_create(scarce_memory *memory, uint64_t fail_at);
/* An env with the default allocator; never NULL. */
ebb_env *test_env(void);
/* Destroys it after checking that nothing made with it is left. */
void test_env_end(ebb_env *env);

/* A new folder, its path without a slash at the end. Free with test_folder_end, which wants it empty. */
void test_folder(char path[64]);
void test_folder_end(const char *path);
/* folder/name in a buffer of 512 bytes. */
void test_path(char path[512], const char *folder, const char *name);
/* Entries in a folder, "." and ".." aside. */
size_t test_folder_count(const char *path);
/* Gives up root for the rest of the test's process, so that a fault in what is tested cannot replace a
 * device of the machine; skips the test where that is not possible. */
void test_drop_root(void);

#endif
