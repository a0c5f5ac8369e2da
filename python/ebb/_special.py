"""What is done with tensors that the library has no kernels for.

Of integers below 32 bits: they are reckoned with as int32, and what comes of it has their lowest bits.

Without elements: such a tensor is a dtype and a shape, and what an op makes of it is known without running it: a tensor
without elements, or a sum of nothing. A trace takes it as a number of the function's own; no gradient comes through it.
"""

import math
import operator

import numpy as np

from . import _core, _dtype

_ops = {}


def special(name, operands, attributes):
    """An op of which some operand is such a tensor: what _core calls."""
    if any(is_without(x) for x in operands):
        return _without(name, operands, attributes)
    return _narrow(name, operands, attributes)


def _op(name):
    if name not in _ops:
        _ops[name] = _core.op(name)
    return _ops[name]


def counted(places):
    """Numbers of places, int32, of which data say how many there are: a traced call in which there are more or fewer,
    or none, takes no other course, and is recorded anew."""
    from ._tensor import Tensor
    from .jit.trace import may_differ

    before = may_differ(True)
    made = Tensor(np.asarray(places, np.int32))
    if made.size:
        may_differ(before)
    return made


# ---- integers below 32 bits

_OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floor_div": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "equal": operator.eq, "less": operator.lt,
    "less_equal": operator.le, "logical_and": operator.and_, "logical_or": operator.or_, "logical_xor": operator.xor,
    "neg": operator.neg, "abs": abs, "logical_not": operator.invert, "maximum": _core.maximum,
    "minimum": _core.minimum,
}
_PLACES = {"argmax": (0,), "argmin": (0,), "sort": (1,)}  # results that are numbers of places


def _narrow(name, operands, attributes):
    wide = [_dtype.whole(x) if isinstance(x, _core.Tensor) else x for x in operands]
    if name in _OPERATORS:
        made = _OPERATORS[name](*wide)
        dtype = None if any(isinstance(x, float) for x in operands) else _common(operands)
    else:
        made = _op(name)(*wide, **attributes)
        dtype = operands[name == "where"].dtype
    if dtype is None or not _dtype.is_narrow(dtype):
        return made
    several = made if isinstance(made, tuple) else (made,)
    back = [_dtype.cast(y, _dtype.element_of(dtype)) if y.dtype == np.int32 and i not in _PLACES.get(name, ()) else y
            for i, y in enumerate(several)]
    return tuple(back) if isinstance(made, tuple) else back[0]


def _common(operands):
    """The dtype of the tensors among them; numbers take it."""
    return _dtype.promote(*(x.dtype for x in operands if isinstance(x, _core.Tensor)))


# ---- without elements


def is_without(x):
    return isinstance(x, _core.Tensor) and x.size == 0


def without(shape, dtype):
    """A tensor of a shape that has a 0."""
    from ._tensor import Tensor

    made = Tensor.__new__(Tensor)
    made._without(_dtype.element_of(dtype), tuple(shape))
    return made


def _made(shape, dtype, nothing=0.0):
    """A tensor of the shape; where it has elements, each is `nothing`."""
    if 0 in shape:
        return without(shape, dtype)
    number = _core.number(_dtype.element_of(dtype), nothing)
    return _op("broadcast_to")(number, shape=shape) if shape else number


def _without(name, operands, attributes):
    rule = _RULES.get(name)
    if rule is None:
        raise ValueError(f"{name}: not of a tensor without elements, of shape {next(filter(is_without, operands)).shape}")
    return rule(name, operands, **attributes)


def _same(name, operands, **attributes):
    return _made(operands[0].shape, operands[0].dtype)


def _elementwise(name, operands, **attributes):
    shape = np.broadcast_shapes(*(np.shape(x) for x in operands))
    if name in ("equal", "less", "less_equal"):
        return _made(shape, np.bool_)
    dtype = _common(operands[name == "where":])
    if any(isinstance(x, float) for x in operands) or name in ("div", "pow"):
        dtype = dtype if _dtype.is_real(dtype) else np.float32
    elif dtype == np.bool_ and name != "where" and not name.startswith("logical"):
        dtype = np.int32
    return _made(shape, dtype)


_NOTHING = {"reduce_sum": 0.0, "reduce_prod": 1.0, "reduce_mean": math.nan}


def _reduce(name, operands, axis=None, keep=False):
    x = operands[0]
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keep or a not in axes)
    dtype = np.int32 if name.startswith("arg") else x.dtype
    if 0 not in shape and name not in _NOTHING:
        raise ValueError(f"{name}: shape {x.shape} has nothing along axis {axis}")
    return _made(shape, dtype, _NOTHING.get(name, 0.0))


def _take(name, operands, axis=0):
    x, at = operands
    shape = x.shape[:axis] + at.shape + x.shape[axis + 1 :]
    if 0 not in shape:
        raise IndexError(f"take: axis {axis} of shape {x.shape} has no places")
    return without(shape, x.dtype)


def _concat(name, operands, axis):
    ends = [x.shape[:axis] + x.shape[axis + 1 :] for x in operands]
    if len(set(ends)) != 1:
        raise ValueError(f"concat: shapes {[x.shape for x in operands]} differ apart from axis {axis}")
    there = [x for x in operands if x.size]
    if not there:
        size = sum(x.shape[axis] for x in operands)
        return without((*operands[0].shape[:axis], size, *operands[0].shape[axis + 1 :]), operands[0].dtype)
    return _op("concat")(*there, axis=axis) if len(there) > 1 else _op("reshape")(there[0], shape=there[0].shape)


def _matmul(name, operands, transpose_a=False, transpose_b=False):
    a, b = (x.shape[:-2] + x.shape[-2:][:: -1 if t else 1] for x, t in zip(operands, (transpose_a, transpose_b)))
    if name == "linear":
        b = b[::-1]
    if a[-1] != b[-2] or a[:-2] != b[:-2]:
        raise ValueError(f"{name}: shapes {operands[0].shape} and {operands[1].shape}")
    return _made((*a[:-1], b[-1]), operands[0].dtype)


def _windows(name, operands, kernel=None, stride=1, pad=0, dilation=1, groups=1, count_pad=False):
    """Of convolutions and pools of no images."""
    n, c, *size = operands[0].shape
    if name == "conv2d":
        c, kernel = operands[1].shape[0], operands[1].shape[2:]
    stride, pad, dilation, kernel = (x if isinstance(x, (tuple, list)) else (x, x) for x in (stride, pad, dilation, kernel))
    size = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, t, p, d in zip(size, kernel, stride, pad, dilation)]
    return _made((n, c, *(max(s, 0) for s in size)), operands[0].dtype)


_RULES = {
    **dict.fromkeys(("tanh sqrt sin cos silu sign sigmoid round relu log log1p floor ceil expm1 exp erf gelu_erf clip "
                     "stop_gradient dropout softmax cumsum bias batch_norm bn_apply layer_norm group_norm").split(), _same),
    **dict.fromkeys((*_OPERATORS, "where"), _elementwise),
    **dict.fromkeys("reduce_sum reduce_prod reduce_mean reduce_max reduce_min argmax argmin".split(), _reduce),
    **dict.fromkeys(("linear", "matmul"), _matmul),
    **dict.fromkeys(("conv2d", "max_pool", "avg_pool"), _windows),
    "broadcast_to": lambda name, x, shape: _made(tuple(shape), x[0].dtype),
    "reshape": lambda name, x, shape: _made(tuple(shape), x[0].dtype),
    "cast": lambda name, x, to: _made(x[0].shape, _dtype.DTYPES[to]),
    "concat": _concat,
    "embedding": lambda name, x: _take(name, x, 0),
    "global_avg_pool": lambda name, x: _made(x[0].shape[:2], x[0].dtype),
    "permute": lambda name, x, order: _made(tuple(x[0].shape[a] for a in order), x[0].dtype),
    "softmax_xent": lambda name, x, **how: _made((), x[0].dtype, math.nan),
    "sort": lambda name, x, **how: (_same(name, x), _made(x[0].shape, np.int32)),
    "strided_slice": lambda name, x, begin, size, step: _made(tuple(size), x[0].dtype),
    "strided_slice_grad": lambda name, x, begin, size, step: _made(tuple(size), x[0].dtype),
    "take": _take,
}
