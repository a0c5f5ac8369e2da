/* ebb report: what a plan does with memory. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

ebb_status tool_report(tool *t) {
    ebb_report_format format = EBB_REPORT_TEXT;
    ebb_plan *plan = NULL;
    ebb_report *report = NULL;
    ebb_status status = tool_format(t, &format);
    if (status == EBB_OK) status = tool_plan_read(t, t->args.operand, &plan);
    if (status != EBB_OK) return status;
    ebb_report_sources sources = {.measured = t->args.measured,
                                  .search = t->args.search,
                                  .fits = t->args.fits.at,
                                  .n_fits = t->args.fits.n};
    status = ebb_report_make(t->env, plan, t->args.operand, &sources, &report);
    ebb_plan_destroy(plan);
    if (status == EBB_OK)
        status = ebb_report_write(t->env, report, format, t->args.output ? t->args.output : "-");
    ebb_report_destroy(report);
    return status;
}
