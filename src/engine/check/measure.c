/* Measures a model's ops in its own training steps. Takes a model at its dimensions; gives costs: a row for
 * each distinct op, and a line for each kind of them. */
#include "engine/compile/compile.h"

#include <math.h>
#include <stdlib.h>

/* One step of the plan, by the call that its op is. */
typedef struct place {
    const char *op; /* as printed */
    ebb_id id;
    uint32_t alternative; /* of the planned op; EBB_NONE: as listed */
    int64_t median_ns, least_ns;
} place;

typedef struct measurer {
    ebb_env *env;
    ebb_arena arena;
    ebb_engine *engine;
    ebb_program *program;
    ebb_costs *costs;
    ebb_made_up input;
    place *places;
    uint32_t n_places;
    bool look;                        /* lines alone, from the shortest times */
    int64_t flops_ns[2], bytes_ns[2]; /* of rows that arithmetic binds, and traffic: built-in, measured */
} measurer;

/* ---- steps ----------------------------------------------------------------------------------------- */

static ebb_status feed_and_step(measurer *m) {
    if (ebb_stop_asked(m->env))
        return ebb_fail(m->env, EBB_INTERRUPTED, "interrupted: nothing is measured");
    ebb_status status = ebb_made_up_feed(m->program, &m->input);
    if (status != EBB_OK || !m->engine->options.phased)
        return status == EBB_OK ? ebb_step(m->program) : status;
    for (ebb_phase phase = EBB_FORWARD; phase <= EBB_UPDATE && status == EBB_OK; phase++)
        status = ebb_run_phase(m->program, phase);
    return status;
}

/* All parts of a step. */
static ebb_status run_step(measurer *m) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < ebb_options_parts(&m->engine->options) && status == EBB_OK; i++)
        status = feed_and_step(m);
    return status;
}

static ebb_status run_steps(measurer *m, uint32_t n_runs) {
    ebb_status status = ebb_made_up_draw(&m->arena, m->program, &m->input);
    if (status == EBB_OK) status = run_step(m); /* touches every page, fills the primitives' caches */
    if (status == EBB_OK) status = ebb_program_profile(m->program, n_runs);
    for (uint32_t i = 0; i < n_runs && status == EBB_OK; i++) status = run_step(m);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static ebb_status find_call(const measurer *m, ebb_id id, uint32_t alternative, ebb_alternative_call *out) {
    return ebb_alternative_find(m->engine->backend, m->program->compiled.graph, id, alternative, out);
}

static int by_op(const void *a, const void *b) {
    return strcmp(((const place *)a)->op, ((const place *)b)->op);
}

/* The plan's steps, views aside, sorted by their calls. */
static ebb_status list_places(measurer *m) {
    const ebb_graph *graph = m->program->compiled.graph;
    const ebb_plan *plan = m->program->compiled.plan;
    ebb_text text;
    ebb_text_init(&text, m->env);
    ebb_status status = EBB_OK;
    if (!(m->places = EBB_NEW(&m->arena, place, plan->n_steps))) status = EBB_NO_MEMORY;
    for (uint32_t s = 0; s < plan->n_steps && status == EBB_OK; s++) {
        ebb_step_times times;
        const ebb_id id = plan->steps[s].op;
        const uint32_t alternative = plan->steps[s].alternative;
        ebb_alternative_call by;
        if (graph->nodes[id].op->view) continue;
        status = find_call(m, id, alternative, &by);
        if (status != EBB_OK) break;
        text.n = 0;
        ebb_costs_print_call(&text, &by.call, &by.facts);
        status = ebb_text_status(&text);
        if (status == EBB_OK) status = ebb_program_step_times(m->program, s, &times);
        if (status != EBB_OK) break;
        place *to = &m->places[m->n_places++];
        *to = (place){ebb_arena_text(&m->arena, text.at), id, alternative, times.median_ns, times.least_ns};
        if (!to->op) status = EBB_NO_MEMORY;
    }
    ebb_text_deinit(&text);
    if (status == EBB_OK && m->n_places) qsort(m->places, m->n_places, sizeof *m->places, by_op);
    return status;
}

/* Rows that are mostly start say nothing of rates. */
static void add_others(measurer *m, const ebb_roofline *line, const ebb_cost_row *row) {
    const ebb_cost bytes = {.bytes = row->cost.bytes}, flops = {.flops = row->cost.flops};
    const int64_t by_flops_ns = ebb_roofline_ns(line, &flops), by_bytes_ns = ebb_roofline_ns(line, &bytes);
    int64_t *sum_ns = by_flops_ns > by_bytes_ns ? m->flops_ns : m->bytes_ns;
    if (ebb_roofline_ns(line, &row->cost) < 4 * line->start_ns) return;
    sum_ns[0] += row->n_uses * ebb_max_i64(by_flops_ns, by_bytes_ns);
    sum_ns[1] += row->n_uses * row->time_ns;
}

/* The row of places [first, end), which have one call. */
static ebb_status add_row(measurer *m, uint32_t first, uint32_t end) {
    ebb_alternative_call by;
    const ebb_status status = find_call(m, m->places[first].id, m->places[first].alternative, &by);
    if (status != EBB_OK) return status;
    const int64_t n = ebb_max_i64(1, (int64_t)end - first);
    int64_t sum_ns = 0, least_ns = 0;
    for (uint32_t i = first; i < end; i++) {
        sum_ns += m->places[i].median_ns;
        least_ns += m->places[i].least_ns;
    }
    ebb_cost_row row = {.op = m->places[first].op,
                        .kind = by.facts.kind,
                        .time_ns = sum_ns / n,
                        .least_ns = least_ns / n,
                        .n_uses = n};
    by.call.op->cost(&by.call, &row.cost);
    if (m->look) {
        m->costs->others.median_ns += sum_ns;
        m->costs->others.least_ns += least_ns;
        row.time_ns = row.least_ns;
        add_others(m, &by.facts.line, &row);
    }
    return ebb_costs_add_row(m->costs, &row);
}

static uint32_t end_of_call(const measurer *m, uint32_t first) {
    uint32_t end = first + 1;
    while (end < m->n_places && strcmp(m->places[end].op, m->places[first].op) == 0) end++;
    return end;
}

/* Fits the kind of each measured op; the second line of a kind is the first one again. */
static ebb_status add_lines(measurer *m) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < m->n_places && status == EBB_OK; i = end_of_call(m, i)) {
        ebb_alternative_call by;
        status = find_call(m, m->places[i].id, m->places[i].alternative, &by);
        if (status != EBB_OK) break;
        const ebb_cost_line line = ebb_costs_fit(m->costs, by.facts.kind, &by.facts.line);
        status = ebb_costs_add_line(m->costs, &line);
    }
    return status;
}

static int64_t permille(const int64_t ns[2]) {
    return ns[0] > 0 && ns[1] > 0 ? ebb_max_i64(1, llround(1e3 * (double)ns[0] / (double)ns[1])) : 1000;
}

static ebb_status add_all(measurer *m) {
    ebb_status status = list_places(m);
    for (uint32_t i = 0, end; i < m->n_places && status == EBB_OK; i = end) {
        end = end_of_call(m, i);
        status = add_row(m, i, end);
    }
    if (status == EBB_OK) status = ebb_costs_seal(m->costs, NULL); /* rows measured before are replaced */
    if (status == EBB_OK) status = add_lines(m);
    if (m->look) {
        m->costs->others.flops_permille = permille(m->flops_ns);
        m->costs->others.bytes_permille = permille(m->bytes_ns);
        m->costs->rows.n = 0;
    }
    return status == EBB_OK ? ebb_costs_seal(m->costs, NULL) : status;
}

/* ---- all of it ------------------------------------------------------------------------------------- */

/* Empty costs of this backend and machine, or a copy of what was measured before. */
static ebb_status start_costs(measurer *m, const ebb_costs *before) {
    char machine[EBB_MACHINE_TEXT];
    const ebb_backend *backend = m->engine->backend;
    ebb_costs_machine(backend, machine);
    ebb_status status =
        ebb_costs_create(m->env, backend->api->name, backend->n_threads, machine, &m->costs);
    if (status != EBB_OK || !before) return status;
    status = ebb_costs_check(m->env, before, backend);
    if (status == EBB_OK && strcmp(before->machine, machine) != 0)
        status = ebb_fail(m->env, EBB_USAGE,
                          "the costs to add to are of \"%.60s\" and this machine is \"%.60s\": begin new "
                          "ones",
                          before->machine, machine);
    for (size_t i = 0; i < before->rows.n && status == EBB_OK; i++)
        status = ebb_costs_add_row(m->costs, &before->rows.at[i]);
    for (size_t i = 0; i < before->lines.n && status == EBB_OK; i++)
        status = ebb_costs_add_line(m->costs, &before->lines.at[i]);
    return status;
}

static ebb_status check_device(const measurer *m) {
    const ebb_backend_api *api = m->engine->backend->api;
    if (api->computes) return EBB_OK;
    return ebb_fail(m->env, EBB_USAGE, "device %s computes nothing: there is no time to measure",
                    api->name);
}

ebb_status ebb_measure(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims, uint32_t n_dims,
                       const ebb_options *options, const ebb_measure_request *request, ebb_costs **out) {
    *out = NULL;
    if (request->n_runs == 0) return ebb_fail(env, EBB_USAGE, "0 steps to measure: give 1 or more");
    if (options->xla)
        return ebb_fail(env, EBB_USAGE,
                        "XLA runs a step as one program: its ops cannot be timed one by one");
    measurer m = {.env = env, .look = request->look};
    ebb_arena_init(&m.arena, env);
    ebb_status status = ebb_engine_create(env, model, options, &m.engine);
    if (status == EBB_OK) status = check_device(&m);
    if (status == EBB_OK) status = start_costs(&m, options->costs);
    if (status == EBB_OK) status = ebb_compile(m.engine, dims, n_dims, &m.program);
    if (status == EBB_OK) status = run_steps(&m, request->n_runs);
    if (status == EBB_OK) status = add_all(&m);
    ebb_engine_destroy(m.engine);
    ebb_arena_deinit(&m.arena);
    if (status == EBB_OK)
        *out = m.costs;
    else
        ebb_costs_destroy(m.costs);
    return status;
}
