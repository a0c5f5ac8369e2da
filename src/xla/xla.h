/* xla: compiles and runs a planned step as one XLA program, by a plugin, on the plugin's own tensors.
 *
 *     pjrt/   finds and opens a plugin, compiles and runs with it
 *     hlo/    turns a graph and a plan into StableHLO text
 *
 * Our plan decides the order and the recomputation; XLA decides fusion, kernels and every offset, and
 * reports how many bytes it takes. Bits are not the same, because sums have another order.
 *
 * It is not a backend of exec, which gets calls one after the other and writes to given addresses. The
 * engine handles a step's memory mode, options and errors.
 */
#ifndef EBB_XLA_XLA_H
#define EBB_XLA_XLA_H

#include "xla/hlo/hlo.h"
#include "xla/pjrt/pjrt.h"

typedef struct ebb_xla_program ebb_xla_program;

/* Emits and compiles a program. graph and plan are borrowed for the call. EBB_UNAVAILABLE: an op has no
 * form; the plugin's errors. */
EBB_CHECKED ebb_status ebb_xla_program_create(ebb_env *env, ebb_pjrt *plugin, const ebb_graph *graph,
                                              const ebb_plan *plan, const ebb_hlo_options *options,
                                              ebb_xla_program **out);
void ebb_xla_program_destroy(ebb_xla_program *program); /* NULL is allowed */
const ebb_pjrt_memory *ebb_xla_program_memory(const ebb_xla_program *program);

/* Makes a value's tensor from data in our storage order. Replaces *tensor, destroying an old one.
 */
EBB_CHECKED ebb_status ebb_xla_tensor_write(ebb_pjrt *plugin, const ebb_type *type, const void *data,
                                            ebb_pjrt_buffer **tensor);

/* Runs one step. tensors[v]: the tensor of every given value in the plan; afterwards params and states have
 * their next values, and outputs replace what was there. *spent: params and states were donated to a step
 * that then failed; their tensors are NULL. */
EBB_CHECKED ebb_status ebb_xla_program_run(ebb_xla_program *program, ebb_pjrt_buffer **tensors,
                                           uint64_t seed, uint64_t step, bool *spent);

#endif
