/* profile: a table by kind of op, and the steps as JSON. */
#include "tool/commands/run/run.h"
#include "tool/out/out.h"

#include <stdlib.h>
#include <string.h>

/* Steps of one kind of op together. */
typedef struct kind_sum {
    const char *kind;
    int64_t n, n_again, bytes, predicted_ns, median_ns;
} kind_sum;

static void add_step(kind_sum *kinds, uint32_t *n_kinds, const ebb_step_times *step) {
    kind_sum *to = kinds;
    while (to < kinds + *n_kinds && strcmp(to->kind, step->kind) != 0) to++;
    if (to == kinds + *n_kinds) {
        *to = (kind_sum){.kind = step->kind};
        ++*n_kinds;
    }
    to->n++;
    to->n_again += step->recompute;
    to->bytes += step->bytes;
    to->predicted_ns += step->predicted_ns;
    to->median_ns += step->median_ns;
}

static int by_time(const void *a, const void *b) {
    const kind_sum *x = a, *y = b;
    if (x->median_ns != y->median_ns) return x->median_ns < y->median_ns ? 1 : -1;
    return strcmp(x->kind, y->kind);
}

static void print_kinds(const kind_sum *kinds, uint32_t n_kinds, const ebb_step_times *any) {
    out_table *table = calloc(1, sizeof *table);
    if (!table) return; /* the document has it all */
    printf("\nby kind of op, medians of %u %s\n\n", any->n_runs, any->n_runs == 1 ? "step" : "steps");
    out_row(table,
            (const char *const[OUT_COLUMNS]){"op", "steps", "again", "measured", "predicted", "operands"});
    for (uint32_t i = 0; i < n_kinds && i < OUT_ROWS - 1; i++) {
        const kind_sum *k = &kinds[i];
        out_row(table,
                (const char *const[OUT_COLUMNS]){k->kind, out_count(k->n).text, out_count(k->n_again).text,
                                                 out_time(k->median_ns).text,
                                                 out_time(k->predicted_ns).text, out_bytes(k->bytes).text});
    }
    out_table_print(table, stdout);
    free(table);
}

ebb_status profile_print(tool *t, const ebb_program *program, const ebb_plan_summary *plan) {
    uint32_t n_kinds = 0;
    ebb_step_times step = {0};
    ebb_status status = EBB_OK;
    if (ebb_program_step_times(program, 0, &step) != EBB_OK) return EBB_OK; /* interrupted before a step */
    kind_sum *kinds = calloc((size_t)plan->n_steps + 1, sizeof *kinds);
    if (!kinds) return tool_fail(t, EBB_NO_MEMORY, "no memory for the profile's table");
    for (uint32_t i = 0; i < plan->n_steps && status == EBB_OK; i++) {
        status = ebb_program_step_times(program, i, &step);
        if (status == EBB_OK) add_step(kinds, &n_kinds, &step);
    }
    if (status == EBB_OK) {
        qsort(kinds, n_kinds, sizeof *kinds, by_time);
        print_kinds(kinds, n_kinds, &step);
    }
    free(kinds);
    return status;
}

ebb_status profile_json(tool *t, out_json *json, const ebb_program *program, const ebb_plan_summary *plan) {
    ebb_step_times step = {0};
    ebb_status status = EBB_OK;
    (void)t;
    const bool any = ebb_program_step_times(program, 0, &step) == EBB_OK;
    out_integer(json, "profile_runs", any ? step.n_runs : 0);
    out_open(json, "profile", '[');
    for (uint32_t i = 0; any && i < plan->n_steps && status == EBB_OK; i++) {
        status = ebb_program_step_times(program, i, &step);
        if (status != EBB_OK) break;
        out_open(json, NULL, '{');
        out_integer(json, "op", step.op);
        out_text(json, "name", step.name);
        out_text(json, "kind", step.kind);
        out_text(json, "phase", out_phase(step.phase));
        out_bool(json, "recompute", step.recompute);
        out_integer(json, "bytes", step.bytes);
        out_integer(json, "predicted_ns", step.predicted_ns);
        out_integer(json, "median_ns", step.median_ns);
        out_integer(json, "least_ns", step.least_ns);
        out_close(json, '}');
    }
    out_close(json, ']');
    return status;
}
