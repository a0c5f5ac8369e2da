/* Outputs whose bytes are not their own: a view shows an input's, an update replaces them. */
#include "graph/planning/seal.h"

/* Positions of one view or update: in range, and the output not bound before. */
static ebb_status bind_output(ebb_sealer *s, ebb_id op, uint8_t what, uint32_t k, uint32_t out,
                              uint32_t in) {
    const char *list = what == EBB_BOUND_VIEW ? "views" : "update";
    const ebb_pop *o = &s->ops[op];
    if (out >= o->n_out)
        return ebb_seal_op_fault(s, op, "%s[%u]: output position %u, but the op has %u outputs", list, k,
                                 out, o->n_out);
    if (in >= o->n_in)
        return ebb_seal_op_fault(s, op, "%s[%u]: input position %u, but the op has %u inputs", list, k, in,
                                 o->n_in);
    if (s->bound[o->out[out]] != 0)
        return ebb_seal_op_fault(s, op, "%s[%u]: output %u is a view or an update already", list, k, out);
    s->bound[o->out[out]] = what;
    s->base_stamp[in] = op + 1;
    return EBB_OK;
}

ebb_status ebb_seal_check_views(ebb_sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    for (uint32_t k = 0; k < o->n_views; k++) {
        ebb_view view = o->views[k];
        ebb_status status = bind_output(s, op, EBB_BOUND_VIEW, k, view.out, view.in);
        if (status != EBB_OK) return status;
        int64_t base_bytes = s->values[o->in[view.in]].bytes, bytes = s->values[o->out[view.out]].bytes;
        if (view.offset_bytes < 0 || bytes > base_bytes || view.offset_bytes > base_bytes - bytes)
            return ebb_seal_op_fault(
                s, op, "views[%u]: %lld bytes at offset %lld do not lie within the input's %lld", k,
                (long long)bytes, (long long)view.offset_bytes, (long long)base_bytes);
        s->root[o->out[view.out]] = s->root[o->in[view.in]];
        s->view_stamp[s->root[o->in[view.in]]] = op + 1;
    }
    return EBB_OK;
}

/* Which view of the op shows these bytes: only asked when one does and must not. */
static uint32_t first_view(const ebb_sealer *s, ebb_id op, ebb_id root) {
    const ebb_pop *o = &s->ops[op];
    uint32_t k = 0;
    while (s->root[o->in[o->views[k].in]] != root) k++;
    return k;
}

ebb_status ebb_seal_check_updates(ebb_sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    for (uint32_t k = 0; k < o->n_update; k++) {
        ebb_status status = bind_output(s, op, EBB_BOUND_UPDATE, k, o->update[k].out, o->update[k].in);
        if (status != EBB_OK) return status;
        ebb_id old = o->in[o->update[k].in], now = o->out[o->update[k].out];
        const ebb_pvalue *a = &s->values[old], *b = &s->values[now];
        if (a->role != EBB_ROLE_PARAM && a->role != EBB_ROLE_STATE)
            return ebb_seal_op_fault(
                s, op, "update[%u]: \"%.80s\" has role %s; only a param or a state can be updated", k,
                a->name, ebb_role_name(a->role));
        if (a->role != b->role || a->bytes != b->bytes)
            return ebb_seal_op_fault(
                s, op, "update[%u]: \"%.80s\" (%s, %lld bytes) cannot replace \"%.80s\" (%s, %lld bytes)",
                k, b->name, ebb_role_name(b->role), (long long)b->bytes, a->name, ebb_role_name(a->role),
                (long long)a->bytes);
        if (s->updated_by[old] != EBB_NONE)
            return ebb_seal_op_fault(s, op, "update[%u]: \"%.80s\" is updated by ops[%u] \"%.80s\" already",
                                     k, a->name, s->updated_by[old], s->ops[s->updated_by[old]].name);
        if (s->view_stamp[s->root[old]] == op + 1)
            return ebb_seal_op_fault(
                s, op, "views[%u] shows \"%.80s\", whose bytes update[%u] takes in the same op",
                first_view(s, op, s->root[old]), a->name, k);
        s->updated_by[old] = op;
    }
    return EBB_OK;
}
