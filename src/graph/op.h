/* graph/op.h: declares the ops for code that runs them or builds graphs: what an op is (op_info.h), and the
 * list of ops (ops/ops.h).
 *
 * To add an op: one line in ops.def, its facts in graph/ops/<file>.c (ops/rule.h says how), a kernel per
 * backend in exec/<backend>/<file>.c, its rows in exec/conformance. A listed op that lacks one of these is
 * a link error. */
#ifndef EBB_GRAPH_OP_H
#define EBB_GRAPH_OP_H

#include "graph/op_info.h"
#include "graph/ops/ops.h"

/* "conv2d f32[16,64,56,56] f32[64,64,3,3] pad=1 : f32[16,64,56,56]": equal calls print equally, different
 * ones differently. Attributes at their defaults are left out. */
void ebb_call_print(ebb_text *text, const ebb_call *call);

#endif
