"""Softmax, attention, losses, dropout."""

import math

from ._ops_pointwise import chosen, log_rest
from ._table import node_dtype, rule
from ._text import Refused

# ---- softmax, attention ----


@rule("softmax.int", "_softmax.default")
def softmax(b, self, node, dim, dtype=None, half_to_float=False):
    return along_rows(b, b.cast(self, node_dtype(node)), dim, lambda rows: b.op("softmax", rows))


@rule("log_softmax.int", "_log_softmax.default")
def log_softmax(b, self, node, dim, dtype=None, half_to_float=False):
    def of(rows):
        low = b.binary("sub", rows, b.op("stop_gradient", b.reduce("reduce_max", rows, [1], True)))
        return b.binary("sub", low, b.op("log", b.reduce("reduce_sum", b.op("exp", low), [1], True)))

    return along_rows(b, b.cast(self, node_dtype(node)), dim, of)


def along_rows(b, x, dim, function):
    axis, last = dim % len(x.shape), len(x.shape) - 1
    order = [d for d in range(last + 1) if d != axis] + [axis]
    behind = b.permute(x, order)
    rows = function(b.reshape(behind, (x.count // x.shape[axis], x.shape[axis])))
    return b.permute(b.reshape(rows, behind.shape), [order.index(d) for d in range(last + 1)])


@rule("scaled_dot_product_attention.default")
def attention(b, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    q, k, v = query, key, value
    if len({len(z.shape) for z in (q, k, v)}) != 1 or len(q.shape) < 3 or q.shape[:-2] != k.shape[:-2]:
        raise Refused(f"the shapes {q.shape}, {k.shape}, {v.shape}")
    usual = scale is None or abs(scale * math.sqrt(q.shape[-1]) - 1) < 1e-6
    if len(q.shape) == 4 and q.shape == k.shape == v.shape and attn_mask is None and dropout_p == 0 and usual:
        return fused_attention(b, q, k, v, bool(is_causal))
    n = math.prod(q.shape[:-2])
    rows, columns = q.shape[-2], k.shape[-2]
    if is_causal and rows != columns:
        raise Refused("is_causal=True of two lengths")
    flat = [b.reshape(z, (n, *z.shape[-2:])) for z in (q, k, v)]
    scores = b.op("matmul", *flat[:2], result=(n, rows, columns), transpose_b=True)
    scores = b.rescale(scores, 1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if attn_mask is not None:
        scores = masked(b, b.reshape(scores, (*q.shape[:-2], rows, columns)), attn_mask)
        scores = b.reshape(scores, (n, rows, columns))
    weights = b.op("softmax", scores, causal=bool(is_causal))
    if dropout_p:
        weights = b.op("dropout", weights, p=float(dropout_p))
    return b.reshape(b.op("matmul", weights, flat[2], result=(n, rows, v.shape[-1])), (*q.shape[:-1], v.shape[-1]))


def masked(b, scores, mask):
    if mask.dtype != "bool":
        return b.binary("add", scores, mask)
    return b.op("where", mask, scores, b.fill((), -math.inf, scores.dtype), kind=scores.dtype, result=scores.shape)


def fused_attention(b, q, k, v, causal):
    """[n, heads, t, d] each: one op, which never holds the weights."""
    n, heads, t, d = q.shape
    wide = b.concat([b.reshape(b.permute(z, (0, 2, 1, 3)), (n, t, heads * d)) for z in (q, k, v)], 2)
    y = b.ops("attention", [wide], [((n, t, heads * d), wide.dtype), ((n, heads, t), "f32")], heads=heads, causal=causal)[0]
    return b.permute(b.reshape(y, (n, t, heads, d)), (0, 2, 1, 3))


# ---- losses, dropout ----


@rule("cross_entropy_loss.default")
def cross_entropy(b, self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if weight is not None or target.real or ignore_index != -100 or reduction == 0:
        raise Refused("weight, ignore_index, targets that are shares, or reduction=none")
    classes = self.shape[1] if len(self.shape) > 1 else 0
    if not classes:
        raise Refused("without a batch")
    logits = b.permute(self, (0, *range(2, len(self.shape)), 1))
    rows = target.count
    logits, target = b.reshape(logits, (rows, classes)), b.reshape(target, (rows,))
    found = b.op("softmax_xent", logits, target, result=(), smooth=float(label_smoothing))
    return b.rescale(found, rows if reduction == 2 else 1)


@rule("nll_loss.default", "nll_loss_nd.default", "nll_loss_forward.default")
def nll_loss(b, node, self, target, weight=None, reduction=1, ignore_index=-100):
    if weight is not None or reduction == 0 or len(self.shape) != 2:
        raise Refused("weight, more axes, or reduction=none")
    counts = b.op("logical_not", b.binary("equal", target, b.fill((), ignore_index, target.dtype), kind="bool"))
    target = chosen(b, counts, target, b.fill((), 0, target.dtype))
    picked = b.op("pick", self, target, axis=1, result=target.shape)
    found = b.op("neg", b.reduce("reduce_sum", chosen(b, counts, picked, b.fill((), 0.0, picked.dtype)), None))
    if reduction == 1:
        found = b.binary("div", found, b.reduce("reduce_sum", b.cast(counts, found.dtype), None))
    return [found, None] if "forward" in node.target._schema.name else found


@rule("mse_loss.default", "l1_loss.default")
def distance(b, node, self, target, reduction=1):
    away = b.binary("sub", self, target)
    each = b.op("abs", away) if "l1" in node.target._schema.name else b.binary("mul", away, away)
    return each if reduction == 0 else b.reduce("reduce_mean" if reduction == 1 else "reduce_sum", each, None)


@rule("binary_cross_entropy_with_logits.default")
def bce_with_logits(b, self, target, weight=None, pos_weight=None, reduction=1):
    if weight is not None or pos_weight is not None:
        raise Refused("weights")
    each = b.binary("add", b.binary("sub", b.op("relu", self), b.binary("mul", self, target)), log_rest(b, self))
    return each if reduction == 0 else b.reduce("reduce_mean" if reduction == 1 else "reduce_sum", each, None)


@rule("dropout.default", "native_dropout.default", "feature_dropout.default")
def dropout(b, node, input, p, train=True):  # noqa: A002
    name = node.target._schema.name.split("::")[1]
    if name == "feature_dropout" and train and p:
        raise Refused("of whole channels")
    y = b.op("dropout", input, p=float(p)) if train and p else input
    return [y, None] if name == "native_dropout" else y
