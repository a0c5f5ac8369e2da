/* audit/bound.h: what the re-check of the certificate shares. Private to the audit.
 *
 * docs/records/certificate-proof.md says what is checked and why that proves the bound. Nothing here is
 * shared with what makes certificates.
 */
#ifndef EBB_AUDIT_BOUND_H
#define EBB_AUDIT_BOUND_H

#include "audit/auditor.h"

/* More of them are refused, so that a hostile file cannot cost more than its size. */
#define EBB_BOUND_MOST_CUTS   16 /* that add up */
#define EBB_BOUND_MOST_CASES  16
#define EBB_BOUND_MOST_PIECES 32 /* of one value */

/* A stretch of a value's bytes, as the certificate lists it. */
typedef struct ebb_bound_piece {
    ebb_id value;
    int64_t start, end, n_units;
} ebb_bound_piece;

/* Op `reader` (n_ops: the end of the schedule) asks for so much of a piece. */
typedef struct ebb_bound_flow {
    ebb_id reader;
    uint32_t piece;
    int64_t amount;
} ebb_bound_flow;

/* A cut: the first run of op; or, with a `since`, any run of op between the first runs of since and until.
 */
typedef struct ebb_bound_cut {
    ebb_id op, since, until; /* EBB_NONE: the first run */
    uint32_t kept;           /* a piece that lies in memory then; EBB_NONE */
    ebb_id reader;           /* the op that reads it later, for the first time */
    int64_t price;
    const ebb_bound_flow *flow;
    size_t n_flow;
} ebb_bound_cut;

typedef struct ebb_bound_check {
    ebb_auditor *a;
    /* Of the graph. */
    ebb_id *root;    /* per value: the value whose bytes it lies in */
    int64_t *offset; /* per value: and from where */
    bool *must;      /* per op: runs in every schedule */
    int64_t *least_ns;
    int64_t once_ns; /* each op that must run, once, by its fastest way */
    int64_t budget_units;
    /* Of the certificate. */
    int64_t scale;
    ebb_bound_piece *pieces;
    uint32_t n_pieces;
    uint32_t *first_piece; /* [n_values + 1] */
    bool *lasts;           /* per piece: part of an output, so that it is read at the end */
    int64_t *charged;      /* per op: scaled time of running it again that the cuts counted so far */
    int64_t proved;        /* scaled */
    /* Cases proved so far: that op does not run between the first runs of since and until. */
    ebb_bound_cut cases[EBB_BOUND_MOST_CASES];
    size_t n_cases;
    /* Scratch. */
    uint32_t *n_ways_made; /* per op: ways that need what it makes, so far all */
    uint32_t *n_ways_seen; /* per piece: ways that read it, so far all */
    uint8_t *when;         /* per op: to the cut in hand */
    ebb_id next;           /* of the cut in hand: the op whose first run is not past */
    bool *held;            /* per piece */
    int64_t *asked;        /* per piece: what is asked of it */
    int64_t *carried;      /* per op: what is asked of the pieces that it makes */
    int64_t *passed;       /* per op: what it asks for when it runs again */
} ebb_bound_check;

/* The ops that have run before op does for the first time, whichever way it goes: mark[them] = value. */
void ebb_bound_mark_makers(ebb_bound_check *c, ebb_id op, uint8_t *mark, uint8_t value);
/* One cut: adds to `charged` and `proved`. *extra: with a `since`, op runs then and that run is not the one
 * that each op once counts. */
EBB_CHECKED ebb_status ebb_bound_check_cut(ebb_bound_check *c, const ebb_bound_cut *cut, bool *extra);
/* The cases and the cuts of the certificate; *proved is what they prove, scaled. Sets `scale`'s sums only.
 */
EBB_CHECKED ebb_status ebb_bound_check_cases(ebb_bound_check *c, const ebb_json *json, bool by_cases,
                                             int64_t *proved);

/* ---- the certificate's members ----------------------------------------------------------------- */

#define EBB_BOUND_WHERE "the certificate"

/* A list of groups of `of` numbers; *n groups. */
EBB_CHECKED ebb_status ebb_bound_list(const ebb_bound_check *c, const ebb_json *json, const char *key,
                                      size_t of, const ebb_json **out, size_t *n);

#endif
