/* exec/roofline.h: computes an op's time by the roofline model: the longer of its arithmetic and its memory
 * traffic, plus a fixed start (Williams, Waterman, Patterson: "Roofline", CACM 2009).
 *
 * Integers only, so that plans made from it are the same on every machine.
 */
#ifndef EBB_EXEC_ROOFLINE_H
#define EBB_EXEC_ROOFLINE_H

#include "graph/op.h"

typedef struct ebb_roofline {
    int64_t flops_per_us; /* >= 1 */
    int64_t bytes_per_us; /* >= 1 */
    int64_t start_ns;     /* >= 0: of every run of an op */
} ebb_roofline;

/* start + max(flops / rate, bytes / rate), rounded up; INT64_MAX if it does not fit. */
int64_t ebb_roofline_ns(const ebb_roofline *roofline, const ebb_cost *cost);
/* The same for a call. */
int64_t ebb_roofline_call_ns(const ebb_roofline *roofline, const ebb_call *call);

#endif
