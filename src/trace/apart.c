/* Which updates of a segment cannot be done in the bytes of what they update: where its old value is read
 * afterwards, by an op, by the backward of an op, or by whoever holds a view of it. */
#include "trace/trace.h"

typedef struct reads {
    uint32_t *root;     /* [values] whose bytes it is */
    uint32_t *last;     /* [values] of roots: 1 past the last entry that reads it, or UINT32_MAX */
    bool *plain;        /* [values] of roots: an op with a gradient may have read it */
    uint32_t backwards; /* 1 past the last backward */
} reads;

static void entry_read(const ebb_recorded *r, uint32_t e, reads *to) {
    const ebb_entry *entry = &r->entries.at[e];
    const bool op = entry->kind == EBB_ENTRY_OP;
    for (uint32_t i = 0; i < entry->n_in; i++) {
        const uint32_t v = r->operands.at[entry->in + i];
        if (v == EBB_NONE || entry->kind == EBB_ENTRY_READ || entry->kind == EBB_ENTRY_ASSIGN) continue;
        to->last[to->root[v]] = e + 1;
        if (op && !entry->op->n_update) to->plain[to->root[v]] = true;
    }
    if (op && entry->op->view) to->root[entry->out] = to->root[r->operands.at[entry->in]];
    if (entry->kind == EBB_ENTRY_BACKWARD) to->backwards = e + 1;
}

/* The target once more among the operands, or as a view of itself. */
static bool is_twice(const ebb_recorded *r, const ebb_entry *entry, uint32_t target, const reads *of) {
    const uint32_t *in = r->operands.at + entry->in;
    for (uint32_t i = 0; i < entry->n_in; i++) {
        if (i != target && in[i] != EBB_NONE && of->root[in[i]] == of->root[in[target]]) return true;
    }
    return of->root[in[target]] != in[target];
}

static bool is_apart(const ebb_recorded *r, uint32_t e, const reads *of) {
    const ebb_entry *entry = &r->entries.at[e];
    for (uint32_t u = 0; u < entry->op->n_update; u++) {
        const uint32_t target = entry->op->update[u].in,
                       root = of->root[r->operands.at[entry->in + target]];
        if (of->last[root] > e + 1 || (of->plain[root] && of->backwards > e + 1)) return true;
        if (is_twice(r, entry, target, of)) return true;
    }
    return false;
}

ebb_status ebb_updates_apart(ebb_arena *arena, const ebb_recorded *r, uint32_t begin, uint32_t end,
                             bool **apart, bool **viewed) {
    const size_t n = r->values.n;
    reads of = {.root = EBB_NEW(arena, uint32_t, n),
                .last = EBB_NEW(arena, uint32_t, n),
                .plain = EBB_NEW(arena, bool, n)};
    *apart = EBB_NEW(arena, bool, (size_t)end - begin);
    *viewed = EBB_NEW(arena, bool, n);
    if (!of.root || !of.last || !of.plain || !*apart || !*viewed) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < n; v++) of.root[v] = v;
    for (uint32_t e = begin; e < end; e++) entry_read(r, e, &of);
    for (uint32_t v = 0; v < n; v++) {
        if (of.root[v] == v || !r->values.at[v].output) continue;
        of.last[of.root[v]] = UINT32_MAX;
        (*viewed)[of.root[v]] = true;
    }
    for (uint32_t e = begin; e < end; e++) {
        const ebb_entry *entry = &r->entries.at[e];
        (*apart)[e - begin] = entry->kind == EBB_ENTRY_OP && entry->op->n_update && is_apart(r, e, &of);
    }
    return EBB_OK;
}
