/* An op of ebb.graph/1, with its alternatives. */
#include "graph/planning/read.h"

#include <stdio.h>

static ebb_status read_alternative(ebb_pgraph_reader *r, const ebb_json *json, uint32_t i,
                                   const ebb_pop *op, ebb_alternative *a) {
    char prefix[32], op_place[EBB_PLACE_BYTES];
    (void)snprintf(prefix, sizeof prefix, "alternatives[%u].", i);
    memcpy(op_place, r->place, sizeof op_place);
    a->time_ns = op->time_ns;
    a->scratch_bytes = op->scratch_bytes;
    ebb_status status = ebb_read_ids(r, json, prefix, "inputs", false, "a value", r->n_values,
                                     &a->has_inputs, &a->in, &a->n_in);
    if (status == EBB_OK)
        status =
            ebb_read_pairs(r, json, prefix, "in_place", &a->has_in_place, &a->in_place, &a->n_in_place);
    if (status != EBB_OK) return status;
    size_t n = strlen(r->place);
    (void)snprintf(r->place + n, sizeof r->place - n, ": alternatives[%u]", i);
    bool present;
    ebb_read_members(r, json, EBB_MEMBERS_ALTERNATIVE);
    status = ebb_read_text(r, json, "name", &a->name);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "time_ns", 0, INT64_MAX, &present, &a->time_ns);
    if (status == EBB_OK)
        status = ebb_json_i64(r->env, json, r->place, "scratch_bytes", 0, INT64_MAX, &present,
                              &a->scratch_bytes);
    memcpy(r->place, op_place, sizeof op_place);
    return status;
}

static ebb_status read_alternatives(ebb_pgraph_reader *r, const ebb_json *object, ebb_pop *op) {
    const ebb_json *list = NULL;
    bool found;
    ebb_status status = ebb_read_list(r, object, "alternatives", false, &found, &list, &op->n_alternatives);
    if (status != EBB_OK || !found) return status;
    ebb_alternative *alternatives = EBB_NEW(&r->draft.arena, ebb_alternative, op->n_alternatives);
    if (!alternatives) return EBB_NO_MEMORY;
    op->alternatives = alternatives;
    for (uint32_t i = 0; status == EBB_OK && i < op->n_alternatives; i++)
        status = read_alternative(r, ebb_json_at(list, i), i, op, &alternatives[i]);
    return status;
}

static ebb_status read_phase(ebb_pgraph_reader *r, const ebb_json *object, ebb_pop *op) {
    const char *text = "forward";
    bool present;
    ebb_status status = ebb_json_text(r->env, object, r->place, "phase", &present, &text);
    if (status != EBB_OK) return status;
    for (op->phase = EBB_FORWARD; op->phase <= EBB_UPDATE; op->phase++)
        if (strcmp(text, ebb_phase_name(op->phase)) == 0) return EBB_OK;
    return ebb_read_fault(r, "phase", text, "forward, backward or update");
}

ebb_status ebb_read_op(ebb_pgraph_reader *r, const ebb_json *json, size_t i) {
    ebb_pop op = {.recomputable = true};
    bool present;
    ebb_read_enter(r, "ops", i, json);
    ebb_read_members(r, json, EBB_MEMBERS_OP);
    ebb_status status = ebb_read_check_id(r, json, i);
    if (status == EBB_OK) status = ebb_read_text(r, json, "name", &op.name);
    if (status == EBB_OK) status = ebb_read_text(r, json, "kind", &op.kind);
    if (status == EBB_OK) status = ebb_read_text(r, json, "listed", &op.listed);
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
        status = ebb_read_ids(r, json, "", "inputs", true, "a value", r->n_values, NULL, &op.in, &op.n_in);
    if (status == EBB_OK)
        status =
            ebb_read_ids(r, json, "", "outputs", true, "a value", r->n_values, NULL, &op.out, &op.n_out);
    if (status == EBB_OK)
        status = ebb_read_ids(r, json, "", "after", false, "an op", r->n_ops, NULL, &op.after, &op.n_after);
    if (status == EBB_OK)
        status = ebb_read_pairs(r, json, "", "in_place", NULL, &op.in_place, &op.n_in_place);
    if (status == EBB_OK) status = ebb_read_pairs(r, json, "", "update", NULL, &op.update, &op.n_update);
    if (status == EBB_OK) status = ebb_read_views(r, json, &op);
    if (status == EBB_OK) status = read_alternatives(r, json, &op);
    if (status != EBB_OK) return status;
    return EBB_PUSH(r->env, &r->draft.ops, op) ? EBB_OK : EBB_NO_MEMORY;
}
