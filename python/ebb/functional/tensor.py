"""Tensors moved about, and those made of nothing (creation.py)."""

import builtins
import math as _numbers

import numpy as np

from .. import _core, _dtype, _shape, _special
from .._tensor import as_tensor
from . import creation
from .creation import *
from .creation import places

__all__ = creation.__all__ + [
    "broadcast_to", "concat", "copy", "diag", "expand_dims", "flatten", "flip", "gather", "indexing_one_hot",
    "meshgrid", "one_hot", "repeat", "reshape", "roll", "split", "squeeze", "stack", "swapaxes", "tile",
    "transpose", "where",
]

_broadcast_to = _core.op("broadcast_to")
_concat = _core.op("concat")
_spread = _core.op("strided_slice_grad")
_pick = _core.op("pick")
_take = _core.op("take")
_where = _core.op("where")


# ---- named by others


def diag(inp, k=0):
    """The k-th diagonal of a matrix as a vector, or a matrix that has a vector on it."""
    inp, k = as_tensor(inp), int(k)
    if inp.ndim == 1:
        n = inp.shape[0] + abs(k)
        wide = _spread(_shape.reshape(inp, (1, -1)), begin=[0, max(k, 0)], size=[1, n], step=[1, 1])
        return _where(places(n, 0, 2) + k == places(n, 1, 2), _broadcast_to(wide, shape=(n, n)), zeros_like(wide))
    if inp.ndim != 2:
        raise ValueError(f"diag: a vector or a matrix, not shape {inp.shape}")
    rows, columns = inp.shape
    n = min(rows + min(k, 0), columns - max(k, 0))
    if n < 1:
        raise ValueError(f"diag: shape {inp.shape} has no diagonal {k}")
    first = max(-k, 0) * columns + max(k, 0)
    return _take(_shape.reshape(inp, (-1,)), places(n) * (columns + 1) + first, axis=0)


def meshgrid(*inputs, indexing="xy"):
    """Vectors, each along an axis of its own of one shape; "xy": the first two of them in turn."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing {indexing!r}: xy or ij")
    n = len(inputs)
    axis = list(range(n))
    if indexing == "xy" and n > 1:
        axis[:2] = 1, 0
    shape = [0] * n
    for x, a in zip(inputs, axis):
        shape[a] = x.size
    return [
        _shape.broadcast_to(_shape.reshape(x, [x.size if b == a else 1 for b in range(n)]), shape)
        for x, a in zip(inputs, axis)
    ]


def one_hot(inp, num_classes):
    """1 at each place that inp names, 0 elsewhere, along a new last axis."""
    inp = as_tensor(inp)
    if inp.dtype.kind in "iu":
        inp = _dtype.whole(inp)
        flat = _shape.reshape(_where(inp < 0, inp - num_classes, inp), (-1,))  # from the end nothing is counted
        inp = _shape.reshape(_take(places(num_classes), flat, axis=0), inp.shape)  # refuses what is no class
    return (expand_dims(inp, -1) == places(num_classes, inp.ndim, inp.ndim + 1)).astype("int32")


def indexing_one_hot(src, index, axis=1, keepdims=False):
    """What index names of src along an axis."""
    src, index = as_tensor(src), as_tensor(index)
    axis = _shape.axis_of(axis, src.ndim)
    # From the end nothing is counted: -1, say, is a row's own mark, and an error as any other that is no place.
    named = _pick(src, _where(index < 0, index - src.shape[axis], index), axis=axis)
    return expand_dims(named, axis) if keepdims else named


def gather(inp, axis, index):
    """inp's place along the axis for each place of index, whose other axes are as long as inp's."""
    inp, index = as_tensor(inp), _dtype.whole(as_tensor(index))
    axis = _shape.axis_of(axis, inp.ndim)
    shape = inp.shape
    if index.dtype != np.int32:
        raise TypeError(f"gather: index is of int32, not {index.dtype}")
    if index.ndim != inp.ndim or any(a != axis and n != shape[a] for a, n in enumerate(index.shape)):
        raise ValueError(f"gather: index of shape {index.shape} for shape {shape}: they differ along axis {axis} alone")
    rows = _take(places(shape[axis]), _shape.reshape(index, (-1,)), axis=0)  # refuses what is no place of the axis
    flat = _shape.reshape(rows, index.shape) * _numbers.prod(shape[axis + 1 :])
    for a, n in enumerate(shape):
        if a != axis and n > 1:
            flat = flat + places(n, a, inp.ndim) * _numbers.prod(shape[a + 1 :])
    taken = _take(_shape.reshape(inp, (-1,)), _shape.reshape(flat, (-1,)), axis=0)
    return _shape.reshape(taken, index.shape)


# ---- moved about


def copy(inp, device=None):
    return inp.to(device) if device is not None else _shape.share(inp)


def reshape(inp, target_shape):
    inp = as_tensor(inp)
    return _shape.another(inp, _shape.reshape(inp, _shape.sizes((target_shape,))))


def flatten(inp, start_axis=0, end_axis=-1):
    """The axes from start_axis to end_axis as one."""
    start, end = _shape.axis_of(start_axis, inp.ndim), _shape.axis_of(end_axis, inp.ndim)
    if start > end:
        raise ValueError(f"flatten: axis {start_axis} comes after axis {end_axis}")
    shape = (*inp.shape[:start], _numbers.prod(inp.shape[start : end + 1]), *inp.shape[end + 1 :])
    return _shape.another(inp, _shape.reshape(inp, shape))


def transpose(inp, pattern):
    """The axes in another order; "x" in it adds one of size 1."""
    inp = as_tensor(inp)
    moved = _shape.transpose(inp, [p for p in pattern if p != "x"])
    if "x" not in builtins.list(pattern):
        return _shape.another(inp, moved)
    sizes = iter(moved.shape)
    return _shape.reshape(moved, tuple(1 if p == "x" else next(sizes) for p in pattern))


def swapaxes(inp, axis1, axis2):
    order = builtins.list(range(inp.ndim))
    a, b = _shape.axis_of(axis1, inp.ndim), _shape.axis_of(axis2, inp.ndim)
    order[a], order[b] = order[b], order[a]
    return _shape.another(inp, _shape.transpose(inp, order))


def expand_dims(inp, axis):
    """Axes of size 1 where axis says, as numbered in the result."""
    inp = as_tensor(inp)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = inp.ndim + len(axes)
    axes = {_shape.axis_of(a, ndim) for a in axes}
    sizes = iter(inp.shape)
    return _shape.reshape(inp, tuple(1 if a in axes else next(sizes) for a in range(ndim)))


def squeeze(inp, axis=None):
    """Without axes of size 1: those that axis names, or all."""
    inp = as_tensor(inp)
    if axis is None:
        axes = [a for a, s in enumerate(inp.shape) if s == 1]
    else:
        axes = [_shape.axis_of(a, inp.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    for a in axes:
        if inp.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} of shape {inp.shape} has {inp.shape[a]} places, not 1")
    shape = tuple(s for a, s in enumerate(inp.shape) if a not in axes)
    return _shape.another(inp, _shape.reshape(inp, shape))


def broadcast_to(inp, shape):
    """inp repeated to a shape; None in it: as it is there."""
    inp = as_tensor(inp)
    if isinstance(shape, (tuple, list)) and None in shape:
        if None in shape[: max(len(shape) - inp.ndim, 0)]:
            raise ValueError(f"broadcast_to: None in {shape} where shape {inp.shape} has no axis")
        ends = (*(None,) * (len(shape) - inp.ndim), *inp.shape)
        shape = [own if s is None else s for s, own in zip(shape, ends)]
    return _shape.another(inp, _shape.broadcast_to(inp, _shape.sizes((shape,))))


def _of_one_dtype(tensors):
    tensors = [as_tensor(t) for t in tensors]
    if not tensors:
        raise ValueError("no tensors to put together")
    dtype = _dtype.promote(*(t.dtype for t in tensors))
    return [as_tensor(t, dtype) for t in tensors]


def concat(inps, axis=0, device=None):
    """Tensors one after the other along an axis."""
    inps = _of_one_dtype(inps)
    axis = _shape.axis_of(axis, inps[0].ndim)
    while len(inps) > 64:  # the most operands of an op
        inps = [_concat(*inps[i : i + 64], axis=axis) for i in range(0, len(inps), 64)]
    return _concat(*inps, axis=axis) if len(inps) > 1 else _shape.share(inps[0])


def stack(inps, axis=0, device=None):
    """Tensors of one shape along a new axis."""
    inps = [as_tensor(t) for t in inps]
    shapes = {t.shape for t in inps}
    if len(shapes) != 1:
        raise ValueError(f"stack: one shape, not {sorted(shapes)}")
    return concat([expand_dims(t, axis) for t in inps], axis)


def split(inp, nsplits_or_sections, axis=0):
    """So many parts, the first ones by one longer where they are not equal, or parts that end at the places given."""
    axis = _shape.axis_of(axis, inp.ndim)
    whole = inp.shape[axis]
    if not np.ndim(nsplits_or_sections):
        n = int(nsplits_or_sections)
        if not 1 <= n <= whole:
            raise ValueError(f"split: {whole} places of axis {axis} are not {n} parts")
        ends = [whole // n * (i + 1) + min(i + 1, whole % n) for i in range(n)]
    else:
        ends = [*(int(e) for e in nsplits_or_sections), whole]
        if any(e <= b for b, e in zip([0, *ends], ends)):
            raise ValueError(f"Invalid nsplits_or_secions: {nsplits_or_sections}")
    before = (slice(None),) * axis
    return [inp[(*before, slice(b, e))] for b, e in zip([0, *ends[:-1]], ends)]


def repeat(inp, repeats, axis=None):
    """Each place so often, one after the other. repeats: a number, or one for each place, which the host reads."""
    inp = as_tensor(inp)
    if axis is None:
        return repeat(_shape.reshape(inp, (-1,)), repeats, 0)
    axis = _shape.axis_of(axis, inp.ndim)
    shape, counts = inp.shape, np.asarray(repeats)
    if counts.dtype.kind != "i" or counts.size not in (1, shape[axis]) or counts.min() < 0 or not counts.any():
        raise ValueError(f"repeat: repeats {repeats!r} of the {shape[axis]} places of axis {axis}")
    if counts.size > 1:
        rows = np.repeat(np.arange(shape[axis], dtype=np.int32), counts.reshape(-1))
        return _take(inp, _special.counted(rows), axis=axis)
    repeats = int(counts.reshape(()))
    rows, each = _numbers.prod(shape[: axis + 1]), _numbers.prod(shape[axis + 1 :])  # an axis more may be one too many
    wide = _broadcast_to(_shape.reshape(inp, (rows, 1, each)), shape=(rows, repeats, each))
    return _shape.reshape(wide, (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))


def tile(inp, reps):
    """The whole so often along each axis, from the last one on."""
    reps = (int(reps),) if not np.ndim(reps) else tuple(int(r) for r in reps)
    ndim = max(inp.ndim, len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    tiled = _shape.reshape(inp, (1,) * (ndim - inp.ndim) + inp.shape)
    for axis, n in enumerate(reps):
        if n != 1:
            tiled = concat([tiled] * n, axis)
    return _shape.another(inp, tiled)


def roll(inp, shift, axis=None):
    """Places moved on, those that leave at the end coming in at the front."""
    if axis is None:
        return _shape.reshape(roll(_shape.reshape(inp, (-1,)), shift, 0), inp.shape)
    shifts, axes = (x if isinstance(x, (tuple, list)) else (x,) for x in (shift, axis))
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    rolled = inp
    for by, a in zip(shifts, axes):
        a = _shape.axis_of(a, inp.ndim)
        by = by % inp.shape[a] if inp.shape[a] else 0
        if by:
            rolled = concat(split(rolled, [inp.shape[a] - by], a)[::-1], a)
    return _shape.another(inp, rolled)


def flip(inp, axis=None):
    """Places along the axes, all of them by default, in the opposite order."""
    axes = range(inp.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [_shape.axis_of(a, inp.ndim) for a in axes]
    return inp[tuple(slice(None, None, -1 if a in axes else None) for a in range(inp.ndim))]


def where(mask, x, y):
    """x where mask holds, else y."""
    mask = as_tensor(mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"where: mask is of bool, not {mask.dtype}")
    return _where(mask, *_of_one_dtype((_beside(x, y), _beside(y, x))))


def _beside(x, other):
    """x as a tensor; a number beside a tensor takes its dtype, unless it says more."""
    if isinstance(x, (int, float)) and isinstance(other, _core.Tensor):
        return as_tensor(x, _dtype.promote(other.dtype, _least(x)))
    return as_tensor(x)


def _least(number):
    """The least dtype of a Python number."""
    return np.dtype({bool: "bool", int: "int32"}.get(type(number), "float32"))
