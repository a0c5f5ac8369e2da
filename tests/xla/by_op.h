/* A backend whose kernels are programs of XLA, one op each: so that the tables of exec/conformance try what
 * xla/hlo makes of every op. */
#ifndef EBB_TESTS_XLA_BY_OP_H
#define EBB_TESTS_XLA_BY_OP_H

#include "exec/backend.h"

extern const ebb_backend_api by_op_api;

/* Is an op emitted at all? */
bool by_op_takes(const ebb_op_info *op);

/* XLA compiles a program of many ops in a third of the time that it takes for as many programs. From
 * collect on, each call that is prepared becomes a node of one program; its launch takes the operands and
 * leaves the results as they are. run compiles and runs that program. The same calls, prepared and launched
 * again in the same order, then get its results. forget ends this, from anywhere. Without it a call is
 * compiled and run by itself. At most BY_OP_CALLS calls. */
enum { BY_OP_CALLS = 1024 };
EBB_CHECKED ebb_status by_op_collect(ebb_backend *backend);
EBB_CHECKED ebb_status by_op_run(ebb_backend *backend);
void by_op_forget(ebb_backend *backend);

/* What XLA would be given for a call; no plugin is asked. */
EBB_CHECKED ebb_status by_op_text(ebb_env *env, const ebb_call *call, ebb_text *text);

#endif
