/* xla/hlo/module.h: a plan's steps as they become one function. Private to the folder. */
#ifndef EBB_XLA_HLO_MODULE_H
#define EBB_XLA_HLO_MODULE_H

#include "xla/hlo/emit.h"

typedef struct hlo_module {
    ebb_arena *arena;
    hlo h;
    const ebb_graph *graph;
    const ebb_plan *plan;
    const ebb_hlo_options *options;
    bool ordered; /* by data: what order.c does */
    ebb_hlo_signature *signature;
    hlo_value *held; /* [n_buffers]: what each buffer holds so far */
    uint32_t *run;   /* [n_buffers]: the number of the run of repeated steps that wrote it; 0: none */
    ebb_id *last;    /* [n_values]: the buffer that was written last */
    hlo_value keys, steps;
    uint32_t *key_of; /* [n_nodes] of random ops */
} hlo_module;

static inline const ebb_value *hlo_value_of(const hlo_module *m, ebb_id buffer) {
    return &m->graph->values[m->plan->buffers[buffer].value];
}

/* ---- order.c ---- */

/* The run [first, end) of repeated steps, of this number, begins: what it reads from outside is there no
 * sooner than the newest gradient. */
EBB_CHECKED ebb_status hlo_order_run(hlo_module *m, uint32_t first, uint32_t end, uint32_t number);
/* Of a step that updates: in[i], what it updates, is there no sooner than what was made of it in backward,
 * so that XLA needs no copy for that. */
void hlo_order_update(hlo_module *m, const ebb_plan_step *step, hlo_value *in);

#endif
