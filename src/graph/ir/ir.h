/* graph/ir/ir.h: declares the graph's internals that the room's folders share: names, numbers as text,
 * attributes by their schema, and the builder's draft. Private to the room: others include graph.h and
 * op.h. */
#ifndef EBB_GRAPH_IR_IR_H
#define EBB_GRAPH_IR_IR_H

#include "graph/op_info.h"

/* ---- names of values: their syntax, and a table from name to id -------------------------------- */

/* Whether c may be in a name: a letter, a digit, '_', '.', '-' or '/'. */
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

/* ---- attributes by their schema -------------------------------------------------------------------- */

/* The length of the list in a: up to the first 0 for a list of any length. */
uint32_t ebb_attr_length(const ebb_attr_info *info, const ebb_attr *a);
ebb_attr ebb_attr_default(const ebb_attr_info *info);
/* a with all bytes that the schema does not use zeroed, so that equal attributes have equal bytes. */
ebb_attr ebb_attr_clean(const ebb_attr_info *info, const ebb_attr *a);
bool ebb_attr_equal(const ebb_attr_info *info, const ebb_attr *a, const ebb_attr *b);
/* EBB_BAD_INPUT with the attribute, the value and its range. */
EBB_CHECKED ebb_status ebb_attr_check(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info,
                                      const ebb_attr *a);

/* ---- internals of a builder ------------------------------------------------------------------------ */

#define EBB_MAX_VALUES INT32_MAX

typedef struct ebb_draft_value {
    ebb_value value;  /* name NULL: generated at the seal */
    const char *stem; /* a generated name begins with it; NULL: with the op's name */
    ebb_id root;      /* the value whose bytes these are: itself unless a view */
    ebb_id updater;   /* node that replaced these bytes, or EBB_NONE; of roots */
} ebb_draft_value;

struct ebb_builder {
    ebb_env *env;
    ebb_status status; /* latched, with its text */
    char error[1024];
    ebb_arena arena;   /* becomes the graph's */
    ebb_arena scratch; /* ends with the builder */
    const char *name;
    EBB_ARRAY(ebb_draft_value *) values; /* in scratch, so that pointers to types stay valid */
    EBB_ARRAY(ebb_node) nodes;
    ebb_names names;
    ebb_id loss;
};

/* The value of that name, or EBB_NONE. O(1). */
ebb_id ebb_builder_find(const ebb_builder *builder, const char *name, size_t n);
/* Values so far: the next one's id. */
ebb_id ebb_builder_count(const ebb_builder *builder);
bool ebb_builder_named(const ebb_builder *builder, ebb_id value);
/* Names a value that has no name yet. false, and nothing happens, when it has one or the name is taken;
 * also on a latched error. */
bool ebb_builder_rename(ebb_builder *builder, ebb_id value, const char *name);
/* Makes the value's generated name begin with stem, which is borrowed until the seal. */
void ebb_builder_stem(ebb_builder *builder, ebb_id value, const char *stem);

/* For builder_node.c. */
/* Latches the error that a callee has just put into the env, naming the value that was being made (NULL:
 * none). */
void ebb_builder_latch(ebb_builder *builder, ebb_status status, const char *name);
bool ebb_builder_known(const ebb_builder *builder, ebb_id value);
/* Checks that a given name is legal and free; NULL is allowed. false: latched. */
bool ebb_builder_name_check(ebb_builder *builder, const char *name);
/* Adds a value under a name that was checked. EBB_NONE: latched. */
ebb_id ebb_builder_push(ebb_builder *builder, const char *name, const ebb_value *value);

/* The input that result i updates, or EBB_NONE. */
uint32_t ebb_result_target(const ebb_op_info *op, uint32_t result);

#endif
