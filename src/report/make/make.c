/* make: from a plan to a report. The table of contents of the room.
 *
 * takes: any plan. gives: an immutable report that borrows nothing from it. cost: O(n log n), the audit's
 * included. */
#include "report/make/make.h"
#include "report/words/words.h"

static void copy_figures(ebb_report *r, const ebb_plan *plan) {
    r->n_threads = plan->n_threads;
    r->n_steps = plan->n_steps;
    r->n_points = plan->n_steps > 0 ? plan->n_steps : 1;
    r->alignment = plan->alignment;
    r->arena_bytes = plan->arena_bytes;
    r->persistent_bytes = plan->persistent_bytes;
    r->fixed_bytes = plan->graph->fixed_bytes;
    r->total_bytes = plan->total_bytes;
    r->max_live_bytes = plan->max_live_bytes;
    r->budget_bytes = plan->budget_bytes;
    r->time_ns = plan->time_ns;
    r->baseline_arena_bytes = plan->baseline_arena_bytes;
    r->baseline_total_bytes = plan->baseline_total_bytes;
    r->baseline_time_ns = plan->baseline_time_ns;
    r->bound_time_ns = plan->bound_time_ns;
    for (uint32_t s = 0; s < plan->n_steps; s++) r->n_recomputed += plan->steps[s].recompute;
}

static bool copy_names(ebb_report *r, const ebb_plan *plan) {
    r->graph_name = ebb_report_name(&r->arena, plan->graph->name);
    r->backend = ebb_report_name(&r->arena, plan->backend);
    r->bound_kind = ebb_report_name(&r->arena, plan->bound_kind);
    return r->graph_name && r->backend && r->bound_kind;
}

const char *ebb_report_called(ebb_report_maker *m, const char *name) {
    const ebb_report_sources *from = m->sources;
    const char *place = from->place ? from->place(from->place_ctx, name) : NULL;
    ebb_text text;
    if (!place) return ebb_report_name(&m->report->arena, name);
    ebb_text_init(&text, m->env);
    ebb_text_add(&text, "%s (%s)", name, place);
    const char *called = ebb_text_status(&text) ? NULL : ebb_report_name(&m->report->arena, text.at);
    ebb_text_deinit(&text);
    return called;
}

/* Everything of a step but its bytes. */
static ebb_status make_steps(ebb_report_maker *m) {
    const ebb_pgraph *graph = m->plan->graph;
    ebb_report *r = m->report;
    const char **names = EBB_NEW(&m->scratch, const char *, graph->n_ops);
    const char **kinds = EBB_NEW(&m->scratch, const char *, graph->n_ops);
    m->steps = EBB_NEW(&r->arena, ebb_report_step, r->n_points);
    if (!names || !kinds || !m->steps) return EBB_NO_MEMORY;
    m->steps[0] = (ebb_report_step){.op = EBB_NONE, .name = "", .kind = "", .phase = EBB_FORWARD};
    m->backward = EBB_NONE;
    for (ebb_id i = 0; i < graph->n_ops; i++) {
        names[i] = ebb_report_called(m, graph->ops[i].name);
        kinds[i] = ebb_report_name(&r->arena, graph->ops[i].kind);
        if (!names[i] || !kinds[i]) return EBB_NO_MEMORY;
    }
    int64_t now_ns = 0;
    for (uint32_t s = 0; s < m->plan->n_steps; s++) {
        const ebb_plan_step *step = &m->plan->steps[s];
        const ebb_pop *op = &graph->ops[step->op];
        int64_t time_ns = ebb_pop_under(op, step->alternative).time_ns;
        m->steps[s] = (ebb_report_step){.op = step->op,
                                        .name = names[step->op],
                                        .kind = kinds[step->op],
                                        .phase = op->phase,
                                        .recompute = step->recompute,
                                        .start_ns = now_ns,
                                        .scratch_offset = step->scratch_offset,
                                        .time_ns = time_ns};
        now_ns += time_ns;
        if (m->backward == EBB_NONE && op->phase != EBB_FORWARD) m->backward = s;
    }
    return EBB_OK;
}

static ebb_status make_bands(ebb_report_maker *m) {
    ebb_report *r = m->report;
    ebb_report_band *bands = EBB_NEW(&r->arena, ebb_report_band, r->n_points);
    if (!bands) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < r->n_points; s++) {
        if (s == 0 || m->steps[s].phase != bands[r->n_bands - 1].phase)
            bands[r->n_bands++] = (ebb_report_band){m->steps[s].phase, s, s};
        bands[r->n_bands - 1].upper = s + 1;
    }
    r->bands = bands;
    return EBB_OK;
}

/* The audit's fault is one of the file, and it names no file. Its line is copied before it is overwritten.
 */
static ebb_status audit(ebb_env *env, const ebb_plan *plan, const char *where) {
    char fault[640];
    ebb_status status = ebb_plan_audit(env, plan);
    if (status != EBB_VIOLATION) return status;
    size_t n = strlen(ebb_env_error(env));
    if (n >= sizeof fault) n = sizeof fault - 1;
    memcpy(fault, ebb_env_error(env), n);
    fault[n] = '\0';
    return ebb_fail(env, EBB_BAD_INPUT, "%.300s: the plan does not hold: %s", where, fault);
}

static ebb_status read_sources(ebb_report_maker *m) {
    const ebb_report_sources *sources = m->sources;
    ebb_status status = EBB_OK;
    if (sources->measured) status = ebb_report_measure(m, sources->measured);
    if (status == EBB_OK && sources->search) status = ebb_report_searched(m, sources->search);
    if (status == EBB_OK && sources->n_fits > 0)
        status = ebb_report_fitted(m, sources->fits, sources->n_fits);
    return status;
}

ebb_status ebb_report_make(ebb_env *env, const ebb_plan *plan, const char *where,
                           const ebb_report_sources *sources, ebb_report **out) {
    *out = NULL;
    ebb_status status = audit(env, plan, where);
    if (status != EBB_OK) return status;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_report *r = EBB_NEW(&arena, ebb_report, 1);
    if (!r) return EBB_NO_MEMORY;
    r->arena = arena;
    static const ebb_report_sources none = {.n_fits = 0};
    ebb_report_maker m = {.env = env, .plan = plan, .sources = sources ? sources : &none, .report = r};
    ebb_arena_init(&m.scratch, env);
    copy_figures(r, plan);
    status = copy_names(r, plan) ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK) status = make_steps(&m);
    if (status == EBB_OK) status = make_bands(&m);
    if (status == EBB_OK) status = ebb_report_lives(&m);
    if (status == EBB_OK) status = ebb_report_curve(&m);
    if (status == EBB_OK) status = ebb_report_peak(&m);
    if (status == EBB_OK) status = ebb_report_agains(&m);
    if (status == EBB_OK) status = read_sources(&m);
    ebb_arena_deinit(&m.scratch);
    if (status != EBB_OK)
        ebb_report_destroy(r);
    else
        *out = r;
    return status;
}

void ebb_report_destroy(ebb_report *report) {
    if (!report) return;
    ebb_arena arena = report->arena; /* the report itself lies in it */
    ebb_arena_deinit(&arena);
}
