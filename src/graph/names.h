/* graph/names.h: names of values: which are legal, and a table from name to id. Private to the room. */
#ifndef EBB_GRAPH_NAMES_H
#define EBB_GRAPH_NAMES_H

#include "base/base.h"

/* Letters, digits, '_', '.', '-' and '/': what may stand in a name, wherever. */
bool ebb_name_char(char c);
bool ebb_name_valid(const char *name); /* at least one such byte, and no other */

/* FNV-1a: the same on every machine. It is also the default key of a SEEDED node's random numbers, made
 * from its first result's name, so that other edits of a model leave its masks alone. */
uint64_t ebb_name_hash(const char *name, size_t n);

/* Open addressing; names are borrowed and never removed. */
typedef struct ebb_name_slot {
    const char *name; /* NULL: empty */
    uint64_t hash;
    ebb_id id;
} ebb_name_slot;
typedef struct ebb_names {
    ebb_name_slot *slots;
    size_t n, cap; /* cap: a power of two, or 0 */
} ebb_names;

/* EBB_NONE when there is none. O(1). */
ebb_id ebb_names_find(const ebb_names *names, const char *name, size_t n);
/* The name must not be in the table. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_names_add(ebb_env *env, ebb_names *names, const char *name, ebb_id id);
void ebb_names_deinit(ebb_env *env, ebb_names *names);

#endif
