/* Reads ebb.graph/1. Forms and types are checked here, with the place; rules are the seal's. Nothing is
 * allocated that the text does not hold. */
#include "graph/planning/read.h"

#include <stdio.h>

ebb_status ebb_read_fault(const ebb_pgraph_reader *r, const char *key, const char *value,
                          const char *wanted) {
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: %s \"%.80s\" is unknown: it must be %s", r->place, key,
                    value, wanted);
}

ebb_status ebb_read_text(ebb_pgraph_reader *r, const ebb_json *object, const char *key, const char **out) {
    const char *text = NULL;
    bool present;
    ebb_status status = ebb_json_text(r->env, object, r->place, key, &present, &text);
    if (status != EBB_OK || !text) return status;
    *out = ebb_arena_text(&r->draft.arena, text);
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

void ebb_read_enter(ebb_pgraph_reader *r, const char *list, size_t i, const ebb_json *object) {
    const char *name = NULL;
    char plain[EBB_PLACE_BYTES];
    bool present;
    (void)snprintf(plain, sizeof plain, "%.160s: %s[%zu]", r->where, list, i);
    memcpy(r->place, plain, sizeof plain);
    if (ebb_json_text(r->env, object, plain, "name", &present, &name) == EBB_OK && name)
        ebb_pgraph_place(r->place, r->where, list, i, name);
}

ebb_status ebb_read_check_id(ebb_pgraph_reader *r, const ebb_json *object, size_t i) {
    int64_t id = 0;
    ebb_status status = ebb_json_i64(r->env, object, r->place, "id", INT64_MIN, INT64_MAX, NULL, &id);
    if (status != EBB_OK || id == (int64_t)i) return status;
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: id = %lld, but ids are list indices: it must be %zu",
                    r->place, (long long)id, i);
}

static ebb_status read_value(ebb_pgraph_reader *r, const ebb_json *json, size_t i) {
    ebb_pvalue value = {0};
    const char *role = NULL;
    ebb_read_enter(r, "values", i, json);
    ebb_read_members(r, json, EBB_MEMBERS_VALUE);
    ebb_status status = ebb_read_check_id(r, json, i);
    if (status == EBB_OK) status = ebb_read_text(r, json, "name", &value.name);
    if (status == EBB_OK) status = ebb_read_text(r, json, "shape", &value.shape);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "bytes", 0, INT64_MAX, NULL, &value.bytes);
    if (status == EBB_OK) status = ebb_json_text(r->env, json, r->place, "role", NULL, &role);
    if (status != EBB_OK) return status;
    while ((unsigned)value.role < EBB_N_ROLES && strcmp(role, ebb_role_name(value.role)) != 0) value.role++;
    if ((unsigned)value.role == EBB_N_ROLES)
        return ebb_read_fault(r, "role", role,
                              "input, constant, param, state, activation, gradient or output");
    return EBB_PUSH(r->env, &r->draft.values, value) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status read_costs(ebb_pgraph_reader *r, const ebb_json *json) {
    ebb_cost_origin *costs = &r->draft.costs;
    const ebb_json *object = NULL;
    const char *text = NULL;
    bool present;
    ebb_status status = ebb_json_object(r->env, json, r->place, "costs", &present, &object);
    if (status != EBB_OK || !present) return status;
    (void)snprintf(r->place, sizeof r->place, "%.160s: costs", r->where);
    const struct { const char *key, **out; } texts[] = {{"machine", &costs->machine}, {"id", &costs->id}};
    for (size_t i = 0; i < EBB_COUNT(texts) && status == EBB_OK; i++) {
        status = ebb_json_text(r->env, object, r->place, texts[i].key, NULL, &text);
        if (status == EBB_OK && !(*texts[i].out = ebb_arena_text(&r->draft.arena, text)))
            status = EBB_NO_MEMORY;
    }
    const struct {
        const char *key;
        int64_t *out;
    } counts[] = {{"measured", &costs->n_measured},
                  {"calibrated", &costs->n_calibrated},
                  {"built_in", &costs->n_built_in}};
    for (size_t i = 0; i < EBB_COUNT(counts) && status == EBB_OK; i++)
        status = ebb_json_i64(r->env, object, r->place, counts[i].key, 0, INT64_MAX, NULL, counts[i].out);
    return status;
}

static ebb_status read_graph(ebb_pgraph_reader *r, const ebb_json *json) {
    static const char known[] = "ebb.graph/1";
    const char *schema = NULL;
    const ebb_json *values = NULL, *ops = NULL;
    bool present;
    (void)snprintf(r->place, sizeof r->place, "%.160s", r->where);
    ebb_status status = ebb_json_text(r->env, json, r->place, "schema", NULL, &schema);
    if (status != EBB_OK) return status;
    if (strcmp(schema, known) != 0) return ebb_read_fault(r, "schema", schema, known);
    ebb_read_members(r, json, EBB_MEMBERS_GRAPH);
    status = ebb_read_text(r, json, "name", &r->draft.name);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "fixed_bytes", 0, INT64_MAX, &present,
                              &r->draft.fixed_bytes);
    if (status == EBB_OK) status = read_costs(r, json);
    (void)snprintf(r->place, sizeof r->place, "%.160s", r->where);
    if (status == EBB_OK)
        status = ebb_json_array(r->env, json, r->place, "values", NULL, &values, &r->n_values);
    if (status == EBB_OK) status = ebb_json_array(r->env, json, r->place, "ops", NULL, &ops, &r->n_ops);
    if (status != EBB_OK) return status;
    if (!EBB_RESERVE(r->env, &r->draft.values, r->n_values) ||
        !EBB_RESERVE(r->env, &r->draft.ops, r->n_ops))
        return EBB_NO_MEMORY;
    for (size_t i = 0; status == EBB_OK && i < r->n_values; i++)
        status = read_value(r, ebb_json_at(values, i), i);
    for (size_t i = 0; status == EBB_OK && i < r->n_ops; i++)
        status = ebb_read_op(r, ebb_json_at(ops, i), i);
    return status;
}

ebb_status ebb_pgraph_read(ebb_env *env, const char *where, const ebb_json *json, ebb_pgraph **out) {
    *out = NULL;
    ebb_pgraph_reader r = {.env = env, .where = where};
    ebb_pdraft_init(&r.draft, env);
    ebb_status status = read_graph(&r, json);
    if (status == EBB_OK) ebb_read_tell_unknown(&r);
    if (status == EBB_OK) return ebb_pdraft_seal(&r.draft, where, out);
    ebb_pdraft_deinit(&r.draft);
    return status;
}

ebb_status ebb_pgraph_parse(ebb_env *env, const char *where, const char *text, size_t n, ebb_pgraph **out) {
    *out = NULL;
    ebb_json *json = NULL;
    ebb_status status = ebb_json_parse(env, where, text, n, &json);
    if (status != EBB_OK) return status;
    status = ebb_pgraph_read(env, where, json, out);
    ebb_json_free(json);
    return status;
}
