/* exec/conformance.h: every kernel of a backend, tried on the tables of exec/conformance, without a test
 * framework: it agrees with the reference, and gives the same bits at any address, in place, with any
 * number of threads and replayed. tests/conformance runs the same tables and checks.
 */
#ifndef EBB_EXEC_CONFORMANCE_H
#define EBB_EXEC_CONFORMANCE_H

#include "ebb/check.h"
#include "exec/backend.h"
#include "graph/op.h"

typedef void ebb_conformance_hook(void *ctx, const ebb_conformance_row *row);

/* Tells of one op after the other: of all, or where n_names is not 0 of those of names[]. A call that does
 * not hold is counted and the rest still tried; EBB_OK then, too. EBB_USAGE: the backend computes nothing,
 * or a name is of no op with a kernel. EBB_DEVICE, EBB_UNAVAILABLE: it cannot go on, after
 * the op that was told of last. EBB_NO_MEMORY; EBB_INTERRUPTED. product_tolerance: of convolutions and
 * matrix products where it is larger than their table's. Memory: a few times the largest case, below 64
 * MiB. */
EBB_CHECKED ebb_status ebb_conformance_run(ebb_backend *backend, double product_tolerance,
                                           const char *const *names, uint32_t n_names,
                                           ebb_conformance_hook *on_row, void *ctx);

/* Element i of a tensor as double, in storage order. */
double ebb_element_get(const ebb_type *type, const void *at, int64_t i);

/* What its table allows: largest difference as a part of the largest magnitude of a result. 0: the same
 * bits. */
double ebb_conformance_tolerance(const ebb_op_info *op, double product_tolerance);

#endif
