/* planner/build.h: declares the three parts of ebb_plan_make. Private to it. */
#ifndef EBB_PLANNER_BUILD_H
#define EBB_PLANNER_BUILD_H

#include "planner/planner.h"

typedef struct ebb_places {
    int64_t *storage; /* [n_storages] offset in its region */
    int64_t *scratch; /* [n_steps] offset in the transient region; 0 for a step without scratch */
    int64_t arena_bytes, persistent_bytes;
} ebb_places;

/* Finds an offset for every storage and scratch. In arena. Errors: as ebb_plan_make. */
EBB_CHECKED ebb_status ebb_places_find(ebb_arena *arena, const ebb_plan_request *request,
                                       const ebb_lives *lives, ebb_places *out);
/* Fills in the plan's buffers and steps, in the plan's arena. */
EBB_CHECKED ebb_status ebb_plan_fill(ebb_plan *plan, const ebb_plan_request *request,
                                     const ebb_lives *lives, const ebb_places *places);
/* EBB_INTERNAL when scheduled is no rewrite of graph: an op, value, time or size differs. */
EBB_CHECKED ebb_status ebb_plan_match(ebb_env *env, const ebb_plan_request *request);

#endif
