/* ebb doctor --full: every kernel of a device against the reference, a line for each family of ops. */
#include "tool/commands/doctor/doctor.h"
#include "tool/out/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAMILIES = 40 };

typedef struct family {
    const char *name;
    uint32_t n_ops, n_calls, n_runs, n_faults;
    double worst;
    char fault[256];
} family;

typedef struct session {
    family families[MOST_FAMILIES];
    uint32_t n_families;
    out_json *json; /* NULL: none */
} session;

static void row_json(out_json *json, const ebb_conformance_row *row) {
    out_open(json, NULL, '{');
    out_text(json, "op", row->op);
    out_text(json, "family", row->family);
    out_integer(json, "calls", row->n_calls);
    out_integer(json, "runs", row->n_runs);
    out_real(json, "worst", row->worst); /* null: infinite */
    out_integer(json, "faults", row->n_faults);
    out_text(json, "fault", row->fault[0] != '\0' ? row->fault : NULL);
    out_close(json, '}');
}

static void add_row(void *ctx, const ebb_conformance_row *row) {
    session *s = ctx;
    family *f = s->families;
    while (f < s->families + s->n_families && strcmp(f->name, row->family) != 0) f++;
    if (s->json) row_json(s->json, row);
    if (f == s->families + s->n_families) {
        if (s->n_families == MOST_FAMILIES) return; /* the document has it */
        s->n_families++;
        *f = (family){.name = row->family};
    }
    if (f->n_faults == 0 && row->n_faults > 0) memcpy(f->fault, row->fault, sizeof f->fault);
    f->n_ops++;
    f->n_calls += row->n_calls;
    f->n_runs += row->n_runs;
    f->n_faults += row->n_faults;
    f->worst = fmax(f->worst, row->worst);
}

static out_word part(double worst) {
    out_word word;
    if (isinf(worst))
        snprintf(word.text, sizeof word.text, "infinite");
    else
        snprintf(word.text, sizeof word.text, "%.3f", worst);
    return word;
}

static ebb_status print_families(tool *t, const session *s) {
    out_table *table = calloc(1, sizeof *table);
    if (!table) return tool_fail(t, EBB_NO_MEMORY, "no memory for the table of families");
    out_row(table, (const char *const[OUT_COLUMNS]){"family", "ops", "calls", "runs", "worst", "verdict"});
    for (uint32_t i = 0; i < s->n_families; i++) {
        const family *f = &s->families[i];
        out_row(table, (const char *const[OUT_COLUMNS]){f->name, out_count(f->n_ops).text,
                                                        out_count(f->n_calls).text,
                                                        out_count(f->n_runs).text, part(f->worst).text,
                                                        f->n_faults > 0 ? f->fault : "holds"});
    }
    out_table_print(table, stdout);
    free(table);
    return EBB_OK;
}

static ebb_status print_text(tool *t, const session *s, const ebb_options *o,
                             const ebb_conformance_result *r, ebb_status verdict) {
    printf("device %s: each op's kernel against the reference; worst: the largest difference, as a part of "
           "what is allowed\n\n",
           o->device);
    const ebb_status status = print_families(t, s);
    if (status != EBB_OK) return status;
    printf("\n%u ops, %u calls, %u runs, %s of memory: ", r->n_ops, r->n_calls, r->n_runs,
           out_bytes(r->peak_bytes).text);
    if (verdict == EBB_OK)
        printf("all hold\n");
    else if (verdict == EBB_VIOLATION)
        printf("%u calls do not hold\n", r->n_faults);
    else
        printf("not all was tried\n");
    return EBB_OK;
}

static ebb_status end_json(tool *t, out_json *json, const ebb_options *o, const ebb_conformance_result *r,
                           ebb_status verdict) {
    out_close(json, ']');
    out_text(json, "device", o->device);
    out_text(json, "verdict",
             verdict == EBB_OK          ? "holds"
             : verdict == EBB_VIOLATION ? "fails"
                                        : "broken_off");
    out_integer(json, "ops", r->n_ops);
    out_integer(json, "calls", r->n_calls);
    out_integer(json, "runs", r->n_runs);
    out_integer(json, "faults", r->n_faults);
    out_real(json, "worst", r->worst);
    out_integer(json, "peak_bytes", r->peak_bytes);
    return out_json_end(t, json);
}

ebb_status conformance_print(tool *t) {
    ebb_options options;
    ebb_conformance_result result;
    out_json json;
    session s = {.n_families = 0};
    const bool as_json = t->args.json || t->args.output;
    ebb_options_init(&options);
    if (t->args.device) options.device = t->args.device;
    options.tf32 = t->args.tf32;
    options.direct_conv = t->args.direct_conv;
    if (t->args.threads > 0) options.n_threads = (uint32_t)t->args.threads;
    if (as_json) {
        s.json = &json;
        out_json_begin(&json, "ebb.conformance/1");
        out_open(&json, "rows", '[');
    }
    const ebb_status verdict =
        ebb_conformance(t->env, &options, t->args.only.at, t->args.only.n, add_row, &s, &result);
    if (result.n_ops == 0) { /* nothing was tried */
        if (as_json) out_json_drop(&json);
        return verdict;
    }
    char reason[1024]; /* printing may fail, too */
    snprintf(reason, sizeof reason, "%s", ebb_env_error(t->env));
    ebb_status status = as_json ? end_json(t, &json, &options, &result, verdict) : EBB_OK;
    if (status == EBB_OK && !t->args.json) status = print_text(t, &s, &options, &result, verdict);
    if (status != EBB_OK || verdict == EBB_OK) return status;
    return tool_fail(t, verdict, "%s", reason);
}
