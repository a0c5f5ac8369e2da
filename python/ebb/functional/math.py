"""Reductions and products."""

import builtins
import math as _numbers

import numpy as np

from .. import _core, _dtype, _precision, _shape
from .._tensor import as_tensor
from .elemwise import abs, as_real, maximum, sqrt

__all__ = [
    "argmax", "argmin", "argsort", "cumsum", "dot", "matmul", "max", "mean", "min", "norm", "normalize", "prod",
    "sort", "std", "sum", "topk", "var",
]

_argmax = _core.op("argmax")
_argmin = _core.op("argmin")
_cumsum = _core.op("cumsum")
_linear = _core.op("linear")
_matmul = _core.op("matmul")
_reduce_max = _core.op("reduce_max")
_reduce_mean = _core.op("reduce_mean")
_reduce_min = _core.op("reduce_min")
_reduce_prod = _core.op("reduce_prod")
_reduce_sum = _core.op("reduce_sum")
_sort = _core.op("sort")


def axes_of(axis, ndim):
    """An axis or several as an ascending tuple; None: all."""
    if axis is None:
        return None
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(sorted(_shape.axis_of(a, ndim) for a in axes))
    if len(builtins.set(axes)) != len(axes):
        raise ValueError(f"axis {axis} names one axis twice")
    return axes


def _reduce(op, x, axis, keepdims):
    axes = axes_of(axis, x.ndim)
    if axes == ():
        return _shape.share(x)
    return op(x, axis=axes, keep=bool(keepdims))


def _of_numbers(x):
    """x, or int32 of truth values and of narrow integers, whose sums need more bits."""
    x = as_tensor(x)
    return x.astype("int32") if x.dtype == np.bool_ or _dtype.is_narrow(x.dtype) else x


def _back(values, x):
    """Values of int32 as x's dtype, where they are some of x's."""
    return _shape.astype(values, x.dtype) if values.dtype == np.int32 else values


def sum(inp, axis=None, keepdims=False):
    return _reduce(_reduce_sum, _precision.high(_of_numbers(inp)), axis, keepdims)


def mean(inp, axis=None, keepdims=False):
    return _reduce(_reduce_mean, _precision.high(as_real(inp)), axis, keepdims)


def prod(inp, axis=None, keepdims=False):
    """The product; its gradient is right where there are zeros, too."""
    return _reduce(_reduce_prod, _precision.high(_of_numbers(inp)), axis, keepdims)


def cumsum(inp, axis):
    """Each place's sum with all before it along the axis."""
    inp = _of_numbers(inp)
    return _cumsum(inp, axis=_shape.axis_of(axis, inp.ndim))


def max(inp, axis=None, keepdims=False):
    """The largest; gradients are shared among equal ones."""
    inp = as_tensor(inp)
    return _back(_reduce(_reduce_max, _of_numbers(inp), axis, keepdims), inp)


def min(inp, axis=None, keepdims=False):
    """The smallest; gradients are shared among equal ones."""
    inp = as_tensor(inp)
    return _back(_reduce(_reduce_min, _of_numbers(inp), axis, keepdims), inp)


def var(inp, axis=None, keepdims=False):
    """The mean of squared distances to the mean."""
    inp = as_real(inp)
    return mean((inp - mean(inp, axis, True)) ** 2, axis, keepdims)


def std(inp, axis=None, keepdims=False):
    return sqrt(var(inp, axis, keepdims))


def norm(inp, ord=None, axis=None, keepdims=False):
    """The p-norm of a vector, or along one axis; 2 by default."""
    inp = as_real(inp)
    if axis is None and inp.ndim != 1:
        raise TypeError(f"norm: axis is needed for a tensor of {inp.ndim} axes")
    ord = 2 if ord is None else ord
    if ord == float("inf"):
        return max(abs(inp), axis, keepdims)
    if ord == -float("inf"):
        return min(abs(inp), axis, keepdims)
    if ord == 0:
        return sum(inp != 0, axis, keepdims).astype(inp.dtype)
    if ord == 1:
        return sum(abs(inp), axis, keepdims)
    if ord == 2:
        return sqrt(sum(inp**2, axis, keepdims))
    return sum(abs(inp) ** float(ord), axis, keepdims) ** (1.0 / ord)


def normalize(inp, ord=None, axis=None, eps=1e-12):
    """inp divided by its norm, which counts as at least eps."""
    if axis is None:
        flat = _shape.reshape(as_real(inp), (-1,))
        return inp / maximum(norm(flat, ord), eps)
    return inp / maximum(norm(inp, ord, axis, True), eps)


def _arg(op, inp, axis, keepdims):
    if axis is None:
        if keepdims:
            raise ValueError("argmax and argmin: keepdims needs an axis")
        return op(_shape.reshape(inp, (-1,)), axis=0)
    axes, shape = axes_of(axis, inp.ndim), inp.shape
    if not axes:
        raise ValueError(f"argmax and argmin: axis {axis} names none")
    if len(axes) > 1:  # their places are numbered as those of one axis
        others = [a for a in range(inp.ndim) if a not in axes]
        inp = _shape.transpose(inp, [*others, *axes])
        inp = _shape.reshape(inp, (*inp.shape[: len(others)], -1))
    place = op(inp, axis=axes[0] if len(axes) == 1 else inp.ndim - 1)
    return _shape.reshape(place, [1 if a in axes else n for a, n in enumerate(shape)]) if keepdims else place


def argmax(inp, axis=None, keepdims=False):
    """The first place of the largest, or of a NaN, as int32; its number in row-major order along several axes."""
    return _arg(_argmax, _of_numbers(inp), axis, keepdims)


def argmin(inp, axis=None, keepdims=False):
    """The first place of the smallest, or of a NaN, as int32."""
    return _arg(_argmin, _of_numbers(inp), axis, keepdims)


def sort(inp, descending=False):
    """The last axis in order, equal ones as they were, and where each was, as int32."""
    inp = as_tensor(inp)
    if inp.ndim == 0:
        raise ValueError("sort: a number has no axis")
    values, where = _sort(_of_numbers(inp), axis=inp.ndim - 1, descending=bool(descending))
    return _back(values, inp), where


def argsort(inp, descending=False):
    """Where each place of the sorted last axis was."""
    return sort(inp, descending)[1]


def topk(inp, k, descending=False, kth_only=False, no_sort=False):
    """The k smallest of the last axis, or with descending the largest, in order, and where they were.

    kth_only: the last of them alone. They are sorted with no_sort, too."""
    inp, k = as_tensor(inp), int(k)
    if inp.ndim and not 1 <= k <= inp.shape[-1]:
        raise ValueError(f"topk: k {k} of {inp.shape[-1]} places of the last axis")
    values, where = sort(inp, descending)
    return values[..., k - 1] if kth_only else (values[..., :k], where[..., :k])


# ---- products


def dot(inp1, inp2):
    """The product of two vectors of one length."""
    inp1, inp2 = as_tensor(inp1), as_tensor(inp2)
    if inp1.ndim != 1 or inp1.shape != inp2.shape:
        raise ValueError(f"dot: vectors of one length, not shapes {inp1.shape} and {inp2.shape}")
    return sum(inp1 * inp2)


def _batched(a, b, transpose_a, transpose_b):
    """Matrices by matrices, the axes before the last two broadcast together."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    g = _numbers.prod(batch)
    a = _shape.reshape(_shape.broadcast_to(a, (*batch, *a.shape[-2:])), (g, *a.shape[-2:]))
    b = _shape.reshape(_shape.broadcast_to(b, (*batch, *b.shape[-2:])), (g, *b.shape[-2:]))
    c = _matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return _shape.reshape(c, (*batch, *c.shape[1:]))


def matmul(inp1, inp2, transpose_a=False, transpose_b=False, compute_mode="default"):
    """The product of matrices, of batches of them, or of vectors, as in NumPy."""
    a, b = _precision.low(as_real(inp1), as_real(inp2))
    if a.dtype != b.dtype:
        dtype = _dtype.promote(a.dtype, b.dtype)
        a, b = a.astype(dtype), b.astype(dtype)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape}: a number has no matrix")
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, b)
    if a.ndim == 1:
        c = matmul(_shape.reshape(a, (1, -1)), b, False, transpose_b)
        return _shape.reshape(c, (*c.shape[:-2], c.shape[-1]))
    if b.ndim == 1:
        c = matmul(a, _shape.reshape(b, (-1, 1)), transpose_a, False)
        return _shape.reshape(c, c.shape[:-1])
    if b.ndim == 2 and not transpose_a:  # one product of all rows of a
        rows = _shape.reshape(a, (_numbers.prod(a.shape[:-1]), a.shape[-1]))
        if transpose_b:
            c = _linear(rows, b)
        else:
            c = _shape.reshape(_matmul(rows[None], b[None]), (rows.shape[0], b.shape[1]))
        return _shape.reshape(c, (*a.shape[:-1], c.shape[-1]))
    return _batched(a, b, transpose_a, transpose_b)
