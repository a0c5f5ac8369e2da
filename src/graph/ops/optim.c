/* Optimizer updates: the results take the bytes of the param and of its momentum.
 *
 *     assign         target' = x
 *     sgd            w' = w - lr * (dw + decay * w)
 *     sgd_momentum   d = dw + decay * w;  m' = momentum * m + d
 *                    step = nesterov ? d + momentum * m' : m';  w' = w - lr * step
 *
 *     adamw          m' = beta1 * m + (1 - beta1) * dw;  v' = beta2 * v + (1 - beta2) * dw^2
 *                    w' = w - lr * (m' / (1 - beta1^n) / (sqrt(v' / (1 - beta2^n)) + eps) + decay * w)
 *                    with n, the number of this step, from count_step
 *     clip_factor    min(1, norm / (sqrt(sum of squares) + 1e-6)), and scale by it
 *     loss_scale     of gradients of scale * loss: their factor, which clips to `norm` where that is not 0;
 *                    are they finite? the next scale: times backoff where they are not, times growth after
 *                    so many steps in a row in which they were
 *
 * An update whose last operand is false leaves everything as it was. The gradient dw of an f32 param may be
 * of 16 bits: it is widened as it is read.
 *
 * AdamW: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019, the decay times lr as
 * in PyTorch; and so is the 1e-6. Momentum as in Sutskever et al., "On the importance of initialization and
 * momentum in deep learning", ICML 2013, in the form that PyTorch uses: the learning rate is outside the
 * momentum and there is no dampening. Scaled losses: Micikevicius et al., "Mixed precision training", ICLR
 * 2018, with the constants of PyTorch's GradScaler. */
#include "graph/ops/rule.h"

#define DECAY             EBB_REAL("decay", 0, 0, 1e30)
#define BETA(name, usual) EBB_REAL(name, usual, 0, 1)
#define CONDITIONAL       .effect = EBB_STATEFUL, .conditional = true

/* ---- assign -------------------------------------------------------------------------------------- */

EBB_DEFINE(assign, EBB_RULE_OF(2, 3, 1, "target:all[*] x:all[*] apply:bool[] -> [*]"), CONDITIONAL,
           EBB_UPDATES({0, 0}), .cost = ebb_cost_moved);

/* ---- sgd ------------------------------------------------------------------------------------------ */

static const ebb_attr_info sgd_attrs[] = {[EBB_SGD_DECAY] = DECAY};
EBB_DEFINE(sgd, EBB_RULE_OF(3, 4, 1, "w[*] dw:narrow[*] lr[] apply:bool[] -> [*]"),
           EBB_LIST(attrs, sgd_attrs), CONDITIONAL, EBB_UPDATES({0, 0}), EBB_FLOPS(4));

static void sgd_momentum_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), call->attr[EBB_SGDM_NESTEROV].i[0] ? 8 : 6);
}
static const ebb_attr_info sgd_momentum_attrs[] = {
    [EBB_SGDM_MOMENTUM] = EBB_REAL_NEEDED("momentum", 0, 1),
    [EBB_SGDM_DECAY] = DECAY,
    [EBB_SGDM_NESTEROV] = EBB_FLAG("nesterov", 0),
};
EBB_DEFINE(sgd_momentum, EBB_RULE_OF(4, 5, 2, "w[*] dw:narrow[*] m[*] lr[] apply:bool[] -> [*] [*]"),
           EBB_LIST(attrs, sgd_momentum_attrs), CONDITIONAL, EBB_UPDATES({0, 0}, {1, 2}),
           .cost = sgd_momentum_cost);

/* ---- adamw ---------------------------------------------------------------------------------------- */

EBB_DEFINE(count_step, EBB_RULE_OF(1, 2, 1, "n[] apply:bool[] -> []"), CONDITIONAL, EBB_UPDATES({0, 0}),
           EBB_FLOPS(1));

/* Products and sums, a root and a division. */
static const ebb_attr_info adamw_attrs[] = {
    [EBB_ADAMW_BETA1] = BETA("beta1", 0.9),
    [EBB_ADAMW_BETA2] = BETA("beta2", 0.999),
    [EBB_ADAMW_EPS] = EBB_REAL("eps", 1e-8, 1e-30, 1e30),
    [EBB_ADAMW_DECAY] = DECAY,
};
EBB_DEFINE(adamw, EBB_RULE_OF(6, 7, 3, "w[*] dw:narrow[*] m[*] v[*] n[] lr[] apply:bool[] -> [*] [*] [*]"),
           EBB_LIST(attrs, adamw_attrs), CONDITIONAL, EBB_UPDATES({0, 0}, {1, 2}, {2, 3}), EBB_FLOPS(14));

/* ---- clipping by the norm of all gradients ---------------------------------------------------------- */

static const ebb_attr_info clip_factor_attrs[] = {[EBB_CLIP_FACTOR_NORM] =
                                                      EBB_REAL_NEEDED("norm", 1e-30, 1e30)};
EBB_DEFINE(sum_squares, EBB_RULE(1, 1, "x[*] -> squares:wide[]"), EBB_FLOPS(2));
EBB_DEFINE(clip_factor, EBB_RULE(1, 1, "squares[] -> []"), EBB_LIST(attrs, clip_factor_attrs),
           EBB_FLOPS(4));
EBB_DEFINE(scale, EBB_RULE(2, 1, "x[*] factor[] -> [*]"), EBB_OVER({0, 0}), EBB_FLOPS(1),
           EBB_RUNS(FOLLOWS));

/* ---- scaled losses ----------------------------------------------------------------------------------- */

static const ebb_attr_info loss_scale_attrs[] = {
    [EBB_LOSS_SCALE_GROWTH] = EBB_REAL("growth", 2, 1, 1024),
    [EBB_LOSS_SCALE_BACKOFF] = EBB_REAL("backoff", 0.5, 1e-3, 1),
    [EBB_LOSS_SCALE_INTERVAL] = EBB_INTS("interval", 1, 2000, 1, 16777216), /* exact in an f32 */
    [EBB_LOSS_SCALE_NORM] = EBB_REAL("norm", 0, 0, 1e30),
};
EBB_DEFINE(loss_scale,
           EBB_RULE(3, 4, "scale:full[] clean:full[] squares:full[] -> [] [] factor[] apply:bool[]"),
           EBB_LIST(attrs, loss_scale_attrs), .effect = EBB_STATEFUL, EBB_UPDATES({0, 0}, {1, 1}),
           EBB_FLOPS(10));
