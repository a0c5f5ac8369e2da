"""LAMB: Adam's step, scaled for each parameter by its norm over the step's."""

from .. import functional as F
from .optimizer import Optimizer, check, zeros_of


class LAMB(Optimizer):
    """p -= lr t d, where d = m / (sqrt(v) + eps) + weight_decay p, and t is p's norm over d's.

    t is 1 where either norm is 0, and without weight_decay unless always_adapt."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, bias_correction=True, weight_decay=0.0,
                 always_adapt=False):
        check(0.0, lr=lr, weight_decay=weight_decay)
        for beta in betas:
            if not 0 <= beta < 1:
                raise ValueError(f"LAMB: beta {beta} is not in [0, 1)")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                                  "bias_correction": bias_correction, "always_adapt": always_adapt})

    def _first_state(self, param, group):
        return {"exp_avg": zeros_of(param), "exp_avg_sq": zeros_of(param), "step": 0}

    def _update(self, param, group, state, lr):
        beta1, beta2 = group["betas"]
        m, v, grad = state["exp_avg"], state["exp_avg_sq"], param.grad
        m *= beta1
        m += grad * (1 - beta1)
        v *= beta2
        v += grad * grad * (1 - beta2)
        n = self._count(state)
        step, square = m, v
        if group["bias_correction"]:
            step, square = m / (1 - beta1**n), v / (1 - beta2**n)
        step = step / (F.sqrt(square) + group["eps"])
        if group["weight_decay"]:
            step = step + param * group["weight_decay"]
        if group["weight_decay"] or group["always_adapt"]:
            of_param, of_step = F.sqrt((param * param).sum()), F.sqrt((step * step).sum())
            both = (of_param > 0) & (of_step > 0)
            step = step * F.where(both, of_param / F.where(both, of_step, 1.0), 1.0)
        param -= lr * step
