"""What tests of MegEngine's take from its core: options of traces, and what a scalar is."""

import numpy as np

from . import _core
from ._tensor import as_tensor
from .autodiff import Function

__all__ = [
    "Function", "astensor1d", "get_option", "isscalar", "make_shape_tuple", "set_option", "set_symbolic_shape",
    "use_symbolic_shape",
]

_symbolic_shape = False
_options = {}


def set_symbolic_shape(option):
    """Keeps it, and changes nothing: shapes are tuples of ints that have numpy(), in a trace and out of it. Returns
    what there was."""
    global _symbolic_shape
    before, _symbolic_shape = _symbolic_shape, bool(option)
    return before


def use_symbolic_shape():
    return _symbolic_shape


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
