/* Prints ebb.plan/1: one step or buffer a line. Writes it to a file in one piece. */
#include "plan/plan.h"

#include "plan/json_members.h"

static void print_ids(ebb_json_out *json, const char *key, const ebb_id *ids, uint32_t n) {
    ebb_json_begin(json, key, '[', false);
    for (uint32_t i = 0; i < n; i++) ebb_json_put_i64(json, NULL, ids[i]);
    ebb_json_end(json, ']');
}

static void print_step(ebb_json_out *json, const ebb_plan_step *step) {
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "op", step->op);
    if (step->alternative == EBB_NONE)
        ebb_json_put_null(json, "alternative");
    else
        ebb_json_put_i64(json, "alternative", step->alternative);
    ebb_json_put_bool(json, "recompute", step->recompute);
    print_ids(json, "reads", step->reads, step->n_reads);
    print_ids(json, "writes", step->writes, step->n_writes);
    ebb_json_put_i64(json, "scratch_offset", step->scratch_offset);
    ebb_json_put_i64(json, "scratch_bytes", step->scratch_bytes);
    ebb_json_end(json, '}');
}

static void print_buffer(ebb_json_out *json, ebb_id id, const ebb_buffer *buffer) {
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "id", id);
    ebb_json_put_i64(json, "value", buffer->value);
    ebb_json_put_text(json, "region", buffer->persistent ? "persistent" : "transient");
    ebb_json_put_i64(json, "offset", buffer->offset);
    ebb_json_put_i64(json, "bytes", buffer->bytes);
    ebb_json_put_i64(json, "lower", buffer->lower);
    ebb_json_put_i64(json, "upper", buffer->upper);
    ebb_json_end(json, '}');
}

static void print_certificate(ebb_json_out *json, const ebb_plan *plan) {
    ebb_json_begin(json, "certificate", '{', false);
    ebb_json_put_i64(json, "time_ns_lower_bound", plan->bound_time_ns);
    ebb_json_put_text(json, "kind", plan->bound_kind);
    const char *at = plan->bound_json ? plan->bound_json : "", *end = at + strlen(at);
    ebb_json_member member;
    while (ebb_json_member_next(&at, end, &member)) {
        ebb_text_put(json->text, ", ", 2);
        ebb_json_member_put(json->text, &member);
    }
    ebb_json_end(json, '}');
}

static void print_figures(ebb_json_out *json, const ebb_plan *plan) {
    ebb_json_put_i64(json, "arena_bytes", plan->arena_bytes);
    ebb_json_put_i64(json, "persistent_bytes", plan->persistent_bytes);
    ebb_json_put_i64(json, "total_bytes", plan->total_bytes);
    ebb_json_put_i64(json, "max_live_bytes", plan->max_live_bytes);
    if (plan->budget_bytes < 0)
        ebb_json_put_null(json, "budget_bytes");
    else
        ebb_json_put_i64(json, "budget_bytes", plan->budget_bytes);
    ebb_json_put_i64(json, "time_ns", plan->time_ns);
    ebb_json_begin(json, "baseline", '{', false);
    ebb_json_put_i64(json, "arena_bytes", plan->baseline_arena_bytes);
    ebb_json_put_i64(json, "total_bytes", plan->baseline_total_bytes);
    ebb_json_put_i64(json, "time_ns", plan->baseline_time_ns);
    ebb_json_end(json, '}');
    print_certificate(json, plan);
}

void ebb_plan_print(ebb_json_out *json, const ebb_plan *plan) {
    ebb_json_begin(json, NULL, '{', true);
    ebb_json_put_text(json, "schema", "ebb.plan/1");
    ebb_pgraph_print(json, "graph", plan->graph);
    ebb_json_put_text(json, "backend", plan->backend);
    ebb_json_put_i64(json, "n_threads", plan->n_threads);
    ebb_json_put_i64(json, "alignment", plan->alignment);
    ebb_json_begin(json, "steps", '[', true);
    for (uint32_t s = 0; s < plan->n_steps; s++) print_step(json, &plan->steps[s]);
    ebb_json_end(json, ']');
    ebb_json_begin(json, "buffers", '[', true);
    for (uint32_t b = 0; b < plan->n_buffers; b++) print_buffer(json, b, &plan->buffers[b]);
    ebb_json_end(json, ']');
    print_figures(json, plan);
    ebb_json_end(json, '}');
}

/* The document's text; to be deinitialised, also on failure. */
static ebb_status plan_text(ebb_env *env, const ebb_plan *plan, ebb_text *text) {
    ebb_text_init(text, env);
    ebb_json_out json;
    ebb_json_out_init(&json, text);
    ebb_plan_print(&json, plan);
    ebb_text_put(text, "\n", 1);
    return ebb_text_status(text);
}

ebb_status ebb_plan_write(ebb_env *env, const ebb_plan *plan, const char *path) {
    ebb_text text;
    ebb_status status = plan_text(env, plan, &text);
    if (status == EBB_OK) status = ebb_file_write(env, path, text.at, text.n);
    ebb_text_deinit(&text);
    return status;
}

ebb_status ebb_plan_print_to(ebb_env *env, const ebb_plan *plan,
                             bool (*put)(void *ctx, const char *text, size_t n), void *ctx) {
    ebb_text text;
    ebb_status status = plan_text(env, plan, &text);
    if (status == EBB_OK && !put(ctx, text.at, text.n))
        status = ebb_fail(env, EBB_NO_MEMORY, "a plan of %zu bytes: the caller did not take it", text.n);
    ebb_text_deinit(&text);
    return status;
}
