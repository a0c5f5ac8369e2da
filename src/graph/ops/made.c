/* What is made of nothing: places counted (iota), and draws, whose numbers belong to a node's seed and to
 * logical places, so that another layout, a recomputation or another number of threads draws the same. And
 * argmax and argmin. */
#include "graph/ops/rule.h"

#include <math.h>

#define SHAPE_LIST EBB_INTS("shape", 0, 0, 1, EBB_ATTR_SIZE_MAX)

static ebb_status shape_type(ebb_env *env, const ebb_call *call, uint32_t shape, ebb_dtype dtype,
                             ebb_type *out) {
    *out = (ebb_type){.dtype = dtype};
    while (out->rank < EBB_MAX_RANK && call->attr[shape].i[out->rank] > 0) {
        out->dim[out->rank] = call->attr[shape].i[out->rank];
        out->rank++;
    }
    return ebb_rule_result(env, call, out);
}

static void made_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_by_results(call, cost);
}

/* ---- iota --------------------------------------------------------------------------------------- */

static ebb_status iota_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = shape_type(env, call, EBB_IOTA_SHAPE, EBB_I32, out);
    const int64_t axis = call->attr[EBB_IOTA_AXIS].i[0];
    if (status || (axis < out->rank && out->dim[axis] - 1 <= INT32_MAX)) return status;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s must have an axis %lld, of at most 2^31 places",
                    call->op->name, ebb_type_text(out, text), (long long)axis);
}

static const ebb_attr_info iota_attrs[] = {
    [EBB_IOTA_SHAPE] = SHAPE_LIST, [EBB_IOTA_AXIS] = EBB_INTS("axis", 1, 0, 0, EBB_MAX_RANK - 1)};
EBB_DEFINE(iota, EBB_INFER(0, 0, 1, iota_infer), EBB_LIST(attrs, iota_attrs), .cost = made_cost);

/* ---- uniform, normal ---------------------------------------------------------------------------- */

static ebb_status draws_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_dtype dtype;
    const ebb_status status = ebb_rule_real(env, call, &call->attr[EBB_DRAWS_DTYPE], &dtype);
    return status ? status : shape_type(env, call, EBB_DRAWS_SHAPE, dtype, out);
}

static ebb_status uniform_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const double low = call->attr[EBB_UNIFORM_LOW].f, high = call->attr[EBB_UNIFORM_HIGH].f;
    if (low <= high) return draws_infer(env, call, out);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: low %g is above high %g", call->op->name, low, high);
}

double ebb_uniform_most(const ebb_attr *attr) {
    const double below = ebb_dtype_below((ebb_dtype)attr[EBB_DRAWS_DTYPE].i[0], attr[EBB_UNIFORM_HIGH].f);
    return fmax(below, attr[EBB_UNIFORM_LOW].f);
}

#define DRAWS_SHAPE [EBB_DRAWS_SHAPE] = SHAPE_LIST, [EBB_DRAWS_DTYPE] = EBB_DTYPE_USUAL("dtype", EBB_F32)
static const ebb_attr_info uniform_attrs[] = {
    DRAWS_SHAPE, [EBB_UNIFORM_LOW] = EBB_REAL("low", 0, -1e30, 1e30),
    [EBB_UNIFORM_HIGH] = EBB_REAL("high", 1, -1e30, 1e30)};
static const ebb_attr_info normal_attrs[] = {
    DRAWS_SHAPE, [EBB_NORMAL_MEAN] = EBB_REAL("mean", 0, -1e30, 1e30),
    [EBB_NORMAL_STD] = EBB_REAL("std", 1, 0, 1e30)};
EBB_DEFINE(uniform, EBB_INFER(0, 0, 1, uniform_infer), EBB_LIST(attrs, uniform_attrs), .effect = EBB_SEEDED,
           .flops = 20, .cost = made_cost);
EBB_DEFINE(normal, EBB_INFER(0, 0, 1, draws_infer), EBB_LIST(attrs, normal_attrs), .effect = EBB_SEEDED,
           .flops = 60, .cost = made_cost);

/* ---- argmax ------------------------------------------------------------------------------------- */

static ebb_status argmax_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    const int64_t axis = call->attr[EBB_ARGMAX_AXIS].i[0];
    char text[EBB_TYPE_TEXT];
    if ((!ebb_dtype_real(x->dtype) && x->dtype != EBB_I32) || axis >= x->rank ||
        x->dim[axis] - 1 > INT32_MAX)
        return ebb_fail(
            env, EBB_BAD_INPUT,
            "%s: x %s must be f32, f64, f16, bf16 or i32 and have an axis %lld, of at most 2^31 places",
            call->op->name, ebb_type_text(x, text), (long long)axis);
    *out = (ebb_type){.dtype = EBB_I32};
    for (uint32_t d = 0; d < x->rank; d++) {
        if (d != (uint32_t)axis) out->dim[out->rank++] = x->dim[d];
    }
    return EBB_OK;
}

static const ebb_attr_info argmax_attrs[] = {[EBB_ARGMAX_AXIS] =
                                                 EBB_INTS_NEEDED("axis", 1, 0, EBB_MAX_RANK - 1)};
EBB_DEFINE(argmax, EBB_INFER(1, 1, 1, argmax_infer), EBB_LIST(attrs, argmax_attrs), EBB_FLOPS(1));
EBB_DEFINE(argmin, EBB_INFER(1, 1, 1, argmax_infer), EBB_LIST(attrs, argmax_attrs), EBB_FLOPS(1));
