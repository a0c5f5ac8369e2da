/* A backend whose kernels are programs of XLA, one op each: so that the tables of exec/conformance try what
 * xla/hlo makes of every op. */
#ifndef EBB_TESTS_XLA_BY_OP_H
#define EBB_TESTS_XLA_BY_OP_H

#include "exec/backend.h"

extern const ebb_backend_api by_op_api;

/* Is an op emitted at all? */
bool by_op_takes(const ebb_op_info *op);

/* What XLA would be given for a call; no plugin is asked. */
EBB_CHECKED ebb_status by_op_text(ebb_env *env, const ebb_call *call, ebb_text *text);

#endif
