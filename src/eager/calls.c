/* What is known of calls: found once by the op's rule and the backend's word, and kept by the types and
 * attributes that it depends on. */
#include "eager/eager.h"

static uint64_t mix(uint64_t hash, uint64_t x) {
    hash = (hash ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t type_mix(uint64_t hash, const ebb_type *type) {
    hash = mix(hash, (uint64_t)type->dtype << 8 | type->rank);
    for (uint32_t d = 0; d < type->rank; d++) hash = mix(hash, (uint64_t)type->dim[d]);
    return hash;
}

static uint64_t call_hash(const ebb_op_info *op, const ebb_type *const *in, uint32_t n_in,
                          const ebb_attr *attr, bool evaluate) {
    uint64_t hash = mix((uint64_t)op->code << 8 | n_in, op->lower && evaluate);
    for (uint32_t i = 0; i < n_in; i++) hash = type_mix(hash, in[i]);
    for (uint32_t k = 0; k < op->n_attrs; k++) {
        for (uint32_t i = 0; i < EBB_MAX_RANK; i++) hash = mix(hash, (uint64_t)attr[k].i[i]);
    }
    return hash;
}

static bool same_call(const ebb_known_call *call, const ebb_op_info *op, const ebb_type *const *in,
                      uint32_t n_in, const ebb_attr *attr, bool evaluate) {
    if (call->call.op != op || call->call.n_in != n_in || (op->lower && call->evaluate != evaluate))
        return false;
    for (uint32_t i = 0; i < n_in; i++) {
        if (!ebb_type_equal(&call->in[i], in[i])) return false;
    }
    return op->n_attrs == 0 || memcmp(call->attr, attr, op->n_attrs * sizeof *attr) == 0;
}

/* ---- composite ops, and ops that are none in evaluation ------------------------------------- */

static bool is_lowered(const ebb_op_info *op, bool evaluate) {
    return op->lower && (op->composite || evaluate);
}

/* What `lower` makes of a graph of one node. Its draws are the first one from here on. */
static ebb_status lower(ebb_eager *eager, ebb_known_call *known) {
    const ebb_call *call = &known->call;
    ebb_builder *b;
    ebb_graph *graph = NULL;
    ebb_status status = ebb_builder_create(eager->env, call->op->name, &b);
    if (status) return status;
    /* What its lowered form updates must be a state. */
    const ebb_role role = call->op->effect == EBB_STATEFUL ? EBB_ROLE_STATE : EBB_ROLE_INPUT;
    ebb_id in[EBB_MAX_OPERANDS];
    for (uint32_t i = 0; i < call->n_in; i++)
        in[i] = ebb_builder_given(b, NULL, role, &call->in[i], EBB_INIT_ZERO, 0);
    const ebb_id *out =
        ebb_builder_node(b, call->op, in, call->n_in, call->attr, NULL, EBB_FORWARD, EBB_DRAW_KEY(0));
    for (uint32_t i = 0; i < call->n_out && ebb_builder_status(b) == EBB_OK; i++)
        ebb_builder_output(b, out[i]);
    status = ebb_builder_seal(b, &graph);
    if (status) return status;
    status = ebb_lower(eager->env, graph, known->evaluate ? EBB_EVAL : EBB_TRAIN, &known->lowered);
    ebb_graph_destroy(graph);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------ */

static void call_free(ebb_eager *eager, ebb_known_call *call) {
    if (call->kernel) eager->backend->api->release(eager->backend, call->kernel);
    ebb_graph_destroy(call->lowered);
    ebb_cfree(eager->env, call, 1, sizeof *call);
}

void ebb_calls_forget(ebb_eager *eager) {
    for (uint32_t s = 0; s < EBB_CALL_SLOTS; s++) {
        while (eager->calls.slots[s]) {
            ebb_known_call *call = eager->calls.slots[s];
            eager->calls.slots[s] = call->next;
            call_free(eager, call);
        }
    }
    eager->calls.n = 0;
}

/* Infers the results, and asks the backend. */
static ebb_status call_make(ebb_eager *eager, ebb_known_call *known) {
    const ebb_call *call = &known->call;
    const ebb_op_info *op = call->op;
    if (call->n_in < op->min_in || call->n_in > op->max_in)
        return ebb_fail(eager->env, EBB_BAD_INPUT, "%s takes %u to %u operands, not %u", op->name,
                        op->min_in, op->max_in, call->n_in);
    ebb_status status = op->infer(eager->env, call, known->out);
    for (uint32_t i = 0; !status && i < op->n_out; i++) {
        if (!ebb_type_valid(&known->out[i]))
            status = ebb_fail(eager->env, EBB_BAD_INPUT,
                              "%s: result %u has sizes below 1 or too many bytes", op->name, i);
    }
    if (!status && is_lowered(op, known->evaluate)) status = lower(eager, known);
    if (status || op->view || op->composite) return status;
    ebb_op_facts facts;
    status = eager->backend->api->facts(eager->backend, call, &facts);
    known->scratch_bytes = facts.scratch_bytes;
    return status;
}

static ebb_known_call *call_new(ebb_eager *eager, const ebb_op_info *op, const ebb_type *const *in,
                                uint32_t n_in, const ebb_attr *attr) {
    ebb_known_call *known = ebb_calloc(eager->env, 1, sizeof *known);
    if (!known) return NULL;
    for (uint32_t i = 0; i < n_in; i++) known->in[i] = *in[i];
    if (op->n_attrs) memcpy(known->attr, attr, op->n_attrs * sizeof *attr);
    known->call = (ebb_call){.op = op,
                             .in = known->in,
                             .out = known->out,
                             .n_in = n_in,
                             .n_out = op->n_out,
                             .attr = known->attr};
    known->evaluate = eager->evaluate;
    return known;
}

ebb_status ebb_call_know(ebb_eager *eager, const ebb_op_info *op, const ebb_type *const *in, uint32_t n_in,
                         const ebb_attr *attr, ebb_known_call **out) {
    const uint64_t hash = call_hash(op, in, n_in, attr, eager->evaluate);
    ebb_known_call **slot = &eager->calls.slots[hash % EBB_CALL_SLOTS];
    for (*out = *slot; *out; *out = (*out)->next) {
        if ((*out)->hash == hash && same_call(*out, op, in, n_in, attr, eager->evaluate)) return EBB_OK;
    }
    ebb_known_call *known = call_new(eager, op, in, n_in, attr);
    if (!known) return EBB_NO_MEMORY;
    const ebb_status status = call_make(eager, known);
    if (status) {
        call_free(eager, known);
        return status;
    }
    known->hash = hash;
    known->next = *slot;
    *out = *slot = known;
    eager->calls.n++;
    return EBB_OK;
}

ebb_status ebb_call_prepare(ebb_eager *eager, ebb_known_call *call) {
    if (call->kernel) return EBB_OK;
    return eager->backend->api->prepare(eager->backend, &call->call, EBB_DRAW_KEY(0), &call->kernel);
}
