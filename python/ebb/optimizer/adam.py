"""Adam, and AdamW with decoupled weight decay."""

from .. import _core
from .._tensor import as_tensor
from .optimizer import Optimizer, check, zeros_of

_adamw = _core.op("adamw")


class Adam(Optimizer):
    """p -= lr m / (sqrt(v) + eps), m and v the corrected means of g and of its square; weight_decay times p is
    added to g."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        check(0.0, lr=lr, weight_decay=weight_decay)
        for beta in betas:
            if not 0 <= beta < 1:
                raise ValueError(f"{type(self).__name__}: beta {beta} is not in [0, 1)")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def _first_state(self, param, group):
        return {"exp_avg": zeros_of(param), "exp_avg_sq": zeros_of(param), "step": 0}

    def _update(self, param, group, state, lr):
        grad, decay = param.grad, group["weight_decay"]
        self._adam(param, grad + param * decay if decay else grad, group, state, lr, 0.0)

    def _adam(self, param, grad, group, state, lr, decay):
        beta1, beta2 = group["betas"]
        count = as_tensor(self._count(state), param.dtype)
        _adamw(param, grad, state["exp_avg"], state["exp_avg_sq"], count, lr, beta1=float(beta1),
               beta2=float(beta2), eps=float(group["eps"]), decay=float(decay))


class AdamW(Adam):
    """Adam whose weight_decay does not pass through m and v: p -= lr weight_decay p beside."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr, betas, eps, weight_decay)

    def _update(self, param, group, state, lr):
        self._adam(param, param.grad, group, state, lr, group["weight_decay"])
