"""Adadelta."""

from ..functional.elemwise import sqrt
from .optimizer import Optimizer, check, zeros_of


class Adadelta(Optimizer):
    """d = sqrt(u + eps) / sqrt(s + eps) g, p -= lr d, s and u running means of g^2 and of d^2."""

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0):
        check(0.0, lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0 <= rho <= 1:
            raise ValueError(f"Adadelta: rho {rho} is not in [0, 1]")
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay})

    def _first_state(self, param, group):
        return {"square_avg": zeros_of(param), "acc_delta": zeros_of(param)}

    def _update(self, param, group, state, lr):
        grad = param.grad + param * group["weight_decay"] if group["weight_decay"] else param.grad
        rho, eps, squares, deltas = group["rho"], group["eps"], state["square_avg"], state["acc_delta"]
        squares._replace(squares * rho + grad * grad * (1 - rho))
        delta = sqrt(deltas + eps) / sqrt(squares + eps) * grad
        param -= lr * delta
        deltas._replace(deltas * rho + delta * delta * (1 - rho))
