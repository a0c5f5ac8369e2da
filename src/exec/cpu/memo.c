/* cpu/memo.c: see memo.h. */
#include "exec/cpu/memo.h"

/* FNV-1a's constants over 64-bit words, then a shift so that the low bits see the high ones. */
static size_t hash(const int64_t key[CPU_MEMO_KEY]) {
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < CPU_MEMO_KEY; i++) h = (h ^ (uint64_t)key[i]) * UINT64_C(0x100000001B3);
    return (size_t)(h ^ (h >> 32));
}

/* The entry of the key, or the free one where it belongs. The table is never full. */
static cpu_memo_entry *place(cpu_memo_entry *at, size_t n_entries, const int64_t key[CPU_MEMO_KEY]) {
    size_t i = hash(key) & (n_entries - 1);
    while (at[i].key[0] && memcmp(at[i].key, key, sizeof at[i].key) != 0) i = (i + 1) & (n_entries - 1);
    return &at[i];
}

void cpu_memo_deinit(cpu_memo *memo, ebb_env *env) {
    if (memo->at) ebb_cfree(env, memo->at, memo->n_entries, sizeof *memo->at);
    *memo = (cpu_memo){0};
}

bool cpu_memo_find(const cpu_memo *memo, const int64_t key[CPU_MEMO_KEY], int64_t *value) {
    if (!memo->at) return false;
    const cpu_memo_entry *entry = place(memo->at, memo->n_entries, key);
    if (!entry->key[0]) return false;
    *value = entry->value;
    return true;
}

static ebb_status grow(cpu_memo *memo, ebb_env *env) {
    const size_t n_entries = memo->n_entries ? memo->n_entries * 2 : 64;
    cpu_memo_entry *at = ebb_calloc(env, n_entries, sizeof *at);
    if (!at) return EBB_NO_MEMORY;
    for (size_t i = 0; i < memo->n_entries; i++) {
        if (memo->at[i].key[0]) *place(at, n_entries, memo->at[i].key) = memo->at[i];
    }
    if (memo->at) ebb_cfree(env, memo->at, memo->n_entries, sizeof *memo->at);
    memo->at = at;
    memo->n_entries = n_entries;
    return EBB_OK;
}

ebb_status cpu_memo_add(cpu_memo *memo, ebb_env *env, const int64_t key[CPU_MEMO_KEY], int64_t value) {
    if (4 * (memo->n_used + 1) > 3 * memo->n_entries) {
        const ebb_status status = grow(memo, env);
        if (status != EBB_OK) return status;
    }
    cpu_memo_entry *entry = place(memo->at, memo->n_entries, key);
    memcpy(entry->key, key, sizeof entry->key);
    entry->value = value;
    memo->n_used++;
    return EBB_OK;
}
