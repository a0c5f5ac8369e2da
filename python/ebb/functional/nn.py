"""Layers as functions."""

from math import prod

import numpy as np

from .. import _core, _dtype, _precision, _shape
from .._tensor import as_tensor
from . import activation
from .activation import *
from .tensor import full, full_like

__all__ = activation.__all__ + [
    "adaptive_avg_pool2d", "adaptive_max_pool2d", "avg_pool2d", "batch_norm", "conv1d", "conv2d",
    "conv_transpose2d", "dropout", "embedding", "group_norm", "instance_norm", "layer_norm", "linear",
    "max_pool2d", "pad", "sync_batch_norm",
]

_avg_pool = _core.op("avg_pool")
_batch_norm = _core.op("batch_norm")
_bias = _core.op("bias")
_bn_apply = _core.op("bn_apply")
_bn_stats = _core.op("bn_stats")
_conv2d = _core.op("conv2d")
_conv2d_transpose = _core.op("conv2d_transpose")
_dropout = _core.op("dropout")
_embedding = _core.op("embedding")
_global_avg_pool = _core.op("global_avg_pool")
_group_norm = _core.op("group_norm")
_layer_norm = _core.op("layer_norm")
_linear = _core.op("linear")
_max_pool = _core.op("max_pool")
_spread = _core.op("strided_slice_grad")
_take = _core.op("take")
_where = _core.op("where")


def pair(x):
    """3 or (3, 1) as two ints."""
    x = tuple(x) if isinstance(x, (tuple, list)) else (x, x)
    if len(x) != 2:
        raise ValueError(f"{x}: one number, or two of them")
    return int(x[0]), int(x[1])


def _flat(x, n, what):
    """A parameter with n elements, whatever its shape, as [n]."""
    if x.size != n:
        raise ValueError(f"{what}: {x.size} elements of shape {x.shape} for {n} channels")
    return _shape.reshape(x, (n,))


def _wide(x):
    """What scales and shifts by channels is float32 beside 16 bits."""
    return _shape.astype(x, "float32") if _dtype.is_low(x.dtype) else x


def _of_channels(x, n, weight, number, what):
    """weight, or a number of each channel, as what norms of x take."""
    if weight is None:
        return full((n,), number, dtype="float32" if _dtype.is_low(x.dtype) else x.dtype)
    return _wide(_flat(weight, n, what))


def _biased(y, bias, what):
    return y if bias is None else _bias(y, _wide(_flat(bias, y.shape[1], what)))


# ---- products


def linear(inp, weight, bias=None, compute_mode="default"):
    """inp times the transpose of weight[out, in], plus bias."""
    inp, weight = _precision.low(as_tensor(inp), weight)
    rows = _shape.reshape(inp, (-1, inp.shape[-1]))
    y = _biased(_linear(rows, weight), bias, "linear")
    return _shape.reshape(y, (*inp.shape[:-1], weight.shape[0]))


def _conv_weight(weight):
    """(groups, out, in, h, w), as MegEngine has it, as (groups * out, in, h, w)."""
    return weight if weight.ndim == 4 else _shape.reshape(weight, (-1, *weight.shape[2:]))


def conv2d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, conv_mode="cross_correlation",
           compute_mode="default"):
    """A convolution of inp[n, c, h, w] with weight[out, c / groups, kh, kw]."""
    if conv_mode != "cross_correlation":
        raise ValueError(f"conv2d: conv_mode {conv_mode!r}: cross_correlation only")
    inp, weight = _precision.low(as_tensor(inp), _conv_weight(weight))
    y = _conv2d(inp, weight, stride=pair(stride), pad=pair(padding), dilation=pair(dilation), groups=int(groups))
    return _biased(y, bias, "conv2d")


def conv1d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, conv_mode="cross_correlation",
           compute_mode="default"):
    """A convolution of inp[n, c, l] with weight[out, c / groups, k]."""
    inp = as_tensor(inp)
    image = _shape.reshape(inp, (*inp.shape[:2], 1, inp.shape[2]))
    kernel = _shape.reshape(weight, (-1, *weight.shape[-2:-1], 1, weight.shape[-1]))
    y = conv2d(image, kernel, bias, (1, stride), (0, padding), (1, dilation), groups, conv_mode, compute_mode)
    return _shape.reshape(y, (*y.shape[:2], y.shape[3]))


def conv_transpose2d(inp, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1,
                     conv_mode="cross_correlation", compute_mode="default"):
    """The gradient of conv2d by its image: weight[c, out / groups, kh, kw]."""
    if conv_mode != "cross_correlation":
        raise ValueError(f"conv_transpose2d: conv_mode {conv_mode!r}: cross_correlation only")
    inp, weight = _precision.low(as_tensor(inp), _conv_weight(weight))
    y = _conv2d_transpose(inp, weight, stride=pair(stride), pad=pair(padding), out_pad=pair(output_padding),
                          dilation=pair(dilation), groups=int(groups))
    return _biased(y, bias, "conv_transpose2d")


def embedding(inp, weight, padding_idx=None, max_norm=None, norm_type=None):
    """Rows of weight[v, c] that inp names."""
    if padding_idx is not None or max_norm is not None or norm_type is not None:
        raise ValueError("embedding: padding_idx, max_norm and norm_type are not supported")
    rows = _embedding(weight, _shape.reshape(as_tensor(inp), (-1,)))
    return _shape.reshape(rows, (*inp.shape, weight.shape[1]))


# ---- pooling


def max_pool2d(inp, kernel_size, stride=None, padding=0):
    return _max_pool(as_tensor(inp), kernel=pair(kernel_size), stride=pair(stride or kernel_size), pad=pair(padding))


def avg_pool2d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding"):
    """Means of windows; mode "average" counts the padding, too."""
    if mode not in ("average", "average_count_exclude_padding"):
        raise ValueError(f"avg_pool2d: mode {mode!r}: average or average_count_exclude_padding")
    return _avg_pool(as_tensor(inp), kernel=pair(kernel_size), stride=pair(stride or kernel_size), pad=pair(padding),
                     count_pad=mode == "average")


def _windows(inp, oshp, what):
    """Windows of one size, as many as oshp says, the last of which ends with the image: MegEngine's strides are the
    quotients of the sizes, rounded down."""
    inp, size = as_tensor(inp), pair(oshp)
    if any(not 1 <= n <= whole for n, whole in zip(size, inp.shape[2:])):
        raise ValueError(f"{what}: {inp.shape[2]} x {inp.shape[3]} places have no {size[0]} x {size[1]} windows")
    stride = [whole // n for n, whole in zip(size, inp.shape[2:])]
    kernel = [whole - (n - 1) * s for n, s, whole in zip(size, stride, inp.shape[2:])]
    return inp, {"kernel": kernel, "stride": stride}


def adaptive_avg_pool2d(inp, oshp):
    """Means of windows of one size, as many as oshp says, over the whole image."""
    inp, windows = _windows(inp, oshp, "adaptive_avg_pool2d")
    if pair(oshp) == (1, 1):
        return _shape.reshape(_global_avg_pool(inp), (*inp.shape[:2], 1, 1))
    return _avg_pool(inp, **windows)


def adaptive_max_pool2d(inp, oshp):
    """The largest of windows of one size, as many as oshp says, over the whole image."""
    inp, windows = _windows(inp, oshp, "adaptive_max_pool2d")
    return _max_pool(inp, **windows)


# ---- norms


def _as_batch(inp):
    """[n, c] and [n, c, h, w] as they are; [n, c, l] with one row."""
    if inp.ndim == 3:
        return _shape.reshape(inp, (*inp.shape[:2], 1, inp.shape[2]))
    return inp


def _trained(x, gamma, beta, mean, variance, eps, momentum, inplace):
    """batch_norm in training, and the new running statistics."""
    if not inplace:
        mean, variance = _shape.share(mean), _shape.share(variance)
    flat = [_flat(s, x.shape[1], "batch_norm") if s.ndim != 1 else s for s in (mean, variance)]
    y = _batch_norm(x, gamma, beta, *flat, eps=float(eps), momentum=1.0 - momentum)
    for statistic, new in zip((mean, variance), flat):
        if new is not statistic:
            statistic._replace(_shape.reshape(new, statistic.shape))
    return y, mean, variance


def batch_norm(inp, running_mean=None, running_var=None, weight=None, bias=None, *, training=False, momentum=0.9,
               eps=1e-5, inplace=True, compute_mode="default", param_dim="dim_1c11"):
    """Each channel with mean 0 and variance 1, then times weight plus bias.

    In training by the batch's statistics, of which the running ones take a share of 1 - momentum; otherwise by
    the running ones. With inplace=False the new running statistics are returned and not assigned.
    """
    inp = as_tensor(inp)
    channels = inp.shape[1]
    x = _as_batch(inp)
    gamma = _of_channels(x, channels, weight, 1.0, "batch_norm")
    beta = _of_channels(x, channels, bias, 0.0, "batch_norm")
    if (running_mean is None) != (running_var is None):
        raise ValueError("batch_norm: running_mean and running_var, or neither")
    if not training:
        if running_mean is None:
            raise ValueError("batch_norm: running_mean and running_var are needed where training is False")
        statistics = [_shape.detach(_flat(s, channels, "batch_norm")) for s in (running_mean, running_var)]
        y = _bn_apply(x, *statistics, gamma, beta, eps=float(eps))
    elif running_mean is None:
        y = _bn_apply(x, *_bn_stats(x), gamma, beta, eps=float(eps), batch=True)
    else:
        y, *new = _trained(x, gamma, beta, running_mean, running_var, eps, momentum, inplace)
        if not inplace:
            return _shape.reshape(y, inp.shape), *new
    return _shape.reshape(y, inp.shape)


def sync_batch_norm(inp, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.9, eps=1e-5,
                    eps_mode="additive", group=None):
    """batch_norm over the batches of all devices: of the one that a process has."""
    if eps_mode != "additive" or group is not None:
        raise ValueError(f"sync_batch_norm: eps_mode {eps_mode!r}, group {group!r}: additive, and None")
    return batch_norm(inp, running_mean, running_var, weight, bias, training=training, momentum=momentum, eps=eps)


def layer_norm(inp, normalized_shape, affine, weight=None, bias=None, eps=1e-5):
    """The last axes, of normalized_shape, with mean 0 and variance 1."""
    inp = as_tensor(inp)
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if inp.shape[inp.ndim - len(shape) :] != shape:
        raise ValueError(f"layer_norm: shape {inp.shape} does not end with {shape}")
    n = prod(shape)
    gamma = _of_channels(inp, n, weight if affine else None, 1.0, "layer_norm")
    beta = _of_channels(inp, n, bias if affine else None, 0.0, "layer_norm")
    y = _layer_norm(_shape.reshape(inp, (-1, n)), gamma, beta, eps=float(eps))
    return _shape.reshape(y, inp.shape)


def group_norm(inp, num_groups, affine, weight=None, bias=None, eps=1e-5):
    """Each image's groups of channels with mean 0 and variance 1."""
    channels = inp.shape[1]
    gamma = _of_channels(inp, channels, weight if affine else None, 1.0, "group_norm")
    beta = _of_channels(inp, channels, bias if affine else None, 0.0, "group_norm")
    y = _group_norm(_as_batch(inp), gamma, beta, groups=int(num_groups), eps=float(eps))
    return _shape.reshape(y, inp.shape)


def instance_norm(inp, affine, weight=None, bias=None, eps=1e-5):
    """Each image's channels with mean 0 and variance 1."""
    return group_norm(inp, inp.shape[1], affine, weight, bias, eps)


# ---- others


def dropout(inp, drop_prob, training=True):
    """In training a share of drop_prob becomes 0, and the others grow by 1 / (1 - drop_prob)."""
    if not 0 <= drop_prob < 1:
        raise ValueError(f"dropout: drop_prob {drop_prob} is not in [0, 1)")
    return _dropout(inp, p=float(drop_prob)) if training and drop_prob else inp


def _with_edges(src, axis, before, after, mode):
    """src with places of its own before and after those of an axis."""
    n = src.shape[axis]
    at = np.arange(-before, n + after, dtype=np.int32)
    if mode == "reflect":  # edcb|abcdef
        if max(before, after) >= n:
            raise ValueError(f"pad: {max(before, after)} places of axis {axis}, which has {n}, cannot be reflected")
        at = n - 1 - np.abs(n - 1 - np.abs(at))
    return _take(src, as_tensor(np.clip(at, 0, n - 1)), axis=axis)


def pad(src, pad_width, mode="constant", constant_value=0.0):
    """More places around src: pad_width has (before, after) of each axis. mode: constant, of constant_value; reflect,
    about the outermost places; replicate, or edge, of the outermost places."""
    src, mode = as_tensor(src), mode.lower()
    if mode not in ("constant", "reflect", "replicate", "edge"):
        raise ValueError(f"pad: mode {mode!r}: constant, reflect, replicate or edge")
    if len(pad_width) > src.ndim or any(w < 0 for ws in pad_width for w in ws):
        raise ValueError(f"pad: {pad_width} for a tensor of {src.ndim} axes")
    pad_width = [*pad_width, *[(0, 0)] * (src.ndim - len(pad_width))]
    if not any(w for ws in pad_width for w in ws):
        return _shape.share(src)
    if mode != "constant":
        y = src
        for axis, (before, after) in enumerate(pad_width):
            y = _with_edges(y, axis, before, after, mode) if before or after else y
        return y
    size = [b + s + a for s, (b, a) in zip(src.shape, pad_width)]
    where = {"begin": [b for b, _ in pad_width], "size": size, "step": [1] * src.ndim}
    y = _spread(src, **where)
    if constant_value:  # by choice: 0 times an infinite value is no number
        inside = _spread(full(src.shape, 1.0), **where)
        y = _where(inside > 0, y, full(size, constant_value, dtype=src.dtype))
    return y
