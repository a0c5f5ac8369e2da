"""What tests of MegEngine's take from its core: options of traces, and what a scalar is."""

import numpy as np

from . import _core, _shape
from ._tensor import as_tensor
from .autodiff import Function

__all__ = [
    "Function", "astensor1d", "get_option", "isscalar", "make_shape_tuple", "set_option", "set_symbolic_shape",
    "use_symbolic_shape",
]

_options = {}


def set_symbolic_shape(option):
    """Whether sizes, and what comparisons of them give, have numpy(), as within a trace. Shapes are tuples of ints
    in any case. Returns what there was."""
    return _shape.set_symbolic(option)


def use_symbolic_shape():
    return _shape.is_symbolic()


def set_option(name, value):
    """Keeps it, and changes nothing. Returns what there was."""
    before, _options[name] = _options.get(name), value
    return before


def get_option(name):
    return _options.get(name)


def isscalar(x):
    return x.ndim == 0 if isinstance(x, _core.Tensor) else np.isscalar(x)


def astensor1d(x, *reference, dtype=None, device=None):
    """Numbers, or tensors of one, as a tensor of one axis."""
    x = as_tensor(np.asarray(x) if isinstance(x, (list, tuple)) else x, dtype)
    if x.ndim != 1:
        raise ValueError(f"astensor1d: shape {x.shape}: one axis")
    return x


def make_shape_tuple(shape):
    """A shape as a tuple of ints."""
    return tuple(int(s) for s in np.asarray(shape).reshape(-1))
