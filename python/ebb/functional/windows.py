"""Windows of images, and what is made of them."""

from math import prod

from .. import _core, _precision, _shape
from .math import matmul, sum
from .tensor import stack

__all__ = [
    "conv3d", "conv_transpose3d", "local_conv2d", "local_response_norm", "pixel_shuffle", "sliding_window",
    "sliding_window_transpose",
]

_conv2d = _core.op("conv2d")
_conv2d_transpose = _core.op("conv2d_transpose")
_spread = _core.op("strided_slice_grad")


def _several(x, n, what):
    x = tuple(x) if isinstance(x, (tuple, list)) else (x,) * n
    if len(x) != n:
        raise ValueError(f"{what}: {x}: one number, or {n} of them")
    return tuple(int(i) for i in x)


def _padded(x, pads):
    """Zeros before and behind the last axes."""
    if not any(pads):
        return x
    pads = (0,) * (x.ndim - len(pads)) + tuple(pads)
    size = [n + 2 * p for n, p in zip(x.shape, pads)]
    return _spread(x, begin=pads, size=size, step=[1] * x.ndim)


def _windows_of(size, kernel, padding, stride, dilation, what):
    """How many windows there are along each axis."""
    n = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, p, t, d in zip(size, kernel, padding, stride, dilation)]
    if any(i < 1 for i in n):
        raise ValueError(f"{what}: windows of {kernel} do not fit {tuple(size)} places with padding {padding}")
    return n


def sliding_window(inp, kernel_size, padding=0, stride=1, dilation=1):
    """Windows of images: [n, c, h, w] -> [n, c, oh, ow, kh, kw]."""
    kernel, padding, stride, dilation = (
        _several(x, 2, "sliding_window") for x in (kernel_size, padding, stride, dilation)
    )
    oh, ow = _windows_of(inp.shape[2:], kernel, padding, stride, dilation, "sliding_window")
    x = _padded(inp, padding)
    parts = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilation[0], j * dilation[1]
            rows = slice(top, top + (oh - 1) * stride[0] + 1, stride[0])
            columns = slice(left, left + (ow - 1) * stride[1] + 1, stride[1])
            parts.append(x[:, :, rows, columns])
    return _shape.reshape(stack(parts, -1), (*inp.shape[:2], oh, ow, *kernel))


def sliding_window_transpose(inp, out_hw, kernel_size, padding=0, stride=1, dilation=1):
    """What sliding_window turned about gives: places of several windows are added up."""
    kernel, padding, stride, dilation = (
        _several(x, 2, "sliding_window_transpose") for x in (kernel_size, padding, stride, dilation)
    )
    out = _several(out_hw, 2, "sliding_window_transpose")
    n = _windows_of(out, kernel, padding, stride, dilation, "sliding_window_transpose")
    if inp.shape[2:] != (*n, *kernel):
        raise ValueError(f"sliding_window_transpose: shape {inp.shape} does not end with {(*n, *kernel)}")
    whole = [s + 2 * p for s, p in zip(out, padding)]
    image = 0
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            begin = [0, 0, i * dilation[0], j * dilation[1]]
            image = image + _spread(inp[..., i, j], begin=begin, size=[*inp.shape[:2], *whole], step=[1, 1, *stride])
    return image[:, :, padding[0] : padding[0] + out[0], padding[1] : padding[1] + out[1]]


def conv3d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, conv_mode="cross_correlation"):
    """A convolution of inp[n, c, d, h, w] with weight[out, c / groups, kd, kh, kw], as one of images whose
    channels are those of kd places."""
    if conv_mode != "cross_correlation":
        raise ValueError(f"conv3d: conv_mode {conv_mode!r}: cross_correlation only")
    inp, weight = _precision.low(inp, weight)
    weight = weight if weight.ndim == 5 else _shape.reshape(weight, (-1, *weight.shape[2:]))
    stride, padding, dilation = (_several(x, 3, "conv3d") for x in (stride, padding, dilation))
    out, inside, depth, *kernel = weight.shape
    n, channels, *_ = inp.shape
    od, _, _ = _windows_of(inp.shape[2:], (depth, *kernel), padding, stride, dilation, "conv3d")
    x = _padded(inp, (padding[0], 0, 0))
    last = (od - 1) * stride[0] + 1
    parts = [x[:, :, i * dilation[0] : i * dilation[0] + last : stride[0]] for i in range(depth)]
    x = _shape.transpose(stack(parts, 2), (0, 3, 1, 2, 4, 5))
    x = _shape.reshape(x, (n * od, channels * depth, *inp.shape[3:]))
    flat = _shape.reshape(weight, (out, inside * depth, *kernel))
    y = _conv2d(x, flat, stride=stride[1:], pad=padding[1:], dilation=dilation[1:], groups=int(groups))
    y = _shape.transpose(_shape.reshape(y, (n, od, *y.shape[1:])), (0, 2, 1, 3, 4))
    return y if bias is None else y + _shape.reshape(bias, (1, out, 1, 1, 1))


def conv_transpose3d(inp, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    """The gradient of conv3d by its image: weight[c, out / groups, kd, kh, kw]. Each place along d gives an image of
    out * kd channels, which are added up where they lie."""
    inp, weight = _precision.low(inp, weight)
    weight = weight if weight.ndim == 5 else _shape.reshape(weight, (-1, *weight.shape[2:]))
    stride, padding, more, dilation = (
        _several(x, 3, "conv_transpose3d") for x in (stride, padding, output_padding, dilation)
    )
    channels, out, depth, *kernel = weight.shape
    n, _, d, *size = inp.shape
    images = _shape.reshape(_shape.transpose(inp, (0, 2, 1, 3, 4)), (n * d, channels, *size))
    flat = _shape.reshape(weight, (channels, out * depth, *kernel))
    y = _conv2d_transpose(images, flat, stride=stride[1:], pad=padding[1:], out_pad=more[1:], dilation=dilation[1:],
                          groups=int(groups))
    y = _shape.reshape(y, (n, d, out * int(groups), depth, *y.shape[2:]))
    whole = (d - 1) * stride[0] + dilation[0] * (depth - 1) + 1 + more[0]
    if more[0] >= stride[0] or whole <= 2 * padding[0]:
        raise ValueError(f"conv_transpose3d: stride {stride}, padding {padding} and output_padding {more} leave nothing, "
                         f"or more than a stride, of {d} places")
    total = 0
    for i in range(depth):
        part = y[:, :, :, i]
        size = [n, whole, *part.shape[2:]]
        total = total + _spread(part, begin=[0, i * dilation[0], 0, 0, 0], size=size, step=[1, stride[0], 1, 1, 1])
    y = _shape.transpose(total[:, padding[0] : whole - padding[0]], (0, 2, 1, 3, 4))
    return y if bias is None else y + _shape.reshape(bias, (1, -1, 1, 1, 1))


def local_conv2d(inp, weight, bias=None, stride=1, padding=0, dilation=1, conv_mode="cross_correlation"):
    """A convolution whose kernel is another one at each place: weight[groups, oh, ow, c / groups, kh, kw, out / groups]."""
    if conv_mode != "cross_correlation":
        raise ValueError(f"local_conv2d: conv_mode {conv_mode!r}: cross_correlation only")
    inp, weight = _precision.low(inp, weight)
    if weight.ndim != 7:
        raise ValueError(f"local_conv2d: weight of shape {weight.shape}: it has 7 axes")
    windows = sliding_window(inp, weight.shape[4:6], padding, stride, dilation)
    n, channels, oh, ow, kh, kw = windows.shape
    groups, out, own = weight.shape[0], weight.shape[-1], channels // weight.shape[0]
    if weight.shape != (groups, oh, ow, own, kh, kw, out) or own * groups != channels:
        raise ValueError(f"local_conv2d: weight of shape {weight.shape}: ({groups}, {oh}, {ow}, {own}, {kh}, {kw}, {out}) "
                         f"for {channels} channels and {oh} x {ow} places")
    x = _shape.transpose(_shape.reshape(windows, (n, groups, own, oh * ow, kh * kw)), (1, 3, 0, 2, 4))
    y = matmul(_shape.reshape(x, (groups * oh * ow, n, own * kh * kw)),
               _shape.reshape(weight, (groups * oh * ow, own * kh * kw, out)))
    y = _shape.transpose(_shape.reshape(y, (groups, oh * ow, n, out)), (2, 0, 3, 1))
    y = _shape.reshape(y, (n, groups * out, oh, ow))
    return y if bias is None else y + bias


def pixel_shuffle(inp, upscale_factor):
    """[..., c r r, h, w] -> [..., c, h r, w r]."""
    r = int(upscale_factor)
    *before, channels, h, w = inp.shape
    if channels % (r * r):
        raise ValueError(f"pixel_shuffle: {channels} channels are no multiple of {r * r}")
    x = _shape.reshape(inp, (prod(before) * channels // (r * r), r, r, h, w))
    x = _shape.transpose(x, (0, 3, 1, 4, 2))
    return _shape.reshape(x, (*before, channels // (r * r), h * r, w * r))


def local_response_norm(inp, kernel_size=5, k=2.0, alpha=1e-4, beta=0.75):
    """inp divided by (k + alpha times the sum of squares of kernel_size channels about its own)^beta."""
    if kernel_size % 2 != 1:
        raise ValueError(f"local_response_norm: kernel_size {kernel_size} is not odd")
    squares = _padded(inp * inp, (kernel_size // 2, *(0,) * (inp.ndim - 2)))
    near = stack([squares[:, i : i + inp.shape[1]] for i in range(kernel_size)], 0)
    return inp / (sum(near, 0) * alpha + k) ** beta
