/* The body of a random function: what its acts share. */
#ifndef EBB_TESTS_TRACE_RANDOM_BODY_H
#define EBB_TESTS_TRACE_RANDOM_BODY_H

#include "trace/random_program.h"

typedef struct body {
    program *p;
    ebb_rng rng;
    uint32_t call;
    ebb_tensor *have[PROGRAM_MOST]; /* owned; f32 */
    uint32_t n;
    ebb_tape *tape;
} body;

/* Calls that must succeed. */
ebb_tensor *body_apply(program *p, const char *op, ebb_tensor *const *in, uint32_t n,
                       const ebb_build_attribute *attr, uint32_t n_attr);
static inline ebb_tensor *body_apply1(program *p, const char *op, ebb_tensor *x) {
    return body_apply(p, op, &x, 1, NULL, 0);
}
static inline ebb_tensor *body_apply2(program *p, const char *op, ebb_tensor *a, ebb_tensor *b) {
    return body_apply(p, op, (ebb_tensor *[]){a, b}, 2, NULL, 0);
}
ebb_tensor *body_mean(program *p, ebb_tensor *x);
ebb_tensor *body_number(program *p, double x);
ebb_tensor *body_made(program *p, const ebb_tensor_type *type, uint64_t stream);

static inline uint32_t body_draw(body *b, uint32_t n) {
    return ebb_rng_below(&b->rng, n);
}
static inline ebb_tensor *body_any(body *b) {
    return b->have[body_draw(b, b->n)];
}
void body_put(body *b, ebb_tensor *t);
/* One act, as drawn. */
void body_act(body *b);

#endif
