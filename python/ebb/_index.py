"""x[key] and x[key] = value.

Integers, slices, ... and None are one strided slice and a reshape; tensors of integers take places of an axis.
Masks, and lists that are assigned to, are read by the host.
x[key] = value makes a new value of the old one and gives it to x."""

import numpy as np

from . import _core, _dtype, _shape, _special

_broadcast_to = _core.op("broadcast_to")
_equal = _core.op("equal")
_fill = _core.op("fill")
_spread = _core.op("strided_slice_grad")
_strided_slice = _core.op("strided_slice")
_iota = _core.op("iota")
_take_op = _core.op("take")
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
            self.begin.append(places[0] if len(places) else 0)
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


def _is_mask(item):
    return isinstance(item, (_core.Tensor, np.ndarray)) and item.ndim > 0 and item.dtype == np.bool_


def _n_axes(item):
    return 0 if item is None or item is Ellipsis else item.ndim if _is_mask(item) else 1


def _numbered(x, key, of_data=np.asarray):
    """The key with the numbers of places in place of masks, which the host reads. Integers beside lists are lists,
    as in NumPy."""
    items = tuple(np.asarray(i) if isinstance(i, list) and i and isinstance(i[0], (bool, np.bool_)) else i
                  for i in (key if isinstance(key, tuple) else (key,)))
    if not any(_is_list(item) for item in items):
        return key
    numbered, axis, whole = [], 0, sum(map(_n_axes, items))
    for item in items:
        if _is_mask(item):
            own = x.shape[axis : axis + item.ndim]
            if tuple(item.shape) != own:
                raise IndexError(f"a mask of shape {tuple(item.shape)} for places of shape {own}")
            numbered += map(of_data, np.nonzero(np.asarray(item)))
        elif item is None or item is Ellipsis or isinstance(item, slice) or _is_list(item) or axis >= x.ndim:
            numbered.append(item)
        else:
            numbered.append(np.array([_Lattice._place(item, x.shape[axis], axis)]))
        axis += x.ndim - whole if item is Ellipsis else _n_axes(item)
    return tuple(numbered)


def _set_lists(x, key, value):
    """x[key] = value where key has lists of indices: the host finds the places, and the last of one counts."""
    from .functional.choice import put

    host = tuple(np.asarray(i) if _is_list(i) else i for i in (key if isinstance(key, tuple) else (key,)))
    places = np.arange(x.size).reshape(x.shape)[host]
    x._replace(put(x, places, _shape.broadcast_to(value, places.shape)))


def _has_none(lattice):
    return 0 in lattice.size or any(np.size(item) == 0 for _, item in lattice.lists)


def _shape_of(x, key):
    """x[key]'s shape, which the host finds of an array without bytes of its own."""
    host = tuple(np.zeros(np.shape(i), np.int32) if _is_list(i) and np.size(i) == 0 else np.asarray(i) if _is_list(i) else i
                 for i in key)
    return np.broadcast_to(np.int8(0), x.shape)[host].shape


def get(x, key):
    key = _whole_key(_numbered(x, key, _special.counted), x.ndim)
    lattice = _Lattice(x, key)
    if _has_none(lattice):
        return _special.without(_shape_of(x, key), x.dtype)
    if not lattice.of_all(x):
        x = _strided_slice(x, begin=lattice.begin, size=lattice.size, step=lattice.step)
    x = _shape.reshape(x, tuple(lattice.shape))
    return _take(x, lattice.lists) if lattice.lists else x


def _numbers(item, whole):
    """Indices as a tensor of int32; below 0 they count from the end."""
    from ._tensor import as_tensor

    given = item if isinstance(item, _core.Tensor) else np.asarray(item)
    if given.dtype.kind not in "iu":
        raise TypeError(f"indices are integers, not {given.dtype}")
    if isinstance(given, np.ndarray) and given.size and not (-whole <= given.min() and given.max() < whole):
        raise IndexError(f"indices from {given.min()} to {given.max()} are out of {whole} places")
    return as_tensor(given, "int32")


def _from_front(item, whole):
    """The same, none of them below 0; what is no place of the axis is refused before places of several are numbered as one."""
    return _take_op(_iota(shape=[whole], axis=0), _numbers(item, whole), axis=0)


def _take_one(x, axis, item):
    return _take_op(x, _numbers(item, x.shape[axis]), axis=axis)


def _take(x, lists):
    """Places of x by lists of indices, one for each axis in `lists`, broadcast together: axes beside each other
    are numbered as one; others come to the front, as in NumPy."""
    if len(lists) == 1:
        return _take_one(x, *lists[0])
    axes = [axis for axis, _ in lists]
    others = [axis for axis in range(x.ndim) if axis not in axes]
    rows = 0
    for axis, item in lists:
        rows = rows * x.shape[axis] + _from_front(item, x.shape[axis])
    first = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    moved = _shape.transpose(x, others[:first] + axes + others[first:])
    n = int(np.prod([x.shape[a] for a in axes]))
    rest = [x.shape[a] for a in others]
    return _take_op(_shape.reshape(moved, (*rest[:first], n, *rest[first:])), rows, axis=first)


def _spread_out(x, lattice, shape):
    return _spread(x, begin=lattice.begin, size=shape, step=lattice.step)


def set(x, key, value):
    from ._tensor import as_tensor

    if _is_mask(key) and np.size(value) == 1 and tuple(key.shape) == x.shape:  # no shape depends on the mask
        one = _shape.reshape(as_tensor(value, x.dtype), (1,) * x.ndim)
        x._replace(_where(as_tensor(key), one, x))
        return
    lattice = _Lattice(x, _whole_key(_numbered(x, key), x.ndim))
    value = as_tensor(value, x.dtype)
    if _has_none(lattice):
        return
    if lattice.lists:
        _set_lists(x, key, value)
        return
    if lattice.of_all(x):
        x._replace(_shape.reshape(_shape.broadcast_to(value, tuple(lattice.shape)), x.shape))
        return
    value = _shape.reshape(_shape.broadcast_to(value, tuple(lattice.shape)), tuple(lattice.size))
    ones = _spread_out(_fill(shape=lattice.size, value=1.0), lattice, x.shape)
    chosen = _equal(ones, _core.number(_dtype.FLOAT32, 1.0))
    x._replace(_where(chosen, _spread_out(value, lattice, x.shape), x))
