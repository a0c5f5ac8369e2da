"""Gradients made smaller."""

from .. import _core
from .._tensor import Tensor
from ..functional.elemwise import clip, minimum, sqrt
from ..functional.math import norm, sum
from ..functional.tensor import stack

_sum_squares = _core.op("sum_squares")


def _with_gradients(tensors):
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    return [t for t in tensors if t.grad is not None]


def _norm(gradients, ord):
    """Of all of them together."""
    if ord == 2:
        squares = [_sum_squares(g) for g in gradients]
        return sqrt(sum(stack(squares)) if len(squares) > 1 else squares[0])
    return norm(stack([norm(g.flatten(), ord) for g in gradients]), ord)


def clip_grad_norm(tensors, max_norm, ord=2.0):
    """All gradients together are scaled down to max_norm where their norm is larger. Returns the norm."""
    if max_norm < 0:
        raise ValueError(f"clip_grad_norm: max_norm {max_norm} is below 0")
    tensors = _with_gradients(tensors)
    if not tensors:
        return Tensor(0.0)
    total = _norm([t.grad for t in tensors], float(ord))
    scale = minimum(max_norm / (total + 1e-6), 1.0)
    for tensor in tensors:
        tensor.grad *= scale
    return total


def clip_grad_value(tensors, lower, upper):
    """Each gradient is at least lower and at most upper."""
    for tensor in _with_gradients(tensors):
        tensor.grad._replace(clip(tensor.grad, lower, upper))
