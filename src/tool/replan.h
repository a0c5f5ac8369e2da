/* --auto: a plan that a device has too little room for is made again within what there is. */
#ifndef EBB_TOOL_REPLAN_H
#define EBB_TOOL_REPLAN_H

#include "tool.h"

/* After a compilation that ended with `compiled`: does the plan fit, and leave free on the device what
 * --reserve says? Else *again, and options ask for a plan within what is free without it, less the reserve;
 * a budget that was given stays the most. Errors are those of the compilation, EBB_NO_MEMORY (no budget
 * is left), and those of a look at the device's memory. */
EBB_CHECKED ebb_status replan(tool *t, const ebb_engine *engine, ebb_status compiled, ebb_options *options,
                              bool *again);

#endif
