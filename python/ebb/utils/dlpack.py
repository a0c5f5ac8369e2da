"""Tensors to other libraries and back, by DLPack, as copies in host memory: a value of Ebb's never changes, and
what is handed out may be written to."""

import numpy as np

from .._tensor import Tensor

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
    """A capsule with a copy of the tensor's elements."""
    return tensor.__dlpack__(stream)


def from_dlpack(data, stream=None):
    """A tensor with a copy of what a capsule, or an object with __dlpack__, has in host memory."""
    return Tensor(np.from_dlpack(data if hasattr(data, "__dlpack__") else _Capsule(data)))
