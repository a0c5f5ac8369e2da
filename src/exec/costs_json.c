/* exec/costs_json.c: ebb.costs/1 as text and from text. */
#include "exec/costs.h"

#include <stdio.h>

#define MOST_FILE_BYTES ((size_t)1 << 27)
#define MOST_THREADS    4096

static void print_line(ebb_json_out *json, const ebb_cost_line *line) {
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_text(json, "kind", line->kind);
    ebb_json_put_i64(json, "flops_per_us", line->line.flops_per_us);
    ebb_json_put_i64(json, "bytes_per_us", line->line.bytes_per_us);
    ebb_json_put_i64(json, "start_ns", line->line.start_ns);
    ebb_json_put_i64(json, "n_ops", line->n_ops);
    ebb_json_end(json, '}');
}

static void print_row(ebb_json_out *json, const ebb_cost_row *row) {
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_text(json, "op", row->op);
    ebb_json_put_text(json, "kind", row->kind);
    ebb_json_put_i64(json, "flops", row->cost.flops);
    ebb_json_put_i64(json, "bytes", row->cost.bytes);
    ebb_json_put_i64(json, "time_ns", row->time_ns);
    ebb_json_put_i64(json, "least_ns", row->least_ns);
    ebb_json_put_i64(json, "n_uses", row->n_uses);
    ebb_json_end(json, '}');
}

void ebb_costs_print(ebb_json_out *json, const ebb_costs *costs) {
    ebb_json_begin(json, NULL, '{', true);
    ebb_json_put_text(json, "schema", "ebb.costs/1");
    ebb_json_put_text(json, "backend", costs->backend);
    ebb_json_put_i64(json, "n_threads", costs->n_threads);
    ebb_json_put_text(json, "machine", costs->machine);
    if (costs->others.flops_permille > 0) {
        ebb_json_begin(json, "others", '{', false);
        ebb_json_put_i64(json, "flops_permille", costs->others.flops_permille);
        ebb_json_put_i64(json, "bytes_permille", costs->others.bytes_permille);
        ebb_json_end(json, '}');
    }
    ebb_json_begin(json, "lines", '[', true);
    for (size_t i = 0; i < costs->lines.n; i++) print_line(json, &costs->lines.at[i]);
    ebb_json_end(json, ']');
    ebb_json_begin(json, "ops", '[', true);
    for (size_t i = 0; i < costs->rows.n; i++) print_row(json, &costs->rows.at[i]);
    ebb_json_end(json, ']');
    ebb_json_end(json, '}');
}

ebb_status ebb_costs_write(ebb_env *env, const ebb_costs *costs, const char *path) {
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_costs_print(&json, costs);
    ebb_text_add(&text, "\n");
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) status = ebb_file_write(env, path, text.at, text.n);
    ebb_text_deinit(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* An integer member of an element. */
typedef struct member {
    const char *key;
    int64_t min, *out;
} member;

static ebb_status read_members(ebb_env *env, const ebb_json *object, const char *where,
                               const member *members, size_t n) {
    ebb_status status = EBB_OK;
    for (size_t i = 0; i < n && status == EBB_OK; i++)
        status = ebb_json_i64(env, object, where, members[i].key, members[i].min, INT64_MAX, NULL,
                              members[i].out);
    return status;
}

static ebb_status read_line(ebb_costs *costs, const ebb_json *object, const char *where) {
    ebb_cost_line line = {0};
    const member members[] = {{"flops_per_us", 1, &line.line.flops_per_us},
                              {"bytes_per_us", 1, &line.line.bytes_per_us},
                              {"start_ns", 0, &line.line.start_ns},
                              {"n_ops", 0, &line.n_ops}};
    ebb_status status = ebb_json_text(costs->env, object, where, "kind", NULL, &line.kind);
    if (status == EBB_OK) status = read_members(costs->env, object, where, members, EBB_COUNT(members));
    return status == EBB_OK ? ebb_costs_add_line(costs, &line) : status;
}

static ebb_status read_row(ebb_costs *costs, const ebb_json *object, const char *where) {
    ebb_cost_row row = {0};
    const member members[] = {{"flops", 0, &row.cost.flops},
                              {"bytes", 0, &row.cost.bytes},
                              {"time_ns", 0, &row.time_ns},
                              {"least_ns", 0, &row.least_ns},
                              {"n_uses", 1, &row.n_uses}};
    ebb_status status = ebb_json_text(costs->env, object, where, "op", NULL, &row.op);
    if (status == EBB_OK) status = ebb_json_text(costs->env, object, where, "kind", NULL, &row.kind);
    if (status == EBB_OK) status = read_members(costs->env, object, where, members, EBB_COUNT(members));
    return status == EBB_OK ? ebb_costs_add_row(costs, &row) : status;
}

static ebb_status read_list(ebb_costs *costs, const ebb_json *json, const char *path, const char *key,
                            ebb_status (*read)(ebb_costs *costs, const ebb_json *object,
                                               const char *where)) {
    const ebb_json *list = NULL;
    size_t n = 0;
    char where[256];
    ebb_status status = ebb_json_array(costs->env, json, path, key, NULL, &list, &n);
    for (size_t i = 0; i < n && status == EBB_OK; i++) {
        (void)snprintf(where, sizeof where, "%.160s: %s[%zu]", path, key, i);
        status = read(costs, ebb_json_at(list, i), where);
    }
    return status;
}

/* Only a quick look at a machine has it. */
static ebb_status read_others(ebb_costs *costs, const ebb_json *json, const char *path) {
    const ebb_json *object = NULL;
    char where[256];
    bool present = false;
    const member members[] = {{"flops_permille", 1, &costs->others.flops_permille},
                              {"bytes_permille", 1, &costs->others.bytes_permille}};
    const ebb_status status = ebb_json_object(costs->env, json, path, "others", &present, &object);
    if (status != EBB_OK || !present) return status;
    (void)snprintf(where, sizeof where, "%.160s: others", path);
    return read_members(costs->env, object, where, members, EBB_COUNT(members));
}

static ebb_status read_head(ebb_env *env, const ebb_json *json, const char *path, ebb_costs **out) {
    const char *schema = NULL, *backend = NULL, *machine = NULL;
    int64_t n_threads = 0;
    ebb_status status = ebb_json_text(env, json, path, "schema", NULL, &schema);
    if (status != EBB_OK) return status;
    if (strcmp(schema, "ebb.costs/1") != 0)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: schema is \"%.80s\" and must be \"ebb.costs/1\"", path,
                        schema);
    status = ebb_json_text(env, json, path, "backend", NULL, &backend);
    if (status == EBB_OK) status = ebb_json_text(env, json, path, "machine", NULL, &machine);
    if (status == EBB_OK)
        status = ebb_json_i64(env, json, path, "n_threads", 1, MOST_THREADS, NULL, &n_threads);
    return status == EBB_OK ? ebb_costs_create(env, backend, (uint32_t)n_threads, machine, out) : status;
}

ebb_status ebb_costs_read(ebb_env *env, const char *path, ebb_costs **out) {
    size_t n_twice = 0;
    ebb_json *json;
    ebb_costs *costs = NULL;
    *out = NULL;
    ebb_status status = ebb_json_read_file(env, path, MOST_FILE_BYTES, &json);
    if (status == EBB_OK) status = read_head(env, json, path, &costs);
    if (costs)
        status = read_list(costs, json, path, "lines", read_line); /* they are there if all is well */
    if (costs && status == EBB_OK) status = read_list(costs, json, path, "ops", read_row);
    if (costs && status == EBB_OK) status = read_others(costs, json, path);
    ebb_json_free(json);
    if (costs && status == EBB_OK) status = ebb_costs_seal(costs, &n_twice);
    if (status == EBB_OK && n_twice > 0)
        status = ebb_fail(env, EBB_BAD_INPUT, "%s: %zu of its ops or kinds are there twice", path, n_twice);
    if (status == EBB_OK)
        *out = costs;
    else
        ebb_costs_destroy(costs);
    return status;
}
