/* graph/build.h: the inside of a builder. Private to the room. */
#ifndef EBB_GRAPH_BUILD_H
#define EBB_GRAPH_BUILD_H

#include "graph/attr.h"
#include "graph/names.h"

#define EBB_MAX_VALUES INT32_MAX

typedef struct ebb_draft_value {
    ebb_value value;  /* name NULL: made at the seal */
    const char *stem; /* a made name begins with it; NULL: with the op's name */
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
    EBB_ARRAY(ebb_draft_value *) values; /* in scratch, so that pointers to types stay good */
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
/* A made name begins with this. The stem is borrowed until the seal. */
void ebb_builder_stem(ebb_builder *builder, ebb_id value, const char *stem);

/* For build_node.c. */
/* Latches what a callee has just put into the env, naming the value that was to be made (NULL: none). */
void ebb_builder_latch(ebb_builder *builder, ebb_status status, const char *name);
bool ebb_builder_known(const ebb_builder *builder, ebb_id value);
/* A given name must be legal and free; NULL is. false: latched. */
bool ebb_builder_name_check(ebb_builder *builder, const char *name);
/* Adds a value under a name that was checked. EBB_NONE: latched. */
ebb_id ebb_builder_push(ebb_builder *builder, const char *name, const ebb_value *value);

/* The input that result i updates, or EBB_NONE. */
uint32_t ebb_result_target(const ebb_op_info *op, uint32_t result);

#endif
