"""First values of parameters."""

import math

from .. import random
from ..functional.tensor import full

__all__ = [
    "calculate_correct_fan", "calculate_fan_in_and_fan_out", "calculate_gain", "fill_", "msra_normal_",
    "msra_uniform_", "normal_", "ones_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]


def fill_(tensor, val):
    tensor._reset(full(tensor.shape, val, dtype=tensor.dtype))


def zeros_(tensor):
    fill_(tensor, 0)


def ones_(tensor):
    fill_(tensor, 1)


def uniform_(tensor, a=0.0, b=1.0):
    """Uniform in [a, b)."""
    tensor._reset(random.uniform(a, b, tensor.shape))


def normal_(tensor, mean=0.0, std=1.0):
    tensor._reset(random.normal(mean, std, tensor.shape))


def calculate_gain(nonlinearity, param=None):
    """What keeps the variance through a nonlinearity; param: leaky_relu's slope (0.01)."""
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else float(param)) ** 2))
    if nonlinearity in ("linear", "sigmoid") or nonlinearity.startswith("conv"):
        return 1.0
    raise ValueError(f"calculate_gain: no nonlinearity {nonlinearity!r}")


def calculate_fan_in_and_fan_out(tensor):
    """Of weights [out, in, ...], or of groups of images' [groups, out, in, h, w]."""
    shape = tensor.shape[1:] if tensor.ndim == 5 else tensor.shape
    if len(shape) < 2:
        raise ValueError(f"a tensor of shape {tensor.shape} has no fan: two axes or more are needed")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def calculate_correct_fan(tensor, mode):
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode {mode!r}: fan_in or fan_out")
    return calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def xavier_uniform_(tensor, gain=1.0):
    fan_in, fan_out = calculate_fan_in_and_fan_out(tensor)
    a = gain * math.sqrt(6.0 / (fan_in + fan_out))
    uniform_(tensor, -a, a)


def xavier_normal_(tensor, gain=1.0):
    fan_in, fan_out = calculate_fan_in_and_fan_out(tensor)
    normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)))


def _msra_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(calculate_correct_fan(tensor, mode))


def msra_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    bound = math.sqrt(3.0) * _msra_std(tensor, a, mode, nonlinearity)
    uniform_(tensor, -bound, bound)


def msra_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    normal_(tensor, 0.0, _msra_std(tensor, a, mode, nonlinearity))
