/* xla/hlo/module.h: holds the state of turning a plan's steps into one function. Private to the folder. */
#ifndef EBB_XLA_HLO_MODULE_H
#define EBB_XLA_HLO_MODULE_H

#include "xla/hlo/emit.h"

typedef struct hlo_module {
    ebb_arena *arena;
    hlo h;
    const ebb_graph *graph;
    const ebb_plan *plan;
    const ebb_hlo_options *options;
    bool ordered; /* by data dependences (order.c) */
    ebb_hlo_signature *signature;
    hlo_value *held; /* [n_buffers]: the current content of each buffer */
    uint32_t *run;   /* [n_buffers]: the number of the run of repeated steps that wrote it; 0: none */
    ebb_id *last;    /* [n_values]: the buffer written last */
    hlo_value keys, steps;
    uint32_t *key_of; /* [n_nodes] of random ops */
} hlo_module;

static inline const ebb_value *hlo_value_of(const hlo_module *m, ebb_id buffer) {
    return &m->graph->values[m->plan->buffers[buffer].value];
}

/* ---- order.c ---- */

/* Begins run `number` of repeated steps [first, end): its inputs from outside become available no sooner
 * than the newest gradient. */
EBB_CHECKED ebb_status hlo_order_run(hlo_module *m, uint32_t first, uint32_t end, uint32_t number);
/* For an update: makes its target in[i] available no sooner than the results computed from it in backward,
 * so that XLA needs no copy. */
void hlo_order_update(hlo_module *m, const ebb_plan_step *step, hlo_value *in);

#endif
