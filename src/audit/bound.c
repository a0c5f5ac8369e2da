/* The audit of the certificate: no schedule within the plan's budget takes less time than it says. Takes a
 * plan that the stages before have proved. Gives EBB_OK when each op once takes that long, or when the cuts
 * of the certificate prove exactly that. O((graph + certificate) x cuts), integers only, no solver. */
#include "audit/bound.h"

/* ---- the graph ------------------------------------------------------------------------------------- */

static bool make_tables(ebb_bound_check *c) {
    ebb_arena *arena = &c->a->arena;
    size_t n_values = c->a->graph->n_values, n_ops = c->a->graph->n_ops;
    c->root = EBB_NEW(arena, ebb_id, n_values);
    c->offset = EBB_NEW(arena, int64_t, n_values);
    c->first_piece = EBB_NEW(arena, uint32_t, n_values + 1);
    c->must = EBB_NEW(arena, bool, n_ops);
    c->least_ns = EBB_NEW(arena, int64_t, n_ops);
    c->charged = EBB_NEW(arena, int64_t, n_ops);
    c->when = EBB_NEW(arena, uint8_t, n_ops);
    c->carried = EBB_NEW(arena, int64_t, n_ops);
    c->passed = EBB_NEW(arena, int64_t, n_ops);
    c->n_ways_made = EBB_NEW(arena, uint32_t, n_ops);
    return c->root && c->offset && c->first_piece && c->must && c->least_ns && c->charged && c->when &&
           c->carried && c->passed && c->n_ways_made;
}

static void read_graph(ebb_bound_check *c) {
    const ebb_pgraph *graph = c->a->graph;
    for (ebb_id v = 0; v < graph->n_values; v++) c->root[v] = v;
    for (ebb_id i = 0; i < graph->n_ops; i++) {
        const ebb_pop *op = &graph->ops[i];
        for (uint32_t k = 0; k < op->n_views; k++) {
            ebb_id out = op->out[op->views[k].out], base = op->in[op->views[k].in];
            c->root[out] = c->root[base];
            c->offset[out] = c->offset[base] + op->views[k].offset_bytes;
        }
        c->least_ns[i] = op->time_ns;
        for (uint32_t k = 0; k < op->n_alternatives; k++)
            c->least_ns[i] = ebb_min_i64(c->least_ns[i], op->alternatives[k].time_ns);
    }
    memset(c->when, 0, graph->n_ops); /* here: must run, for the sake of a later op */
    for (ebb_id i = graph->n_ops; i-- > 0;) {
        c->must[i] = c->when[i] != 0 || ebb_audit_is_needed(graph, &graph->ops[i]);
        if (!c->must[i]) continue;
        ebb_bound_mark_makers(c, i, c->when, 1);
        c->once_ns += c->least_ns[i]; /* the graph's sums fit */
    }
}

/* What is left for transient bytes beside the fixed and the persistent ones. Given persistent values lie
 * apart from the first step to the last, each from a multiple of the alignment on; only what lies last need
 * not fill its last unit, and another plan may put the one there that leaves most of it. So no schedule can
 * make less of them than all rounded up but that one. */
static void read_budget(ebb_bound_check *c) {
    const ebb_plan *plan = c->a->plan;
    int64_t persistent = 0, slack = 0;
    for (ebb_id v = 0; v < c->a->graph->n_values; v++) {
        const ebb_pvalue *value = &c->a->graph->values[v];
        if (value->producer != EBB_NONE || !ebb_role_persistent(value->role)) continue;
        int64_t rounded = ebb_align_up(value->bytes, plan->alignment);
        persistent += rounded; /* within the plan's region but for the last unit, so it fits */
        slack = ebb_max_i64(slack, rounded - value->bytes);
    }
    int64_t bytes = plan->budget_bytes - c->a->graph->fixed_bytes - (persistent - slack);
    c->budget_units = bytes / plan->alignment + (bytes % plan->alignment > 0);
}

/* ---- the certificate's members ----------------------------------------------------------------- */

#define WHERE EBB_BOUND_WHERE

ebb_status ebb_bound_list(const ebb_bound_check *c, const ebb_json *json, const char *key, size_t of,
                          const ebb_json **out, size_t *n) {
    ebb_status status = ebb_json_array(c->a->env, json, WHERE, key, NULL, out, n);
    if (status != EBB_OK) return status;
    if (*n % of != 0 || *n / of >= EBB_NONE)
        return ebb_fail(c->a->env, EBB_VIOLATION, WHERE ": %s has %zu numbers, which is no multiple of %zu",
                        key, *n, of);
    *n /= of;
    return EBB_OK;
}

static ebb_status read_piece(const ebb_bound_check *c, const ebb_json *list, uint32_t i,
                             ebb_bound_piece *out) {
    const ebb_pgraph *graph = c->a->graph;
    int64_t value = 0, alignment = c->a->plan->alignment;
    ebb_status status = ebb_json_at_i64(c->a->env, list, WHERE ": pieces", 3 * (size_t)i, 0,
                                        (int64_t)graph->n_values - 1, &value);
    if (status == EBB_OK)
        status = ebb_json_at_i64(c->a->env, list, WHERE ": pieces", 3 * (size_t)i + 1, 0,
                                 graph->values[value].bytes, &out->start);
    if (status == EBB_OK)
        status = ebb_json_at_i64(c->a->env, list, WHERE ": pieces", 3 * (size_t)i + 2, 0,
                                 graph->values[value].bytes, &out->end);
    if (status != EBB_OK) return status;
    out->value = (ebb_id)value;
    out->n_units = out->end / alignment + (out->end % alignment > 0) - out->start / alignment -
                   (out->start % alignment > 0);
    bool behind =
        i == 0 || out[-1].value < out->value || (out[-1].value == out->value && out[-1].end <= out->start);
    bool apart = i < EBB_BOUND_MOST_PIECES || out[-EBB_BOUND_MOST_PIECES].value != out->value;
    if (out->start < out->end && behind && apart && c->root[value] == value && !c->a->persistent[value])
        return EBB_OK;
    return ebb_fail(c->a->env, EBB_VIOLATION,
                    WHERE ": pieces[%u], bytes " AUDIT_RANGE " of value %u, is none of its own", i,
                    AUDIT_RANGE_ARGS(out->start, out->end - out->start), out->value);
}

static ebb_status read_pieces(ebb_bound_check *c, const ebb_json *json) {
    const ebb_pgraph *graph = c->a->graph;
    const ebb_json *list = NULL;
    size_t n = 0;
    ebb_status status = ebb_bound_list(c, json, "pieces", 3, &list, &n);
    if (status != EBB_OK) return status;
    ebb_arena *arena = &c->a->arena;
    c->n_pieces = (uint32_t)n;
    c->pieces = EBB_NEW(arena, ebb_bound_piece, n);
    c->held = EBB_NEW(arena, bool, n);
    c->lasts = EBB_NEW(arena, bool, n);
    c->asked = EBB_NEW(arena, int64_t, n);
    c->n_ways_seen = EBB_NEW(arena, uint32_t, n);
    if (!c->pieces || !c->held || !c->lasts || !c->asked || !c->n_ways_seen) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        status = read_piece(c, list, i, &c->pieces[i]);
        if (status != EBB_OK) return status;
        c->first_piece[c->pieces[i].value + 1]++;
    }
    for (ebb_id v = 0; v < graph->n_values; v++) c->first_piece[v + 1] += c->first_piece[v];
    for (ebb_id v = 0; v < graph->n_values; v++) {
        if (graph->values[v].role != EBB_ROLE_OUTPUT) continue;
        for (uint32_t p = c->first_piece[c->root[v]]; p < c->first_piece[c->root[v] + 1]; p++)
            c->lasts[p] = c->lasts[p] || (c->pieces[p].start >= c->offset[v] &&
                                          c->pieces[p].end <= c->offset[v] + graph->values[v].bytes);
    }
    return EBB_OK;
}

/* ---- the bound --------------------------------------------------------------------------------- */

static ebb_status check_cuts(ebb_bound_check *c, bool by_cases) {
    const ebb_plan *plan = c->a->plan;
    const char *text = plan->bound_json ? plan->bound_json : "{}";
    ebb_json *json = NULL;
    int64_t proved = 0;
    if (plan->budget_bytes < 0)
        return ebb_fail(c->a->env, EBB_VIOLATION, WHERE " is of kind %s, but the plan has no budget",
                        plan->bound_kind);
    read_budget(c);
    ebb_status status = ebb_json_parse(c->a->env, WHERE, text, strlen(text), &json);
    if (status == EBB_OK) {
        status = ebb_json_i64(c->a->env, json, WHERE, "scale", 1, INT64_MAX, NULL, &c->scale);
        if (status == EBB_OK) status = read_pieces(c, json);
        if (status == EBB_OK) status = ebb_bound_check_cases(c, json, by_cases, &proved);
        ebb_json_free(json);
    }
    if (status == EBB_BAD_INPUT) return EBB_VIOLATION; /* the text says what is wrong with it */
    if (status != EBB_OK) return status;
    int64_t more = proved / c->scale + (proved % c->scale > 0);
    if (plan->bound_time_ns - c->once_ns == more) return EBB_OK;
    return ebb_fail(c->a->env, EBB_VIOLATION,
                    WHERE "'s bound is %lld ns, but its cuts prove %lld + %lld ns",
                    (long long)plan->bound_time_ns, (long long)c->once_ns, (long long)more);
}

ebb_status ebb_audit_bound(ebb_auditor *a) {
    ebb_bound_check c = {.a = a};
    if (!make_tables(&c)) return EBB_NO_MEMORY;
    read_graph(&c);
    const char *kind = a->plan->bound_kind ? a->plan->bound_kind : "";
    bool by_cases = strcmp(kind, "cut_by_cases") == 0;
    if (by_cases || strcmp(kind, "cut") == 0) return check_cuts(&c, by_cases);
    if (a->plan->bound_time_ns <= c.once_ns) return EBB_OK;
    return ebb_fail(a->env, EBB_VIOLATION,
                    WHERE "'s bound is %lld ns, but each op once takes %lld, and it shows no more",
                    (long long)a->plan->bound_time_ns, (long long)c.once_ns);
}
