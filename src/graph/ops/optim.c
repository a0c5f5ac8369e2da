/* Optimizer updates: the results take the bytes of the param and of its momentum.
 *
 *     sgd            w' = w - lr * (dw + decay * w)
 *     sgd_momentum   d = dw + decay * w;  m' = momentum * m + d
 *                    step = nesterov ? d + momentum * m' : m';  w' = w - lr * step
 *
 * Momentum as in Sutskever et al., "On the importance of initialization and momentum in deep learning",
 * ICML 2013, in the form that PyTorch uses: the learning rate is outside the momentum and there is no
 * dampening. */
#include "graph/ops/rule.h"

#define DECAY_ATTR \
    { .name = "decay", .kind = EBB_ATTR_REAL, .count = 1, .fallback = 0, .min = 0, .max = 1e30 }

static const ebb_attr_info sgd_attrs[] = {
    [SGD_DECAY] = DECAY_ATTR,
};
static const ebb_attr_info sgd_momentum_attrs[] = {
    [SGDM_MOMENTUM] =
        {.name = "momentum", .kind = EBB_ATTR_REAL, .count = 1, .required = true, .min = 0, .max = 1},
    [SGDM_DECAY] = DECAY_ATTR,
    [SGDM_NESTEROV] =
        {.name = "nesterov", .kind = EBB_ATTR_BOOL, .count = 1, .fallback = 0, .min = 0, .max = 1},
};
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
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), call->attr[SGDM_NESTEROV].i[0] ? 8 : 6);
}

const ebb_op_info ebb_op_sgd = {
    .name = "sgd",
    .code = EBB_OP_sgd,
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
    .min_in = 4,
    .max_in = 4,
    .n_out = 2,
    EBB_LIST(attrs, sgd_momentum_attrs),
    .effect = EBB_STATEFUL,
    EBB_LIST(update, sgd_momentum_update),
    .infer = sgd_momentum_infer,
    .cost = sgd_momentum_cost,
};
