"""Tensors in the arguments and results of a traced function."""

import numpy as np

from .. import _core
from .._special import is_without

_BY_VALUE = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.dtype, np.generic)


def look_through(value, tensors, key):
    """Appends the tensors of an argument to `tensors`, and what it is apart from them to `key`."""
    if isinstance(value, _core.Tensor):
        if is_without(value):  # all that is known of it is its type
            key.append(f"T{value.dtype}{value.shape}")
        else:
            tensors.append(value)
            key.append("T")
    elif isinstance(value, (list, tuple)):
        key.append(f"{type(value).__name__}{len(value)}")
        for v in value:
            look_through(v, tensors, key)
    elif isinstance(value, dict) and type(value) is dict:
        key.append(f"dict{len(value)}")
        for k, v in value.items():
            look_through(k, [], key)
            look_through(v, tensors, key)
    else:
        key.append(_name(value))


def _name(value):
    """What a recording depends on of something that is no tensor: the value of numbers and texts, and which
    object it is of others. Arrays are data: what they are is fed anew."""
    if isinstance(value, _BY_VALUE):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, np.ndarray):
        return f"array:{value.dtype}{value.shape}"
    return f"object:{id(value)}"


def tensors_of(value, found):
    """Appends all tensors of a result to `found`."""
    if isinstance(value, _core.Tensor):
        if not is_without(value):
            found.append(value)
    elif isinstance(value, (list, tuple)):
        for v in value:
            tensors_of(v, found)
    elif isinstance(value, dict):
        for v in value.values():
            tensors_of(v, found)
