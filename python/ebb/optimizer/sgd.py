"""Stochastic gradient descent."""

from .. import _core
from ..jit.trace import on_abort
from .optimizer import Optimizer, check, zeros_of

_sgd = _core.op("sgd")
_sgd_momentum = _core.op("sgd_momentum")


class SGD(Optimizer):
    """v = momentum v + g, p -= lr v (nesterov: lr (g + momentum v)), where g has weight_decay times p in it."""

    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        check(0.0, lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and momentum <= 0:
            raise ValueError(f"SGD: nesterov needs momentum above 0, not {momentum}")
        self.nesterov = nesterov
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    def _first_state(self, param, group):
        return {"momentum_buffer": zeros_of(param)} if group["momentum"] else {}

    def _update(self, param, group, state, lr):
        decay = float(group["weight_decay"])
        if not group["momentum"]:
            _sgd(param, param.grad, lr, decay=decay)
            return
        if "momentum_buffer" not in state:  # momentum was set later
            state["momentum_buffer"] = zeros_of(param)
            on_abort(lambda: state.pop("momentum_buffer"))
        _sgd_momentum(param, param.grad, state["momentum_buffer"], lr, momentum=float(group["momentum"]), decay=decay,
                      nesterov=self.nesterov)
