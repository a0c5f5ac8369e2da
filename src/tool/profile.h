/* profile: what each step of a program took: a table by kind of op, and the steps as JSON. */
#ifndef EBB_TOOL_PROFILE_H
#define EBB_TOOL_PROFILE_H

#include "out.h"

/* Both say nothing when no step has run. EBB_NO_MEMORY, EBB_USAGE (no profile was switched on). */
EBB_CHECKED ebb_status profile_print(tool *t, const ebb_program *program, const ebb_plan_summary *plan);
/* "profile": [{op, name, kind, phase, recompute, bytes, predicted_ns, median_ns, least_ns}], by step. */
EBB_CHECKED ebb_status profile_json(tool *t, out_json *json, const ebb_program *program,
                                    const ebb_plan_summary *plan);

#endif
