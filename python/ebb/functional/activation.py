"""Activations, and what makes probabilities of logits."""

import numpy as np

from .. import _core, _precision, _shape
from .elemwise import as_real, clip_flat, exp, log, log1p, minimum
from .math import max, sum

__all__ = [
    "gelu", "hsigmoid", "hswish", "leaky_relu", "log_softmax", "logsigmoid", "logsumexp", "prelu", "relu",
    "relu6", "sigmoid", "silu", "softmax", "softplus",
]

_gelu_erf = _core.op("gelu_erf")
_relu = _core.op("relu")
_sigmoid = _core.op("sigmoid")
_silu = _core.op("silu")
_softmax = _core.op("softmax")


def relu(x):
    return _relu(as_real(x))


def relu6(x):
    return clip_flat(as_real(x), 0, 6)


def sigmoid(x):
    return _sigmoid(as_real(x))


def hsigmoid(x):
    return relu6(x + 3) / 6


def hswish(x):
    return x * relu6(x + 3) / 6


def leaky_relu(inp, negative_slope=0.01):
    return relu(inp) + minimum(inp, 0) * negative_slope  # at 0 the slope of the second alone


def prelu(inp, weight):
    """x where it is positive, else weight times x: one weight, or one a channel."""
    if weight.size != 1:
        weight = _shape.reshape(weight, (1, weight.size) + (1,) * (inp.ndim - 2))
    return relu(inp) + minimum(inp, 0) * weight


def gelu(x):
    return _gelu_erf(as_real(x))


def silu(x):
    return _silu(as_real(x))


def _log_rest(inp):
    """log(1 + exp(-|inp|)). At 0, minimum's slope is that of its first operand: with relu's, 0, the sum's is 1/2."""
    return log1p(exp(minimum(inp, -inp)))


def softplus(inp):
    return _log_rest(inp) + relu(inp)


def logsigmoid(inp):
    return minimum(inp, 0) - _log_rest(inp)


def logsumexp(inp, axis, keepdims=False):
    """log(sum(exp(inp))) along an axis, without overflow."""
    inp = _precision.high(inp)
    largest = max(inp, axis, True).detach()
    y = log(sum(exp(inp - largest), axis, True)) + largest
    return y if keepdims else _shape.reshape(y, sum(inp.detach(), axis).shape)


def _softmax_axis(ndim):
    return 0 if ndim in (0, 1, 3) else 1


def softmax(inp, axis=None):
    """exp(inp) divided by its sum along an axis; axis 1 of matrices and images unless one is given."""
    axis = _shape.axis_of(_softmax_axis(inp.ndim) if axis is None else axis, inp.ndim)
    order = [a for a in range(inp.ndim) if a != axis] + [axis]
    moved = _shape.transpose(_precision.high(as_real(inp)), order)
    y = _shape.reshape(_softmax(_shape.reshape(moved, (-1, inp.shape[axis]))), moved.shape)
    return _shape.transpose(y, list(np.argsort(order)))


def log_softmax(inp, axis):
    return inp - logsumexp(inp, axis, True)
