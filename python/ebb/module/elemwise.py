"""Ops of several inputs as modules."""

from .. import functional as F
from .module import Module

_OTHER = {"true_div": F.div, "max": F.maximum, "min": F.minimum, "negate": F.neg, "fast_tanh": F.tanh,
          "fuse_add_relu": lambda x, y: F.relu(x + y), "fuse_add_sigmoid": lambda x, y: F.sigmoid(x + y),
          "fuse_add_tanh": lambda x, y: F.tanh(x + y), "fuse_mul_add3": lambda x, y, z: x * y + z}


class Elemwise(Module):
    """The function of one place that method names: "add", "relu", "fuse_add_relu", ..."""

    def __init__(self, method, **kwargs):
        super().__init__(**kwargs)
        self.method = method
        name = method.lower()
        if name not in _OTHER and name not in (*F.elemwise.__all__, "relu", "sigmoid", "silu", "gelu"):
            raise ValueError(f"Elemwise: no method {method!r}")

    def forward(self, *inps):
        name = self.method.lower()
        return (_OTHER.get(name) or getattr(F, name))(*inps)


class Concat(Module):
    """Tensors one after the other along an axis."""

    def forward(self, inps, axis=0):
        return F.concat(inps, axis)
