"""Layers: products, convolutions, norms, pools."""

import math

from ._table import rule
from ._text import Refused, broadcast

# ---- products ----


def plus_bias(b, y, bias):
    return y if bias is None else b.op("bias", y, bias)


@rule("linear.default")
def linear(b, input, weight, bias=None):  # noqa: A002: the schema's name
    n, m = input.shape[-1], weight.shape[0]
    rows = b.reshape(input, (input.count // n, n))
    y = plus_bias(b, b.op("linear", rows, weight, result=(rows.shape[0], m)), bias)
    return b.reshape(y, (*input.shape[:-1], m))


@rule("matmul.default", "mm.default", "bmm.default")
def matmul(b, self, mat2=None, other=None):
    x, y = self, mat2 or other
    left, right = len(x.shape) == 1, len(y.shape) == 1
    if left:
        x = b.reshape(x, (1, *x.shape))
    if right:
        y = b.reshape(y, (*y.shape, 1))
    lead = broadcast(x.shape[:-2], y.shape[:-2])
    if y.turned and y.turned[1] == (1, 0):  # by a transposed weight: a linear layer
        return dropped(b, linear(b, x, y.turned[0]), left, right)
    if len(y.shape) == 2:
        x, flat = b.reshape(x, (1, x.count // x.shape[-1], x.shape[-1])), b.reshape(y, (1, *y.shape))
    else:
        n = math.prod(lead)
        x, flat = (b.reshape(b.expand(z, (*lead, *z.shape[-2:])), (n, *z.shape[-2:])) for z in (x, y))
    made = b.op("matmul", x, flat, result=(x.shape[0], x.shape[1], flat.shape[2]))
    rows = self.shape[-2] if not left else 1
    return dropped(b, b.reshape(made, (*lead, rows, y.shape[-1])), left, right)


def dropped(b, x, row, column):
    shape = (*x.shape[:-2], *(() if row else x.shape[-2:-1]), *(() if column else x.shape[-1:]))
    return b.reshape(x, shape)


@rule("addmm.default", "baddbmm.default")
def addmm(b, self, mat1=None, mat2=None, batch1=None, batch2=None, beta=1, alpha=1):
    y = b.rescale(matmul(b, mat1 or batch1, mat2 or batch2), alpha)
    return y if beta == 0 else b.binary("add", y, b.rescale(self, beta))


# ---- convolutions ----


def pair(value, n):
    return [int(v) for v in (value * n if len(value) == 1 else value)]


def spread(value, n, first):
    """Of two axes: windows over one axis are as high as one row."""
    value = pair(list(value), n)
    return value if n == 2 else [first, *value]


@rule("conv2d.default", "conv1d.default", "convolution.default", "conv2d.padding", "conv1d.padding", "conv_transpose2d.input",
      "conv_transpose1d.default")
def convolution(b, node, input, weight, bias=None, stride=(1,), padding=(0,), dilation=(1,), groups=1, transposed=False,  # noqa: A002
                output_padding=(0,)):
    n = len(input.shape) - 2
    if n not in (1, 2):
        raise Refused(f"windows over {n} axes: one or two, and a batch")
    transposed = transposed or "transpose" in node.target._schema.name
    x, w = (z if n == 2 else b.reshape(z, (*z.shape[:2], 1, z.shape[2])) for z in (input, weight))
    dilation = spread(dilation, n, 1)
    if isinstance(padding, str):
        ends = [d * (k - 1) for d, k in zip(dilation, w.shape[2:])]
        if padding == "same" and any(e % 2 for e in ends):
            raise Refused("padding=same with windows of even sizes")
        padding = [e // 2 for e in ends] if padding == "same" else [0, 0]
    else:
        padding = spread(padding, n, 0)
    more = {"out_pad": spread(output_padding, n, 0)} if transposed else {}
    places = node.meta["val"].shape[2:]
    result = (*node.meta["val"].shape[:2], *((1,) if n == 1 else ()), *places)
    y = b.op("conv2d_transpose" if transposed else "conv2d", x, w, result=result, stride=spread(stride, n, 1), pad=padding, dilation=dilation,
             groups=groups, **more)
    return b.reshape(plus_bias(b, y, bias), node.meta["val"].shape)


# ---- norms ----


def channels_first(b, x):
    """Norms take rank 2 and 4."""
    return x if len(x.shape) in (2, 4) else b.reshape(x, (*x.shape[:2], 1, math.prod(x.shape[2:])))


def row_of(b, value, n, otherwise, kind):
    return b.fill((n,), otherwise, kind) if value is None else b.reshape(value, (n,))


def by_running(b, x, weight, bias, mean, variance, eps):
    shape = (1, x.shape[1], *[1] * (len(x.shape) - 2))
    root = b.op("sqrt", b.rescale(variance, plus=eps))
    factor = b.binary("div", row_of(b, weight, x.shape[1], 1, x.dtype), root)
    shift = b.binary("sub", row_of(b, bias, x.shape[1], 0, x.dtype), b.binary("mul", mean, factor))
    return b.binary("add", b.binary("mul", x, b.reshape(factor, shape)), b.reshape(shift, shape))


@rule("batch_norm.default", "_native_batch_norm_legit_functional.default", "_native_batch_norm_legit.default",
      "_native_batch_norm_legit.no_stats", "native_batch_norm.default", "_native_batch_norm_legit_no_training.default", "_batch_norm_with_update.default",
      "_batch_norm_with_update_functional.default", "instance_norm.default")
def batch_norm(b, node, input, weight=None, bias=None, running_mean=None, running_var=None, training=None,  # noqa: A002
               use_input_stats=None, momentum=0.1, eps=1e-5):
    name = node.target._schema.name.split("::")[1]
    if name == "instance_norm":
        if not use_input_stats or running_mean is not None:
            raise Refused("running statistics")
        return group_norm(b, input, input.shape[1], weight, bias, eps)
    n = input.shape[1]
    if training is False or name == "_native_batch_norm_legit_no_training":
        y = by_running(b, input, weight, bias, running_mean, running_var, eps)
        return y if name == "batch_norm" else [y, None, None]
    if running_mean is None:  # nothing keeps them
        running_mean, running_var = (b.declare("state", f"{b.node}.{word}", (n,), "f32") for word in ("mean", "variance"))
    x = channels_first(b, input)
    y = b.op("batch_norm", x, row_of(b, weight, n, 1, "f32"), row_of(b, bias, n, 0, "f32"), running_mean, running_var, eps=eps, momentum=momentum)
    y = b.reshape(y, input.shape)
    return y if name == "batch_norm" else [y, None, None, running_mean, running_var, None]


@rule("layer_norm.default", "native_layer_norm.default")
def layer_norm(b, node, input, normalized_shape, weight=None, bias=None, eps=1e-5):  # noqa: A002
    n = math.prod(normalized_shape)
    x = b.reshape(input, (input.count // n, n))
    y = b.op("layer_norm", x, row_of(b, weight, n, 1, "f32"), row_of(b, bias, n, 0, "f32"), eps=eps)
    y = b.reshape(y, input.shape)
    return y if node.target._schema.name == "aten::layer_norm" else [y, None, None]


@rule("rms_norm.default")
def rms_norm(b, input, normalized_shape, weight=None, eps=None):  # noqa: A002
    if len(normalized_shape) != 1:
        raise Refused("over several axes")
    square = b.reduce("reduce_mean", b.binary("mul", input, input), [-1], True)
    root = b.op("sqrt", b.rescale(square, plus=1.1920928955078125e-07 if eps is None else eps))
    y = b.binary("div", input, root)
    return y if weight is None else b.binary("mul", y, weight)


def group_norm(b, x, groups, weight, bias, eps):
    n = x.shape[1]
    y = b.op("group_norm", channels_first(b, x), row_of(b, weight, n, 1, "f32"), row_of(b, bias, n, 0, "f32"), groups=groups, eps=eps)
    return b.reshape(y, x.shape)


@rule("group_norm.default")
def groups_normed(b, input, num_groups, weight=None, bias=None, eps=1e-5):  # noqa: A002
    return group_norm(b, input, num_groups, weight, bias, eps)


@rule("native_group_norm.default")
def native_group_norm(b, input, weight, bias, N, C, HxW, group, eps):  # noqa: A002, N803
    return [group_norm(b, input, group, weight, bias, eps), None, None]


# ---- pools ----


@rule("max_pool2d.default", "avg_pool2d.default", "max_pool2d_with_indices.default")
def pool(b, node, self, kernel_size, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, divisor_override=None, dilation=(1,)):
    name = node.target._schema.name.split("::")[1]
    if len(self.shape) != 4 or pair(list(dilation), 2) != [1, 1] or divisor_override is not None:
        raise Refused("dilation, divisor_override, or no batch")
    kernel = pair(list(kernel_size), 2)
    step, edge = pair(list(stride) or kernel, 2), pair(list(padding), 2)
    result = first(node.meta["val"]).shape
    whole = tuple((n + 2 * p - k) // s + 1 for n, p, k, s in zip(self.shape[2:], edge, kernel, step))
    if tuple(result[2:]) != whole:
        raise Refused("ceil_mode=True with a window that reaches over the edge")
    more = {} if "max" in name else {"count_pad": bool(count_include_pad)}
    y = b.op("max_pool" if "max" in name else "avg_pool", self, result=result, kernel=kernel, stride=step, pad=edge, **more)
    return [y, None] if "indices" in name else y


def windows(b, x, axis, n, mean):
    size = x.shape[axis]
    if n > 64:
        raise Refused(f"{n} windows of several sizes: at most 64")
    parts = [b.slice(x, axis, i * size // n, -(-(i + 1) * size // n) - i * size // n) for i in range(n)]
    return b.concat([b.reduce("reduce_mean" if mean else "reduce_max", part, [axis], True) for part in parts], axis)


def first(value):
    return value[0] if isinstance(value, (list, tuple)) else value


@rule("adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default", "adaptive_avg_pool1d.default", "adaptive_max_pool2d.default")
def adaptive_pool(b, node, self, output_size):
    n, name = len(output_size), node.target._schema.name
    result = first(node.meta["val"]).shape
    x = self if n == 2 else b.reshape(self, (*self.shape[:2], 1, self.shape[2]))
    sizes, wanted = x.shape[2:], (result[2:] if n == 2 else (1, result[2]))
    mean = "avg" in name
    if tuple(wanted) == tuple(sizes):
        y = x
    elif tuple(wanted) == (1, 1) and mean:
        y = b.op("global_avg_pool", x, result=x.shape[:2])
    elif all(s % w == 0 for s, w in zip(sizes, wanted)):
        kernel = [s // w for s, w in zip(sizes, wanted)]
        y = b.op("avg_pool" if mean else "max_pool", x, result=(*x.shape[:2], *wanted), kernel=kernel)
    elif tuple(sizes) == (1, 1):
        y = b.expand(x, (*x.shape[:2], *wanted))
    else:  # windows of several sizes: one axis after the other, window by window
        y = windows(b, windows(b, x, 2, wanted[0], mean), 3, wanted[1], mean)
    y = b.reshape(y, result)
    return y if mean else [y, None]


@rule("upsample_nearest2d.default", "upsample_nearest2d.vec")
def upsample(b, node, self=None, input=None, output_size=None, scales_h=None, scales_w=None, scale_factors=None):  # noqa: A002
    x, result = self or input, node.meta["val"].shape
    if any(w % s for w, s in zip(result[2:], x.shape[2:])):
        raise Refused("by a factor that is not whole")
    return b.op("upsample", x, result=result, factor=[w // s for w, s in zip(result[2:], x.shape[2:])])
