"""Measures of predictions."""

from . import math as _math

__all__ = ["topk_accuracy"]


def topk_accuracy(logits, target, topk=1):
    """The share of rows whose target is among the topk largest logits; a list for a list."""
    from .tensor import indexing_one_hot

    ks = topk if isinstance(topk, (tuple, list)) else (topk,)
    own = indexing_one_hot(logits, target, 1, keepdims=True)
    above = _math.sum(logits > own, 1)  # how many are larger
    shares = [_math.mean(above < k) for k in ks]
    return shares if isinstance(topk, (tuple, list)) else shares[0]
