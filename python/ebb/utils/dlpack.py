"""Tensors to other libraries and back, by DLPack, in host memory.

A value of Ebb's never changes. Who asks for DLPack's version 1 looks at it without a copy, and is told not to write;
others get a copy. from_dlpack takes what lies as a tensor does (row-major, images channels-last, aligned to 64 bytes)
without a copy: its owner must not write to it while the tensor is there."""

import numpy as np

from .. import _dtype
from .._tensor import Tensor
from ..device import is_host

__all__ = ["from_dlpack", "to_dlpack"]

_CPU = (1, 0)


class _Capsule:
    """A bare capsule as NumPy wants it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return _CPU


def to_dlpack(tensor, stream=None):
    """A capsule with a copy of the tensor's elements: of a bare capsule it is not known who reads it."""
    return tensor.__dlpack__(stream=stream)


def from_dlpack(data, stream=None):
    """A tensor of what a capsule, or an object with __dlpack__, has in host memory: without a copy where it can be."""
    array = np.from_dlpack(data if hasattr(data, "__dlpack__") else _Capsule(data))
    if not _dtype.stays(array.dtype):
        return Tensor(array)
    tensor = Tensor.__new__(Tensor)
    if is_host() and tensor._borrow(array, _dtype.element_of(array.dtype)):
        return tensor
    return Tensor(array, dtype=array.dtype)
