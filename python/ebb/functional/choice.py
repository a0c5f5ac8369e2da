"""What depends on data: masks, and places by number. Masks and indices are read by the host, which waits for
them; within a trace that ends a program and begins another."""

import math

import numpy as np

from .. import _core, _dtype, _shape
from .._special import counted
from .._tensor import Tensor, as_tensor

__all__ = ["cond_take", "masked_fill", "non_zero", "nonzero", "scatter"]

_take = _core.op("take")
_where = _core.op("where")


def _rows(places):
    return Tensor(np.asarray(places, np.int32))


def cond_take(mask, x):
    """x's elements where mask holds, as a vector, and their numbers in x."""
    mask, x = as_tensor(mask), as_tensor(x)
    if mask.dtype != np.bool_ or mask.shape != x.shape:
        raise ValueError(f"cond_take: mask is of bool and of x's shape {x.shape}, not {mask.dtype} of {mask.shape}")
    rows = counted(np.flatnonzero(mask.numpy()))
    return _take(_shape.reshape(x, (-1,)), rows, axis=0), rows


def non_zero(condition, as_tuple=False):
    """Where condition is not 0: a row of numbers for each place, or with as_tuple a vector for each axis."""
    found = np.nonzero(as_tensor(condition).numpy())
    return tuple(counted(f) for f in found) if as_tuple else counted(np.stack(found, 1))


nonzero = non_zero


def masked_fill(inp, mask, value):
    """value where mask holds."""
    inp = as_tensor(inp)
    return _where(as_tensor(mask), as_tensor(value, inp.dtype), inp)


def put(x, places, values):
    """x with values at places, numbers of its elements on the host: of two that are the same the last one counts."""
    whole = x.size
    last = np.full(whole, -1, np.int64)
    last[places.reshape(-1)] = np.arange(places.size)
    chosen = Tensor((last >= 0).reshape(x.shape))
    brought = _take(_shape.reshape(values, (-1,)), _rows(np.maximum(last, 0)), axis=0)
    return _where(chosen, _shape.reshape(brought, x.shape), x)


def scatter(inp, axis, index, source):
    """inp with source's elements at the places that index names along an axis, the last of the same place."""
    inp, index = as_tensor(inp), _dtype.whole(as_tensor(index))
    source, axis = as_tensor(source, inp.dtype), _shape.axis_of(axis, inp.ndim)
    if index.dtype != np.int32:
        raise TypeError(f"scatter: index is of int32, not {index.dtype}")
    shape = inp.shape
    fits = index.ndim == inp.ndim and all(a == axis or n <= shape[a] for a, n in enumerate(index.shape))
    if not fits or source.shape != index.shape:
        raise ValueError(f"scatter: index {index.shape} and source {source.shape} for inp {shape} along axis {axis}")
    named, along = index.numpy(), shape[axis]
    if named.size and (named.min() < -along or named.max() >= along):
        raise IndexError(f"scatter: indices from {named.min()} to {named.max()} are out of {along} places")
    at = list(np.indices(named.shape))
    at[axis] = named % along
    strides = [math.prod(shape[a + 1 :]) for a in range(inp.ndim)]
    return put(inp, sum(a * s for a, s in zip(at, strides)), source)
