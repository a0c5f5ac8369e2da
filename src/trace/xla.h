/* trace/xla.h: runs programs of a trace by XLA (the option xla). Private to the room.
 *
 * Parameters and all other values stay in the eager's pool: a run copies its inputs to the plugin's
 * tensors, which live only for the run, and copies updated and needed values back. So eager ops, other
 * traces and files are not affected by XLA.
 *
 * All traces of an eager share one client of one plugin, because a client has threads. */
#ifndef EBB_TRACE_XLA_H
#define EBB_TRACE_XLA_H

#include "trace/trace.h"

/* Opens the plugin unless it is open. EBB_UNAVAILABLE: there is none, or another one is open; EBB_USAGE:
 * XLA does not support the options or the device. */
EBB_CHECKED ebb_status ebb_trace_xla_open(ebb_trace *trace);
/* Fails with EBB_USAGE for a call that cannot become a program, and that our kernels would run op by op. */
EBB_CHECKED ebb_status ebb_trace_xla_refuse(ebb_trace *trace, const char *why);
/* Compiles a program, in place of making an exec. EBB_UNAVAILABLE: an op has no form for XLA. */
EBB_CHECKED ebb_status ebb_traced_xla_make(ebb_trace *trace, ebb_traced_program *p);
/* Runs a program on the call's data: the update of params[i] goes to updated[i], output i to blocks[i] if
 * it is set. *touched: whether it had written to blocks of data when it failed. */
EBB_CHECKED ebb_status ebb_traced_xla_run(ebb_trace *trace, const ebb_traced_program *p,
                                          ebb_pool_block *const *updated, ebb_pool_block *const *blocks,
                                          bool *touched);

#endif
