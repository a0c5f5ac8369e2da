"""Tensors in the arguments and results of a traced function."""

import numpy as np

from .. import _core
from .._special import is_without

_BY_VALUE = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.dtype, np.generic)


def take_apart(value, tensors, key):
    """The value with another handle for each tensor, which are appended to `tensors`; what it is apart from
    them is appended to `key`."""
    if isinstance(value, _core.Tensor):
        handle = type(value).__new__(type(value))  # the body may assign to it
        handle.__dict__ = value.__dict__  # `grad`, and whatever else it is known by, are the caller's tensor's
        handle._share(value)
        if is_without(value):  # all that is known of it is its type
            key.append(f"T{value.dtype}{value.shape}")
        else:
            tensors.append(handle)
            key.append("T")
        return handle
    if isinstance(value, (list, tuple)):
        key.append(f"{type(value).__name__}{len(value)}")
        parts = [take_apart(v, tensors, key) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict) and type(value) is dict:
        key.append(f"dict{len(value)}")
        parts = {}
        for k, v in value.items():
            take_apart(k, [], key)
            parts[k] = take_apart(v, tensors, key)
        return parts
    key.append(_name(value))
    return value


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
