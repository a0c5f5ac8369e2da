"""Connectionist temporal classification (Graves et al., ICML 2006)."""

import numpy as np

from .. import _shape
from .._tensor import Tensor, as_tensor
from .choice import masked_fill
from .elemwise import exp, log, maximum
from .math import sum
from .tensor import concat, full, gather, stack, where

__all__ = ["ctc_loss"]

_NONE = -1e30  # the logarithm of a probability of nothing: finite, so that differences are numbers


def _rows(label, label_lengths, n):
    """Labels one after the other as a row of each sample; the host reads the lengths."""
    lengths = label_lengths.numpy().astype(int)
    given, rows = label.numpy(), np.zeros((n, max(1, int(lengths.max()))), np.int32)
    if lengths.sum() != given.size:
        raise ValueError(f"ctc_loss: {given.size} labels for label_lengths whose sum is {lengths.sum()}")
    for i, end in enumerate(np.cumsum(lengths)):
        rows[i, : lengths[i]] = given[end - lengths[i] : end]
    return Tensor(rows)


def _sum_of(parts):
    """The logarithm of the sum of what these are the logarithms of."""
    top = parts[0]
    for part in parts[1:]:
        top = maximum(top, part)
    top = top.detach()
    total = exp(parts[0] - top)
    for part in parts[1:]:
        total = total + exp(part - top)
    return log(total) + top


def ctc_loss(pred, pred_lengths, label, label_lengths, blank=0, reduction="mean"):
    """-log of the probability of label among all ways to write it with repetitions and blanks.

    pred[t, n, c]: probabilities; pred_lengths[n]: how many of the t count. label: [n, s], or all labels one after the
    other; label_lengths[n]. reduction mean: of each loss divided by its label's length.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"ctc_loss: reduction {reduction!r}: mean, sum or none")
    pred, label = as_tensor(pred), as_tensor(label, "int32")
    pred_lengths, label_lengths = as_tensor(pred_lengths, "int32"), as_tensor(label_lengths, "int32")
    if pred.ndim != 3:
        raise ValueError(f"ctc_loss: pred of shape {pred.shape}: (t, n, c)")
    steps, n, classes = pred.shape
    if pred_lengths.shape != (n,) or label_lengths.shape != (n,):
        raise ValueError(f"ctc_loss: pred_lengths {pred_lengths.shape} and label_lengths {label_lengths.shape} for {n}")
    if not 0 <= blank < classes:
        raise ValueError(f"ctc_loss: blank {blank} is not one of {classes} classes")
    label = label if label.ndim == 2 else _rows(label, label_lengths, n)
    if label.shape[0] != n:
        raise ValueError(f"ctc_loss: label of shape {label.shape} for {n} samples")
    ways = _ways(pred, pred_lengths, label, blank)
    last = 2 * _shape.reshape(label_lengths, (n, 1))
    ends = [gather(ways, 1, last), where(last > 0, gather(ways, 1, maximum(last - 1, 0)), _NONE)]
    loss = -_shape.reshape(_sum_of(ends), (n,))
    if reduction == "mean":
        return (loss / label_lengths).mean()
    return sum(loss) if reduction == "sum" else loss


def _ways(pred, pred_lengths, label, blank):
    """[n, 2 s + 1]: logarithms of the probabilities to be at each place of blank, label, blank, ..., at the end."""
    steps, n, _ = pred.shape
    between = full((n, label.shape[1]), blank, dtype="int32")
    places = concat([_shape.reshape(stack([between, label], 2), (n, -1)), between[:, :1]], 1)
    width = places.shape[1]
    none = full((n, 2), _NONE)
    before = concat([full((n, 2), blank, dtype="int32"), places[:, :-2]], 1) if width > 2 else places
    skips = (places != blank) & (places != before)
    index = _shape.broadcast_to(_shape.reshape(places, (1, n, width)), (steps, n, width))
    logs = log(maximum(gather(pred, 2, index), 1e-37))
    ways = concat([logs[0, :, :2], full((n, width - 2), _NONE)], 1)
    for t in range(1, steps):
        one = concat([none[:, :1], ways[:, :-1]], 1)
        two = masked_fill(concat([none, ways[:, :-2]], 1), ~skips, _NONE)
        moved = maximum(_sum_of([ways, one, two]) + logs[t], _NONE)
        counts = _shape.broadcast_to(_shape.reshape(pred_lengths > t, (n, 1)), (n, width))
        ways = where(counts, moved, ways)
    return ways
