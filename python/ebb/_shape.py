"""Shapes in logical order. Rank 4 lies channels-last, so that the op `reshape`, which is a view of bytes, can
only be taken where channels and places stay as they are; elsewhere a copy in another order comes first."""

from math import prod

import numpy as np

from . import _core, _dtype, _special

_broadcast_to = _core.op("broadcast_to")
_cast = _core.op("cast")
_from_planes = _core.op("from_planes")
_permute = _core.op("permute")
_reduce_max = _core.op("reduce_max")
_reshape = _core.op("reshape")
_stop_gradient = _core.op("stop_gradient")
_to_planes = _core.op("to_planes")


class Shape(tuple):
    """A tensor's sizes: a tuple of ints, that can be asked for an array, as MegEngine's shapes within a trace can."""

    __slots__ = ()

    def numpy(self):
        return np.array(self, np.int32)


class _Asked(int):
    """An int that can be asked for an array."""

    __slots__ = ()
    __hash__ = int.__hash__
    shape = ()

    def numpy(self):
        return np.array(int(self), self._dtype)

    def item(self):
        return self.numpy().item()


class _Truth(_Asked):
    """What a comparison of a size gives: 1 or 0, for nothing can be a subclass of bool."""

    _dtype = np.bool_

    def __repr__(self):
        return repr(bool(self))


class Size(_Asked):
    """A size of a symbolic shape."""

    _dtype = np.int32
    __hash__ = int.__hash__


def _comparison(name):
    of_ints = getattr(int, name)

    def compare(self, other):
        answer = of_ints(self, other)
        return answer if answer is NotImplemented else _Truth(answer)

    return compare


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Size, _name, _comparison(_name))


class SymbolicShape(Shape):
    """What shapes are where MegEngine has tensors of them (core.set_symbolic_shape): they, their sizes, and what
    comparisons of sizes give, have numpy()."""

    __slots__ = ()

    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return SymbolicShape(found) if isinstance(key, slice) else Size(found)


_symbolic = False


def set_symbolic(on):
    """Whether shapes are symbolic from now on; returns whether they were."""
    global _symbolic
    before, _symbolic = _symbolic, bool(on)
    if before != _symbolic:
        _core.shapes(SymbolicShape if on else Shape)
    return before


def is_symbolic():
    return _symbolic


# What is asked of reshape, transpose, broadcast_to and astype may be x already: then they give x itself, which is
# an operand, and users get share(x), which may be assigned to.


def share(x):
    """Another tensor with x's value: an op, so that a trace knows where it comes from."""
    return _reshape(x, shape=x.shape) if x.ndim else _scalar(x)


def another(x, y):
    return share(x) if y is x else y


def astype(x, dtype):
    element = _dtype.element_of(dtype)
    return x if x._element == element else _dtype.cast(x, element)


def detach(x):
    return _stop_gradient(x) if _dtype.is_real(x.dtype) else share(x)


def sizes(shape):
    """(2, 3), ((2, 3),) or ([2, 3],) as a tuple of ints; tensors and arrays of integers count as what they hold."""
    whole = []
    for part in shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list, range)) else shape:
        part = part.tolist() if hasattr(part, "tolist") else part
        whole.extend(part if isinstance(part, list) else [part])
    return tuple(int(s) for s in whole)


def axis_of(axis, ndim, what="axis"):
    axis = int(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f"{what} {axis} of a tensor of {ndim} axes")
    return axis % ndim


def _byte_order(shape):
    """Channels and places that order the bytes; (1, 1): they are in logical order."""
    if len(shape) != 4 or shape[1] == 1 or shape[2] * shape[3] == 1:
        return 1, 1
    return shape[1], shape[2] * shape[3]


def _whole(old, shape):
    """The shape, its -1 replaced."""
    known = prod(s for s in shape if s != -1)
    if shape.count(-1) == 1 and known > 0 and prod(old) % known == 0:
        shape = tuple(prod(old) // known if s == -1 else s for s in shape)
    if any(s < 0 for s in shape) or prod(shape) != prod(old):
        raise ValueError(f"reshape: {prod(old)} elements of shape {old} do not fit the shape {shape}")
    return shape


def _scalar(x):
    """One element without axes, or what has none, again."""
    if x.dtype == np.bool_:
        return _cast(_reduce_max(_cast(x, to=_dtype.INT32), keep=False), to=_dtype.BOOL)
    return _reduce_max(x, keep=False)


def reshape(x, shape):
    old, shape = x.shape, tuple(shape)
    if shape != old:
        shape = _whole(old, shape)
    if shape == old:
        return x
    if 0 in shape:
        return _special.without(shape, x.dtype)
    if not shape:
        return _scalar(x)
    if not old:
        return _broadcast_to(x, shape=shape)
    if _byte_order(old) == _byte_order(shape):
        return _reshape(x, shape=shape)
    if _byte_order(old) != (1, 1):
        x = _to_planes(x)
    if _byte_order(shape) == (1, 1):
        return _reshape(x, shape=shape)
    return _from_planes(_reshape(x, shape=(shape[0], prod(shape[1:]))), size=shape[1:])


def transpose(x, order):
    n = x.ndim
    order = tuple(range(n))[::-1] if order is None else tuple(axis_of(a, n) for a in order)
    if sorted(order) != list(range(n)):
        raise ValueError(f"transpose: {order} does not name each of the {n} axes once")
    return x if order == tuple(range(n)) else _permute(x, order=order)


def broadcast_to(x, shape):
    shape = tuple(shape)
    if x.shape == shape:
        return x
    if 0 in shape and np.broadcast_shapes(x.shape, shape) == shape:
        return _special.without(shape, x.dtype)
    return _broadcast_to(x, shape=shape)
