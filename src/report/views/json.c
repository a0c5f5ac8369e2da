/* json: the whole report as ebb.report/1, described in docs/formats.md. */
#include "report/views/views.h"
#include "report/words/words.h"

static void put_budget(ebb_json_out *json, const ebb_report *r) {
    if (r->budget_bytes < 0) {
        ebb_json_put_null(json, "fits");
        ebb_json_put_null(json, "budget_bytes");
        ebb_json_put_null(json, "headroom_bytes");
        return;
    }
    ebb_json_put_bool(json, "fits", r->total_bytes <= r->budget_bytes);
    ebb_json_put_i64(json, "budget_bytes", r->budget_bytes);
    ebb_json_put_i64(json, "headroom_bytes", r->budget_bytes - r->total_bytes);
}

static void print_verdict(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "verdict", '{', true);
    put_budget(json, r);
    ebb_json_put_i64(json, "total_bytes", r->total_bytes);
    ebb_json_put_i64(json, "arena_bytes", r->arena_bytes);
    ebb_json_put_i64(json, "persistent_bytes", r->persistent_bytes);
    ebb_json_put_i64(json, "fixed_bytes", r->fixed_bytes);
    ebb_json_put_i64(json, "peak_bytes", r->peak_bytes);
    ebb_json_put_i64(json, "peak_step", r->peak_step);
    ebb_json_put_i64(json, "max_live_bytes", r->max_live_bytes);
    ebb_json_put_i64(json, "holes_bytes", r->holes_bytes);
    ebb_json_put_i64(json, "baseline_arena_bytes", r->baseline_arena_bytes);
    ebb_json_put_i64(json, "baseline_total_bytes", r->baseline_total_bytes);
    ebb_json_put_i64(json, "baseline_time_ns", r->baseline_time_ns);
    ebb_json_put_i64(json, "time_ns", r->time_ns);
    ebb_json_put_i64(json, "added_ns", r->time_ns - r->baseline_time_ns);
    ebb_json_put_i64(json, "bound_time_ns", r->bound_time_ns);
    ebb_json_put_text(json, "bound_kind", r->bound_kind);
    ebb_json_put_i64(json, "n_recomputed", r->n_recomputed);
    ebb_json_end(json, '}');
}

static void print_categories(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "categories", '[', true);
    for (int c = 0; c < EBB_N_CATEGORIES; c++) {
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "category", ebb_category_name((ebb_category)c));
        ebb_json_put_i64(json, "peak_bytes", r->steps[r->peak_step].bytes[c]);
        ebb_json_put_i64(json, "most_bytes", r->most_bytes[c]);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_bands(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "phases", '[', true);
    for (uint32_t i = 0; i < r->n_bands; i++) {
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "phase", ebb_phase_name(r->bands[i].phase));
        ebb_json_put_i64(json, "lower", r->bands[i].lower);
        ebb_json_put_i64(json, "upper", r->bands[i].upper);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_steps(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "steps", '[', true);
    for (uint32_t s = 0; s < r->n_steps; s++) {
        const ebb_report_step *step = &r->steps[s];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_i64(json, "op", step->op);
        ebb_json_put_text(json, "name", step->name);
        ebb_json_put_text(json, "kind", step->kind);
        ebb_json_put_text(json, "phase", ebb_phase_name(step->phase));
        ebb_json_put_bool(json, "recompute", step->recompute);
        ebb_json_put_i64(json, "start_ns", step->start_ns);
        ebb_json_put_i64(json, "time_ns", step->time_ns);
        ebb_json_put_i64(json, "scratch_offset", step->scratch_offset);
        ebb_json_put_i64(json, "live_bytes", step->live_bytes);
        ebb_json_begin(json, "bytes", '[', false);
        for (int c = 0; c < EBB_N_CATEGORIES; c++) ebb_json_put_i64(json, NULL, step->bytes[c]);
        ebb_json_end(json, ']');
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void put_id(ebb_json_out *json, const char *key, uint32_t id) {
    if (id == EBB_NONE)
        ebb_json_put_null(json, key);
    else
        ebb_json_put_i64(json, key, id);
}

static void print_life(ebb_json_out *json, const ebb_report *r, ebb_id b, ebb_text *why) {
    const ebb_report_life *life = &r->lives[b];
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "id", b);
    ebb_json_put_i64(json, "value", life->value);
    ebb_json_put_text(json, "name", life->name);
    if (life->shape[0] != '\0')
        ebb_json_put_text(json, "shape", life->shape);
    else
        ebb_json_put_null(json, "shape");
    ebb_json_put_text(json, "role", ebb_role_name(life->role));
    ebb_json_put_text(json, "category", ebb_category_name(life->category));
    ebb_json_put_text(json, "fate", ebb_fate_name(life->fate));
    ebb_json_put_bool(json, "recomputed", life->recomputed);
    ebb_json_put_text(json, "region", life->persistent ? "persistent" : "transient");
    ebb_json_put_i64(json, "offset", life->offset);
    ebb_json_put_i64(json, "bytes", life->bytes);
    ebb_json_put_i64(json, "lower", life->lower);
    ebb_json_put_i64(json, "upper", life->upper);
    put_id(json, "writer", life->writer);
    ebb_json_put_text(json, "join", life->join == EBB_JOIN_NONE ? NULL : ebb_join_name(life->join));
    put_id(json, "joined", life->joined);
    put_id(json, "owner", life->owner);
    put_id(json, "until", life->until);
    ebb_json_put_i64(json, "held_bytes", life->held_bytes);
    put_id(json, "next", life->next);
    why->n = 0;
    ebb_report_why(why, r, b);
    ebb_json_put_text(json, "why", why->at);
    ebb_json_end(json, '}');
}

static void print_alive(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "alive_at_peak", '[', true);
    for (uint32_t i = 0; i < r->n_alive; i++) {
        const ebb_report_alive *row = &r->alive[i];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_i64(json, "tensor", row->buffer);
        ebb_json_put_i64(json, "held_bytes", row->held_bytes);
        ebb_json_put_text(json, "drop", ebb_drop_name(row->drop));
        if (row->drop == EBB_DROP_CAN) {
            ebb_json_put_i64(json, "gap_lower", row->gap_lower);
            ebb_json_put_i64(json, "gap_upper", row->gap_upper);
            ebb_json_put_i64(json, "drop_peak_bytes", row->drop_peak_bytes);
            ebb_json_put_i64(json, "drop_ns", row->drop_ns);
        }
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_again(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "run_again", '[', true);
    for (uint32_t i = 0; i < r->n_again; i++) {
        const ebb_report_again *row = &r->again[i];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_i64(json, "op", row->op);
        ebb_json_put_text(json, "name", row->name);
        ebb_json_put_text(json, "kind", row->kind);
        ebb_json_put_i64(json, "n_runs", row->n_runs);
        ebb_json_put_i64(json, "added_ns", row->added_ns);
        ebb_json_put_i64(json, "saved_bytes", row->saved_bytes);
        ebb_json_put_i64(json, "saved_at_peak_bytes", row->saved_peak);
        if (row->bytes_per_ms < 0)
            ebb_json_put_null(json, "bytes_per_ms");
        else
            ebb_json_put_i64(json, "bytes_per_ms", row->bytes_per_ms);
        ebb_json_put_i64(json, "gap_lower", row->gap_lower);
        ebb_json_put_i64(json, "gap_upper", row->gap_upper);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

void ebb_report_json(ebb_text *out, const ebb_report *r) {
    ebb_json_out json;
    ebb_text why;
    ebb_json_out_init(&json, out);
    ebb_text_init(&why, out->env);
    ebb_json_begin(&json, NULL, '{', true);
    ebb_json_put_text(&json, "schema", "ebb.report/1");
    ebb_json_put_text(&json, "graph", r->graph_name);
    ebb_json_put_text(&json, "backend", r->backend);
    ebb_json_put_i64(&json, "n_threads", r->n_threads);
    ebb_json_put_i64(&json, "alignment", r->alignment);
    print_verdict(&json, r);
    print_categories(&json, r);
    print_bands(&json, r);
    print_steps(&json, r);
    ebb_json_begin(&json, "tensors", '[', true);
    for (ebb_id b = 0; b < r->n_lives; b++) print_life(&json, r, b, &why);
    ebb_json_end(&json, ']');
    print_alive(&json, r);
    print_again(&json, r);
    ebb_report_json_sources(&json, r);
    ebb_json_end(&json, '}');
    ebb_text_add(out, "\n");
    out->failed = out->failed || why.failed;
    ebb_text_deinit(&why);
}
