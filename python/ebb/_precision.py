"""Which dtype ops compute in while `amp.autocast` is on: ops that multiply in the low one, ops whose results grow, or
differ little, in the high one. Others take what they are given."""

from . import _core, _dtype, _shape

_now = None  # (low, high), or None


def now():
    return _now


def set(dtypes):
    global _now
    _now = dtypes


def _cast(x, dtype):
    """x in the dtype where it is a tensor of float32 or of 16 bits."""
    if isinstance(x, _core.Tensor) and x._element in (_dtype.FLOAT32, _dtype.FLOAT16, _dtype.BFLOAT16):
        return _shape.astype(x, dtype)
    return x


def low(*tensors):
    """Operands of a product."""
    return tensors if _now is None else tuple(_cast(x, _now[0]) for x in tensors)


def high(x):
    """An operand of what needs range or digits."""
    return x if _now is None else _cast(x, _now[1])
