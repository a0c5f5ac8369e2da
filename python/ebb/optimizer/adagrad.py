"""Adagrad."""

from ..functional.elemwise import sqrt
from .optimizer import Optimizer, check, zeros_of


class Adagrad(Optimizer):
    """s += g^2, p -= lr / (1 + (step - 1) lr_decay) g / sqrt(s + eps)."""

    def __init__(self, params, lr=1e-2, lr_decay=0.0, eps=1e-10, weight_decay=0.0):
        check(0.0, lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay})

    def _first_state(self, param, group):
        return {"square_avg": zeros_of(param), "step": 0}

    def _update(self, param, group, state, lr):
        grad = param.grad + param * group["weight_decay"] if group["weight_decay"] else param.grad
        state["square_avg"] += grad * grad
        decay = (self._count(state) - 1) * group["lr_decay"] + 1
        param -= lr / decay * (grad / sqrt(state["square_avg"] + group["eps"]))
