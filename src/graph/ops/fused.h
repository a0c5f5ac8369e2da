/* graph/ops/fused.h: `fused`, an op whose attribute says what it computes: pointwise ops of ops.def, one
 * step after the other, at each place of its results by itself. Comes with ops/ops.h.
 *
 *     %y, %m = fused %x, %b, %s body="bias(i0,i1);gelu(t0);mul(t1,i2);less(t2,i2)->t2,t3"
 *
 *     i0 ...            operands
 *     t0 ...            what steps give, in their order
 *     op(a,b,key=1.5)   a step; attributes are reals and dtypes, those not said have their defaults. A
 * `fill` is one number at every place.
 *     ->t2,t3           results: different steps, no fills
 *     ->t2,sum(t2)      and, behind all of these, of a result of f32 or f64 its sums over all but channels:
 *                       what bias_grad gives of it
 *
 * Every step has the shape of the results, all of which have one. A step's operands are broadcast as its op
 * says: a bias lies along the channels, all else as in NumPy. One operand lies in one way.
 *
 * What it gives has the bits of its steps' ops run one by one: each step is rounded to its dtype as if it
 * were stored (docs/decisions/0047). Nothing here is of u8.
 */
#ifndef EBB_GRAPH_OPS_FUSED_H
#define EBB_GRAPH_OPS_FUSED_H

#include "graph/op_info.h"
#include "graph/walk.h"

enum {
    EBB_FUSED_OPERANDS = 10,
    EBB_FUSED_RESULTS = 3,
    EBB_FUSED_STEPS = 32,
    EBB_FUSED_ARGS = 3, /* of a step */
    EBB_FUSED_ATTRS = 3
};
enum { EBB_FUSED_BODY }; /* fused's attribute */

/* An operand of a step: the op's, or what an earlier step gives. */
typedef struct ebb_fused_arg {
    bool is_step;
    uint32_t at;
} ebb_fused_arg;

typedef struct ebb_fused_step {
    const ebb_op_info *op;
    uint32_t n_arg;
    ebb_fused_arg arg[EBB_FUSED_ARGS];
    ebb_attr attr[EBB_FUSED_ATTRS];
    ebb_type type; /* of what it gives */
} ebb_fused_step;

typedef struct ebb_fused_body {
    uint32_t n_steps, n_out, n_sums;
    ebb_fused_step step[EBB_FUSED_STEPS];
    uint32_t out[EBB_FUSED_RESULTS]; /* steps */
    uint32_t sum[EBB_FUSED_RESULTS]; /* steps; the call's results are n_out, then n_sums */
    uint32_t by_channel;             /* operands that lie along the channels, a bit for each */
} ebb_fused_body;

/* The body of a call (op, operands' types, attributes; its results are not read) with its steps' types.
 * EBB_BAD_INPUT: it is no body, or not one of these operands (byte of the body, what is wrong). */
EBB_CHECKED ebb_status ebb_fused_read(ebb_env *env, const ebb_call *call, ebb_fused_body *out);
/* As ebb_fused_read takes it: the attributes that have their default are left out. */
void ebb_fused_print(ebb_text *text, const ebb_fused_body *body);
/* The call that step k is, of its operands' types as they are; the tables are the body's and in's. */
ebb_call ebb_fused_call(const ebb_call *call, const ebb_fused_body *body, uint32_t k,
                        ebb_type in[EBB_FUSED_ARGS]);
/* The bias_grad that sum s is; *in is its operand's type. */
ebb_call ebb_fused_sum(const ebb_fused_body *body, uint32_t s, ebb_type *in);
/* Over the results' elements; operand 0 of the walk: operand i. */
void ebb_fused_walk(const ebb_call *call, const ebb_fused_body *body, uint32_t i, ebb_walk *walk);
/* How an operand finds its elements. */
typedef enum ebb_fused_load {
    EBB_FUSED_FULL,  /* element by element, in the order of their bytes */
    EBB_FUSED_ONE,   /* the same one at every place */
    EBB_FUSED_SPREAD /* by ebb_fused_walk: per channel, per row, ... */
} ebb_fused_load;
ebb_fused_load ebb_fused_load_of(const ebb_call *call, const ebb_fused_body *body, uint32_t i);

#endif
