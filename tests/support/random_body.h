/* Random bodies of `fused` (graph/ops/fused.h), and operands of all that numbers can be: NaNs, infinities,
 * subnormal ones, zeros of both signs. The same seed: the same body on any machine. */
#ifndef EBB_TESTS_SUPPORT_RANDOM_BODY_H
#define EBB_TESTS_SUPPORT_RANDOM_BODY_H

#include "graph/op.h"

typedef struct random_body {
    ebb_call call; /* of fused; points into this struct */
    ebb_type in[EBB_FUSED_OPERANDS], out[EBB_FUSED_RESULTS];
    ebb_attr attr;
    char text[EBB_MAX_ATTR_TEXT + 1];
    ebb_fused_body body; /* as ebb_fused_read reads the text */
} random_body;

/* f64: now and then its reals are of f64, too. Fails the running test on any error. */
void random_body_draw(ebb_env *env, uint64_t seed, bool f64, random_body *out);
/* Operand i's elements, in storage order. */
void random_body_fill(const random_body *body, uint64_t seed, uint32_t i, void *at);

#endif
