/* cuda/cudnn/memo.c: what was found out about calls. */
#include "exec/cuda/cudnn/choices.h"

enum { MOST_ENTRIES = 4096 }; /* then it begins anew: the answers are the same */

void dnn_memo_init(dnn_memo *memo, ebb_env *env) {
    *memo = (dnn_memo){.env = env};
}

static void forget(dnn_memo *memo) {
    for (size_t i = 0; i < memo->entries.n; i++)
        ebb_cfree(memo->env, memo->entries.at[i].entry, 1, sizeof(dnn_entry));
    memo->entries.n = 0;
}

void dnn_memo_deinit(dnn_memo *memo) {
    forget(memo);
    EBB_ARRAY_FREE(memo->env, &memo->entries);
}

static int by_hash(const ebb_hash *a, const ebb_hash *b) {
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->low == b->low ? 0 : a->low < b->low ? -1 : 1;
}

/* Where the call is or would be. */
static size_t place_of(const dnn_memo *memo, const ebb_hash *call) {
    size_t low = 0, high = memo->entries.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_hash(&memo->entries.at[middle].call, call) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const dnn_entry *dnn_memo_find(const dnn_memo *memo, const ebb_hash *call) {
    const size_t place = place_of(memo, call);
    const bool known = place < memo->entries.n && by_hash(&memo->entries.at[place].call, call) == 0;
    return known ? memo->entries.at[place].entry : NULL;
}

ebb_status dnn_memo_keep(dnn_memo *memo, const ebb_hash *call, const dnn_choice *choices, uint32_t n,
                         const dnn_entry **out) {
    if (memo->entries.n >= MOST_ENTRIES) forget(memo);
    if (!EBB_RESERVE(memo->env, &memo->entries, memo->entries.n + 1)) return EBB_NO_MEMORY;
    dnn_entry *entry = ebb_calloc(memo->env, 1, sizeof *entry);
    if (!entry) return EBB_NO_MEMORY;
    const size_t place = place_of(memo, call);
    dnn_known *at = &memo->entries.at[place];
    memmove(at + 1, at, (memo->entries.n - place) * sizeof *at);
    memo->entries.n++;
    entry->n = n;
    for (uint32_t i = 0; i < n; i++) {
        entry->at[i] = choices[i];
        entry->at[i].facts.n_choices = n;
    }
    *at = (dnn_known){*call, entry};
    *out = entry;
    return EBB_OK;
}
