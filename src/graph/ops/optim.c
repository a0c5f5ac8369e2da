/* Optimizer updates: the results take the bytes of the param and of its momentum.
 *
 *     sgd            w' = w - lr * (dw + decay * w)
 *     sgd_momentum   d = dw + decay * w;  m' = momentum * m + d
 *                    step = nesterov ? d + momentum * m' : m';  w' = w - lr * step
 *
 *     adamw          m' = beta1 * m + (1 - beta1) * dw;  v' = beta2 * v + (1 - beta2) * dw^2
 *                    w' = w - lr * (m' / (1 - beta1^n) / (sqrt(v' / (1 - beta2^n)) + eps) + decay * w)
 *                    with n, the number of this step, from count_step
 *     clip_factor    min(1, norm / (sqrt(sum of squares) + 1e-6)), and scale by it
 *
 * AdamW: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019, the decay times lr as
 * in PyTorch; and so is the 1e-6. Momentum as in Sutskever et al., "On the importance of initialization and
 * momentum in deep learning", ICML 2013, in the form that PyTorch uses: the learning rate is outside the
 * momentum and there is no dampening. */
#include "graph/ops/rule.h"

#define DECAY_ATTR \
    { .name = "decay", .kind = EBB_ATTR_REAL, .count = 1, .fallback = 0, .min = 0, .max = 1e30 }

static const ebb_attr_info sgd_attrs[] = {
    [EBB_SGD_DECAY] = DECAY_ATTR,
};
static const ebb_attr_info sgd_momentum_attrs[] = {
    [EBB_SGDM_MOMENTUM] =
        {.name = "momentum", .kind = EBB_ATTR_REAL, .count = 1, .required = true, .min = 0, .max = 1},
    [EBB_SGDM_DECAY] = DECAY_ATTR,
    [EBB_SGDM_NESTEROV] =
        {.name = "nesterov", .kind = EBB_ATTR_BOOL, .count = 1, .fallback = 0, .min = 0, .max = 1},
};
#define BETA(field, usual) \
    { .name = (field), .kind = EBB_ATTR_REAL, .count = 1, .fallback = (usual), .min = 0, .max = 1 }
static const ebb_attr_info adamw_attrs[] = {
    [EBB_ADAMW_BETA1] = BETA("beta1", 0.9),
    [EBB_ADAMW_BETA2] = BETA("beta2", 0.999),
    [EBB_ADAMW_EPS] =
        {.name = "eps", .kind = EBB_ATTR_REAL, .count = 1, .fallback = 1e-8, .min = 1e-30, .max = 1e30},
    [EBB_ADAMW_DECAY] = DECAY_ATTR,
};
static const ebb_attr_info clip_factor_attrs[] = {
    [EBB_CLIP_FACTOR_NORM] =
        {.name = "norm", .kind = EBB_ATTR_REAL, .count = 1, .required = true, .min = 1e-30, .max = 1e30},
};
static const ebb_pair adamw_update[] = {{0, 0}, {1, 2}, {2, 3}};
static const ebb_pair scale_over[] = {{0, 0}};
static const ebb_pair sgd_update[] = {{0, 0}};
static const ebb_pair sgd_momentum_update[] = {{0, 0}, {1, 2}};

static ebb_status sgd_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "w[*] dw[*] lr[] -> [*]", out);
}

static ebb_status sgd_momentum_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "w[*] dw[*] m[*] lr[] -> [*] [*]", out);
}

static void sgd_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 4);
}

static void sgd_momentum_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), call->attr[EBB_SGDM_NESTEROV].i[0] ? 8 : 6);
}

const ebb_op_info ebb_op_sgd = {
    .name = "sgd",
    .code = EBB_OP_sgd,
    .family = EBB_FAMILY_OF(sgd),
    .min_in = 3,
    .max_in = 3,
    .n_out = 1,
    EBB_LIST(attrs, sgd_attrs),
    .effect = EBB_STATEFUL,
    EBB_LIST(update, sgd_update),
    .infer = sgd_infer,
    .cost = sgd_cost,
};

const ebb_op_info ebb_op_sgd_momentum = {
    .name = "sgd_momentum",
    .code = EBB_OP_sgd_momentum,
    .family = EBB_FAMILY_OF(sgd_momentum),
    .min_in = 4,
    .max_in = 4,
    .n_out = 2,
    EBB_LIST(attrs, sgd_momentum_attrs),
    .effect = EBB_STATEFUL,
    EBB_LIST(update, sgd_momentum_update),
    .infer = sgd_momentum_infer,
    .cost = sgd_momentum_cost,
};

/* ---- adamw ---------------------------------------------------------------------------------------- */

static ebb_status count_step_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "n[] -> []", out);
}

static ebb_status adamw_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "w[*] dw[*] m[*] v[*] n[] lr[] -> [*] [*] [*]", out);
}

static void count_step_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, 1, 1);
}

/* Products and sums, a root and a division. */
static void adamw_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 14);
}

const ebb_op_info ebb_op_count_step = {
    .name = "count_step",
    .code = EBB_OP_count_step,
    .family = EBB_FAMILY_OF(count_step),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_STATEFUL,
    EBB_LIST(update, sgd_update),
    .infer = count_step_infer,
    .cost = count_step_cost,
};

const ebb_op_info ebb_op_adamw = {
    .name = "adamw",
    .code = EBB_OP_adamw,
    .family = EBB_FAMILY_OF(adamw),
    .min_in = 6,
    .max_in = 6,
    .n_out = 3,
    EBB_LIST(attrs, adamw_attrs),
    .effect = EBB_STATEFUL,
    EBB_LIST(update, adamw_update),
    .infer = adamw_infer,
    .cost = adamw_cost,
};

/* ---- clipping by the norm of all gradients ---------------------------------------------------------- */

static ebb_status sum_squares_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[*] -> []", out);
}

static ebb_status clip_factor_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "squares[] -> []", out);
}

static ebb_status scale_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[*] factor[] -> [*]", out);
}

static void sum_squares_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 2);
}

static void clip_factor_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, 1, 4);
}

static void scale_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 1);
}

const ebb_op_info ebb_op_sum_squares = {
    .name = "sum_squares",
    .code = EBB_OP_sum_squares,
    .family = EBB_FAMILY_OF(sum_squares),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = sum_squares_infer,
    .cost = sum_squares_cost,
};

const ebb_op_info ebb_op_clip_factor = {
    .name = "clip_factor",
    .code = EBB_OP_clip_factor,
    .family = EBB_FAMILY_OF(clip_factor),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, clip_factor_attrs),
    .effect = EBB_PURE,
    .infer = clip_factor_infer,
    .cost = clip_factor_cost,
};

const ebb_op_info ebb_op_scale = {
    .name = "scale",
    .code = EBB_OP_scale,
    .family = EBB_FAMILY_OF(scale),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, scale_over),
    .infer = scale_infer,
    .cost = scale_cost,
};
