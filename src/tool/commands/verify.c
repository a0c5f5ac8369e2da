/* ebb verify: a plan proved from its file alone. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

static ebb_status print_json(tool *t, ebb_status verdict, const ebb_plan_summary *s) {
    out_json json;
    out_json_begin(&json, "ebb.verify/1");
    out_text(&json, "plan", t->args.operand);
    out_text(&json, "verdict", verdict == EBB_OK ? "holds" : "violated");
    out_text(&json, "fault", verdict == EBB_OK ? NULL : ebb_env_error(t->env));
    out_integer(&json, "n_steps", s->n_steps);
    out_integer(&json, "n_buffers", s->n_buffers);
    out_integer(&json, "total_bytes", s->total_bytes);
    return out_json_end(t, &json);
}

static ebb_status print_verdict(tool *t, ebb_status verdict, const ebb_plan *plan) {
    ebb_plan_summary s;
    ebb_plan_summarize(plan, &s);
    if (t->args.json || t->args.output) {
        ebb_status status = print_json(t, verdict, &s);
        if (status != EBB_OK) return status;
    }
    if (verdict != EBB_OK)
        return tool_fail(t, verdict, "%.300s: %s", t->args.operand, ebb_env_error(t->env));
    if (t->args.json) return EBB_OK;
    out_safe(stdout, t->args.operand);
    printf(": holds: %u steps, %u buffers, %lld bytes: audited, and run by the shadow backend\n", s.n_steps,
           s.n_buffers, (long long)s.total_bytes);
    return EBB_OK;
}

ebb_status tool_verify(tool *t) {
    ebb_plan *plan = NULL;
    ebb_status status = tool_plan_read(t, t->args.operand, &plan);
    if (status != EBB_OK) return status;
    status = ebb_plan_audit(t->env, plan);
    if (status == EBB_OK) status = ebb_plan_shadow(t->env, plan);
    if (status == EBB_OK || status == EBB_VIOLATION) status = print_verdict(t, status, plan);
    ebb_plan_destroy(plan);
    return status;
}
