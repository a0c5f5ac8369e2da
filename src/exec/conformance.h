/* exec/conformance.h: tests every kernel of a backend on the tables of exec/conformance, without a test
 * framework: that it agrees with the reference, and gives the same bits at any address, in place, with any
 * number of threads and replayed. tests/conformance runs the same tables and checks.
 */
#ifndef EBB_EXEC_CONFORMANCE_H
#define EBB_EXEC_CONFORMANCE_H

#include "ebb/check.h"
#include "exec/backend.h"
#include "graph/op.h"

typedef void ebb_conformance_hook(void *ctx, const ebb_conformance_row *row);

/* Calls on_row for each op: for all, or for those in names[] if n_names is not 0. A call that fails is
 * counted and the rest still tried, with EBB_OK. EBB_USAGE: the backend computes nothing, or no op with a
 * kernel has a given name. EBB_DEVICE, EBB_UNAVAILABLE: it cannot continue after the last reported op.
 * EBB_NO_MEMORY; EBB_INTERRUPTED. product_tolerance: replaces that of convolutions and matrix products if
 * it is larger. Memory: a few times the largest case, below 64 MiB. */
EBB_CHECKED ebb_status ebb_conformance_run(ebb_backend *backend, double product_tolerance,
                                           const char *const *names, uint32_t n_names,
                                           ebb_conformance_hook *on_row, void *ctx);

/* Element i of a tensor as double, in storage order. */
double ebb_element_get(const ebb_type *type, const void *at, int64_t i);

/* The tolerance in the op's table: the largest difference relative to a result's largest magnitude. 0: the
 * same bits. */
double ebb_conformance_tolerance(const ebb_op_info *op, double product_tolerance);

#endif
