/* xla: a planned step as one program of XLA: compiled and run by a plugin, on the plugin's own tensors.
 *
 *     pjrt/   a plugin: found, opened, asked to compile and to run
 *     hlo/    a graph and a plan as the text of StableHLO
 *
 * Our plan decides the order and what is computed again; XLA decides fusion, kernels and every offset, and
 * says how many bytes it takes. Nothing is promised about bits: sums have another order.
 *
 * It is not a backend of exec: those see calls, one after the other, and write where they are told. Whose
 * memory mode, options and errors a step has is the engine's.
 */
#ifndef EBB_XLA_XLA_H
#define EBB_XLA_XLA_H

#include "xla/hlo/hlo.h"
#include "xla/pjrt/pjrt.h"

typedef struct ebb_xla_program ebb_xla_program;

/* Emits and compiles. graph and plan are borrowed for the call. EBB_UNAVAILABLE: an op that has no form;
 * the plugin's errors. */
EBB_CHECKED ebb_status ebb_xla_program_create(ebb_env *env, ebb_pjrt *plugin, const ebb_graph *graph,
                                              const ebb_plan *plan, const ebb_hlo_options *options,
                                              ebb_xla_program **out);
void ebb_xla_program_destroy(ebb_xla_program *program); /* NULL is allowed */
const ebb_pjrt_memory *ebb_xla_program_memory(const ebb_xla_program *program);

/* A value's tensor of data in the order of our bytes. Replaces *tensor, which is destroyed if it was one.
 */
EBB_CHECKED ebb_status ebb_xla_tensor_write(ebb_pjrt *plugin, const ebb_type *type, const void *data,
                                            ebb_pjrt_buffer **tensor);

/* One step. tensors[v]: of every given value that the plan has; afterwards params and states are the next
 * ones, and outputs are there, in place of what was there before. *spent: params and states may have been
 * donated to a step that then failed: their tensors are NULL. */
EBB_CHECKED ebb_status ebb_xla_program_run(ebb_xla_program *program, ebb_pjrt_buffer **tensors,
                                           uint64_t seed, uint64_t step, bool *spent);

#endif
