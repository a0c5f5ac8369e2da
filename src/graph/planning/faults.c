/* Faults of planning graphs as text: where, in which list, and what is allowed. */
#include "graph/planning/seal.h"

#include <stdarg.h>
#include <stdio.h>

void ebb_pgraph_place(char place[EBB_PLACE_BYTES], const char *where, const char *list, size_t i,
                      const char *name) {
    (void)snprintf(place, EBB_PLACE_BYTES, "%.160s: %s[%zu] \"%.80s\"", where, list, i, name ? name : "");
}

ebb_status ebb_pgraph_id_fault(ebb_env *env, const char *place, const char *list, size_t i, int64_t id,
                               const char *what, size_t n) {
    if (n == 0)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s[%zu] = %lld is not %s (there is none)", place, list, i,
                        (long long)id, what);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s[%zu] = %lld is not %s (0..%zu)", place, list, i,
                    (long long)id, what, n - 1);
}

EBB_PRINTF(3, 4) ebb_status ebb_seal_op_fault(const ebb_sealer *s, ebb_id op, const char *format, ...) {
    char place[EBB_PLACE_BYTES], fault[512];
    ebb_pgraph_place(place, s->where, "ops", op, s->ops[op].name);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fault, sizeof fault, format, args);
    va_end(args);
    return ebb_fail(s->env, EBB_BAD_INPUT, "%s: %s", place, fault);
}

EBB_PRINTF(3, 4)
ebb_status ebb_seal_value_fault(const ebb_sealer *s, ebb_id value, const char *format, ...) {
    char place[EBB_PLACE_BYTES], fault[512];
    ebb_pgraph_place(place, s->where, "values", value, s->values[value].name);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fault, sizeof fault, format, args);
    va_end(args);
    return ebb_fail(s->env, EBB_BAD_INPUT, "%s: %s", place, fault);
}

ebb_status ebb_seal_id_fault(const ebb_sealer *s, ebb_id op, const char *list, size_t i, ebb_id id,
                             const char *what, size_t n) {
    char place[EBB_PLACE_BYTES];
    ebb_pgraph_place(place, s->where, "ops", op, s->ops[op].name);
    return ebb_pgraph_id_fault(s->env, place, list, i, id, what, n);
}
