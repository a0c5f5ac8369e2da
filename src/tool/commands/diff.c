/* ebb diff: two plans side by side. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <string.h>

static ebb_status judge(tool *t, const ebb_diff *diff) {
    const char *fault = ebb_diff_fault(diff);
    return !fault ? EBB_OK : tool_fail(t, EBB_VIOLATION, "%.300s: %s", t->args.second, fault);
}

ebb_status tool_diff(tool *t) {
    ebb_report_format format = EBB_REPORT_TEXT;
    ebb_plan *a = NULL, *b = NULL;
    ebb_diff *diff = NULL;
    ebb_status status = tool_format(t, &format);
    if (status == EBB_OK && strcmp(t->args.operand, "-") == 0 && strcmp(t->args.second, "-") == 0)
        status =
            tool_fail(t, EBB_USAGE, "diff: standard input holds one plan: give the other one as a file");
    if (status == EBB_OK) status = tool_plan_read(t, t->args.operand, &a);
    if (status == EBB_OK) status = tool_plan_read(t, t->args.second, &b);
    if (status == EBB_OK)
        status = ebb_diff_make(t->env, a, t->args.operand, b, t->args.second, t->args.fail_if, &diff);
    ebb_plan_destroy(a);
    ebb_plan_destroy(b);
    if (status == EBB_OK)
        status = ebb_diff_write(t->env, diff, format, t->args.output ? t->args.output : "-");
    if (status == EBB_OK) status = judge(t, diff);
    ebb_diff_destroy(diff);
    return status;
}
