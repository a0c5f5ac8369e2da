/* exec/draws.h: defines the numbers that uniform and normal draw on every backend, from (seed, the node's
 * seed_key, step, logical index of the element), with the words of exec/dropout.h, four elements per block.
 *
 *     uniform   the first 24 bits of a word, as a fraction of 1: exact in a float, and never 1
 *     normal    Box and Muller's two numbers from two words (Annals of Mathematical Statistics 29, 1958)
 *
 * Device code uses this header too. */
#ifndef EBB_EXEC_DRAWS_H
#define EBB_EXEC_DRAWS_H

#include "exec/dropout.h"

#define EBB_DRAWS_UNIT (1.0 / 16777216)
#define EBB_DRAWS_TURN (6.283185307179586 / 16777216)

/* In [0, 1). */
EBB_ANYWHERE double ebb_draw_unit(uint32_t word) {
    return (double)(word >> 8) * EBB_DRAWS_UNIT;
}

/* For element i % 4 of a block: the logarithm's operand, in (0, 1], and the angle. Even elements take the
 * cosine, odd ones the sine. */
EBB_ANYWHERE double ebb_draw_radius(ebb_u32x4 words, uint32_t i) {
    return (double)((words.v[i & 2] >> 8) + 1) * EBB_DRAWS_UNIT;
}
EBB_ANYWHERE double ebb_draw_angle(ebb_u32x4 words, uint32_t i) {
    return (double)(words.v[(i & 2) + 1] >> 8) * EBB_DRAWS_TURN;
}

#endif
