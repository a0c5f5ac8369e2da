"""Inverse trigonometric functions, made of other ones."""

import math

from .. import _core
from .elemwise import abs, as_real, maximum, minimum, sqrt

__all__ = ["acos", "asin", "atan", "atan2"]

_where = _core.op("where")


def _atan_of_unit(x):
    """Of x in [0, 1]: atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), twice, then its series below 0.2."""
    for _ in range(2):
        x = x / (sqrt(x * x + 1) + 1)
    s = x * x
    return 4 * x * (1 - s * (1 / 3 - s * (1 / 5 - s * (1 / 7 - s / 9))))


def atan(x):
    x = as_real(x)
    size = abs(x)
    least = _atan_of_unit(minimum(size, 1) / maximum(size, 1))
    angle = _where(size > 1, math.pi / 2 - least, least)
    return _where(x < 0, -angle, angle)


def asin(x):
    """In [-pi/2, pi/2]; NaN outside of [-1, 1]."""
    x = as_real(x)
    return atan(x / sqrt(1 - x * x))


def acos(x):
    return math.pi / 2 - asin(x)


def atan2(y, x):
    """The angle of the point (x, y), in (-pi, pi]."""
    y, x = as_real(y), as_real(x)
    straight = _where(y < 0, y * 0 - math.pi, y * 0 + math.pi)  # of the left half
    nowhere = (x == 0) & (y == 0)
    angle = atan(y / _where(nowhere, x * 0 + 1, x))
    return _where(x < 0, angle + straight, angle)
