/* eager/tape.h: defines the contents of a tape, for saves.c and the room trace. */
#ifndef EBB_EAGER_TAPE_H
#define EBB_EAGER_TAPE_H

#include "eager/eager.h"

typedef struct ebb_taped { /* an op that ran */
    const ebb_op_info *op;
    const ebb_attr *attr;
    uint32_t in, n_in; /* operands[in, in + n_in): values */
    ebb_id out;        /* its first result; the others follow */
    uint64_t draw;     /* of SEEDED ops, counted from the tape's beginning */
} ebb_taped;

typedef struct ebb_taped_value {
    ebb_type type;
    ebb_id maker;     /* node, or EBB_NONE */
    uint64_t serial;  /* the datum's */
    ebb_datum *datum; /* held if a gradient may read it, else NULL */
} ebb_taped_value;

struct ebb_tape {
    ebb_eager *eager;
    ebb_tape *older;
    uint64_t draws; /* before it began */
    uint64_t seed;  /* the seed of the draws that it has seen, if any */
    bool drew, reseeded, paused;
    ebb_arena arena; /* owns the attributes */
    EBB_ARRAY(ebb_taped) nodes;
    EBB_ARRAY(ebb_id) operands;
    EBB_ARRAY(ebb_taped_value) values;
    /* From serial to value; open addressing, cap a power of two or 0. */
    struct ebb_tape_slot {
        uint64_t serial; /* 0: empty */
        ebb_id value;
    } * slots;
    size_t n_slots, cap;
};

/* EBB_NONE: the tape has not seen it. O(1). */
ebb_id ebb_tape_find(const ebb_tape *tape, uint64_t serial);
/* *seed: the seed of the recorded draws; unchanged if there are none. EBB_USAGE: they have two seeds. */
EBB_CHECKED ebb_status ebb_tape_seed(const ebb_tape *tape, uint64_t *seed);
/* ebb_play for nodes that follow from the tape: not recorded by it, and repeating its ops' draws. */
EBB_CHECKED ebb_status ebb_tape_play(ebb_tape *tape, const ebb_graph *graph, uint32_t first,
                                     ebb_datum **values, const bool *kept);
/* Fills the call's saves: bits of the values that its gradient reads; all if this cannot be determined. */
void ebb_saves_find(const ebb_tape *tape, const ebb_taped *node, ebb_known_call *call);

/* EBB_USAGE: a tensor is missing, or it or a given gradient belongs to another eager. */
EBB_CHECKED ebb_status ebb_tape_ends_check(const ebb_tape *tape, ebb_tensor *const *ys,
                                           ebb_tensor *const *dys, uint32_t n_y, ebb_tensor *const *of,
                                           uint32_t n_of);

#endif
