"""x[key] and x[key] = value.

Integers, slices, ... and None are one strided slice and a reshape. Tensors of integers take rows: the axes
that they index are brought to the front and numbered as one. x[key] = value makes a new value of the old one
and gives it to x."""

import numpy as np

from . import _core, _dtype, _shape

_broadcast_to = _core.op("broadcast_to")
_embedding = _core.op("embedding")
_equal = _core.op("equal")
_fill = _core.op("fill")
_spread = _core.op("strided_slice_grad")
_strided_slice = _core.op("strided_slice")
_taken = _core.op("take")
_where = _core.op("where")


def _is_list(item):
    return isinstance(item, (_core.Tensor, np.ndarray, list, tuple)) and np.ndim(item) > 0


def _whole_key(key, ndim):
    """The key as a list that names every axis, with None where an axis is added."""
    key = list(key) if isinstance(key, tuple) else [key]
    named = sum(item is not None and item is not Ellipsis for item in key)
    dots = [i for i, item in enumerate(key) if item is Ellipsis]
    if len(dots) > 1 or named > ndim:
        raise IndexError(f"an index of {named} axes and {len(dots)} ellipses for a tensor of {ndim} axes")
    at = dots[0] if dots else len(key)
    key[at : at + 1] = [slice(None)] * (ndim - named)
    return key


class _Lattice:
    """Places begin, begin + step, ... of each axis, and the shape that they are given."""

    def __init__(self, x, key):
        self.begin, self.step, self.size, self.shape, self.lists = [], [], [], [], []
        for item in key:
            if item is None:
                self.shape.append(1)
                continue
            axis = len(self.begin)
            whole = x.shape[axis]
            if isinstance(item, slice):
                places = range(*item.indices(whole))
                self.shape.append(len(places))
            elif _is_list(item):
                places = range(whole)
                self.lists.append((len(self.shape), item))
                self.shape.append(whole)
            else:
                places = [self._place(item, whole, axis)]
            if not len(places):
                raise IndexError(f"{item} takes nothing of axis {axis}, which has {whole} places")
            self.begin.append(places[0])
            self.size.append(len(places))
            self.step.append(places[1] - places[0] if len(places) > 1 else 1)

    @staticmethod
    def _place(item, whole, axis):
        if isinstance(item, (bool, np.bool_)):
            raise TypeError("a truth value is no index")
        place = int(item) if isinstance(item, _core.Tensor) else int(np.asarray(item).__index__())
        if not -whole <= place < whole:
            raise IndexError(f"index {place} is out of axis {axis}, which has {whole} places")
        return place % whole

    def of_all(self, x):
        return tuple(self.size) == x.shape and all(s == 1 for s in self.step)


def get(x, key):
    lattice = _Lattice(x, _whole_key(key, x.ndim))
    if not lattice.of_all(x):
        x = _strided_slice(x, begin=lattice.begin, size=lattice.size, step=lattice.step)
    x = _shape.reshape(x, tuple(lattice.shape))
    return _take(x, lattice.lists) if lattice.lists else x


def _numbers(item, whole):
    """Indices as a tensor of int32 in [0, whole)."""
    from ._tensor import as_tensor

    given = item if isinstance(item, _core.Tensor) else np.asarray(item)
    if given.dtype == np.bool_:
        raise TypeError("x[mask] would have a shape that depends on data: use functional.where")
    if given.dtype.kind != "i":
        raise TypeError(f"indices are integers, not {given.dtype}")
    if isinstance(given, _core.Tensor):
        return _where(given < 0, given + whole, given)
    if given.size and not (-whole <= given.min() and given.max() < whole):
        raise IndexError(f"indices from {given.min()} to {given.max()} are out of {whole} places")
    return as_tensor(given % whole)


def _take(x, lists):
    """Rows of x by lists of indices, one for each axis in `lists`, broadcast together."""
    axes = [axis for axis, _ in lists]
    if len(axes) == 1:
        return _taken(x, _numbers(lists[0][1], x.shape[axes[0]]), axis=axes[0])
    others = [axis for axis in range(x.ndim) if axis not in axes]
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    rest = [x.shape[a] for a in others]
    rows = 0
    for axis, item in lists:
        rows = rows * x.shape[axis] + _numbers(item, x.shape[axis])
    n = int(np.prod([x.shape[a] for a in axes]))
    table = _shape.reshape(_shape.transpose(x, axes + others), (n, -1))
    taken = take_rows(table, _shape.reshape(rows, (-1,)))
    taken = _shape.reshape(taken, (*rows.shape, *rest))
    if not together or axes[0] == 0:
        return taken
    k, before = rows.ndim, axes[0]  # as in NumPy: where the first of them was
    return _shape.transpose(taken, [*range(k, k + before), *range(k), *range(k + before, taken.ndim)])


def take_rows(table, rows):
    """Rows of a table[v, c] by a list of int32."""
    if table.dtype != np.float32:
        return _shape.astype(_embedding(_shape.astype(table, "float32"), rows), table.dtype)
    return _embedding(table, rows)


def _spread_out(x, lattice, shape):
    return _spread(x, begin=lattice.begin, size=shape, step=lattice.step)


def set(x, key, value):
    from ._tensor import as_tensor

    lattice = _Lattice(x, _whole_key(key, x.ndim))
    if lattice.lists:
        raise TypeError("x[indices] = value: only integers, slices, ... and None can be assigned to")
    value = as_tensor(value, x.dtype)
    if lattice.of_all(x):
        x._replace(_shape.reshape(_shape.broadcast_to(value, tuple(lattice.shape)), x.shape))
        return
    value = _shape.reshape(_shape.broadcast_to(value, tuple(lattice.shape)), tuple(lattice.size))
    if x.dtype == np.bool_:  # nothing spreads truth values
        value = _shape.astype(value, "int32")
    ones = _spread_out(_fill(shape=lattice.size, value=1.0), lattice, x.shape)
    chosen = _equal(ones, _core.number(_dtype.FLOAT32, 1.0))
    spread = _shape.astype(_spread_out(value, lattice, x.shape), x.dtype)
    x._replace(_where(chosen, spread, x))
