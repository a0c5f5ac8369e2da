/* graph/planning/planning.h: declares what the seal and the reader of planning graphs share. Private to the
 * folder.
 */
#ifndef EBB_GRAPH_PLANNING_PLANNING_H
#define EBB_GRAPH_PLANNING_PLANNING_H

#include "graph/pgraph.h"

/* Writes `g.json: ops[12] "conv5"` into place. */
#define EBB_PLACE_BYTES 320
void ebb_pgraph_place(char place[EBB_PLACE_BYTES], const char *where, const char *list, size_t i,
                      const char *name);
/* EBB_BAD_INPUT: `place: inputs[1] = 999 is not a value (0..349)`. n: how many values there are. */
ebb_status ebb_pgraph_id_fault(ebb_env *env, const char *place, const char *list, size_t i, int64_t id,
                               const char *what, size_t n);

#endif
