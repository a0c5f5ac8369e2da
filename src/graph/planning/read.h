/* graph/planning/read.h: declares what the files of the reader of ebb.graph/1 share. Private to the reader.
 *
 *     read.c       the graph and its values
 *     read_op.c    an op and its alternatives
 *     read_list.c  lists of ids, of pairs and of views
 *     read_members.c unknown members
 */
#ifndef EBB_GRAPH_PLANNING_READ_H
#define EBB_GRAPH_PLANNING_READ_H

#include "graph/planning/planning.h"

typedef struct ebb_pgraph_reader {
    ebb_env *env;
    const char *where;
    ebb_pdraft draft;
    size_t n_values, n_ops; /* what ids may name */
    char place[EBB_PLACE_BYTES];
    size_t n_unknown;                    /* members */
    char unknown[EBB_PLACE_BYTES + 160]; /* the first of them, as a line */
} ebb_pgraph_reader;

typedef enum ebb_members {
    EBB_MEMBERS_GRAPH,
    EBB_MEMBERS_VALUE,
    EBB_MEMBERS_OP,
    EBB_MEMBERS_ALTERNATIVE,
    EBB_N_MEMBERS
} ebb_members;
/* Records the unknown members of the object at the reader's place. */
void ebb_read_members(ebb_pgraph_reader *r, const ebb_json *object, ebb_members of);
void ebb_read_tell_unknown(const ebb_pgraph_reader *r); /* logs a warning if there are any */

/* EBB_BAD_INPUT: the member's value is not one of those wanted. */
ebb_status ebb_read_fault(const ebb_pgraph_reader *r, const char *key, const char *value,
                          const char *wanted);
/* Reads an optional text into the draft's arena; *out is unchanged when there is none. */
EBB_CHECKED ebb_status ebb_read_text(ebb_pgraph_reader *r, const ebb_json *object, const char *key,
                                     const char **out);
/* Sets the place for errors about element i of a top list; the name may be missing or no text. */
void ebb_read_enter(ebb_pgraph_reader *r, const char *list, size_t i, const ebb_json *object);
/* Ids are list indices: the member must be i. */
EBB_CHECKED ebb_status ebb_read_check_id(ebb_pgraph_reader *r, const ebb_json *object, size_t i);

/* The array in member key; absent is empty unless required. */
EBB_CHECKED ebb_status ebb_read_list(ebb_pgraph_reader *r, const ebb_json *object, const char *key,
                                     bool required, bool *present, const ebb_json **out, uint32_t *n);
/* A list of ids below n_ids. prefix: "" or "alternatives[2].", for error texts. present may be NULL. */
EBB_CHECKED ebb_status ebb_read_ids(ebb_pgraph_reader *r, const ebb_json *object, const char *prefix,
                                    const char *key, bool required, const char *what, size_t n_ids,
                                    bool *present, const ebb_id **out, uint32_t *n);
EBB_CHECKED ebb_status ebb_read_pairs(ebb_pgraph_reader *r, const ebb_json *object, const char *prefix,
                                      const char *key, bool *present, const ebb_pair **out, uint32_t *n);
EBB_CHECKED ebb_status ebb_read_views(ebb_pgraph_reader *r, const ebb_json *object, ebb_pop *op);

EBB_CHECKED ebb_status ebb_read_op(ebb_pgraph_reader *r, const ebb_json *json, size_t i);

#endif
