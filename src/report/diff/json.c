/* diff_json: a diff as ebb.diff/1, described in docs/formats.md. */
#include "report/diff/diff.h"

static void print_side(ebb_json_out *json, const char *key, const ebb_diff_side *side) {
    if (!side->present) {
        ebb_json_put_null(json, key);
        return;
    }
    ebb_json_begin(json, key, '{', false);
    ebb_json_put_i64(json, "value", side->value);
    ebb_json_put_i64(json, "n_lives", side->n_lives);
    ebb_json_put_text(json, "category", ebb_category_name(side->category));
    ebb_json_put_text(json, "fate", ebb_fate_name(side->fate));
    ebb_json_put_text(json, "region", side->persistent ? "persistent" : "transient");
    ebb_json_put_i64(json, "offset", side->offset);
    ebb_json_put_i64(json, "bytes", side->bytes);
    ebb_json_put_i64(json, "peak_bytes", side->peak_bytes);
    ebb_json_end(json, '}');
}

static void print_figures(ebb_json_out *json, const ebb_diff *d) {
    ebb_json_begin(json, "figures", '[', true);
    for (size_t i = 0; i < EBB_DIFF_FIGURES; i++) {
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "figure", d->figures[i].name);
        ebb_json_put_i64(json, "a", d->figures[i].a);
        ebb_json_put_i64(json, "b", d->figures[i].b);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_layers(ebb_json_out *json, const ebb_diff *d) {
    ebb_json_put_i64(json, "n_layers", d->n_layers_all);
    ebb_json_begin(json, "layers", '[', true);
    for (uint32_t i = 0; i < d->n_layers; i++) {
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "layer", d->layers[i].name);
        ebb_json_put_i64(json, "a_peak_bytes", d->layers[i].a_peak_bytes);
        ebb_json_put_i64(json, "b_peak_bytes", d->layers[i].b_peak_bytes);
        ebb_json_put_i64(json, "a_ns", d->layers[i].a_ns);
        ebb_json_put_i64(json, "b_ns", d->layers[i].b_ns);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_tensors(ebb_json_out *json, const ebb_diff *d) {
    ebb_json_begin(json, "changes", '{', false);
    for (int c = 0; c < EBB_N_CHANGES; c++)
        ebb_json_put_i64(json, ebb_change_name((ebb_change)c), d->n_changes[c]);
    ebb_json_end(json, '}');
    ebb_json_begin(json, "tensors", '[', true);
    for (uint32_t i = 0; i < d->n_tensors; i++) {
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "name", d->tensors[i].name);
        ebb_json_put_text(json, "change", ebb_change_name(d->tensors[i].change));
        print_side(json, "a", &d->tensors[i].a);
        print_side(json, "b", &d->tensors[i].b);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

void ebb_diff_json(ebb_text *out, const ebb_diff *d) {
    ebb_json_out json;
    ebb_json_out_init(&json, out);
    ebb_json_begin(&json, NULL, '{', true);
    ebb_json_put_text(&json, "schema", "ebb.diff/1");
    ebb_json_put_text(&json, "a", d->a_where);
    ebb_json_put_text(&json, "b", d->b_where);
    ebb_json_put_text(&json, "a_graph", d->a_graph);
    ebb_json_put_text(&json, "b_graph", d->b_graph);
    ebb_json_put_bool(&json, "same_graph", d->same_graph);
    ebb_json_put_i64(&json, "n_names", d->n_names);
    ebb_json_put_i64(&json, "n_shared_names", d->n_shared);
    ebb_json_put_text(&json, "rule", d->rule);
    ebb_json_put_text(&json, "fault", d->fault);
    print_figures(&json, d);
    print_layers(&json, d);
    print_tensors(&json, d);
    ebb_json_end(&json, '}');
    ebb_text_add(out, "\n");
}
