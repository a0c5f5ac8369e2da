/* xla/hlo/module.c: a plan's steps as one function: arguments, bodies, results. */
#include "xla/hlo/module.h"

#include <stdio.h>

/* ---- what is not emitted ---- */

static bool emitted(const hlo_module *m, const ebb_plan_step *step) {
    if (!hlo_table[m->graph->nodes[step->op].op->code]) return false;
    for (uint32_t i = 0; i < step->n_reads + step->n_writes; i++) {
        const ebb_id b = i < step->n_reads ? step->reads[i] : step->writes[i - step->n_reads];
        if (hlo_kind_of(hlo_value_of(m, b)->type.dtype) == HLO_NONE) return false;
    }
    return true;
}

/* All of them in one error, each once. */
static ebb_status check_ops(const hlo_module *m) {
    char names[600] = "";
    size_t n = 0;
    bool seen[EBB_N_OPS] = {false};
    for (uint32_t s = 0; s < m->plan->n_steps; s++) {
        const ebb_plan_step *step = &m->plan->steps[s];
        const ebb_op_info *op = m->graph->nodes[step->op].op;
        if (seen[op->code] || emitted(m, step)) continue;
        seen[op->code] = true;
        if (n < sizeof names - 1) {
            const ebb_id b = step->n_writes ? step->writes[0] : step->reads[0];
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s of %s", n ? ", " : "", op->name,
                                  ebb_dtype_name(hlo_value_of(m, b)->type.dtype));
        }
    }
    if (names[0] == '\0') return EBB_OK;
    return ebb_fail(m->arena->env, EBB_UNAVAILABLE,
                    "backend xla: %s has ops without a form for XLA: %s: leave out --backend xla",
                    m->graph->name, names);
}

/* ---- the signature ---- */

static ebb_status find_arguments(hlo_module *m) {
    ebb_hlo_signature *s = m->signature;
    s->arguments = EBB_NEW(m->arena, ebb_id, m->graph->n_values);
    s->keyed = EBB_NEW(m->arena, ebb_id, m->graph->n_nodes);
    m->key_of = EBB_NEW(m->arena, uint32_t, m->graph->n_nodes);
    if (!s->arguments || !s->keyed || !m->key_of) return EBB_NO_MEMORY;
    for (uint32_t b = 0; b < m->plan->n_buffers; b++)
        if (hlo_value_of(m, b)->producer == EBB_NONE)
            s->arguments[s->n_arguments++] = m->plan->buffers[b].value;
    for (uint32_t i = 0; i < m->graph->n_nodes; i++) {
        if (m->graph->nodes[i].op->effect != EBB_SEEDED) continue;
        m->key_of[i] = s->n_keys;
        s->keyed[s->n_keys++] = i;
    }
    return EBB_OK;
}

/* Of each given value its next one, or EBB_NONE. */
static ebb_id *find_updates(const hlo_module *m) {
    ebb_id *next = EBB_NEW(m->arena, ebb_id, m->graph->n_values);
    if (!next) return NULL;
    for (uint32_t v = 0; v < m->graph->n_values; v++) next[v] = EBB_NONE;
    for (uint32_t i = 0; i < m->graph->n_nodes; i++) {
        const ebb_node *node = &m->graph->nodes[i];
        for (uint32_t k = 0; k < node->op->n_update; k++) {
            const ebb_id target = node->in[node->op->update[k].in];
            if (m->graph->values[target].producer == EBB_NONE)
                next[target] = node->out[node->op->update[k].out];
        }
    }
    return next;
}

static uint32_t argument_of(const ebb_hlo_signature *s, ebb_id value) {
    uint32_t i = 0;
    while (i < s->n_arguments && s->arguments[i] != value) i++;
    return i;
}

/* results[i] of a param or state is the given value; which computed one it is, into from. */
static ebb_status find_results(hlo_module *m, const ebb_id *next, ebb_id *from) {
    ebb_hlo_signature *s = m->signature;
    s->results = EBB_NEW(m->arena, ebb_id, m->graph->n_values);
    s->updates = EBB_NEW(m->arena, uint32_t, m->graph->n_values);
    if (!s->results || !s->updates) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < m->graph->n_values; v++) {
        const ebb_value *value = &m->graph->values[v];
        const bool computed = value->producer != EBB_NONE, all = m->options->keep_all;
        const bool output = computed && (value->role == EBB_ROLE_OUTPUT || (all && m->last[v] != EBB_NONE));
        if (!output && (all || next[v] == EBB_NONE)) continue;
        s->updates[s->n_results] = output ? EBB_NONE : argument_of(s, v);
        from[s->n_results] = output ? v : next[v];
        s->results[s->n_results++] = v;
    }
    return EBB_OK;
}

/* ---- arguments and results as text ---- */

static hlo_value put_argument(hlo_module *m, hlo_type type, uint32_t result, bool first) {
    const hlo_value v = {m->h.n++, -1, type};
    ebb_text_add(m->h.text, "%s%%v%u: ", first ? "" : ", ", v.number);
    hlo_put_type(&m->h, &type);
    if (result != EBB_NONE) ebb_text_add(m->h.text, " {tf.aliasing_output = %u : i32}", result);
    return v;
}

static void put_head(hlo_module *m, const ebb_id *from) {
    const ebb_hlo_signature *s = m->signature;
    uint32_t n = 0;
    ebb_text_add(m->h.text, "module @step {\n  func.func public @main(");
    for (uint32_t b = 0; b < m->plan->n_buffers; b++) {
        const ebb_value *value = hlo_value_of(m, b);
        uint32_t result = EBB_NONE;
        if (value->producer != EBB_NONE) continue;
        for (uint32_t i = 0; i < s->n_results; i++)
            if (s->updates[i] == n) result = i;
        m->held[b] = put_argument(m, hlo_type_of(&value->type), result, n == 0);
        n++;
    }
    if (s->n_keys > 0) {
        const hlo_type keys = hlo_shape(HLO_U64, 1, (const int64_t[]){s->n_keys});
        m->keys = put_argument(m, keys, EBB_NONE, n == 0);
        m->steps = put_argument(m, keys, EBB_NONE, false);
    }
    ebb_text_add(m->h.text, ") -> (");
    for (uint32_t i = 0; i < s->n_results; i++) {
        const hlo_type type = hlo_type_of(&m->graph->values[from[i]].type);
        if (i) ebb_text_add(m->h.text, ", ");
        hlo_put_type(&m->h, &type);
    }
    ebb_text_add(m->h.text, ") {\n");
}

static void put_tail(hlo_module *m, const ebb_id *from) {
    const ebb_hlo_signature *s = m->signature;
    ebb_text_add(m->h.text, "    return ");
    for (uint32_t i = 0; i < s->n_results; i++) {
        if (i) ebb_text_add(m->h.text, ", ");
        hlo_put_value(&m->h, &m->held[m->last[from[i]]]);
    }
    for (uint32_t i = 0; i < s->n_results; i++) {
        ebb_text_add(m->h.text, i ? ", " : " : ");
        hlo_put_type(&m->h, &m->held[m->last[from[i]]].type);
    }
    ebb_text_add(m->h.text, "\n  }\n}\n");
}

/* ---- steps ---- */

/* One of the arrays' elements, as a scalar. */
static hlo_value element(hlo_module *m, hlo_value of, uint32_t i) {
    const int64_t first = i, last = (int64_t)i + 1, step = 1;
    const hlo_value one = hlo_slice(&m->h, of, &first, &last, &step);
    return hlo_reshape(&m->h, one, hlo_shape(HLO_U64, 0, NULL));
}

/* Where the condition is false, what the call updates stays as it was. */
static void hold(hlo_op *op, const ebb_call *call) {
    const ebb_op_info *info = call->op;
    if (!info->conditional || call->n_in < info->max_in) return;
    for (uint32_t k = 0; k < info->n_update; k++) {
        const ebb_pair pair = info->update[k];
        const hlo_value applies = hlo_everywhere(op->to, op->in[call->n_in - 1], op->out[pair.out].type);
        op->out[pair.out] = hlo_select(op->to, applies, op->out[pair.out], op->in[pair.in]);
    }
}

/* Numbers of 16 bits are stored so and computed with in f32, as by our kernels. */
static bool widened(ebb_type *type) {
    const bool is = type->dtype == EBB_F16 || type->dtype == EBB_BF16;
    if (is) type->dtype = EBB_F32;
    return is;
}

static void put_step(hlo_module *m, const ebb_plan_step *step) {
    const ebb_node *node = &m->graph->nodes[step->op];
    ebb_id ids[EBB_MAX_OPERANDS];
    ebb_type in_types[EBB_MAX_OPERANDS], out_types[EBB_MAX_RESULTS];
    hlo_value in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    const ebb_call call = ebb_node_call(m->graph, node, 0, ids, in_types, out_types);
    for (uint32_t i = 0; i < step->n_reads; i++) in[i] = m->held[step->reads[i]];
    if (m->ordered) hlo_order_update(m, step, in);
    for (uint32_t i = 0; i < step->n_reads; i++) {
        if (widened(&in_types[i])) in[i] = hlo_convert(&m->h, HLO_F32, in[i]);
    }
    for (uint32_t k = 0; k < step->n_writes; k++) (void)widened(&out_types[k]);
    hlo_op op = {.to = &m->h, .call = &call, .in = in, .out = out, .ordered = m->ordered};
    if (node->op->effect == EBB_SEEDED) {
        op.key = element(m, m->keys, m->key_of[step->op]);
        op.step = element(m, m->steps, m->key_of[step->op]);
    }
    hlo_table[node->op->code](&op);
    hold(&op, &call);
    for (uint32_t k = 0; k < step->n_writes; k++)
        out[k] = hlo_convert(&m->h, hlo_kind_of(hlo_value_of(m, step->writes[k])->type.dtype), out[k]);
    if (m->options->keep_all) hlo_barrier(&m->h, out, step->n_writes);
    for (uint32_t k = 0; k < step->n_writes; k++) {
        m->held[step->writes[k]] = out[k];
        m->last[m->plan->buffers[step->writes[k]].value] = step->writes[k];
    }
}

static ebb_status put_steps(hlo_module *m) {
    const ebb_plan *plan = m->plan;
    ebb_status status = EBB_OK;
    uint32_t n_runs = 0;
    for (uint32_t s = 0; s < plan->n_steps && status == EBB_OK; s++) {
        const bool begins = plan->steps[s].recompute && (s == 0 || !plan->steps[s - 1].recompute);
        uint32_t end = s;
        while (begins && end < plan->n_steps && plan->steps[end].recompute) end++;
        if (begins && !m->options->no_barriers) status = hlo_order_run(m, s, end, ++n_runs);
        put_step(m, &plan->steps[s]);
    }
    return status;
}

ebb_status ebb_hlo_emit(ebb_arena *arena, const ebb_graph *graph, const ebb_plan *plan,
                        const ebb_hlo_options *options, ebb_text *text, ebb_hlo_signature *out) {
    hlo_module m = {.arena = arena,
                    .h = {.text = text},
                    .graph = graph,
                    .plan = plan,
                    .options = options,
                    .ordered = !options->keep_all && !options->no_barriers && !options->by_barriers,
                    .signature = out,
                    .held = EBB_NEW(arena, hlo_value, plan->n_buffers),
                    .run = EBB_NEW(arena, uint32_t, plan->n_buffers),
                    .last = EBB_NEW(arena, ebb_id, graph->n_values)};
    ebb_id *from = EBB_NEW(arena, ebb_id, graph->n_values);
    *out = (ebb_hlo_signature){0};
    if (!m.held || !m.run || !m.last || !from) return EBB_NO_MEMORY;
    ebb_status status = check_ops(&m);
    if (!status) status = find_arguments(&m);
    for (uint32_t v = 0; v < graph->n_values; v++) m.last[v] = EBB_NONE;
    for (uint32_t b = 0; b < plan->n_buffers; b++) m.last[plan->buffers[b].value] = b;
    const ebb_id *next = status ? NULL : find_updates(&m);
    if (!status) status = next ? find_results(&m, next, from) : EBB_NO_MEMORY;
    if (status) return status;
    put_head(&m, from);
    status = put_steps(&m);
    if (status) return status;
    put_tail(&m, from);
    return ebb_text_status(text);
}
