/* graph/ops/norm.h: what bn_apply and the ops that are fused with it share. */
#ifndef EBB_GRAPH_OPS_NORM_H
#define EBB_GRAPH_OPS_NORM_H

#include "graph/ops/rule.h"

enum { NORM_X, NORM_MEAN, NORM_VARIANCE, NORM_GAMMA, NORM_BETA, NORM_SKIP }; /* operands */

#define NORM_EPS \
    { .name = "eps", .kind = EBB_ATTR_REAL, .count = 1, .fallback = 1e-5, .min = 1e-30, .max = 1e30 }
#define NORM_FLAG(field) \
    { .name = (field), .kind = EBB_ATTR_BOOL, .count = 1, .fallback = 0, .min = 0, .max = 1 }

/* Is it true what `batch` claims, and do other statistics not depend on a param? Else it latches. */
bool ebb_norm_check(ebb_rewriter *rw, const ebb_node *node);
/* Emits bn_apply's gradients and gives them: dy is the gradient of what the node's statistics, gamma and
 * beta make of x. */
void ebb_norm_backward(ebb_rewriter *rw, const ebb_node *node, ebb_id dy);
/* To those of gamma and beta that want one. */
void ebb_norm_give_sums(ebb_rewriter *rw, const ebb_node *node, ebb_id dgamma, ebb_id dbeta);

/* bn_act, bn_add and what belongs to them: their attributes, and whether at least `least` of relu and clip
 * are said and not both. */
enum { NORM_ACT_ATTRS = 6 };
extern const ebb_attr_info ebb_norm_act_attrs[NORM_ACT_ATTRS];
EBB_CHECKED ebb_status ebb_norm_act_check(ebb_env *env, const ebb_call *call, int least);
void ebb_norm_act_cost(const ebb_call *call, ebb_cost *cost);
void ebb_norm_act_grad_cost(const ebb_call *call, ebb_cost *cost);

#endif
