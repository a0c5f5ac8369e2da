"""Tensors made of nothing."""

import math as _numbers

import numpy as np

from .. import _core, _dtype, _shape, _special
from ..device import check_device

__all__ = ["arange", "eye", "full", "full_like", "linspace", "ones", "ones_like", "zeros", "zeros_like"]

_broadcast_to = _core.op("broadcast_to")
_fill = _core.op("fill")
_iota = _core.op("iota")


def full(shape, value, *, dtype=None, device=None):
    """value everywhere; of its own dtype unless one is given."""
    if device is not None:
        check_device(device)
    shape = _shape.sizes((shape,) if isinstance(shape, (int, np.integer)) else tuple(shape))
    if any(s < 0 for s in shape):
        raise ValueError(f"shape {shape}: sizes are 0 or more")
    if isinstance(value, _core.Tensor):
        value = value if dtype is None else value.astype(dtype)
        return _shape.another(value, _shape.broadcast_to(value, shape))
    if dtype is None:
        dtype = {"b": "bool", "i": "int32"}.get(np.asarray(value).dtype.kind, "float32")
    element = _dtype.element_of(dtype)
    if 0 in shape:
        return _special.without(shape, dtype)
    if _dtype.is_real(dtype) and np.isfinite(value):
        return _fill(shape=shape or None, value=float(value), dtype=element)
    number = _core.number(element, float(value) if _dtype.is_real(dtype) else np.dtype(dtype).type(value).item())
    return _shape.broadcast_to(number, shape)


def ones(shape, *, dtype="float32", device=None):
    return full(shape, 1, dtype=dtype, device=device)


def zeros(shape, *, dtype="float32", device=None):
    return full(shape, 0, dtype=dtype, device=device)


def full_like(inp, value):
    return full(inp.shape, value, dtype=inp.dtype)


def ones_like(inp):
    return full_like(inp, 1)


def zeros_like(inp):
    return full_like(inp, 0)


def places(n, axis=0, ndim=1):
    """0 to n - 1 along an axis, int32, the other axes of size 1."""
    if n == 0:
        return _special.without([0 if a == axis else 1 for a in range(ndim)], "int32")
    return _iota(shape=[n if a == axis else 1 for a in range(ndim)], axis=axis)


def arange(start=0, stop=None, step=1, dtype="float32", device=None):
    """start, start + step, ... before stop."""
    if stop is None:
        start, stop = 0, start
    if float(step) == 0:
        raise ValueError("arange: step is 0")
    n = _numbers.ceil((float(stop) - float(start)) / float(step))
    n = max(n, 0)
    whole = all(float(v).is_integer() for v in (start, step))
    counted = places(n) if whole else places(n).astype("float32")
    number = int if whole else float
    return (counted * number(step) + number(start)).astype(dtype)


def linspace(start, stop, num, dtype="float32", device=None):
    """num places from start to stop, both of them included."""
    num = int(num)
    if num < 0:
        raise ValueError(f"linspace: num {num}: 0 or more")
    step = (float(stop) - float(start)) / max(num - 1, 1)
    return (places(num).astype("float32") * step + float(start)).astype(dtype)


def eye(N, M=None, *, dtype="float32", device=None):
    """Ones on the diagonal. N: a number, or both."""
    if not isinstance(N, (int, np.integer)):
        N, M = (*_shape.sizes((N,)), M)[:2] if np.ndim(N) else (int(N), M)
    return (places(N, 0, 2) == places(N if M is None else M, 1, 2)).astype(dtype)
