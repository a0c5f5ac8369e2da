"""Functions of one place at a time; operands are broadcast together and brought to one dtype."""

import builtins

import numpy as np

from .. import _core, _dtype, _precision
from .._tensor import as_tensor

__all__ = [
    "abs", "acosh", "add", "asinh", "atanh", "ceil", "clip", "cos", "cosh", "div", "equal", "erf", "exp", "expm1",
    "floor", "floor_div", "greater", "greater_equal", "isinf", "isnan", "left_shift", "less", "less_equal", "log", "log1p",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "mul",
    "neg", "not_equal", "pow", "right_shift", "round", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh",
]

_ceil = _core.op("ceil")
_clip = _core.op("clip")
_cos = _core.op("cos")
_erf = _core.op("erf")
_exp = _core.op("exp")
_expm1 = _core.op("expm1")
_floor = _core.op("floor")
_log = _core.op("log")
_log1p = _core.op("log1p")
_round = _core.op("round")
_sign = _core.op("sign")
_sin = _core.op("sin")
_sqrt = _core.op("sqrt")
_tanh = _core.op("tanh")
_where = _core.op("where")
_LOG_2 = float(np.log(2))


def as_real(x):
    """x as a tensor of reals."""
    x = as_tensor(x)
    return x if _dtype.is_real(x.dtype) else x.astype("float32")


def choose(condition, a, b, like):
    """a where the condition holds, else b; numbers are of `like`'s dtype."""
    return _where(condition, *(v if isinstance(v, _core.Tensor) else as_tensor(v, like.dtype) for v in (a, b)))


def _high(x):
    return _precision.high(as_real(x))


def _first(x, y):
    """x as a tensor where neither is one."""
    return x if isinstance(x, _core.Tensor) or isinstance(y, _core.Tensor) else as_tensor(x)


def add(x, y):
    return _first(x, y) + y


def sub(x, y):
    return _first(x, y) - y


def mul(x, y):
    return _first(x, y) * y


def div(x, y):
    return _first(x, y) / y


def floor_div(x, y):
    return _first(x, y) // y


def mod(x, y):
    """What floor_div leaves: of y's sign, as NumPy's."""
    return _first(x, y) % y


def pow(x, y):
    return _precision.high(_first(x, y)) ** y


def neg(x):
    return -as_tensor(x)


def abs(x):
    return builtins.abs(as_tensor(x))


def maximum(x, y):
    """The larger; a NaN shows."""
    return _core.maximum(_first(x, y), y)


def minimum(x, y):
    """The smaller; a NaN shows."""
    return _core.minimum(_first(x, y), y)


def clip(x, lower=None, upper=None):
    """x, at least lower and at most upper; a bound itself has x's gradient."""
    if lower is None and upper is None:
        raise ValueError("clip: lower, upper or both")
    x = as_tensor(x)
    if all(isinstance(b, (int, float)) for b in (lower, upper)) and lower > upper:
        raise ValueError(f"clip: lower {lower} is above upper {upper}")
    if lower is not None:
        x = maximum(x, lower)
    return x if upper is None else minimum(x, upper)


def clip_flat(x, lower, upper):
    """x between two numbers, without a gradient at them: of activations."""
    return _clip(x, min=float(lower), max=float(upper)) if x.dtype == np.float32 else clip(x, lower, upper)


def exp(x):
    return _exp(_high(x))


def expm1(x):
    return _expm1(_high(x))


def log(x):
    return _log(_high(x))


def log1p(x):
    return _log1p(_high(x))


def sqrt(x):
    return _sqrt(as_real(x))


def square(x):
    return mul(x, x)


def sin(x):
    return _sin(as_real(x))


def cos(x):
    return _cos(as_real(x))


def tan(x):
    x = as_real(x)
    return _sin(x) / _cos(x)


def sinh(x):
    x = as_real(x)
    return (_expm1(x) - _expm1(-x)) * 0.5


def cosh(x):
    x = as_real(x)
    return (_exp(x) + _exp(-x)) * 0.5


def tanh(x):
    return _tanh(as_real(x))


def _square_fits(x):
    """A number beyond which 1 beside x's square is nothing, and up to which the square fits x's dtype."""
    return 100.0 if _dtype.is_low(x.dtype) else 1e8


def asinh(x):
    x = as_real(x)
    sign, most = choose(x < 0, -1.0, 1.0, x), _square_fits(x)
    size = x * sign
    small, large = minimum(size, most), maximum(size, most)  # so that no branch has the gradient of one that is not taken
    near = log1p(small + small * small / (1 + sqrt(small * small + 1)))
    return sign * _where(size > most, log(large) + _LOG_2, near)


def acosh(x):
    """Of x at least 1; NaN below."""
    x = as_real(x)
    most = _square_fits(x)
    far = minimum(x - 1, most)
    return _where(x > most, log(x) + _LOG_2, log1p(far + sqrt(far * far + 2 * far)))


def atanh(x):
    return log1p(2 * x / (1 - x)) / 2


def erf(x):
    return _erf(as_real(x))


def sign(x):
    return _sign(as_tensor(x))


def ceil(x):
    return _ceil(as_real(x))


def floor(x):
    return _floor(as_real(x))


def round(x):
    """The nearest whole number, halves away from zero, as MegEngine rounds them."""
    x = as_real(x)
    even = _round(x)
    return _where(builtins.abs(x - even) == 0.5, x + _sign(x) * 0.5, even)


def logaddexp(x, y):
    """log(exp(x) + exp(y)) without overflow."""
    apart = sub(x, y)
    return maximum(x, y) + log1p(exp(minimum(-apart, apart)))  # where they are equal, maximum's slope is x's; together 1/2 each


def equal(x, y):
    return _first(x, y) == y


def not_equal(x, y):
    return _first(x, y) != y


def less(x, y):
    return _first(x, y) < y


def less_equal(x, y):
    return _first(x, y) <= y


def greater(x, y):
    return _first(x, y) > y


def greater_equal(x, y):
    return _first(x, y) >= y


def logical_and(x, y):
    return _first(x, y) & y


def logical_or(x, y):
    return _first(x, y) | y


def logical_xor(x, y):
    return _first(x, y) ^ y


def logical_not(x):
    return ~as_tensor(x)


def left_shift(x, y):
    """x times 2^y of integers; y is in [0, 31)."""
    return _integers(x) * _power_of_two(y)


def right_shift(x, y):
    """x divided by 2^y of integers: the largest whole number not above; y is in [0, 31)."""
    return _integers(x) // _power_of_two(y)


def _power_of_two(y):
    if not np.ndim(y):
        return 1 << int(y)
    y, power = _integers(y), 1
    for bit in (1, 2, 4, 8, 16):
        power = power * (y // bit % 2 * (2**bit - 1) + 1)
    return power


def _integers(x):
    x = as_tensor(x)
    if _dtype.is_real(x.dtype):
        raise TypeError(f"shifts are of integers, not {x.dtype}")
    return x


def isnan(x):
    x = as_tensor(x)
    return x != x


def isinf(x):
    return abs(as_real(x)) == float("inf")
