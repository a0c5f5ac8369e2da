/* json_sources: what came from the files of other commands, as members of ebb.report/1. */
#include "report/views/views.h"

static void print_measured_ops(ebb_json_out *json, const ebb_report *r) {
    const ebb_report_measured *m = &r->measured;
    if (!m->op_ns) {
        ebb_json_put_null(json, "steps");
        ebb_json_put_null(json, "ops");
        return;
    }
    ebb_json_put_i64(json, "ops_ns", m->ops_ns);
    ebb_json_begin(json, "steps", '[', false);
    for (uint32_t s = 0; s < r->n_steps; s++) ebb_json_put_i64(json, NULL, m->op_ns[s]);
    ebb_json_end(json, ']');
    ebb_json_begin(json, "ops", '[', true);
    for (uint32_t i = 0; i < m->n_timed; i++) {
        const ebb_report_timed *row = &m->timed[i];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_i64(json, "op", row->op);
        ebb_json_put_text(json, "name", row->name);
        ebb_json_put_text(json, "kind", row->kind);
        ebb_json_put_i64(json, "n_runs", row->n_runs);
        if (row->bytes >= 0)
            ebb_json_put_i64(json, "bytes", row->bytes);
        else
            ebb_json_put_null(json, "bytes");
        ebb_json_put_i64(json, "predicted_ns", row->predicted_ns);
        ebb_json_put_i64(json, "measured_ns", row->measured_ns);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_measured_kinds(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "kinds", '[', true);
    for (uint32_t i = 0; i < r->measured.n_kinds; i++) {
        const ebb_report_kind *kind = &r->measured.kinds[i];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "kind", kind->kind);
        ebb_json_put_i64(json, "n_steps", kind->n_steps);
        ebb_json_put_i64(json, "n_again", kind->n_again);
        ebb_json_put_i64(json, "predicted_ns", kind->predicted_ns);
        ebb_json_put_i64(json, "measured_ns", kind->measured_ns);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_measured_run(ebb_json_out *json, const ebb_report *r) {
    const ebb_report_measured *m = &r->measured;
    if (!m->present) {
        ebb_json_put_null(json, "measured");
        return;
    }
    ebb_json_begin(json, "measured", '{', true);
    ebb_json_put_i64(json, "n_steps", m->n_steps);
    ebb_json_put_i64(json, "planned_bytes", m->planned_bytes);
    ebb_json_put_i64(json, "allocated_bytes", m->allocated_bytes);
    if (m->resident_bytes < 0)
        ebb_json_put_null(json, "resident_block_bytes");
    else
        ebb_json_put_i64(json, "resident_block_bytes", m->resident_bytes);
    ebb_json_put_i64(json, "process_peak_bytes", m->process_peak_bytes);
    ebb_json_put_i64(json, "mean_step_ns", m->mean_step_ns);
    ebb_json_put_i64(json, "best_step_ns", m->best_step_ns);
    print_measured_ops(json, r);
    print_measured_kinds(json, r);
    ebb_json_end(json, '}');
}

static void print_points(ebb_json_out *json, const char *key, const ebb_report_point *points, uint32_t n) {
    ebb_json_begin(json, key, '[', false);
    for (uint32_t i = 0; i < n; i++) {
        ebb_json_begin(json, NULL, '[', false);
        ebb_json_put_i64(json, NULL, points[i].peak_bytes);
        ebb_json_put_i64(json, NULL, points[i].time_ns);
        ebb_json_end(json, ']');
    }
    ebb_json_end(json, ']');
}

static void print_rounds(ebb_json_out *json, const ebb_report_search *s) {
    ebb_json_begin(json, "rounds", '[', true);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        const ebb_report_round *round = &s->rounds[i];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_i64(json, "search", round->search);
        ebb_json_put_i64(json, "generation", round->round);
        ebb_json_put_i64(json, "n_scored", round->n_scored);
        ebb_json_put_i64(json, "peak_bytes", round->peak_bytes);
        ebb_json_put_i64(json, "time_ns", round->time_ns);
        ebb_json_put_bool(json, "fits", round->fits);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

static void print_search(ebb_json_out *json, const ebb_report *r) {
    const ebb_report_search *s = &r->search;
    if (!s->present) {
        ebb_json_put_null(json, "search");
        return;
    }
    ebb_json_begin(json, "search", '{', true);
    ebb_json_put_text(json, "mode", s->mode);
    ebb_json_put_text(json, "dims", s->dims);
    ebb_json_put_text(json, "about", s->about);
    ebb_json_put_u64(json, "seed", s->seed);
    ebb_json_put_i64(json, "thresh_nr_try", s->thresh_nr_try);
    ebb_json_put_i64(json, "genetic_nr_iter", s->genetic_nr_iter);
    ebb_json_put_i64(json, "genetic_pool_size", s->genetic_pool_size);
    ebb_json_put_i64(json, "lb_memory_bytes", s->lb_memory_bytes);
    ebb_json_put_i64(json, "n_searches", s->n_searches);
    ebb_json_put_i64(json, "n_scored", s->n_scored);
    ebb_json_put_i64(json, "n_left_out", s->n_left_out);
    if (s->limit_bytes >= 0)
        ebb_json_put_i64(json, "limit_bytes", s->limit_bytes);
    else
        ebb_json_put_null(json, "limit_bytes");
    print_rounds(json, s);
    print_points(json, "points", s->points, s->n_points);
    print_points(json, "front", s->front, s->n_front);
    ebb_json_end(json, '}');
}

static void print_batches(ebb_json_out *json, const ebb_report *r) {
    ebb_json_begin(json, "devices", '[', false);
    for (uint32_t i = 0; i < r->n_devices; i++) ebb_json_put_i64(json, NULL, r->devices[i]);
    ebb_json_end(json, ']');
    ebb_json_begin(json, "batches", '[', true);
    for (uint32_t i = 0; i < r->n_batches; i++) {
        const ebb_report_batch *row = &r->batches[i];
        ebb_json_begin(json, NULL, '{', false);
        ebb_json_put_text(json, "mode", ebb_batch_mode_name(row->mode));
        ebb_json_put_i64(json, "batch", row->batch);
        ebb_json_put_i64(json, "total_bytes", row->total_bytes);
        ebb_json_put_i64(json, "time_ns", row->time_ns);
        ebb_json_put_i64(json, "baseline_time_ns", row->baseline_time_ns);
        ebb_json_put_i64(json, "budget_bytes", row->budget_bytes);
        ebb_json_put_bool(json, "answer", row->answer);
        ebb_json_end(json, '}');
    }
    ebb_json_end(json, ']');
}

void ebb_report_json_sources(ebb_json_out *json, const ebb_report *r) {
    print_measured_run(json, r);
    print_search(json, r);
    print_batches(json, r);
}
