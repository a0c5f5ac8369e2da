/* sublinear/space/space.h: defines the search space, flattened for speed.
 *
 * Ops run first in the graph's own order, the *base order*. A droppable value has a gene for each *gap*:
 * from its writing to its first base reader, between readers, and from the last one to the end (where it
 * may still be a source for recomputing others).
 *
 *     base order   w . . r . . . . . . r . .
 *     gaps         [ 0  )[     1      )[ 2 ...
 *
 *     KEEP     stays available through the gap
 *     HOLD     dropped at the gap's start; if recomputed inside the gap, stays until its end
 *     RELEASE  dropped at the gap's start; if recomputed inside the gap, dropped again right after that use
 *     LATE     RELEASE at first, HOLD from the gap's late position on (late.c); not of every gap
 *
 * A recomputation runs just before the op that needs it, and recomputes its own inputs, to any depth:
 * values held by KEEP are the checkpoints, values held by HOLD the checkpoints of a recomputed run, and so
 * on, so nesting needs no separate gene. Availability costs nothing: a life ends with its last actual read.
 * All KEEP = no recomputation.
 *
 * An op whose results are all dropped at once, in gap 0, *waits*: its base run would have no reader, so it
 * first runs where a result is needed. So genes also choose an order of ops in this respect: an op's
 * operands live longer, and its results shorter.
 *
 * Further genes: an optional op may be LAZY (run when first needed, or never); an op with alternatives
 * names one.
 *
 * A view follows its base: it is dropped with the base, and made again at no cost.
 */
#ifndef EBB_SUBLINEAR_SPACE_SPACE_H
#define EBB_SUBLINEAR_SPACE_SPACE_H

#include "base/base.h"
#include "graph/pgraph.h"

enum { EBB_KEEP, EBB_HOLD, EBB_RELEASE, EBB_LATE };

typedef enum ebb_gene_kind { EBB_GENE_GAP, EBB_GENE_LAZY, EBB_GENE_WAY } ebb_gene_kind;
typedef struct ebb_gene {
    ebb_gene_kind kind;
    uint8_t n_states;
    ebb_id subject;      /* GAP: value; else: op */
    uint32_t begin, end; /* GAP: base positions of the two readers; end = n_ops for the tail */
    int64_t bytes;       /* GAP: rounded bytes that dropping may free */
    uint32_t
        late; /* GAP: base position from which LATE holds a recomputed value; 0: it has no such state */
    uint8_t first_state; /* the state is in [first_state, n_states); pins remove states at either end */
} ebb_gene;

/* One way of one op, flattened. */
typedef struct ebb_space_way {
    uint32_t first_in, n_in;        /* into ins */
    uint32_t first_pair, n_pairs;   /* into pairs */
    int64_t time_ns, scratch_bytes; /* scratch rounded up */
} ebb_space_way;

typedef struct ebb_space_op {
    uint32_t first_way; /* way 0 = as listed, 1.. = alternatives */
    uint32_t n_ways;
    uint32_t first_out, n_out; /* into outs */
    uint32_t first_view, n_views, first_update, n_updates;
    uint32_t first_touched, n_touched; /* values with genes whose gap this op ends */
    uint32_t lazy_gene, way_gene;      /* EBB_NONE: none */
    bool recomputable;
    bool awaited;  /* an op names it in `after` */
    bool may_wait; /* its results have genes or no reader, and an op that always runs reads one of them
                    */
} ebb_space_op;

typedef struct ebb_space_value {
    int64_t bytes;      /* rounded; 0: persistent, a view of such a value, or empty */
    ebb_id producer;    /* EBB_NONE: given */
    uint32_t first_gap; /* gene of gap 0, or EBB_NONE: always KEEP */
    uint32_t n_gaps;
    uint32_t first_view, n_views; /* views of this value that follow it, into followers */
    ebb_id leader;                /* of a follower: the value with which it is dropped */
    bool output, follows; /* follows: a free view, dropped with its leader, or a view of an updated value */
} ebb_space_value;

typedef struct ebb_space {
    ebb_arena arena;
    const ebb_pgraph *graph;
    int64_t alignment;
    ebb_space_op *ops;
    uint32_t n_ops;
    ebb_space_value *values;
    uint32_t n_values;
    ebb_space_way *ways;
    ebb_id *ins, *outs, *followers, *touched, *givens;
    uint32_t *touched_genes; /* parallel to touched: the gene of the gap that begins there */
    uint32_t n_givens;
    ebb_pair *pairs, *updates;
    ebb_view *views;
    ebb_gene *genes;
    uint32_t n_genes;
    bool pinned;          /* some first_state is not 0 */
    uint8_t *base_genes;  /* no recomputation: all KEEP, ops as listed, without unread optional ops */
    int64_t base_time_ns; /* of the base candidate (all KEEP) */
    /* A candidate above these is invalid: 16 n_ops + 64 steps, and as many times all reads and results of
     * ops. */
    uint32_t step_limit, read_limit, life_limit;
} ebb_space;

/* The most for the sum of a graph's bytes, rounded up and with the scratch of every way; a candidate with
 * twice as many live at once is invalid. */
#define EBB_SPACE_MAX_BYTES (INT64_MAX / 4)
#define EBB_SPACE_MAX_LIVE  (INT64_MAX / 2)

/* Errors: EBB_NO_MEMORY, EBB_USAGE (alignment is not a power of two), EBB_BAD_INPUT
 * (EBB_SPACE_MAX_BYTES). */
EBB_CHECKED ebb_status ebb_space_create(ebb_env *env, const ebb_pgraph *graph, int64_t alignment,
                                        ebb_space **out);
void ebb_space_destroy(ebb_space *space);
/* Whether the op waits for a reader, without a base run. */
static inline bool ebb_space_waits(const ebb_space *space, const uint8_t *genes, ebb_id op) {
    const ebb_space_op *o = &space->ops[op];
    if (!o->may_wait) return false;
    for (uint32_t k = 0; k < o->n_out; k++) {
        uint32_t gene = space->values[space->outs[o->first_out + k]].first_gap;
        if (gene != EBB_NONE && genes[gene] == EBB_KEEP) return false;
    }
    return true;
}
/* Whether every way of the op reads the value, or a view that follows it; bytes: only a non-empty one
 * counts, because an empty one holds nothing. */
bool ebb_space_must_read(const ebb_space *space, ebb_id op, ebb_id value, bool bytes);
/* pins: per value, ebb_pin. KEEP: the op that makes the value has all its outputs kept, so that it runs
 * once. DROP: the longest gap between the last forward reader and the first backward one after it is not
 * for KEEP; of a value without both, the longest of all. A view that follows pins its leader. Pins of
 * values without genes are ignored. base_genes obey them too. If any value is pinned to be dropped, no op
 * waits. */
void ebb_space_pin(ebb_space *space, const uint8_t *pins);
/* The time that values pinned to be dropped add to every candidate: one more run, by its fastest way, of
 * each op whose pinned result is needed at its gap's end. */
int64_t ebb_space_pinned_ns(const ebb_space *space);
/* Moves genes into the states that the pins allow. */
void ebb_space_heed_pins(const ebb_space *space, uint8_t *genes);
/* The longest gap of a value between readers, ties to the earlier; EBB_NONE when none can be dropped. */
uint32_t ebb_space_longest_gap(const ebb_space *space, const ebb_space_value *value);

/* The nearest state that the gene has: LATE becomes RELEASE if a gap has no late part. */
static inline uint8_t ebb_gene_heed(const ebb_gene *gene, uint8_t state) {
    if (gene->kind == EBB_GENE_GAP && state >= gene->n_states) state = (uint8_t)(gene->n_states - 1);
    return state < gene->first_state ? gene->first_state : state;
}

/* The base position of the gene's op, or of the op that makes its value. */
uint32_t ebb_gene_position(const ebb_space *space, uint32_t gene);
/* The joints, ascending: base positions that at most one value crosses that forward ops have made and
 * forward ops still read. They are the articulation points of a chain of blocks. 0 is always one. In arena;
 * NULL when memory is out. O(edges). */
const uint32_t *ebb_space_joints(ebb_arena *arena, const ebb_space *space, uint32_t *n_joints);

#endif
