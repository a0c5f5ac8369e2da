/* cpu/memo.h: memoizes scratch bytes by product. A search for the largest batch queries the same few
 * convolutions at every size, and each answer takes oneDNN tens of microseconds. */
#ifndef EBB_EXEC_CPU_MEMO_H
#define EBB_EXEC_CPU_MEMO_H

#include "base/base.h"

#define CPU_MEMO_KEY 20

typedef struct cpu_memo_entry {
    int64_t key[CPU_MEMO_KEY]; /* key[0] 0: a free entry */
    int64_t value;
} cpu_memo_entry;

typedef struct cpu_memo {
    cpu_memo_entry *at; /* open addressing; n_entries is a power of two, at most 3/4 full */
    size_t n_entries, n_used;
} cpu_memo;

void cpu_memo_deinit(cpu_memo *memo, ebb_env *env);
bool cpu_memo_find(const cpu_memo *memo, const int64_t key[CPU_MEMO_KEY], int64_t *value);
/* The key must be new, its first number not 0. */
EBB_CHECKED ebb_status cpu_memo_add(cpu_memo *memo, ebb_env *env, const int64_t key[CPU_MEMO_KEY],
                                    int64_t value);

#endif
