/* graph/ops/norm.h: what bn_apply and the ops that are fused with it share, and second gradients of norms.
 */
#ifndef EBB_GRAPH_OPS_NORM_H
#define EBB_GRAPH_OPS_NORM_H

#include "graph/ops/rule.h"

enum { NORM_X, NORM_MEAN, NORM_VARIANCE, NORM_GAMMA, NORM_BETA, NORM_SKIP }; /* operands */

#define NORM_EPS EBB_REAL("eps", 1e-5, 1e-30, 1e30)

/* Is it true what `batch` claims, and do other statistics not depend on a param? Else it latches. */
bool ebb_norm_check(ebb_rewriter *rw, const ebb_node *node);
/* Emits bn_apply's gradients and gives them: dy is the gradient of what the node's statistics, gamma and
 * beta make of x. */
void ebb_norm_backward(ebb_rewriter *rw, const ebb_node *node, ebb_id dy);
/* To those of gamma and beta that want one. */
void ebb_norm_give_sums(ebb_rewriter *rw, const ebb_node *node, ebb_id dgamma, ebb_id dbeta);

/* For second gradients. Operand i of the node, in f32 where it is of 16 bits. */
ebb_id ebb_norm_operand(ebb_rewriter *rw, const ebb_node *node, uint32_t i);
/* 1 / sqrt(variance + eps), at each of its places. */
ebb_id ebb_norm_root(ebb_rewriter *rw, ebb_id variance, double eps);
/* To operand i, in its dtype. */
void ebb_norm_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);

/* norm_again.c: of bn_stats, where what reads its results is not bn_apply, and of bn_apply's gradients. */
void ebb_bn_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_bn_grad_sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_bn_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);

/* rows_again.c: the same of layer norm's and of group norm's. */
void ebb_ln_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_ln_grad_sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_ln_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_gn_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_gn_grad_sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_gn_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);

/* bn_act, bn_add and what belongs to them: their attributes, that one of relu and clip is said and not
 * both, and their flops for each element of x; the few for each channel are not counted. */
enum { NORM_ACT_ATTRS = 6 };
extern const ebb_attr_info ebb_norm_act_attrs[NORM_ACT_ATTRS];
EBB_CHECKED ebb_status ebb_norm_act_bind(ebb_env *env, const ebb_call *call, ebb_rule *rule);
#define NORM_ACT_DEFINE(op, each, ...) \
    EBB_DEFINE(op, EBB_LIST(attrs, ebb_norm_act_attrs), EBB_FLOPS(each), __VA_ARGS__)

#endif
