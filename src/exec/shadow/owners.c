/* shadow/owners.c: the map of owners as a skip list over boundaries (Pugh: "Skip lists: a probabilistic
 * alternative to balanced trees", CACM 1990), a quarter of the nodes of each level in the next.
 */
#include "exec/shadow/owners.h"

ebb_status ebb_owners_init(ebb_owners *map, ebb_env *env) {
    *map = (ebb_owners){.env = env};
    ebb_rng_init(&map->rng, 1, 0);
    const ebb_boundary head = {.at = 0, .owner = {EBB_OWNER_NOBODY, EBB_NONE}};
    return EBB_PUSH(env, &map->nodes, head) ? EBB_OK : EBB_NO_MEMORY;
}

void ebb_owners_deinit(ebb_owners *map) {
    if (map->env) EBB_ARRAY_FREE(map->env, &map->nodes);
}

/* before[level] = the last boundary below `at`. */
static void find(const ebb_owners *map, uint64_t at, uint32_t before[EBB_OWNER_LEVELS]) {
    const ebb_boundary *nodes = map->nodes.at;
    uint32_t here = 0;
    for (int level = EBB_OWNER_LEVELS - 1; level >= 0; level--) {
        for (uint32_t next = nodes[here].next[level]; next && nodes[next].at < at;
             next = nodes[here].next[level]) {
            here = next;
        }
        before[level] = here;
    }
}

/* Unlinks the boundary that follows before[0]. */
static void drop_next(ebb_owners *map, const uint32_t before[EBB_OWNER_LEVELS]) {
    ebb_boundary *nodes = map->nodes.at;
    const uint32_t gone = nodes[before[0]].next[0];
    for (int level = 0; level < EBB_OWNER_LEVELS; level++) {
        ebb_boundary *from = &nodes[before[level]];
        if (from->next[level] == gone) from->next[level] = nodes[gone].next[level];
    }
    nodes[gone].next[0] = map->free;
    map->free = gone;
}

/* Links a boundary behind `before`. Room was made by the caller. */
static void add_next(ebb_owners *map, const uint32_t before[EBB_OWNER_LEVELS], uint64_t at,
                     ebb_owner owner) {
    uint32_t new = map->free;
    ebb_boundary *nodes = map->nodes.at;
    if (new) {
        map->free = nodes[new].next[0];
    } else {
        new = (uint32_t)map->nodes.n++;
    }
    nodes[new] = (ebb_boundary){.at = at, .owner = owner};
    uint32_t dice = ebb_rng_u32(&map->rng);
    for (int level = 0; level < EBB_OWNER_LEVELS; level++, dice >>= 2) {
        nodes[new].next[level] = nodes[before[level]].next[level];
        nodes[before[level]].next[level] = new;
        if (dice & 3) break;
    }
}

ebb_status ebb_owners_set(ebb_owners *map, uint64_t from, uint64_t end, ebb_owner owner) {
    if (!EBB_RESERVE(map->env, &map->nodes, map->nodes.n + 2)) return EBB_NO_MEMORY;
    ebb_boundary *nodes = map->nodes.at;
    uint32_t before[EBB_OWNER_LEVELS];
    find(map, from, before);
    ebb_owner last = nodes[before[0]].owner; /* who owns the byte before `end` */
    uint32_t next = nodes[before[0]].next[0];
    for (; next && nodes[next].at < end; next = nodes[before[0]].next[0]) {
        last = nodes[next].owner;
        drop_next(map, before);
    }
    if (!next || nodes[next].at != end) add_next(map, before, end, last);
    add_next(map, before, from, owner);
    return EBB_OK;
}

bool ebb_owners_hold(const ebb_owners *map, uint64_t from, uint64_t end, ebb_id buffer,
                     uint64_t *other_from, uint64_t *other_end, ebb_owner *other) {
    const ebb_boundary *nodes = map->nodes.at;
    uint32_t before[EBB_OWNER_LEVELS];
    find(map, from + 1, before);
    for (uint32_t here = before[0];; here = nodes[here].next[0]) {
        const uint32_t next = nodes[here].next[0];
        const uint64_t until = next ? nodes[next].at : UINT64_MAX;
        if (nodes[here].owner.buffer != buffer) {
            *other_from = from > nodes[here].at ? from : nodes[here].at;
            *other_end = until < end ? until : end;
            *other = nodes[here].owner;
            return false;
        }
        if (until >= end) return true;
    }
}
