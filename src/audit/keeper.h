/* audit/keeper.h: who wrote each byte, step by step, and what each buffer's bytes must carry.
 * Private to the stage of bytes.
 *
 *     bytes.c       the stage: what is given, the steps in order, what must be left at the end
 *     bytes_step.c  one step
 *     keeper.c      its tables, the tokens, and who wrote somewhere as text
 */
#ifndef EBB_AUDIT_KEEPER_H
#define EBB_AUDIT_KEEPER_H

#include "audit/auditor.h"
#include "audit/map.h"

/* Who wrote under a token. */
typedef struct ebb_audit_write {
    uint32_t step;   /* EBB_NONE: given */
    ebb_id buffer;   /* EBB_NONE: scratch */
    uint32_t result; /* position among the step's writes */
} ebb_audit_write;

typedef struct ebb_audit_keeper {
    ebb_auditor *a;
    ebb_byte_map maps[2];    /* transient, persistent */
    ebb_audit_write *writes; /* [tokens]; 0 is nobody */
    uint32_t n_writes;
    uint32_t *token; /* per buffer: what its bytes must carry; 0: not written yet, or no bytes */
    uint32_t
        *over;    /* per output of the step in hand: position of the input that it lies over, or EBB_NONE */
    bool *listed; /* per output of the step in hand: that pair is one of the op's */
} ebb_audit_keeper;

static inline const ebb_buffer *ebb_keeper_buffer(const ebb_audit_keeper *k, ebb_id b) {
    return &k->a->plan->buffers[b];
}

/* Checks that scratch lies in the arena, and makes the tables. */
EBB_CHECKED ebb_status ebb_keeper_init(ebb_audit_keeper *k);
const char *ebb_keeper_region(bool persistent);
#define EBB_WHO_BYTES 224
/* "step 5 "conv" writes buffer 6 "y" there" into text. */
const char *ebb_keeper_who(const ebb_audit_keeper *k, uint32_t token, char text[EBB_WHO_BYTES]);
/* The newest token on a range of bytes. */
uint32_t ebb_keeper_newest(const ebb_audit_keeper *k, bool persistent, int64_t start, int64_t end);
/* Whether a buffer's bytes are what was written there; *who gets a token that is not its own. */
bool ebb_keeper_intact(const ebb_audit_keeper *k, ebb_id b, uint32_t *who);
/* A write under a token of its own, which it gives. */
uint32_t ebb_keeper_put(ebb_audit_keeper *k, bool persistent, int64_t offset, int64_t bytes,
                        ebb_audit_write w);

/* Reads, writes and scratch of step s. */
EBB_CHECKED ebb_status ebb_keeper_step(ebb_audit_keeper *k, uint32_t s);

#endif
