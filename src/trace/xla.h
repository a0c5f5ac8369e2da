/* trace/xla.h: programs of a trace that XLA runs (the option xla). Private to the room.
 *
 * Parameters and everything else stay data of the eager's, in its pool: a run copies what it reads to
 * tensors of the plugin's, which live as long as the run, and reads back what is updated or wanted. So
 * eager ops, other traces and files see nothing of XLA.
 *
 * All traces of an eager share one client of one plugin: a client has threads. */
#ifndef EBB_TRACE_XLA_H
#define EBB_TRACE_XLA_H

#include "trace/trace.h"

/* Opens the plugin, or finds it open. EBB_UNAVAILABLE: none is here, or another one was opened before;
 * EBB_USAGE: options, or a device, that XLA cannot serve. */
EBB_CHECKED ebb_status ebb_trace_xla_open(ebb_trace *trace);
/* A call of which no program can be made, and which our kernels would run op by op: EBB_USAGE. */
EBB_CHECKED ebb_status ebb_trace_xla_refuse(ebb_trace *trace, const char *why);
/* In place of an exec. EBB_UNAVAILABLE: an op without a form for XLA. */
EBB_CHECKED ebb_status ebb_traced_xla_make(ebb_trace *trace, ebb_traced_program *p);
/* A run on the call's data: what is updated goes to updated[i] of params[i], outputs to blocks[i] where
 * there is one. *touched: blocks that are data were partly written when it failed. */
EBB_CHECKED ebb_status ebb_traced_xla_run(ebb_trace *trace, const ebb_traced_program *p,
                                          ebb_pool_block *const *updated, ebb_pool_block *const *blocks,
                                          bool *touched);

#endif
