/* conformance/operands.c: a case's inputs and what came out, on the host. */
#include "exec/conformance/bench.h"

static ebb_status new_input(ebb_env *env, const ebb_type *type, void **out) {
    *out = ebb_calloc(env, 1, (size_t)ebb_type_bytes(type));
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_case_inputs_init(ebb_env *env, const ebb_case_table *cases, const ebb_call *call,
                                ebb_case_inputs *out) {
    *out = (ebb_case_inputs){0};
    for (uint32_t i = 0; i < call->n_in; i++) {
        const ebb_status status = new_input(env, &call->in[i], &out->at[i]);
        if (status != EBB_OK) {
            ebb_case_inputs_deinit(env, call, out);
            return status;
        }
        ebb_case_fill(cases, call, i, EBB_BENCH_SEED, out->at);
    }
    return EBB_OK;
}

ebb_status ebb_case_inputs_cast(ebb_env *env, const ebb_call *from_call, const ebb_case_inputs *from,
                                const ebb_call *call, ebb_case_inputs *out) {
    *out = (ebb_case_inputs){0};
    for (uint32_t i = 0; i < call->n_in; i++) {
        const ebb_status status = new_input(env, &call->in[i], &out->at[i]);
        if (status != EBB_OK) {
            ebb_case_inputs_deinit(env, call, out);
            return status;
        }
        for (int64_t e = 0; e < ebb_type_count(&call->in[i]); e++)
            ebb_element_set(&call->in[i], out->at[i], e,
                            ebb_element_get(&from_call->in[i], from->at[i], e));
    }
    return EBB_OK;
}

void ebb_case_inputs_deinit(ebb_env *env, const ebb_call *call, ebb_case_inputs *inputs) {
    for (uint32_t i = 0; i < call->n_in; i++) {
        if (inputs->at[i]) ebb_cfree(env, inputs->at[i], 1, (size_t)ebb_type_bytes(&call->in[i]));
    }
    *inputs = (ebb_case_inputs){0};
}

void ebb_case_results_deinit(ebb_env *env, ebb_case_results *results) {
    for (uint32_t i = 0; i < results->n; i++) {
        if (results->at[i]) ebb_cfree(env, results->at[i], 1, (size_t)results->bytes[i]);
    }
    *results = (ebb_case_results){0};
}

bool ebb_case_results_equal(const ebb_case_results *a, const ebb_case_results *b) {
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->bytes[i] != b->bytes[i] || memcmp(a->at[i], b->at[i], (size_t)a->bytes[i]) != 0)
            return false;
    }
    return true;
}
