/* diff: from two plans to a diff.
 *
 * takes: two plans. gives: an immutable diff that borrows nothing from them. cost: O(n log n), the audits'
 * included. */
#include "report/make/make.h"
#include "report/diff/diff.h"
#include "report/words/words.h"

static void set_figure(ebb_diff *d, uint32_t i, const char *name, ebb_unit unit, int64_t a, int64_t b) {
    d->figures[i] = (ebb_diff_figure){name, unit, a, b};
}

static void make_figures(ebb_diff_maker *m) {
    ebb_diff *d = m->diff;
    const ebb_report *a = m->report[0], *b = m->report[1];
    uint32_t n = 0;
    set_figure(d, n++, "total", EBB_UNIT_BYTES, a->total_bytes, b->total_bytes);
    set_figure(d, n++, "peak", EBB_UNIT_BYTES, a->peak_bytes, b->peak_bytes);
    set_figure(d, n++, "arena", EBB_UNIT_BYTES, a->arena_bytes, b->arena_bytes);
    set_figure(d, n++, "persistent", EBB_UNIT_BYTES, a->persistent_bytes, b->persistent_bytes);
    set_figure(d, n++, "time", EBB_UNIT_TIME, a->time_ns, b->time_ns);
    set_figure(d, n++, "steps", EBB_UNIT_COUNT, a->n_steps, b->n_steps);
    set_figure(d, n++, "again", EBB_UNIT_COUNT, a->n_recomputed, b->n_recomputed);
    for (int c = 0; c < EBB_N_CATEGORIES; c++)
        set_figure(d, n++, ebb_category_name((ebb_category)c), EBB_UNIT_BYTES,
                   a->steps[a->peak_step].bytes[c], b->steps[b->peak_step].bytes[c]);
}

static bool copy_names(ebb_diff_maker *m, const char *a_where, const char *b_where) {
    ebb_diff *d = m->diff;
    d->a_where = ebb_report_name(&d->arena, a_where);
    d->b_where = ebb_report_name(&d->arena, b_where);
    d->a_graph = ebb_report_name(&d->arena, m->plan[0]->graph->name);
    d->b_graph = ebb_report_name(&d->arena, m->plan[1]->graph->name);
    return d->a_where && d->b_where && d->a_graph && d->b_graph;
}

ebb_status ebb_diff_make(ebb_env *env, const ebb_plan *a, const char *a_where, const ebb_plan *b,
                         const char *b_where, const char *fail_if, ebb_diff **out) {
    *out = NULL;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_diff *d = EBB_NEW(&arena, ebb_diff, 1);
    if (!d) return EBB_NO_MEMORY;
    d->arena = arena;
    ebb_diff_maker m = {.env = env, .diff = d, .plan = {a, b}};
    ebb_arena_init(&m.scratch, env);
    ebb_status status = ebb_report_make(env, a, a_where, NULL, &m.report[0]);
    if (status == EBB_OK) status = ebb_report_make(env, b, b_where, NULL, &m.report[1]);
    if (status == EBB_OK) status = copy_names(&m, a_where, b_where) ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK) make_figures(&m);
    if (status == EBB_OK) status = ebb_diff_tensors(&m);
    if (status == EBB_OK) status = ebb_diff_layers(&m);
    if (status == EBB_OK && fail_if) status = ebb_diff_judge(&m, fail_if);
    ebb_report_destroy(m.report[0]);
    ebb_report_destroy(m.report[1]);
    ebb_arena_deinit(&m.scratch);
    if (status != EBB_OK)
        ebb_diff_destroy(d);
    else
        *out = d;
    return status;
}

void ebb_diff_destroy(ebb_diff *diff) {
    if (!diff) return;
    ebb_arena arena = diff->arena; /* the diff itself lies in it */
    ebb_arena_deinit(&arena);
}

const char *ebb_diff_fault(const ebb_diff *diff) {
    return diff->fault;
}

ebb_status ebb_diff_write(ebb_env *env, const ebb_diff *diff, ebb_report_format format, const char *path) {
    static void (*const views[EBB_REPORT_LAST + 1])(ebb_text *, const ebb_diff *) = {
        [EBB_REPORT_TEXT] = ebb_diff_text,
        [EBB_REPORT_JSON] = ebb_diff_json,
        [EBB_REPORT_MARKDOWN] = ebb_diff_markdown,
        [EBB_REPORT_HTML] = ebb_diff_html,
    };
    ebb_text text;
    ebb_text_init(&text, env);
    if ((size_t)format >= EBB_COUNT(views) || !views[format])
        return ebb_fail(env, EBB_USAGE, "a diff has no format %d: choose text, JSON, Markdown or HTML",
                        (int)format);
    views[format](&text, diff);
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) status = ebb_file_write(env, path, text.at, text.n);
    ebb_text_deinit(&text);
    return status;
}
