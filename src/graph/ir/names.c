/* Names of values: legal bytes, hash, table. */
#include "graph/ir/ir.h"

bool ebb_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '/';
}

bool ebb_name_valid(const char *name) {
    if (!*name) return false;
    for (; *name; name++) {
        if (!ebb_name_char(*name)) return false;
    }
    return true;
}

uint64_t ebb_name_hash(const char *name, size_t n) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The slot of the name, or the empty one where it would go. cap > n, so the walk ends. */
static size_t slot_of(const ebb_names *names, const char *name, size_t n, uint64_t hash) {
    size_t at = (size_t)(hash ^ hash >> 32) & (names->cap - 1);
    for (;; at = (at + 1) & (names->cap - 1)) {
        const ebb_name_slot *slot = &names->slots[at];
        if (!slot->name) return at;
        if (slot->hash == hash && strncmp(slot->name, name, n) == 0 && !slot->name[n]) return at;
    }
}

ebb_id ebb_names_find(const ebb_names *names, const char *name, size_t n) {
    if (names->cap == 0) return EBB_NONE;
    size_t at = slot_of(names, name, n, ebb_name_hash(name, n));
    return names->slots[at].name ? names->slots[at].id : EBB_NONE;
}

static ebb_status grow(ebb_env *env, ebb_names *names) {
    ebb_names wider = {.n = names->n, .cap = names->cap ? 2 * names->cap : 64};
    wider.slots = ebb_calloc(env, wider.cap, sizeof(ebb_name_slot));
    if (!wider.slots) return EBB_NO_MEMORY;
    for (size_t i = 0; i < names->cap; i++) {
        const ebb_name_slot *slot = &names->slots[i];
        if (!slot->name) continue;
        size_t at = (size_t)(slot->hash ^ slot->hash >> 32) & (wider.cap - 1);
        while (wider.slots[at].name) at = (at + 1) & (wider.cap - 1);
        wider.slots[at] = *slot;
    }
    ebb_names_deinit(env, names);
    *names = wider;
    return EBB_OK;
}

ebb_status ebb_names_add(ebb_env *env, ebb_names *names, const char *name, ebb_id id) {
    if (2 * (names->n + 1) > names->cap) {
        ebb_status status = grow(env, names);
        if (status) return status;
    }
    size_t n = strlen(name);
    uint64_t hash = ebb_name_hash(name, n);
    size_t at = slot_of(names, name, n, hash);
    names->slots[at] = (ebb_name_slot){.name = name, .hash = hash, .id = id};
    names->n++;
    return EBB_OK;
}

void ebb_names_deinit(ebb_env *env, ebb_names *names) {
    ebb_cfree(env, names->slots, names->cap, sizeof(ebb_name_slot));
    *names = (ebb_names){0};
}
