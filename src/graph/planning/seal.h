/* graph/planning/seal.h: holds a draft while it is checked and sealed. Private to the seal.
 *
 *     seal.c         fills omitted names and tables, and makes the checked graph
 *     check.c        the rules of ebb.graph/1, op by op
 *     check_bound.c  the rules for views and updates, whose bytes are not their own
 *     check_ways.c   the rules for alternatives
 *     faults.c       reports a broken rule: the place, and the numbers
 */
#ifndef EBB_GRAPH_PLANNING_SEAL_H
#define EBB_GRAPH_PLANNING_SEAL_H

#include "graph/planning/planning.h"

enum { EBB_BOUND_VIEW = 1, EBB_BOUND_UPDATE };

typedef struct ebb_sealer {
    ebb_env *env;
    const char *where;
    ebb_pvalue *values;
    ebb_pop *ops;
    uint32_t n_values, n_ops;
    ebb_id *root;         /* per value: the end of its chain of views, itself when it is none */
    ebb_id *updated_by;   /* per value: the op that replaces its bytes, or EBB_NONE */
    uint32_t *view_stamp; /* per root: op + 1 when the current op has a view of its bytes */
    uint8_t *bound;       /* per value: EBB_BOUND_VIEW or EBB_BOUND_UPDATE when its bytes are not its own */
    uint32_t *base_stamp; /* per input position: op + 1 when the current op has a view or update of it */
    int64_t bytes, time_ns;
} ebb_sealer;

static inline bool ebb_role_given(ebb_role role) {
    return role == EBB_ROLE_INPUT || ebb_role_persistent(role);
}

/* EBB_BAD_INPUT about an op, a value, or an id in a list of an op. */
EBB_PRINTF(3, 4) ebb_status ebb_seal_op_fault(const ebb_sealer *s, ebb_id op, const char *format, ...);
EBB_PRINTF(3, 4)
ebb_status ebb_seal_value_fault(const ebb_sealer *s, ebb_id value, const char *format, ...);
ebb_status ebb_seal_id_fault(const ebb_sealer *s, ebb_id op, const char *list, size_t i, ebb_id id,
                             const char *what, size_t n);

/* Checks every rule of ebb.graph/1 on the tables of s. scratch: for facts about values and ops so far. */
EBB_CHECKED ebb_status ebb_seal_check(ebb_sealer *s, ebb_arena *scratch, const ebb_pdraft *draft);
/* Checks a list of values that op reads, as listed or under an alternative. */
EBB_CHECKED ebb_status ebb_seal_check_reads(const ebb_sealer *s, ebb_id op, const char *list,
                                            const ebb_id *in, uint32_t n);
EBB_CHECKED ebb_status ebb_seal_check_in_place(const ebb_sealer *s, ebb_id op, const char *list,
                                               const ebb_pair *pairs, uint32_t n, uint32_t n_in);
EBB_CHECKED ebb_status ebb_seal_check_views(ebb_sealer *s, ebb_id op);
EBB_CHECKED ebb_status ebb_seal_check_updates(ebb_sealer *s, ebb_id op);
EBB_CHECKED ebb_status ebb_seal_check_ways(ebb_sealer *s, ebb_id op);

#endif
