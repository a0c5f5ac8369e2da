/* Prints ebb.graph/1: one value or op a line, members that have their default left out. */
#include "graph/pgraph.h"

static void print_ids(ebb_json_out *json, const char *key, const ebb_id *ids, uint32_t n) {
    ebb_json_begin(json, key, '[', false);
    for (uint32_t i = 0; i < n; i++) ebb_json_put_i64(json, NULL, ids[i]);
    ebb_json_end(json, ']');
}

static void print_pairs(ebb_json_out *json, const char *key, const ebb_pair *pairs, uint32_t n) {
    ebb_json_begin(json, key, '[', false);
    for (uint32_t i = 0; i < n; i++) {
        ebb_json_begin(json, NULL, '[', false);
        ebb_json_put_i64(json, NULL, pairs[i].out);
        ebb_json_put_i64(json, NULL, pairs[i].in);
        ebb_json_end(json, ']');
    }
    ebb_json_end(json, ']');
}

static void print_views(ebb_json_out *json, const ebb_pop *op) {
    ebb_json_begin(json, "views", '[', false);
    for (uint32_t i = 0; i < op->n_views; i++) {
        ebb_json_begin(json, NULL, '[', false);
        ebb_json_put_i64(json, NULL, op->views[i].out);
        ebb_json_put_i64(json, NULL, op->views[i].in);
        ebb_json_put_i64(json, NULL, op->views[i].offset_bytes);
        ebb_json_end(json, ']');
    }
    ebb_json_end(json, ']');
}

static void print_alternatives(ebb_json_out *json, const ebb_pop *op) {
    ebb_json_begin(json, "alternatives", '[', false);
    for (uint32_t i = 0; i < op->n_alternatives; i++) {
        const ebb_alternative *a = &op->alternatives[i];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "name", a->name);
        if (a->has_inputs) print_ids(json, "inputs", a->in, a->n_in);
        ebb_json_put_i64(json, "time_ns", a->time_ns);
        ebb_json_put_i64(json, "scratch_bytes", a->scratch_bytes);
        if (a->has_in_place) print_pairs(json, "in_place", a->in_place, a->n_in_place);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_value(ebb_json_out *json, const ebb_pgraph *graph, ebb_id id) {
    const ebb_pvalue *value = &graph->values[id];
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "id", id);
    ebb_json_put_text(json, "name", value->name);
    ebb_json_put_i64(json, "bytes", value->bytes);
    ebb_json_put_text(json, "role", ebb_role_name(value->role));
    if (value->shape) ebb_json_put_text(json, "shape", value->shape);
    ebb_json_end(json, '}');
}

static void print_op(ebb_json_out *json, const ebb_pgraph *graph, ebb_id id) {
    const ebb_pop *op = &graph->ops[id];
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "id", id);
    ebb_json_put_text(json, "name", op->name);
    ebb_json_put_text(json, "kind", op->kind);
    ebb_json_put_text(json, "phase", ebb_phase_name(op->phase));
    print_ids(json, "inputs", op->in, op->n_in);
    print_ids(json, "outputs", op->out, op->n_out);
    ebb_json_put_i64(json, "time_ns", op->time_ns);
    ebb_json_put_i64(json, "scratch_bytes", op->scratch_bytes);
    if (!op->recomputable) ebb_json_put_bool(json, "recomputable", false);
    if (op->optional) ebb_json_put_bool(json, "optional", true);
    if (op->ordered) ebb_json_put_bool(json, "ordered", true);
    if (op->n_after > 0) print_ids(json, "after", op->after, op->n_after);
    if (op->n_in_place > 0) print_pairs(json, "in_place", op->in_place, op->n_in_place);
    if (op->n_update > 0) print_pairs(json, "update", op->update, op->n_update);
    if (op->n_views > 0) print_views(json, op);
    if (op->listed) ebb_json_put_text(json, "listed", op->listed);
    if (op->n_alternatives > 0) print_alternatives(json, op);
    ebb_json_end(json, '}');
}

static void print_costs(ebb_json_out *json, const ebb_cost_origin *costs) {
    if (!costs->machine) return;
    ebb_json_begin(json, "costs", '{', false);
    ebb_json_put_text(json, "machine", costs->machine);
    ebb_json_put_text(json, "id", costs->id);
    ebb_json_put_i64(json, "measured", costs->n_measured);
    ebb_json_put_i64(json, "calibrated", costs->n_calibrated);
    ebb_json_put_i64(json, "built_in", costs->n_built_in);
    ebb_json_end(json, '}');
}

void ebb_pgraph_print(ebb_json_out *json, const char *key, const ebb_pgraph *graph) {
    ebb_json_begin(json, key, '{', true);
    ebb_json_put_text(json, "schema", "ebb.graph/1");
    ebb_json_put_text(json, "name", graph->name);
    ebb_json_put_i64(json, "fixed_bytes", graph->fixed_bytes);
    print_costs(json, &graph->costs);
    ebb_json_begin(json, "values", '[', true);
    for (ebb_id i = 0; i < graph->n_values; i++) print_value(json, graph, i);
    ebb_json_end(json, ']');
    ebb_json_begin(json, "ops", '[', true);
    for (ebb_id i = 0; i < graph->n_ops; i++) print_op(json, graph, i);
    ebb_json_end(json, ']');
    ebb_json_end(json, '}');
}
