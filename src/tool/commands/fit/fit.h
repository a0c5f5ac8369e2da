/* fit: the two questions of `ebb fit`, and the budget that both ask within. */
#ifndef EBB_TOOL_FIT_H
#define EBB_TOOL_FIT_H

#include "tool/out/out.h"

/* bytes: what plans may take: --budget, else the described device's memory less its context; less the
 * reserve. */
typedef struct tool_fit_budget {
    int64_t bytes, reserve_bytes;
    bool stated;              /* by --budget */
    ebb_device_memory device; /* memory_bytes 0: none was described */
} tool_fit_budget;
/* By the flags and the device's description; a device of which only the memory is known is taken from the
 * flags. EBB_USAGE: there is none, or nothing of it is left; EBB_IO, EBB_BAD_INPUT: the description. */
EBB_CHECKED ebb_status tool_fit_budget_find(tool *t, tool_fit_budget *out);
void tool_fit_budget_print(
    const tool_fit_budget *budget); /* where it comes from, unless from --budget alone */
void tool_fit_budget_json(out_json *json, const tool_fit_budget *budget);

/* Of a described device: whose times those are. */
void tool_fit_times_print(const tool_fit_budget *budget, const char *backend);

/* "1.20 s, 26.7/s": a step of n items. */
out_word tool_fit_rate(int64_t n, int64_t time_ns);

/* The largest batch of each mode. EBB_OVER_BUDGET: not even one item fits in any. */
EBB_CHECKED ebb_status tool_fit_largest(tool *t, const tool_fit_budget *budget, ebb_options *options,
                                        const ebb_model *model);
/* --batch: does this one fit? EBB_OVER_BUDGET: no; the line names the least that must change. */
EBB_CHECKED ebb_status tool_fit_one_batch(tool *t, const tool_fit_budget *budget, ebb_options *options,
                                          const ebb_model *model);

#endif
