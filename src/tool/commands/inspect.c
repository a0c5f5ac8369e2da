/* ebb inspect: what a model's training graph holds. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

static void print_table(const ebb_model_facts *f, bool planning_graph) {
    out_table table = {0};
    const struct {
        const char *name;
        out_word value;
    } rows[] = {
        {"ops", out_count(f->n_ops)},
        {"  forward", out_count(f->n_forward)},
        {"  backward", out_count(f->n_backward)},
        {"  update", out_count(f->n_update)},
        {"values", out_count(f->n_values)},
        {"parameters", out_bytes(f->param_bytes)},
        {"states", out_bytes(f->state_bytes)},
        {"inputs", out_bytes(f->input_bytes)},
        {"activations", out_bytes(f->activation_bytes)},
        {"gradients", out_bytes(f->gradient_bytes)},
        {"largest scratch", out_bytes(f->scratch_bytes_max)},
        {"predicted time", out_time(f->time_ns)},
    };
    out_safe(stdout, f->name);
    printf(planning_graph ? " (planning graph)\n" : " (%lld parameters)\n", (long long)f->n_param_elements);
    for (size_t i = 0; i < TOOL_COUNT(rows); i++)
        out_row(&table, (const char *const[OUT_COLUMNS]){rows[i].name, rows[i].value.text});
    out_table_print(&table, stdout);
}

static ebb_status print_json(tool *t, const ebb_model_facts *f, bool planning_graph) {
    out_json json;
    out_json_begin(&json, "ebb.inspect/1");
    out_text(&json, "name", f->name);
    out_bool(&json, "planning_graph", planning_graph);
    out_integer(&json, "n_ops", f->n_ops);
    out_integer(&json, "n_forward", f->n_forward);
    out_integer(&json, "n_backward", f->n_backward);
    out_integer(&json, "n_update", f->n_update);
    out_integer(&json, "n_values", f->n_values);
    out_integer(&json, "n_param_elements", f->n_param_elements);
    out_integer(&json, "param_bytes", f->param_bytes);
    out_integer(&json, "state_bytes", f->state_bytes);
    out_integer(&json, "input_bytes", f->input_bytes);
    out_integer(&json, "activation_bytes", f->activation_bytes);
    out_integer(&json, "gradient_bytes", f->gradient_bytes);
    out_integer(&json, "scratch_bytes_max", f->scratch_bytes_max);
    out_integer(&json, "time_ns", f->time_ns);
    return out_json_end(t, &json);
}

ebb_status tool_inspect(tool *t) {
    ebb_options options;
    ebb_model *model = NULL;
    ebb_model_facts facts;
    ebb_status status = tool_options(t, &options);
    if (status != EBB_OK) return status;
    status = tool_model_open(t, &model);
    if (status != EBB_OK) return status;
    status = ebb_model_inspect(t->env, model, t->args.dims, t->args.n_dims, &options, &facts);
    if (status == EBB_OK) {
        bool planning_graph = ebb_model_is_planning_graph(model);
        if (t->args.json || t->args.output) status = print_json(t, &facts, planning_graph);
        if (status == EBB_OK && !t->args.json) print_table(&facts, planning_graph);
    }
    ebb_model_destroy(model);
    return status;
}
