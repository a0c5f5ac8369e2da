/* Alternatives: what each may change of its op, and the sums over the slowest and the largest. */
#include "graph/planning/seal.h"

#include <stdio.h>

static ebb_status check_alternative(ebb_sealer *s, ebb_id op, uint32_t k, uint32_t own_max_in,
                                    int64_t *most_ns, int64_t *most_scratch) {
    const ebb_pop *o = &s->ops[op];
    const ebb_alternative *a = &o->alternatives[k];
    uint32_t n_in = a->has_inputs ? a->n_in : o->n_in;
    if (a->time_ns < 0 || a->scratch_bytes < 0)
        return ebb_seal_op_fault(
            s, op, "alternatives[%u]: time_ns = %lld, scratch_bytes = %lld: neither may be negative", k,
            (long long)a->time_ns, (long long)a->scratch_bytes);
    *most_ns = ebb_max_i64(*most_ns, a->time_ns);
    *most_scratch = ebb_max_i64(*most_scratch, a->scratch_bytes);
    char list[48];
    ebb_status status = EBB_OK;
    if (a->has_in_place) {
        (void)snprintf(list, sizeof list, "alternatives[%u].in_place", k);
        status = ebb_seal_check_in_place(s, op, list, a->in_place, a->n_in_place, n_in);
    } else if (o->n_in_place > 0 && own_max_in >= n_in) {
        return ebb_seal_op_fault(
            s, op, "alternatives[%u] has %u inputs, but takes the op's in_place, which names input %u", k,
            n_in, own_max_in);
    }
    if (status != EBB_OK || !a->has_inputs) return status;
    (void)snprintf(list, sizeof list, "alternatives[%u].inputs", k);
    status = ebb_seal_check_reads(s, op, list, a->in, a->n_in);
    if (status != EBB_OK) return status;
    /* What a view or an update stands on is the op's, whichever way it is done. */
    for (uint32_t i = 0; i < o->n_in; i++)
        if (s->base_stamp[i] == op + 1 && (i >= n_in || a->in[i] != o->in[i]))
            return ebb_seal_op_fault(
                s, op, "%s: position %u must stay %u \"%.80s\", which a view or an update stands on", list,
                i, o->in[i], s->values[o->in[i]].name);
    return EBB_OK;
}

ebb_status ebb_seal_check_ways(ebb_sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    uint32_t own_max_in = 0;
    for (uint32_t k = 0; k < o->n_in_place; k++)
        own_max_in = o->in_place[k].in > own_max_in ? o->in_place[k].in : own_max_in;
    int64_t most_ns = o->time_ns, most_scratch = o->scratch_bytes;
    for (uint32_t k = 0; k < o->n_alternatives; k++) {
        ebb_status status = check_alternative(s, op, k, own_max_in, &most_ns, &most_scratch);
        if (status != EBB_OK) return status;
    }
    if (!ebb_add_i64(s->time_ns, most_ns, &s->time_ns))
        return ebb_seal_op_fault(s, op, "time_ns: the sum of all times does not fit in 63 bits");
    if (!ebb_add_i64(s->bytes, most_scratch, &s->bytes))
        return ebb_seal_op_fault(s, op, "scratch_bytes: the sum of all sizes does not fit in 63 bits");
    return EBB_OK;
}
