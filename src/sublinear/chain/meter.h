/* sublinear/chain/meter.h: measures the orders and the options of a chain's blocks. */
#ifndef EBB_SUBLINEAR_CHAIN_METER_H
#define EBB_SUBLINEAR_CHAIN_METER_H

#include "sublinear/chain/chain.h"

typedef struct ebb_chain_ranked {
    ebb_id value;
    double worth;
} ebb_chain_ranked;

struct ebb_chain_meter {
    ebb_search *search;
    ebb_chain *chain;
    uint8_t *genes, *read;  /* read: per value, whether a step after the turn reads it */
    ebb_chain_ranked *list; /* [n_values] */
    ebb_chain_figures base[EBB_CHAIN_BLOCKS], now[EBB_CHAIN_BLOCKS]; /* without recomputation; under the
                                                                      * genes */
};

/* Measures all blocks under meter->genes, into now; time_ns: of all their steps. false: not valid, or the
 * search must end. */
bool ebb_chain_measure(ebb_chain_meter *meter);

#endif
