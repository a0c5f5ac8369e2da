/* ebb fit: what fits a budget: the largest batch, or one that is asked for. */
#include "tool/commands/commands.h"
#include "tool/commands/fit/fit.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

ebb_status tool_fit(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    tool_fit_budget budget;
    ebb_status status = tool_fit_budget_find(t, &budget);
    if (status == EBB_OK) status = tool_options(t, &options);
    if (status == EBB_OK) status = tool_model_open(t, &model);
    if (status == EBB_OK) status = tool_plans_folder(t); /* before the work, not after it */
    if (status != EBB_OK) {
        ebb_model_destroy(model);
        return status;
    }
    options.memory = EBB_MEMORY_BUDGET; /* its own modes; the note on the effort is of this one */
    status = t->args.batch > 0 ? tool_fit_one_batch(t, &budget, &options, model)
                               : tool_fit_largest(t, &budget, &options, model);
    if (status == EBB_OK) tool_note_effort(t, &options);
    ebb_model_destroy(model);
    return status;
}
