/* ebb run --compare: a step on two devices, and the ops that differ most. */
#include "tool/commands/run/run.h"
#include "tool/out/out.h"

#include <math.h>
#include <stdlib.h>

static void row_json(out_json *json, const char *key, const ebb_compare_row *row) {
    out_open(json, key, '{');
    out_integer(json, "step", row->step);
    out_text(json, "op", row->op);
    out_text(json, "kind", row->kind);
    out_text(json, "phase", out_phase(row->phase));
    out_text(json, "value", row->value);
    out_text(json, "element", row->element);
    out_real(json, "got", row->got);
    out_real(json, "want", row->want);
    out_real(json, "allowed", row->allowed);
    out_real(json, "part", row->part); /* null: infinite */
    out_bool(json, "shaken", row->shaken);
    out_close(json, '}');
}

static ebb_status print_json(tool *t, const ebb_options *o, const ebb_compare_result *r,
                             ebb_status verdict) {
    out_json json;
    out_json_begin(&json, "ebb.compare/1");
    out_text(&json, "device", o->device);
    out_bool(&json, "xla", o->xla);
    out_text(&json, "other", t->args.compare);
    out_text(&json, "verdict", verdict == EBB_OK ? "agree" : "differ");
    out_integer(&json, "ops", r->n_ops);
    out_integer(&json, "over", r->n_over);
    out_integer(&json, "device_bytes", r->device_bytes);
    out_integer(&json, "other_bytes", r->other_bytes);
    out_integer(&json, "room_bytes", r->room_bytes);
    if (r->any_over)
        row_json(&json, "first", &r->first);
    else
        out_text(&json, "first", NULL);
    out_open(&json, "worst", '[');
    for (uint32_t i = 0; i < r->n_worst; i++) row_json(&json, NULL, &r->worst[i]);
    out_close(&json, ']');
    return out_json_end(t, &json);
}

static out_word number(double x) {
    out_word word;
    snprintf(word.text, sizeof word.text, "%.9g", x);
    return word;
}

static ebb_status print_worst(tool *t, const ebb_compare_result *r) {
    out_table *table = calloc(1, sizeof *table);
    char where[2 * EBB_COMPARE_TEXT + 200], clean[2 * EBB_COMPARE_TEXT + 200], part[64];
    if (!table) return tool_fail(t, EBB_NO_MEMORY, "no memory for the table of ops");
    out_row(table, (const char *const[OUT_COLUMNS]){"op", "part", "got", "want", "allowed", "element"});
    for (uint32_t i = 0; i < r->n_worst; i++) {
        const ebb_compare_row *row = &r->worst[i];
        snprintf(part, sizeof part, "%.3g%s", row->part, row->shaken ? " *" : "");
        snprintf(where, sizeof where, "%%%s%s of %s (%s)", row->value, row->element, row->op,
                 out_phase(row->phase));
        out_clean(clean, sizeof clean, where);
        out_row(table,
                (const char *const[OUT_COLUMNS]){row->kind, part, number(row->got).text,
                                                 number(row->want).text, number(row->allowed).text, clean});
    }
    out_table_print(table, stdout);
    free(table);
    return EBB_OK;
}

static ebb_status print_text(tool *t, const ebb_options *o, const ebb_compare_result *r) {
    const char *runs = o->xla ? "XLA" : o->device;
    printf("one step on %s and on %s, each op on the inputs that %s has: %s, %s and %s to compare\n\n",
           runs, t->args.compare, runs, out_bytes(r->device_bytes).text, out_bytes(r->other_bytes).text,
           out_bytes(r->room_bytes).text);
    const ebb_status status = print_worst(t, r);
    if (status != EBB_OK) return status;
    printf("\n%u ops: %u differ by more than is allowed (part: difference / allowed; *: beside what inputs "
           "that "
           "differ in their last bits make of it)\n",
           r->n_ops, r->n_over);
    return out_finish(t);
}

ebb_status compare_run(tool *t, const ebb_model *model, const ebb_options *options) {
    const ebb_compare_request request = {
        .other = t->args.compare,
        .budget_bytes = options->memory == EBB_MEMORY_BUDGET ? options->budget_bytes : -1};
    ebb_compare_result result;
    const tool_args *a = &t->args;
    if (a->profile || a->steps > 0 || a->check_finite || a->hash || a->replan || a->metrics || a->save ||
        a->init_from || a->lr >= 0 || a->schedule)
        return tool_fail(
            t, EBB_USAGE,
            "--compare runs one step, of the initial params, without a plan's reuse: leave "
            "--steps, --profile, --check-finite, --hash, --metrics, --auto, --save, --init-from, "
            "--lr and --schedule out");
    const ebb_status verdict =
        ebb_compare(t->env, model, t->args.dims, t->args.n_dims, options, &request, &result);
    if (verdict != EBB_OK && verdict != EBB_VIOLATION) return verdict;
    char reason[1024]; /* printing may fail, too */
    snprintf(reason, sizeof reason, "%s", ebb_env_error(t->env));
    ebb_status status = EBB_OK;
    if (t->args.json || t->args.output) status = print_json(t, options, &result, verdict);
    if (status == EBB_OK && !t->args.json) status = print_text(t, options, &result);
    if (status != EBB_OK || verdict == EBB_OK) return status;
    return tool_fail(t, verdict, "%s", reason);
}
