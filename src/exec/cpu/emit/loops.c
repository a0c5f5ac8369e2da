/* cpu/emit/loops.c: the loops of a body's code, and the functions that it calls. */
#include "exec/cpu/emit/emit.h"
#include "exec/cpu/integers.h"

#include <math.h>

const cpu_fused_function cpu_fused_functions[EMIT_N_FUNCTIONS] = {
    [EMIT_CALL_SIN] = {.one = sinf},
    [EMIT_CALL_COS] = {.one = cosf},
    [EMIT_CALL_POW] = {.two = powf},
    [EMIT_CALL_FMOD] = {.two = fmodf},
    [EMIT_CALL_FLOOR_DIV_WHOLE] = {.whole = cpu_floor_div_i32},
    [EMIT_CALL_MOD_WHOLE] = {.whole = cpu_mod_i32},
};

/* Counts the operations of a body, in registers; calls, which run lane by lane, as too many. */
static void op_count(emit *e, emit_op op, const emit_reg *in, emit_reg out) {
    (void)e, (void)op, (void)in, (void)out;
}
static void constant_count(emit *e, emit_reg out, uint32_t bits) {
    (void)e, (void)out, (void)bits;
}
enum { LEAST_WIDEST_OPS = 100, MOST_WIDE_OPS = 500 };
static void call_count(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    (void)f, (void)in, (void)out;
    e->n += MOST_WIDE_OPS;
}

static uint32_t ops_of(const cpu_fused *f) {
    static const emit_language counts = {op_count, constant_count, call_count};
    emit e = {.language = &counts, .kernels = &cpu_emit_kernels, .lanes = 1};
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    for (uint32_t i = 0; i < f->n_in; i++) operand[i] = emit_new(&e, emit_stored(f->in_dtype[i]));
    emit_unit_body(&e, f, operand, stored);
    return e.n;
}

static bool has_large_vectors(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

/* Operations of a body mostly wait for one another, and the longer it is the fewer elements does a
 * processor have under way by itself: of a long one eight vectors go side by side, of a short one four,
 * which memory holds up sooner. Eight of AVX2 have 64 lanes. */
size_t emit_loops(const cpu_fused *f, uint32_t lanes[EMIT_MAX_LOOPS]) {
    const uint32_t n_ops = ops_of(f);
    const bool widest = n_ops >= LEAST_WIDEST_OPS && has_large_vectors();
    size_t n = 0;
    if (n_ops < MOST_WIDE_OPS) lanes[n++] = widest ? EMIT_WIDEST_LANES : EMIT_WIDE_LANES;
    lanes[n++] = EMIT_NARROW_LANES;
    lanes[n++] = 1;
    return n;
}
