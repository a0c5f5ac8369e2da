/* Reads ebb.graph/1. Forms and types are checked here, with the place; rules are the seal's. Nothing is
 * allocated that the text does not hold: lists are as long as the file's own. */
#include "graph/planning/planning.h"

#include <stdio.h>

#define LIST_PLACE_BYTES (EBB_PLACE_BYTES + 64)

typedef struct reader {
    ebb_env *env;
    const char *where;
    ebb_pdraft draft;
    size_t n_values, n_ops; /* what ids may name */
    char place[EBB_PLACE_BYTES];
} reader;

static ebb_status fault(const reader *r, const char *key, const char *value, const char *wanted) {
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: %s \"%.80s\" is unknown: it must be %s", r->place, key,
                    value, wanted);
}

static ebb_status copy_text(reader *r, const ebb_json *object, const char *key, const char **out) {
    const char *text = NULL;
    bool present;
    ebb_status status = ebb_json_text(r->env, object, r->place, key, &present, &text);
    if (status != EBB_OK || text == NULL) return status;
    *out = ebb_arena_text(&r->draft.arena, text);
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

/* Sets the place for errors about element i of a top list; the name may be missing or no text. */
static void enter(reader *r, const char *list, size_t i, const ebb_json *object) {
    const char *name = NULL;
    char plain[EBB_PLACE_BYTES];
    bool present;
    (void)snprintf(plain, sizeof plain, "%.160s: %s[%zu]", r->where, list, i);
    memcpy(r->place, plain, sizeof plain);
    if (ebb_json_text(r->env, object, plain, "name", &present, &name) == EBB_OK && name != NULL)
        ebb_pgraph_place(r->place, r->where, list, i, name);
}

static ebb_status check_id(reader *r, const ebb_json *object, size_t i) {
    int64_t id = 0;
    ebb_status status = ebb_json_i64(r->env, object, r->place, "id", INT64_MIN, INT64_MAX, NULL, &id);
    if (status != EBB_OK || id == (int64_t)i) return status;
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: id = %lld, but ids are list indices: it must be %zu",
                    r->place, (long long)id, i);
}

static void list_place(const reader *r, const char *prefix, const char *key, char place[LIST_PLACE_BYTES]) {
    (void)snprintf(place, LIST_PLACE_BYTES, "%s: %s%s", r->place, prefix, key);
}

/* The array in member key; absent is empty unless required. */
static ebb_status open_list(reader *r, const ebb_json *object, const char *key, bool required,
                            bool *present, const ebb_json **out, uint32_t *n) {
    size_t count = 0;
    *present = false;
    *out = NULL;
    ebb_status status =
        ebb_json_array(r->env, object, r->place, key, required ? NULL : present, out, &count);
    if (status != EBB_OK) return status;
    if (required) *present = true;
    if (count >= EBB_NONE)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s: %s has %zu elements, more than can be named", r->place,
                        key, count);
    *n = (uint32_t)count;
    return EBB_OK;
}

/* A list of ids below n_ids. prefix: "" or "alternatives[2].", for error texts. */
static ebb_status read_ids(reader *r, const ebb_json *object, const char *prefix, const char *key,
                           bool required, const char *what, size_t n_ids, bool *present, const ebb_id **out,
                           uint32_t *n) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = open_list(r, object, key, required, &found, &list, n);
    if (present != NULL) *present = found;
    if (status != EBB_OK || !found) return status;
    ebb_id *ids = EBB_NEW(&r->draft.arena, ebb_id, *n);
    if (ids == NULL) return EBB_NO_MEMORY;
    char place[LIST_PLACE_BYTES];
    list_place(r, prefix, key, place);
    for (uint32_t i = 0; i < *n; i++) {
        int64_t id = 0;
        status = ebb_json_at_i64(r->env, list, place, i, INT64_MIN, INT64_MAX, &id);
        if (status != EBB_OK) return status;
        if (id < 0 || (uint64_t)id >= n_ids) {
            char list_name[48];
            (void)snprintf(list_name, sizeof list_name, "%s%s", prefix, key);
            return ebb_pgraph_id_fault(r->env, r->place, list_name, i, id, what, n_ids);
        }
        ids[i] = (ebb_id)id;
    }
    *out = ids;
    return EBB_OK;
}

/* Element i of a list of [out, in] or [out, in, offset]. */
static ebb_status read_tuple(const reader *r, const ebb_json *list, const char *place, uint32_t i,
                             size_t width, int64_t tuple[3]) {
    const ebb_json *element = ebb_json_at(list, i);
    if (ebb_json_at(element, width - 1) == NULL || ebb_json_at(element, width) != NULL)
        return ebb_fail(r->env, EBB_BAD_INPUT, "%s[%u] must be a list of %zu integers", place, i, width);
    char element_place[LIST_PLACE_BYTES + 16];
    (void)snprintf(element_place, sizeof element_place, "%s[%u]", place, i);
    for (size_t k = 0; k < width; k++) {
        int64_t max = k < 2 ? (int64_t)EBB_NONE - 1 : INT64_MAX;
        ebb_status status = ebb_json_at_i64(r->env, element, element_place, k, 0, max, &tuple[k]);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

static ebb_status read_pairs(reader *r, const ebb_json *object, const char *prefix, const char *key,
                             bool *present, const ebb_pair **out, uint32_t *n) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = open_list(r, object, key, false, &found, &list, n);
    if (present != NULL) *present = found;
    if (status != EBB_OK || !found) return status;
    ebb_pair *pairs = EBB_NEW(&r->draft.arena, ebb_pair, *n);
    if (pairs == NULL) return EBB_NO_MEMORY;
    char place[LIST_PLACE_BYTES];
    list_place(r, prefix, key, place);
    for (uint32_t i = 0; i < *n; i++) {
        int64_t tuple[3];
        status = read_tuple(r, list, place, i, 2, tuple);
        if (status != EBB_OK) return status;
        pairs[i] = (ebb_pair){.out = (uint32_t)tuple[0], .in = (uint32_t)tuple[1]};
    }
    *out = pairs;
    return EBB_OK;
}

static ebb_status read_views(reader *r, const ebb_json *object, ebb_pop *op) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = open_list(r, object, "views", false, &found, &list, &op->n_views);
    if (status != EBB_OK || !found) return status;
    ebb_view *views = EBB_NEW(&r->draft.arena, ebb_view, op->n_views);
    if (views == NULL) return EBB_NO_MEMORY;
    char place[LIST_PLACE_BYTES];
    list_place(r, "", "views", place);
    for (uint32_t i = 0; i < op->n_views; i++) {
        int64_t tuple[3];
        status = read_tuple(r, list, place, i, 3, tuple);
        if (status != EBB_OK) return status;
        views[i] =
            (ebb_view){.out = (uint32_t)tuple[0], .in = (uint32_t)tuple[1], .offset_bytes = tuple[2]};
    }
    op->views = views;
    return EBB_OK;
}

static ebb_status read_alternative(reader *r, const ebb_json *json, uint32_t i, const ebb_pop *op,
                                   ebb_alternative *a) {
    char prefix[32], op_place[EBB_PLACE_BYTES];
    (void)snprintf(prefix, sizeof prefix, "alternatives[%u].", i);
    memcpy(op_place, r->place, sizeof op_place);
    a->time_ns = op->time_ns;
    a->scratch_bytes = op->scratch_bytes;
    ebb_status status = read_ids(r, json, prefix, "inputs", false, "a value", r->n_values, &a->has_inputs,
                                 &a->in, &a->n_in);
    if (status == EBB_OK)
        status = read_pairs(r, json, prefix, "in_place", &a->has_in_place, &a->in_place, &a->n_in_place);
    if (status != EBB_OK) return status;
    size_t n = strlen(r->place);
    (void)snprintf(r->place + n, sizeof r->place - n, ": alternatives[%u]", i);
    bool present;
    status = copy_text(r, json, "name", &a->name);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "time_ns", 0, INT64_MAX, &present, &a->time_ns);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "scratch_bytes", 0, INT64_MAX, &present,
                              &a->scratch_bytes);
    memcpy(r->place, op_place, sizeof op_place);
    return status;
}

static ebb_status read_alternatives(reader *r, const ebb_json *object, ebb_pop *op) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = open_list(r, object, "alternatives", false, &found, &list, &op->n_alternatives);
    if (status != EBB_OK || !found) return status;
    ebb_alternative *alternatives = EBB_NEW(&r->draft.arena, ebb_alternative, op->n_alternatives);
    if (alternatives == NULL) return EBB_NO_MEMORY;
    op->alternatives = alternatives;
    for (uint32_t i = 0; status == EBB_OK && i < op->n_alternatives; i++)
        status = read_alternative(r, ebb_json_at(list, i), i, op, &alternatives[i]);
    return status;
}

static ebb_status read_phase(reader *r, const ebb_json *object, ebb_pop *op) {
    const char *text = "forward";
    bool present;
    ebb_status status = ebb_json_text(r->env, object, r->place, "phase", &present, &text);
    if (status != EBB_OK) return status;
    for (op->phase = EBB_FORWARD; op->phase <= EBB_UPDATE; op->phase++)
        if (strcmp(text, ebb_phase_name(op->phase)) == 0) return EBB_OK;
    return fault(r, "phase", text, "forward, backward or update");
}

static ebb_status read_op(reader *r, const ebb_json *json, size_t i) {
    ebb_pop op = {.recomputable = true};
    bool present;
    enter(r, "ops", i, json);
    ebb_status status = check_id(r, json, i);
    if (status == EBB_OK) status = copy_text(r, json, "name", &op.name);
    if (status == EBB_OK) status = copy_text(r, json, "kind", &op.kind);
    if (status == EBB_OK) status = copy_text(r, json, "listed", &op.listed);
    if (status == EBB_OK) status = read_phase(r, json, &op);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "time_ns", 0, INT64_MAX, NULL, &op.time_ns);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "scratch_bytes", 0, INT64_MAX, &present,
                              &op.scratch_bytes);
    if (status == EBB_OK)
        status = ebb_json_bool(r->env, json, r->place, "recomputable", &present, &op.recomputable);
    if (status == EBB_OK)
        status = ebb_json_bool(r->env, json, r->place, "optional", &present, &op.optional);
    if (status == EBB_OK) status = ebb_json_bool(r->env, json, r->place, "ordered", &present, &op.ordered);
    if (status == EBB_OK)
        status = read_ids(r, json, "", "inputs", true, "a value", r->n_values, NULL, &op.in, &op.n_in);
    if (status == EBB_OK)
        status = read_ids(r, json, "", "outputs", true, "a value", r->n_values, NULL, &op.out, &op.n_out);
    if (status == EBB_OK)
        status = read_ids(r, json, "", "after", false, "an op", r->n_ops, NULL, &op.after, &op.n_after);
    if (status == EBB_OK) status = read_pairs(r, json, "", "in_place", NULL, &op.in_place, &op.n_in_place);
    if (status == EBB_OK) status = read_pairs(r, json, "", "update", NULL, &op.update, &op.n_update);
    if (status == EBB_OK) status = read_views(r, json, &op);
    if (status == EBB_OK) status = read_alternatives(r, json, &op);
    if (status != EBB_OK) return status;
    return EBB_PUSH(r->env, &r->draft.ops, op) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status read_value(reader *r, const ebb_json *json, size_t i) {
    ebb_pvalue value = {0};
    const char *role = NULL;
    enter(r, "values", i, json);
    ebb_status status = check_id(r, json, i);
    if (status == EBB_OK) status = copy_text(r, json, "name", &value.name);
    if (status == EBB_OK) status = copy_text(r, json, "shape", &value.shape);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "bytes", 0, INT64_MAX, NULL, &value.bytes);
    if (status == EBB_OK) status = ebb_json_text(r->env, json, r->place, "role", NULL, &role);
    if (status != EBB_OK) return status;
    while ((unsigned)value.role < EBB_N_ROLES && strcmp(role, ebb_role_name(value.role)) != 0) value.role++;
    if ((unsigned)value.role == EBB_N_ROLES)
        return fault(r, "role", role, "input, constant, param, state, activation, gradient or output");
    return EBB_PUSH(r->env, &r->draft.values, value) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status read_costs(reader *r, const ebb_json *json) {
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

static ebb_status read_graph(reader *r, const ebb_json *json) {
    static const char known[] = "ebb.graph/1";
    const char *schema = NULL;
    const ebb_json *values = NULL, *ops = NULL;
    bool present;
    (void)snprintf(r->place, sizeof r->place, "%.160s", r->where);
    ebb_status status = ebb_json_text(r->env, json, r->place, "schema", NULL, &schema);
    if (status != EBB_OK) return status;
    if (strcmp(schema, known) != 0) return fault(r, "schema", schema, known);
    status = copy_text(r, json, "name", &r->draft.name);
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
    for (size_t i = 0; status == EBB_OK && i < r->n_ops; i++) status = read_op(r, ebb_json_at(ops, i), i);
    return status;
}

ebb_status ebb_pgraph_read(ebb_env *env, const char *where, const ebb_json *json, ebb_pgraph **out) {
    *out = NULL;
    reader r = {.env = env, .where = where};
    ebb_pdraft_init(&r.draft, env);
    ebb_status status = read_graph(&r, json);
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
