/* The rules of ebb.graph/1, for drafts of ours and of strangers alike. Takes a sealer whose tables are
 * settled; gives the first rule that is broken. Cost: O(values + edges). */
#include "graph/planning/seal.h"

static ebb_status check_values(ebb_sealer *s) {
    for (ebb_id v = 0; v < s->n_values; v++) {
        ebb_pvalue *value = &s->values[v];
        value->producer = EBB_NONE;
        value->result = 0;
        s->root[v] = v;
        s->updated_by[v] = EBB_NONE;
        if (!ebb_role_name(value->role))
            return ebb_seal_value_fault(s, v, "role %d is unknown", (int)value->role);
        if (value->bytes < 0)
            return ebb_seal_value_fault(s, v, "bytes = %lld is negative", (long long)value->bytes);
        if (!ebb_add_i64(s->bytes, value->bytes, &s->bytes))
            return ebb_seal_value_fault(s, v, "bytes = %lld: the sum of all sizes does not fit in 63 bits",
                                        (long long)value->bytes);
    }
    return EBB_OK;
}

static ebb_status note_producers(ebb_sealer *s) {
    for (ebb_id i = 0; i < s->n_ops; i++)
        for (uint32_t k = 0; k < s->ops[i].n_out; k++) {
            ebb_id v = s->ops[i].out[k];
            if (v >= s->n_values) return ebb_seal_id_fault(s, i, "outputs", k, v, "a value", s->n_values);
            if (s->values[v].producer != EBB_NONE)
                return ebb_seal_op_fault(
                    s, i, "outputs[%u] = %u \"%.80s\" is already made by ops[%u] \"%.80s\"", k, v,
                    s->values[v].name, s->values[v].producer, s->ops[s->values[v].producer].name);
            s->values[v].producer = i;
            s->values[v].result = k;
        }
    return EBB_OK;
}

ebb_status ebb_seal_check_reads(const ebb_sealer *s, ebb_id op, const char *list, const ebb_id *in,
                                uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        ebb_id v = in[k];
        if (v >= s->n_values) return ebb_seal_id_fault(s, op, list, k, v, "a value", s->n_values);
        const ebb_pvalue *value = &s->values[v];
        if (value->producer == EBB_NONE && !ebb_role_given(value->role))
            return ebb_seal_op_fault(s, op, "%s[%u] = %u \"%.80s\" has role %s, but no op makes it", list,
                                     k, v, value->name, ebb_role_name(value->role));
        if (value->producer != EBB_NONE && value->producer >= op)
            return ebb_seal_op_fault(
                s, op, "%s[%u] = %u \"%.80s\" is read before ops[%u] \"%.80s\" makes it", list, k, v,
                value->name, value->producer, s->ops[value->producer].name);
        ebb_id update = s->updated_by[s->root[v]];
        if (update < op) /* an op may read what it updates itself */
            return ebb_seal_op_fault(
                s, op, "%s[%u] = %u \"%.80s\" is read after ops[%u] \"%.80s\" updated its bytes", list, k,
                v, value->name, update, s->ops[update].name);
    }
    return EBB_OK;
}

ebb_status ebb_seal_check_in_place(const ebb_sealer *s, ebb_id op, const char *list, const ebb_pair *pairs,
                                   uint32_t n, uint32_t n_in) {
    for (uint32_t k = 0; k < n; k++) {
        if (pairs[k].out >= s->ops[op].n_out)
            return ebb_seal_op_fault(s, op, "%s[%u] = [%u, %u]: the op has %u outputs", list, k,
                                     pairs[k].out, pairs[k].in, s->ops[op].n_out);
        if (pairs[k].in >= n_in)
            return ebb_seal_op_fault(s, op, "%s[%u] = [%u, %u]: the op has %u inputs", list, k,
                                     pairs[k].out, pairs[k].in, n_in);
    }
    return EBB_OK;
}

/* Given roles come out of updates only. */
static ebb_status check_made_roles(const ebb_sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    for (uint32_t k = 0; k < o->n_out; k++) {
        const ebb_pvalue *value = &s->values[o->out[k]];
        if (ebb_role_given(value->role) && s->bound[o->out[k]] != EBB_BOUND_UPDATE)
            return ebb_seal_op_fault(
                s, op, "outputs[%u] = %u \"%.80s\" has role %s, which is given; only an update makes one",
                k, o->out[k], value->name, ebb_role_name(value->role));
    }
    return EBB_OK;
}

static ebb_status check_op(ebb_sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    if (!ebb_phase_name(o->phase)) return ebb_seal_op_fault(s, op, "phase %d is unknown", (int)o->phase);
    if (o->time_ns < 0)
        return ebb_seal_op_fault(s, op, "time_ns = %lld is negative", (long long)o->time_ns);
    if (o->scratch_bytes < 0)
        return ebb_seal_op_fault(s, op, "scratch_bytes = %lld is negative", (long long)o->scratch_bytes);
    for (uint32_t k = 0; k < o->n_after; k++) {
        if (o->after[k] >= s->n_ops)
            return ebb_seal_id_fault(s, op, "after", k, o->after[k], "an op", s->n_ops);
        if (o->after[k] >= op)
            return ebb_seal_op_fault(s, op, "after[%u] = %u is not an earlier op", k, o->after[k]);
    }
    ebb_status status = ebb_seal_check_reads(s, op, "inputs", o->in, o->n_in);
    if (status == EBB_OK)
        status = ebb_seal_check_in_place(s, op, "in_place", o->in_place, o->n_in_place, o->n_in);
    if (status == EBB_OK) status = ebb_seal_check_views(s, op);
    if (status == EBB_OK) status = ebb_seal_check_updates(s, op);
    if (status == EBB_OK) status = ebb_seal_check_ways(s, op);
    if (status == EBB_OK) status = check_made_roles(s, op);
    return status;
}

static ebb_status check_ends(const ebb_sealer *s) {
    for (ebb_id v = 0; v < s->n_values; v++) {
        const ebb_pvalue *value = &s->values[v];
        if (value->producer == EBB_NONE && !ebb_role_given(value->role))
            return ebb_seal_value_fault(s, v, "role %s, but no op makes it", ebb_role_name(value->role));
        ebb_id update = s->updated_by[s->root[v]];
        if (value->role == EBB_ROLE_OUTPUT && update != EBB_NONE)
            return ebb_seal_value_fault(
                s, v, "an output must last, but it is a view of bytes that ops[%u] \"%.80s\" updates",
                update, s->ops[update].name);
    }
    return EBB_OK;
}

static ebb_status check_origins(const ebb_sealer *s, const ebb_pdraft *draft) {
    if (draft->value_origin.n != 0 && draft->value_origin.n != s->n_values)
        return ebb_fail(s->env, EBB_BAD_INPUT, "%.160s: %zu origins for %u values", s->where,
                        draft->value_origin.n, s->n_values);
    return EBB_OK;
}

ebb_status ebb_seal_check(ebb_sealer *s, ebb_arena *scratch, const ebb_pdraft *draft) {
    uint32_t most_in = 0;
    for (ebb_id i = 0; i < s->n_ops; i++) most_in = s->ops[i].n_in > most_in ? s->ops[i].n_in : most_in;
    s->root = EBB_NEW(scratch, ebb_id, s->n_values);
    s->updated_by = EBB_NEW(scratch, ebb_id, s->n_values);
    s->view_stamp = EBB_NEW(scratch, uint32_t, s->n_values);
    s->bound = EBB_NEW(scratch, uint8_t, s->n_values);
    s->base_stamp = EBB_NEW(scratch, uint32_t, most_in);
    if (!s->root || !s->updated_by || !s->view_stamp || !s->bound || !s->base_stamp) return EBB_NO_MEMORY;
    if (draft->fixed_bytes < 0)
        return ebb_fail(s->env, EBB_BAD_INPUT, "%.160s: fixed_bytes = %lld is negative", s->where,
                        (long long)draft->fixed_bytes);
    s->bytes = draft->fixed_bytes;
    ebb_status status = check_values(s);
    if (status == EBB_OK) status = note_producers(s);
    for (ebb_id i = 0; status == EBB_OK && i < s->n_ops; i++) status = check_op(s, i);
    if (status == EBB_OK) status = check_ends(s);
    return status == EBB_OK ? check_origins(s, draft) : status;
}
