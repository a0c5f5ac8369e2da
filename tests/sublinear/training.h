/* Training steps in small, for the tests of the certificate. */
#ifndef EBB_TESTS_SUBLINEAR_TRAINING_H
#define EBB_TESTS_SUBLINEAR_TRAINING_H

#include "support.h"

/* A chain of three ops of 5 ns, the loss's gradient (1 ns), and back (3 x 2 ns), 10 bytes each:
 *
 *     x -> a -> b -> c -> d -> db (reads b, d) -> da (reads a) -> dx (reads x)
 *
 * gradients are written over gradients. Once: 22 ns. When d is written, c is read and 20 bytes are taken.
 */
typedef struct chain {
    sketch s;
    ebb_id x, a, b, c, d, db, da, dx;
} chain;

ebb_id chain_back(chain *h, ebb_id value, ebb_id gradient);
void chain_begin(chain *h, ebb_env *env); /* x and a; the traits of a may follow */
void chain_forward(chain *h);             /* b and c */
ebb_pgraph *chain_end(chain *h);          /* d to dx, which is an output */
ebb_pgraph *plain_chain(ebb_env *env);

/* A value k of 20 bytes that is read early and late; its op takes all of 50 bytes. The rest has 10 bytes. k
 * takes 1 ns, every other op 5 ns: 31 once.
 *
 *     x -> a -> k (reads a, x; 10 bytes of scratch) -> g -> h -> y (reads k, h) -> z (reads a) -> out
 * (reads x)
 *
 * While g or h waits, k cannot be made again, so it is kept when h is written, beside g, h and x. Then a is
 * made again.
 */
ebb_pgraph *wide_middle(ebb_env *env);
/* The like of it at random, where proofs by cases are common. */
ebb_pgraph *draw_wide(ebb_env *env, uint64_t seed);

/* A training step of n layers with a skip over every third, views and an update; 64 to 192 bytes a value.
 */
ebb_pgraph *layers(ebb_env *env, uint32_t n);

/* Residual blocks, forward and back: x -> m -> y = f(m, x) in each. Its inner value m and what it reads, x,
 * have a late part: back of a block reads m first, then x. Sizes, times, what may run again, and what else
 * back reads are random. */
ebb_pgraph *draw_residual(ebb_env *env, uint64_t seed, uint32_t n_blocks);

/* Two or three ops forward and back, of random sizes, with all that ops can be: few enough for least_time.
 */
ebb_pgraph *draw_training(ebb_env *env, uint64_t seed);

/* The text with the first `find` replaced. */
char *edited(ebb_arena *arena, const char *text, const char *find, const char *replace);

#endif
