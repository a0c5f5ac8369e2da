"""Inverse trigonometric functions, made of other ones."""

import math

from .elemwise import abs, as_real, choose, sqrt

__all__ = ["acos", "asin", "atan", "atan2"]


def _atan_of_unit(x):
    """Of x in [-1, 1]: atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), twice, then its series below 0.2."""
    for _ in range(2):
        x = x / (sqrt(x * x + 1) + 1)
    s = x * x
    return 4 * x * (1 - s * (1 / 3 - s * (1 / 5 - s * (1 / 7 - s / 9))))


def atan(x):
    x = as_real(x)
    far = abs(x) > 1
    least = _atan_of_unit(choose(far, 1 / choose(far, x, 1.0, x), x, x))
    return choose(far, choose(x < 0, -math.pi / 2, math.pi / 2, x) - least, least, x)


def asin(x):
    """In [-pi/2, pi/2]; NaN outside of [-1, 1]."""
    x = as_real(x)
    return atan(x / sqrt(1 - x * x))


def acos(x):
    return math.pi / 2 - asin(x)


def atan2(y, x):
    """The angle of the point (x, y), in (-pi, pi]."""
    y, x = as_real(y), as_real(x)
    steep = abs(y) > abs(x)
    short, long = choose(steep, x, y, x), choose(steep, y, x, x)
    least = _atan_of_unit(short / choose(long == 0, 1.0, long, x))
    half = choose(y < 0, -math.pi / 2, math.pi / 2, x)
    return choose(steep, half - least, choose(x < 0, half * 2 + least, least, x), x)
