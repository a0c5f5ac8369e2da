/* Reads ebb.plan/1 and checks its form: ids and indices in range, lists as long as the op under its
 * alternative says, nothing negative. Whether the plan is true is the audit's business. */
#include "plan/plan.h"

#include <stdio.h>

#include "plan/json_members.h"

#define PLACE_BYTES    288
#define MAX_FILE_BYTES ((size_t)1 << 30)

typedef struct reader {
    ebb_env *env;
    const char *where;
    ebb_plan *plan;
    size_t n_buffers; /* what ids of buffers may name */
    char place[PLACE_BYTES];
} reader;

static void enter(reader *r, const char *list, size_t i) {
    (void)snprintf(r->place, PLACE_BYTES, "%.160s: %s[%zu]", r->where, list, i);
}

static ebb_status need_i64(const reader *r, const ebb_json *json, const char *key, int64_t max,
                           int64_t *out) {
    return ebb_json_i64(r->env, json, r->place, key, 0, max, NULL, out);
}

static ebb_status need_text(reader *r, const ebb_json *json, const char *key, const char **out) {
    const char *text = NULL;
    ebb_status status = ebb_json_text(r->env, json, r->place, key, NULL, &text);
    if (status != EBB_OK) return status;
    *out = ebb_arena_text(&r->plan->arena, text);
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

/* A list of exactly n buffers. */
static ebb_status read_buffer_ids(reader *r, const ebb_json *json, const char *key, uint32_t n,
                                  const ebb_id **out) {
    const ebb_json *list = NULL;
    size_t count = 0;
    ebb_status status = ebb_json_array(r->env, json, r->place, key, NULL, &list, &count);
    if (status != EBB_OK) return status;
    if (count != n)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: %s has %zu buffers, but the op has %u", r->place, key,
                        count, n);
    ebb_id *ids = EBB_NEW(&r->plan->arena, ebb_id, n);
    if (!ids) return EBB_NO_MEMORY;
    char place[PLACE_BYTES + 16];
    (void)snprintf(place, sizeof place, "%s: %s", r->place, key);
    for (uint32_t i = 0; i < n; i++) {
        int64_t id = 0;
        status = ebb_json_at_i64(r->env, list, place, i, INT64_MIN, INT64_MAX, &id);
        if (status != EBB_OK) return status;
        if (id < 0 || (uint64_t)id >= r->n_buffers)
            return ebb_fail(r->env, EBB_BAD_INPUT, "%s: %s[%u] = %lld is not one of %zu buffers", r->place,
                            key, i, (long long)id, r->n_buffers);
        ids[i] = (ebb_id)id;
    }
    *out = ids;
    return EBB_OK;
}

static ebb_status read_step(reader *r, const ebb_json *json, ebb_plan_step *step) {
    const ebb_pgraph *graph = r->plan->graph;
    int64_t op = 0, alternative = -1;
    bool present;
    if (graph->n_ops == 0)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: the graph has no op to run", r->place);
    ebb_status status = need_i64(r, json, "op", (int64_t)graph->n_ops - 1, &op);
    if (status != EBB_OK) return status;
    const ebb_pop *o = &graph->ops[op];
    status = ebb_json_i64(r->env, json, r->place, "alternative", 0, INT64_MAX, &present, &alternative);
    if (status != EBB_OK) return status;
    if (alternative >= o->n_alternatives)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: alternative = %lld, but op %lld \"%.80s\" has %u",
                        r->place, (long long)alternative, (long long)op, o->name, o->n_alternatives);
    step->op = (ebb_id)op;
    step->alternative = alternative < 0 ? EBB_NONE : (uint32_t)alternative;
    step->n_reads = ebb_pop_under(o, step->alternative).n_in;
    step->n_writes = o->n_out;
    status = ebb_json_bool(r->env, json, r->place, "recompute", NULL, &step->recompute);
    if (status == EBB_OK) status = read_buffer_ids(r, json, "reads", step->n_reads, &step->reads);
    if (status == EBB_OK) status = read_buffer_ids(r, json, "writes", step->n_writes, &step->writes);
    if (status == EBB_OK) status = need_i64(r, json, "scratch_offset", INT64_MAX, &step->scratch_offset);
    if (status == EBB_OK) status = need_i64(r, json, "scratch_bytes", INT64_MAX, &step->scratch_bytes);
    return status;
}

static ebb_status read_region(const reader *r, const ebb_json *json, bool *persistent) {
    const char *region = NULL;
    ebb_status status = ebb_json_text(r->env, json, r->place, "region", NULL, &region);
    if (status != EBB_OK) return status;
    *persistent = strcmp(region, "persistent") == 0;
    if (*persistent || strcmp(region, "transient") == 0) return EBB_OK;
    return ebb_fail(r->env, EBB_BAD_INPUT,
                    "%s: region \"%.80s\" is unknown: it must be transient or persistent", r->place,
                    region);
}

static ebb_status read_buffer(reader *r, const ebb_json *json, size_t i, ebb_buffer *buffer) {
    int64_t id = 0, value = 0, lower = 0, upper = 0;
    int64_t n_values = r->plan->graph->n_values, n_steps = r->plan->n_steps;
    ebb_status status = need_i64(r, json, "id", INT64_MAX, &id);
    if (status == EBB_OK && id != (int64_t)i)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: id = %lld, but ids are list indices: it must be %zu",
                        r->place, (long long)id, i);
    if (status == EBB_OK) status = need_i64(r, json, "value", INT64_MAX, &value);
    if (status == EBB_OK && value >= n_values)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: value = %lld is not one of the graph's %lld", r->place,
                        (long long)value, (long long)n_values);
    if (status == EBB_OK) status = read_region(r, json, &buffer->persistent);
    if (status == EBB_OK) status = need_i64(r, json, "offset", INT64_MAX, &buffer->offset);
    if (status == EBB_OK) status = need_i64(r, json, "bytes", INT64_MAX - buffer->offset, &buffer->bytes);
    if (status == EBB_OK) status = need_i64(r, json, "lower", n_steps, &lower);
    if (status == EBB_OK) status = need_i64(r, json, "upper", n_steps > 0 ? n_steps : 1, &upper);
    if (status != EBB_OK) return status;
    if (lower > upper)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: lower = %lld is past upper = %lld", r->place,
                        (long long)lower, (long long)upper);
    buffer->value = (ebb_id)value;
    buffer->lower = (uint32_t)lower;
    buffer->upper = (uint32_t)upper;
    return EBB_OK;
}

static ebb_status read_tables(reader *r, const ebb_json *json) {
    ebb_plan *plan = r->plan;
    const ebb_json *steps = NULL, *buffers = NULL;
    size_t n_steps = 0;
    ebb_status status = ebb_json_array(r->env, json, r->place, "steps", NULL, &steps, &n_steps);
    if (status == EBB_OK)
        status = ebb_json_array(r->env, json, r->place, "buffers", NULL, &buffers, &r->n_buffers);
    if (status != EBB_OK) return status;
    if (n_steps >= EBB_NONE || r->n_buffers >= EBB_NONE)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: %zu steps and %zu buffers are more than can be named",
                        r->place, n_steps, r->n_buffers);
    plan->n_steps = (uint32_t)n_steps;
    plan->n_buffers = (uint32_t)r->n_buffers;
    ebb_plan_step *s = EBB_NEW(&plan->arena, ebb_plan_step, n_steps);
    ebb_buffer *b = EBB_NEW(&plan->arena, ebb_buffer, r->n_buffers);
    if (!s || !b) return EBB_NO_MEMORY;
    plan->steps = s;
    plan->buffers = b;
    for (size_t i = 0; status == EBB_OK && i < n_steps; i++) {
        enter(r, "steps", i);
        status = read_step(r, ebb_json_at(steps, i), &s[i]);
    }
    for (size_t i = 0; status == EBB_OK && i < r->n_buffers; i++) {
        enter(r, "buffers", i);
        status = read_buffer(r, ebb_json_at(buffers, i), i, &b[i]);
    }
    return status;
}

static ebb_status read_figures(reader *r, const ebb_json *json) {
    ebb_plan *plan = r->plan;
    bool present;
    plan->budget_bytes = -1;
    ebb_status status = need_i64(r, json, "arena_bytes", INT64_MAX, &plan->arena_bytes);
    if (status == EBB_OK)
        status = need_i64(r, json, "persistent_bytes", INT64_MAX, &plan->persistent_bytes);
    if (status == EBB_OK) status = need_i64(r, json, "total_bytes", INT64_MAX, &plan->total_bytes);
    if (status == EBB_OK) status = need_i64(r, json, "max_live_bytes", INT64_MAX, &plan->max_live_bytes);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "budget_bytes", 0, INT64_MAX, &present,
                              &plan->budget_bytes);
    if (status == EBB_OK) status = need_i64(r, json, "time_ns", INT64_MAX, &plan->time_ns);
    const ebb_json *baseline = NULL;
    if (status == EBB_OK) status = ebb_json_object(r->env, json, r->place, "baseline", NULL, &baseline);
    if (status != EBB_OK) return status;
    (void)snprintf(r->place, PLACE_BYTES, "%.160s: baseline", r->where);
    status = need_i64(r, baseline, "arena_bytes", INT64_MAX, &plan->baseline_arena_bytes);
    if (status == EBB_OK)
        status = need_i64(r, baseline, "total_bytes", INT64_MAX, &plan->baseline_total_bytes);
    if (status == EBB_OK) status = need_i64(r, baseline, "time_ns", INT64_MAX, &plan->baseline_time_ns);
    return status;
}

/* The certificate's members besides the two that every plan has, as the text of an object; NULL when there
 * are none. */
static ebb_status keep_members(reader *r, const char *text, size_t n) {
    const char *at = text, *end = text + n;
    ebb_json_member member = {0};
    bool found = false;
    while (!found && ebb_json_member_next(&at, end, &member))
        found = ebb_json_member_is(&member, "certificate");
    if (!found) return EBB_OK;
    ebb_text more;
    ebb_text_init(&more, r->env);
    at = member.value;
    end = member.value + member.n_value;
    while (ebb_json_member_next(&at, end, &member)) {
        if (ebb_json_member_is(&member, "time_ns_lower_bound") || ebb_json_member_is(&member, "kind"))
            continue;
        ebb_text_add(&more, "%s", more.n == 0 ? "{" : ", ");
        ebb_json_member_put(&more, &member);
    }
    ebb_status status = EBB_OK;
    if (more.n > 0 || more.failed) {
        ebb_text_put(&more, "}", 1);
        status = ebb_text_status(&more);
        if (status == EBB_OK) r->plan->bound_json = ebb_arena_text(&r->plan->arena, more.at);
        if (status == EBB_OK && !r->plan->bound_json) status = EBB_NO_MEMORY;
    }
    ebb_text_deinit(&more);
    return status;
}

static ebb_status read_certificate(reader *r, const ebb_json *json, const char *text, size_t n) {
    const ebb_json *certificate = NULL;
    (void)snprintf(r->place, PLACE_BYTES, "%.160s", r->where);
    ebb_status status = ebb_json_object(r->env, json, r->place, "certificate", NULL, &certificate);
    if (status != EBB_OK) return status;
    (void)snprintf(r->place, PLACE_BYTES, "%.160s: certificate", r->where);
    status = need_i64(r, certificate, "time_ns_lower_bound", INT64_MAX, &r->plan->bound_time_ns);
    if (status == EBB_OK) status = need_text(r, certificate, "kind", &r->plan->bound_kind);
    return status == EBB_OK ? keep_members(r, text, n) : status;
}

static ebb_status read_plan(reader *r, const ebb_json *json, const char *text, size_t n) {
    static const char known[] = "ebb.plan/1";
    ebb_plan *plan = r->plan;
    const char *schema = NULL;
    const ebb_json *graph = NULL;
    char graph_where[PLACE_BYTES];
    int64_t n_threads = 0;
    (void)snprintf(r->place, PLACE_BYTES, "%.160s", r->where);
    ebb_status status = ebb_json_text(r->env, json, r->place, "schema", NULL, &schema);
    if (status != EBB_OK) return status;
    if (strcmp(schema, known) != 0)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: schema \"%.80s\" is unknown: it must be %s", r->place,
                        schema, known);
    status = ebb_json_object(r->env, json, r->place, "graph", NULL, &graph);
    if (status != EBB_OK) return status;
    (void)snprintf(graph_where, sizeof graph_where, "%.140s: graph", r->where);
    status = ebb_pgraph_read(r->env, graph_where, graph, &plan->graph);
    if (status == EBB_OK) status = need_text(r, json, "backend", &plan->backend);
    if (status == EBB_OK) status = need_i64(r, json, "n_threads", UINT32_MAX, &n_threads);
    if (status == EBB_OK) status = need_i64(r, json, "alignment", INT64_MAX, &plan->alignment);
    if (status != EBB_OK) return status;
    plan->n_threads = (uint32_t)n_threads;
    if (plan->alignment < 1 || (plan->alignment & (plan->alignment - 1)) != 0)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: alignment = %lld is not a power of two", r->place,
                        (long long)plan->alignment);
    status = read_tables(r, json);
    (void)snprintf(r->place, PLACE_BYTES, "%.160s", r->where);
    if (status == EBB_OK) status = read_figures(r, json);
    if (status == EBB_OK) status = read_certificate(r, json, text, n);
    return status;
}

ebb_status ebb_plan_parse(ebb_env *env, const char *where, const char *text, size_t n, ebb_plan **out) {
    *out = NULL;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_plan *plan = EBB_NEW(&arena, ebb_plan, 1);
    if (!plan) {
        ebb_arena_deinit(&arena);
        return EBB_NO_MEMORY;
    }
    plan->arena = arena; /* the plan lies in its own arena */
    reader r = {.env = env, .where = where, .plan = plan};
    ebb_json *json = NULL;
    ebb_status status = ebb_json_parse(env, where, text, n, &json);
    if (status == EBB_OK) {
        status = read_plan(&r, json, text, n);
        ebb_json_free(json);
    }
    if (status == EBB_OK)
        *out = plan;
    else
        ebb_plan_destroy(plan);
    return status;
}

ebb_status ebb_plan_read(ebb_env *env, const char *path, ebb_plan **out) {
    *out = NULL;
    char *text = NULL;
    size_t n = 0;
    ebb_status status = ebb_file_read(env, path, MAX_FILE_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_plan_parse(env, strcmp(path, "-") == 0 ? "standard input" : path, text, n, out);
    ebb_file_free(env, text, n);
    return status;
}
