/* audit/keeper.h: tracks the writer of each byte, step by step, and the token that each buffer's bytes must
 * have. Private to the bytes stage.
 *
 *     bytes.c       the stage: given values, the steps in order, the values needed at the end
 *     bytes_step.c  one step
 *     keeper.c      its tables, the tokens, and the writer of a range as text
 */
#ifndef EBB_AUDIT_KEEPER_H
#define EBB_AUDIT_KEEPER_H

#include "audit/auditor.h"
#include "audit/map.h"

/* The write that a token stands for. */
typedef struct ebb_audit_write {
    uint32_t step;   /* EBB_NONE: given */
    ebb_id buffer;   /* EBB_NONE: scratch */
    uint32_t result; /* position among the step's writes */
} ebb_audit_write;

typedef struct ebb_audit_keeper {
    ebb_auditor *a;
    ebb_byte_map maps[2];    /* transient, persistent */
    ebb_audit_write *writes; /* [tokens]; 0 is no write */
    uint32_t n_writes;
    uint32_t *token; /* per buffer: the token of its bytes; 0: not written yet, or no bytes */
    uint32_t *over;  /* per output of the current step: position of the input that it overwrites, or
                      * EBB_NONE */
    bool *listed;    /* per output of the current step: whether that pair is one of the op's */
} ebb_audit_keeper;

static inline const ebb_buffer *ebb_keeper_buffer(const ebb_audit_keeper *k, ebb_id b) {
    return &k->a->plan->buffers[b];
}

/* Checks that scratch is inside the arena, and makes the tables. */
EBB_CHECKED ebb_status ebb_keeper_init(ebb_audit_keeper *k);
const char *ebb_keeper_region(bool persistent);
#define EBB_WHO_BYTES 224
/* Writes "step 5 "conv" writes buffer 6 "y" there" into text. */
const char *ebb_keeper_who(const ebb_audit_keeper *k, uint32_t token, char text[EBB_WHO_BYTES]);
/* The newest token on a range of bytes. */
uint32_t ebb_keeper_newest(const ebb_audit_keeper *k, bool persistent, int64_t start, int64_t end);
/* Whether a buffer's bytes are as written; if not, *who gets a token that is not its own. */
bool ebb_keeper_intact(const ebb_audit_keeper *k, ebb_id b, uint32_t *who);
/* Records a write under a new token, and returns it. */
uint32_t ebb_keeper_put(ebb_audit_keeper *k, bool persistent, int64_t offset, int64_t bytes,
                        ebb_audit_write w);

/* Checks the reads, writes and scratch of step s. */
EBB_CHECKED ebb_status ebb_keeper_step(ebb_audit_keeper *k, uint32_t s);

#endif
