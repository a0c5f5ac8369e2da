/* The chapters from a segment to a program: simplify, narrow, bits, loss, norm, qkv, pointwise, query,
 * plan, bind.
 */
#include "trace/xla.h"

#include <stdio.h>

void ebb_traced_program_destroy(ebb_env *env, ebb_traced_program *program) {
    if (!program) return;
    ebb_exec_destroy(program->exec);
    ebb_xla_program_destroy(program->xla);
    ebb_profile_destroy(program->profile);
    ebb_compiled_deinit(env, &program->compiled);
    ebb_arena_deinit(&program->arena);
    ebb_cfree(env, program, 1, sizeof *program);
}

static ebb_status graph_make(ebb_trace *trace, const ebb_recorded *r, const ebb_segment *segment,
                             bool constants, bool unfused, ebb_graph **out) {
    const ebb_options *o = &trace->options.plan;
    const bool fuse = !unfused && !o->unfused && !o->xla && o->opt_level >= 2;
    ebb_graph *graph = NULL, *made;
    const uint32_t form =
        (fuse ? EBB_SEGMENT_FUSED : 0) | (trace->options.algebra ? EBB_SEGMENT_ALGEBRA : 0);
    ebb_status status = ebb_segment_graph(trace->env, r, segment, form, constants, &graph);
#define PASS(call)                                \
    if (!status && (status = (call)) == EBB_OK) { \
        ebb_graph_destroy(graph);                 \
        graph = made;                             \
    }
    PASS(ebb_simplify(trace->env, graph, &made))
    if (fuse) PASS(ebb_narrow_updates(trace->env, graph, &made))
    if (fuse) PASS(ebb_keep_bits(trace->env, graph, &made))
    if (fuse && !o->phased) PASS(ebb_join_loss(trace->env, graph, &made))
    if (fuse) PASS(ebb_join_norms(trace->env, graph, o->opt_level >= 3, &made))
    if (fuse) PASS(ebb_join_qkv(trace->env, graph, o->opt_level >= 3, &made))
    if (fuse && o->opt_level >= 3 && ebb_backend_fuses(trace->backend))
        PASS(ebb_fuse_pointwise(trace->env, graph, &made))
#undef PASS
    *out = status ? NULL : graph;
    if (status) ebb_graph_destroy(graph);
    return status;
}

/* ---- where the recording's values are ------------------------------------------------------- */

/* The given value that this result of an update takes the bytes of, or EBB_NONE. */
static ebb_id target_of(const ebb_graph *graph, const ebb_value *value) {
    const ebb_node *node = value->producer == EBB_NONE ? NULL : &graph->nodes[value->producer];
    for (uint32_t u = 0; node && u < node->op->n_update; u++) {
        const ebb_id target = node->in[node->op->update[u].in];
        if (node->op->update[u].out == value->result && graph->values[target].producer == EBB_NONE)
            return target;
    }
    return EBB_NONE;
}

static void value_place(ebb_traced_program *p, const ebb_graph *graph, uint32_t v, ebb_id id) {
    const ebb_value *value = &graph->values[id];
    const ebb_traced_at at = {.value = v, .id = id, .target = target_of(graph, value)};
    if (at.target != EBB_NONE) {
        for (uint32_t i = 0; i < p->n_params; i++) {
            if (p->params[i].id == at.target) p->params[i].target = at.target;
        }
    }
    if (value->producer == EBB_NONE && ebb_role_persistent(value->role))
        p->params[p->n_params++] = at;
    else if (value->producer == EBB_NONE)
        p->inputs[p->n_inputs++] = at;
    else if (value->role == EBB_ROLE_OUTPUT || at.target != EBB_NONE)
        p->outputs[p->n_outputs++] = at;
}

static ebb_status values_place(ebb_traced_program *p, const ebb_recorded *r) {
    const ebb_graph *graph = p->compiled.graph;
    p->inputs = EBB_NEW(&p->arena, ebb_traced_at, graph->n_values);
    p->params = EBB_NEW(&p->arena, ebb_traced_at, graph->n_values);
    p->outputs = EBB_NEW(&p->arena, ebb_traced_at, graph->n_values);
    if (!p->inputs || !p->params || !p->outputs) return EBB_NO_MEMORY;
    for (ebb_id id = 0; id < graph->n_values; id++) {
        const uint32_t v = ebb_traced_find(r, graph->values[id].name);
        if (v != EBB_NONE) value_place(p, graph, v, id);
    }
    return EBB_OK;
}

/* ---- the program ---------------------------------------------------------------------------- */

static ebb_status plan(ebb_trace *trace, const ebb_recorded *r, ebb_traced_program *p) {
    const ebb_options *options = &trace->options.plan;
    ebb_status status = ebb_compile_query(trace->env, p->compiled.graph, trace->backend, options->costs,
                                          &p->compiled.facts);
    if (!status)
        status =
            ebb_compile_plan(trace->env, p->compiled.facts, trace->backend, options, NULL, &p->compiled);
    if (!status && options->verify) status = ebb_plan_audit(trace->env, p->compiled.plan);
    if (status || trace->options.plan_only) return status;
    const ebb_exec_options exec = {.graph = p->compiled.graph,
                                   .plan = p->compiled.plan,
                                   .backend = trace->backend,
                                   .poison = options->poison,
                                   .no_record = options->no_record};
    status = trace->plugin ? ebb_traced_xla_make(trace, p) : ebb_exec_create(trace->env, &exec, &p->exec);
    if (!status && trace->options.n_profiled > 0)
        status = ebb_profile_create(trace->env, p->compiled.plan->n_steps, trace->options.n_profiled,
                                    &p->profile);
    return status ? status : values_place(p, r);
}

/* A budget is each program's, and one of several may be small and not shrink: which it is. */
static ebb_status refuse_later(ebb_trace *trace, const ebb_recorded *r, uint32_t segment) {
    char text[1024];
    const char *place = r->entries.at[r->segments.at[segment].begin - 1].place;
    (void)snprintf(text, sizeof text, "%s", ebb_env_error(trace->env));
    return ebb_fail(trace->env, EBB_OVER_BUDGET,
                    "%s; it is program %u of the call, of what follows the read of a value%s%s", text,
                    segment, place[0] ? " at " : "", place);
}

ebb_status ebb_program_make(ebb_trace *trace, ebb_recorded *recorded, uint32_t segment,
                            ebb_traced_program **out) {
    *out = NULL;
    ebb_traced_program *p = ebb_calloc(trace->env, 1, sizeof *p);
    if (!p) return EBB_NO_MEMORY;
    ebb_arena_init(&p->arena, trace->env);
    ebb_status status =
        graph_make(trace, recorded, &recorded->segments.at[segment], false, false, &p->compiled.graph);
    const bool empty = !status && p->compiled.graph->n_nodes == 0;
    if (!status && !empty) status = plan(trace, recorded, p);
    if (status == EBB_OVER_BUDGET && segment > 0) status = refuse_later(trace, recorded, segment);
    if (status || empty)
        ebb_traced_program_destroy(trace->env, p);
    else
        *out = p;
    return status;
}

/* ---- what is to be seen of it --------------------------------------------------------------- */

static const ebb_traced_program *program_at(const ebb_trace *trace, uint32_t i) {
    for (uint32_t s = 0; trace->last && s < trace->last->segments.n; s++) {
        const ebb_traced_program *program = trace->last->segments.at[s].program;
        if (program && i-- == 0) return program;
    }
    return NULL;
}

uint32_t ebb_trace_n_programs(const ebb_trace *trace) {
    uint32_t n = 0;
    while (program_at(trace, n)) n++;
    return n;
}

const ebb_plan *ebb_trace_plan(const ebb_trace *trace, uint32_t i) {
    const ebb_traced_program *program = program_at(trace, i);
    return program ? program->compiled.plan : NULL;
}

ebb_status ebb_trace_xla_memory(const ebb_trace *trace, uint32_t i, ebb_xla_memory *out) {
    const ebb_traced_program *program = program_at(trace, i);
    *out = (ebb_xla_memory){0};
    if (!program || !program->xla)
        return ebb_fail(trace->env, EBB_USAGE, "there is no program %u of XLA's, of %u programs", i,
                        ebb_trace_n_programs(trace));
    const ebb_pjrt_memory *m = ebb_xla_program_memory(program->xla);
    *out = (ebb_xla_memory){m->arguments, m->outputs, m->alias, m->temp};
    return EBB_OK;
}

ebb_status ebb_trace_step_times(const ebb_trace *trace, uint32_t i, uint32_t step, ebb_step_times *out) {
    const ebb_traced_program *program = program_at(trace, i);
    if (!program)
        return ebb_fail(trace->env, EBB_USAGE, "there is no program %u of %u", i,
                        ebb_trace_n_programs(trace));
    return ebb_plan_step_times(trace->env, program->compiled.plan, program->profile, step, out);
}

/* The segment of program i, or segment i while there is no program. */
static uint32_t segment_of(const ebb_trace *trace, uint32_t i) {
    const ebb_traced_program *program = program_at(trace, i);
    for (uint32_t s = 0; program && s < trace->last->segments.n; s++) {
        if (trace->last->segments.at[s].program == program) return s;
    }
    return ebb_trace_n_programs(trace) ? EBB_NONE : i;
}

static ebb_status text_make(ebb_trace *trace, uint32_t i, bool unfused, char **out) {
    const uint32_t segment = segment_of(trace, i);
    const ebb_recorded *r = trace->last;
    ebb_graph *graph = NULL;
    ebb_text text;
    *out = NULL;
    if (!r || segment >= r->segments.n)
        return ebb_fail(trace->env, EBB_USAGE, "there is no program %u: %zu segments are recorded", i,
                        r ? r->segments.n : 0);
    ebb_status status =
        graph_make(trace, r, &r->segments.at[segment], trace->options.keep, unfused, &graph);
    if (status) return status;
    ebb_text_init(&text, trace->env);
    ebb_graph_print(&text, graph);
    status = ebb_text_status(&text);
    if (!status) {
        *out = ebb_calloc(trace->env, text.n + 1, 1);
        if (*out)
            memcpy(*out, text.at, text.n);
        else
            status = EBB_NO_MEMORY;
    }
    ebb_text_deinit(&text);
    ebb_graph_destroy(graph);
    return status;
}

ebb_status ebb_trace_text(ebb_trace *trace, uint32_t program, char **out) {
    return text_make(trace, program, false, out);
}

ebb_status ebb_trace_text_unfused(ebb_trace *trace, uint32_t program, char **out) {
    return text_make(trace, program, true, out);
}

void ebb_trace_text_free(ebb_trace *trace, char *text) {
    if (text) ebb_cfree(trace->env, text, strlen(text) + 1, 1);
}
