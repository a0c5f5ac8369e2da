/* exec/program_check.c: refuses a plan that does not belong to the graph or the backend, and one whose ids
 * or offsets would leave its regions. Whether its lifetimes are right is the audit's question and the
 * shadow backend's, not ours.
 */
#include "exec/program.h"

static ebb_status check_backend(const ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    const ebb_backend_api *api = exec->backend->api;
    if (api->computes && !exec->graph) {
        return ebb_fail(exec->env, EBB_USAGE,
                        "plan of %s: a planning graph has no kernels: run it on backend shadow",
                        plan->graph->name);
    }
    if (api->computes && plan->n_threads != exec->backend->n_threads) {
        return ebb_fail(
            exec->env, EBB_USAGE,
            "plan of %s: made for %u threads, backend %s was created for %u: plan again or create the "
            "backend with the plan's width",
            plan->graph->name, plan->n_threads, api->name, exec->backend->n_threads);
    }
    if (api->computes && (plan->alignment < api->alignment || plan->alignment % api->alignment != 0)) {
        return ebb_fail(
            exec->env, EBB_USAGE, "plan of %s: alignment %lld, backend %s needs a multiple of %lld",
            plan->graph->name, (long long)plan->alignment, api->name, (long long)api->alignment);
    }
    return EBB_OK;
}

static bool same_ids(const ebb_id *a, uint32_t n_a, const ebb_id *b, uint32_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

/* Does the planned op's alternative w read what the node does by its way w? */
static bool same_way(const ebb_node *node, uint32_t w, const ebb_pop *op) {
    ebb_id in[EBB_MAX_OPERANDS];
    uint32_t n_in;
    (void)ebb_node_way(node, w, in, &n_in);
    const ebb_pop_way way = ebb_pop_under(op, w ? w - 1 : EBB_NONE);
    return same_ids(in, n_in, way.in, way.n_in);
}

/* The same of each way, and are these its alternatives? */
static bool same_ways(const ebb_node *node, const ebb_pop *op) {
    const uint32_t n_ways = node->op->n_ways ? node->op->n_ways : 1;
    bool same = op->n_alternatives == n_ways - 1;
    for (uint32_t w = 0; w < n_ways && same; w++) same = same_way(node, w, op);
    return same;
}

/* Of an op with choices: the same, and are the alternatives the backend's own, by name? A plan that was
 * read from a file may be of another device or version. */
static ebb_status check_choices(const ebb_exec *exec, ebb_id node, const ebb_pop *op, bool *same) {
    ebb_alternative_call by;
    bool more = true;
    uint32_t n = 0;
    *same = true;
    ebb_status status = ebb_alternative_first(exec->backend, exec->graph, node, &by);
    for (; status == EBB_OK && more && *same; n++) {
        char name[EBB_ALTERNATIVE_TEXT];
        const ebb_pop_way way = ebb_pop_under(op, n ? n - 1 : EBB_NONE);
        const char *planned = n ? op->alternatives[n - 1].name : op->listed;
        (void)ebb_alternative_name(exec->graph, node, &by, name);
        *same = same_ids(by.ids, by.call.n_in, way.in, way.n_in);
        if (*same && strcmp(planned, name) != 0)
            return ebb_fail(exec->env, EBB_USAGE,
                            "plan of %s: op %u (%s): alternative %.60s, backend %s has \"%s\" there: plan "
                            "for this backend",
                            exec->plan->graph->name, node, op->name, planned, exec->backend->api->name,
                            name);
        status = ebb_alternative_next(exec->backend, exec->graph, node, &by, &more);
        *same = *same && (!more || n < op->n_alternatives);
    }
    *same = *same && n == op->n_alternatives + 1;
    return status;
}

static ebb_status check_graph(const ebb_exec *exec) {
    const ebb_graph *graph = exec->graph;
    const ebb_pgraph *planned = exec->plan->graph;
    if (!graph) return EBB_OK;
    if (graph->n_values != planned->n_values || graph->n_nodes != planned->n_ops) {
        return ebb_fail(exec->env, EBB_USAGE,
                        "plan of %s: %u values and %u ops, graph %s has %u and %u: plan this graph",
                        planned->name, planned->n_values, planned->n_ops, graph->name, graph->n_values,
                        graph->n_nodes);
    }
    for (ebb_id v = 0; v < graph->n_values; v++) {
        const int64_t bytes = ebb_type_bytes(&graph->values[v].type);
        if (bytes == planned->values[v].bytes) continue;
        return ebb_fail(exec->env, EBB_USAGE,
                        "plan of %s: value %s has %lld bytes, the graph's %s has %lld: plan this graph",
                        planned->name, planned->values[v].name, (long long)planned->values[v].bytes,
                        graph->values[v].name, (long long)bytes);
    }
    for (ebb_id i = 0; i < graph->n_nodes; i++) {
        const ebb_node *node = &graph->nodes[i];
        const ebb_pop *op = &planned->ops[i];
        bool same;
        if (op->listed && exec->backend->api->computes) {
            const ebb_status status = check_choices(exec, i, op, &same);
            if (status != EBB_OK) return status;
        } else { /* a checker has no choices of its own: of those of another backend the first is looked at
                  */
            same = op->listed ? same_way(node, 0, op) : same_ways(node, op);
        }
        if (same && same_ids(node->out, node->n_out, op->out, op->n_out)) continue;
        return ebb_fail(exec->env, EBB_USAGE,
                        "plan of %s: op %u (%s) has other operands than the graph's %s: plan this graph",
                        planned->name, i, op->name, node->op->name);
    }
    return EBB_OK;
}

/* Does [offset, offset + bytes) lie in a region of that size? */
static bool inside(int64_t offset, int64_t bytes, int64_t region_bytes) {
    return offset >= 0 && bytes >= 0 && bytes <= region_bytes && offset <= region_bytes - bytes;
}

static ebb_status check_buffers(const ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    const ebb_backend_api *api = exec->backend->api;
    for (ebb_id i = 0; i < plan->n_buffers; i++) {
        const ebb_buffer *b = &plan->buffers[i];
        if (b->value >= plan->graph->n_values) {
            return ebb_fail(exec->env, EBB_BAD_INPUT, "plan: buffer %u: value %u of %u", i, b->value,
                            plan->graph->n_values);
        }
        const ebb_pvalue *value = &plan->graph->values[b->value];
        const int64_t region = b->persistent ? plan->persistent_bytes : plan->arena_bytes;
        const bool aligned = !api->computes || b->bytes == 0 || b->offset % api->alignment == 0;
        if (b->bytes == value->bytes && inside(b->offset, b->bytes, region) && aligned &&
            b->upper <= plan->n_steps)
            continue;
        return ebb_fail(exec->env, EBB_BAD_INPUT,
                        "plan: buffer %u (%s): %lld bytes at offset %lld, until step %u: outside its "
                        "value's %lld bytes, the "
                        "region's %lld, the %u steps or alignment %lld",
                        i, value->name, (long long)b->bytes, (long long)b->offset, b->upper,
                        (long long)value->bytes, (long long)region, plan->n_steps,
                        (long long)api->alignment);
    }
    return EBB_OK;
}

static bool buffers_hold(const ebb_plan *plan, const ebb_id *buffers, uint32_t n, const ebb_id *values,
                         uint32_t n_values) {
    if (n != n_values) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (buffers[i] >= plan->n_buffers || plan->buffers[buffers[i]].value != values[i]) return false;
    }
    return true;
}

static ebb_status check_steps(const ebb_exec *exec) {
    const ebb_plan *plan = exec->plan;
    const ebb_backend_api *api = exec->backend->api;
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        const ebb_plan_step *step = &plan->steps[s];
        if (step->op >= plan->graph->n_ops) {
            return ebb_fail(exec->env, EBB_BAD_INPUT, "plan: step %u: op %u of %u", s, step->op,
                            plan->graph->n_ops);
        }
        const ebb_pop *op = &plan->graph->ops[step->op];
        const bool known = step->alternative == EBB_NONE || step->alternative < op->n_alternatives;
        if (!known) {
            return ebb_fail(exec->env, EBB_USAGE,
                            "plan: step %u (%s): alternative %u: backend %s has none of that number", s,
                            op->name, step->alternative, api->name);
        }
        const ebb_pop_way way = ebb_pop_under(op, step->alternative);
        if (!buffers_hold(plan, step->reads, step->n_reads, way.in, way.n_in) ||
            !buffers_hold(plan, step->writes, step->n_writes, op->out, op->n_out)) {
            return ebb_fail(exec->env, EBB_BAD_INPUT,
                            "plan: step %u (%s): its buffers do not hold the op's operands", s, op->name);
        }
        if (!inside(step->scratch_offset, step->scratch_bytes, plan->arena_bytes) ||
            (api->computes && step->scratch_bytes && step->scratch_offset % api->alignment != 0)) {
            return ebb_fail(
                exec->env, EBB_BAD_INPUT,
                "plan: step %u (%s): %lld scratch bytes at offset %lld: outside the arena's %lld bytes or "
                "alignment %lld",
                s, op->name, (long long)step->scratch_bytes, (long long)step->scratch_offset,
                (long long)plan->arena_bytes, (long long)api->alignment);
        }
    }
    return EBB_OK;
}

ebb_status ebb_program_check(const ebb_exec *exec) {
    ebb_status status = check_backend(exec);
    if (status == EBB_OK) status = check_graph(exec);
    if (status == EBB_OK) status = check_buffers(exec);
    if (status == EBB_OK) status = check_steps(exec);
    return status;
}
