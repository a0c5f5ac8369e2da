"""Losses. reduction: "mean", "sum" or "none"."""

import functools

from .. import _core, _precision
from .._tensor import as_tensor
from .elemwise import abs, log, maximum
from .activation import logsigmoid, logsumexp
from .tensor import indexing_one_hot

__all__ = ["binary_cross_entropy", "cross_entropy", "hinge_loss", "l1_loss", "nll_loss", "square_loss"]

_softmax_xent = _core.op("softmax_xent")


def _reduced(loss):
    @functools.wraps(loss)
    def reduced(*args, reduction="mean", **kwargs):
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"{loss.__name__}: reduction {reduction!r}: mean, sum or none")
        value = loss(*map(_precision.high, args), **{k: _precision.high(v) for k, v in kwargs.items()})
        if reduction == "none":
            return value
        return value.sum() if reduction == "sum" else value.mean()

    return reduced


@_reduced
def l1_loss(pred, label):
    """The absolute difference."""
    return abs(pred - label)


@_reduced
def square_loss(pred, label):
    """The squared difference."""
    return (pred - label) ** 2


@_reduced
def _cross_entropy(pred, label, axis, with_logits, label_smooth):
    if pred.ndim != label.ndim + 1:
        raise ValueError(f"cross_entropy: pred {pred.shape} has one axis more than label, not {label.shape}")
    if with_logits:
        scale, named = logsumexp(pred, axis), indexing_one_hot(pred, label, axis)
    else:
        scale, named = 0, log(indexing_one_hot(pred, label, axis))
    if not label_smooth:
        return scale - named
    every = pred if with_logits else log(pred)
    return scale - label_smooth * every.mean(axis) - (1 - label_smooth) * named


def cross_entropy(pred, label, axis=1, with_logits=True, label_smooth=0, reduction="mean"):
    """-log of the probability of each label, of logits unless with_logits is False.

    label_smooth: the share of a label that is spread over all classes.
    """
    if not 0 <= label_smooth <= 1:
        raise ValueError(f"cross_entropy: label_smooth is {label_smooth}: a share between 0 and 1")
    plain = with_logits and not label_smooth and reduction == "mean" and axis == 1
    if plain and pred.ndim in (2, 4) and label.ndim == pred.ndim - 1:
        return _softmax_xent(_precision.high(pred), as_tensor(label, "int32"))
    return _cross_entropy(pred, label, axis, with_logits, label_smooth, reduction=reduction)


@_reduced
def nll_loss(pred, label, axis=1):
    """Minus what label names of pred: log-probabilities."""
    return -indexing_one_hot(pred, label, axis)


@_reduced
def binary_cross_entropy(pred, label, with_logits=True):
    """-log of the probability of a truth value, of logits unless with_logits is False."""
    if not with_logits:
        return -(label * log(pred) + (1 - label) * log(1 - pred))
    return -(label * logsigmoid(pred) + (1 - label) * logsigmoid(-pred))


@_reduced
def hinge_loss(pred, label, norm="L1"):
    """max(0, 1 - pred * label) summed along axis 1, for labels -1 and 1; norm L2: its squares."""
    if norm not in ("L1", "L2"):
        raise ValueError(f"hinge_loss: norm {norm!r}: L1 or L2")
    loss = maximum(1 - pred * label, 0)
    return loss.sum(1) if norm == "L1" else (loss**2).sum(1)
