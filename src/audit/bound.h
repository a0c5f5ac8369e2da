/* audit/bound.h: checks the certificate again. Private to the audit.
 *
 * docs/records/certificate-proof.md explains what is checked and why that proves the bound. Nothing here is
 * shared with the code that makes certificates.
 */
#ifndef EBB_AUDIT_BOUND_H
#define EBB_AUDIT_BOUND_H

#include "audit/auditor.h"

/* Limits, so that a hostile file cannot cost more than its size. */
#define EBB_BOUND_MOST_CUTS   16 /* that add up */
#define EBB_BOUND_MOST_CASES  16
#define EBB_BOUND_MOST_PIECES 32 /* of one value */

/* A stretch of a value's bytes, as the certificate lists it. */
typedef struct ebb_bound_piece {
    ebb_id value;
    int64_t start, end, n_units;
} ebb_bound_piece;

/* The amount that op `reader` (n_ops: the end of the schedule) asks of a piece. */
typedef struct ebb_bound_flow {
    ebb_id reader;
    uint32_t piece;
    int64_t amount;
} ebb_bound_flow;

/* A cut: the first run of op; or, with a `since`, any run of op between the first runs of since and until.
 */
typedef struct ebb_bound_cut {
    ebb_id op, since, until; /* EBB_NONE: the first run */
    uint32_t kept;           /* a piece that is in memory then; EBB_NONE: none */
    ebb_id reader;           /* the op that reads it later, for the first time */
    int64_t price;
    const ebb_bound_flow *flow;
    size_t n_flow;
} ebb_bound_cut;

typedef struct ebb_bound_check {
    ebb_auditor *a;
    /* Of the graph. */
    ebb_id *root;    /* per value: the value whose bytes contain it */
    int64_t *offset; /* per value: its offset there */
    bool *must;      /* per op: runs in every schedule */
    int64_t *least_ns;
    int64_t once_ns; /* each op that must run, once, by its fastest alternative */
    int64_t budget_units;
    /* Of the certificate. */
    int64_t scale;
    ebb_bound_piece *pieces;
    uint32_t n_pieces;
    uint32_t *first_piece; /* [n_values + 1] */
    bool *lasts;           /* per piece: part of an output, so that it is read at the end */
    int64_t *charged;      /* per op: scaled time of running it again charged by the cuts so far */
    int64_t proved;        /* scaled */
    /* Cases proved so far: that op does not run between the first runs of since and until. */
    ebb_bound_cut cases[EBB_BOUND_MOST_CASES];
    size_t n_cases;
    /* Scratch. */
    uint32_t *n_ways_made; /* per op: alternatives that need its results, if all did so far */
    uint32_t *n_ways_seen; /* per piece: alternatives that read it, if all did so far */
    uint8_t *when;         /* per op: relative to the current cut */
    ebb_id next;           /* of the current cut: the op that has not had its first run */
    bool *held;            /* per piece */
    int64_t *asked;        /* per piece: the amount asked of it */
    int64_t *carried;      /* per op: the amount asked of the pieces that it makes */
    int64_t *passed;       /* per op: the amount that it asks for when it runs again */
} ebb_bound_check;

/* Sets mark[] to value for the ops that have run before the first run of op, whatever its alternatives. */
void ebb_bound_mark_makers(ebb_bound_check *c, ebb_id op, uint8_t *mark, uint8_t value);
/* Checks one cut and adds to `charged` and `proved`. *extra: with a `since`, op runs then and that run is
 * not the one that each op once counts. */
EBB_CHECKED ebb_status ebb_bound_check_cut(ebb_bound_check *c, const ebb_bound_cut *cut, bool *extra);
/* Checks the certificate's cases and cuts; *proved is the scaled time that they prove. Sets `scale`'s sums
 * only.
 */
EBB_CHECKED ebb_status ebb_bound_check_cases(ebb_bound_check *c, const ebb_json *json, bool by_cases,
                                             int64_t *proved);

/* ---- the certificate's members ----------------------------------------------------------------- */

#define EBB_BOUND_WHERE "the certificate"

/* Reads a list of *n groups of `of` numbers. */
EBB_CHECKED ebb_status ebb_bound_list(const ebb_bound_check *c, const ebb_json *json, const char *key,
                                      size_t of, const ebb_json **out, size_t *n);

#endif
