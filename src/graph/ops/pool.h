/* graph/ops/pool.h: what the files of pools share. */
#ifndef EBB_GRAPH_OPS_POOL_H
#define EBB_GRAPH_OPS_POOL_H

#include "graph/ops/rule.h"

/* pool_again.c: gradients of gradients. */
void ebb_max_pool_at_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
void ebb_max_pool_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);

#endif
