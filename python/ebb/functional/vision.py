"""Images: other sizes, other views, boxes."""

import builtins

import numpy as np

from .. import _core, _shape
from .._special import counted
from .._tensor import Tensor, as_tensor
from .elemwise import ceil, clip, floor, maximum, minimum, round
from .math import matmul, max, mean, sum
from .tensor import arange, concat, expand_dims, stack, where
from .windows import _several

__all__ = [
    "cvt_color", "interpolate", "nms", "remap", "roi_align", "roi_pooling", "warp_affine", "warp_perspective",
]

_take = _core.op("take")


# ---- other sizes


def _cubic(distance):
    """The weight of a place at a distance, by the cubic of a = -3/4."""
    d, a = np.abs(distance), -0.75
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = a * (((d - 5) * d + 8) * d - 4)
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _weights(old, new, mode, align_corners):
    """What each of the new places takes of the old ones: [new, old]."""
    places = np.arange(new)
    if mode == "nearest":
        taken = [(np.minimum(places * old // new, old - 1), np.ones(new))]
    else:
        if align_corners:
            at = places * ((old - 1) / (new - 1) if new > 1 else 0.0)
        else:
            at = (places + 0.5) * old / new - 0.5
        first = np.floor(at)
        offsets = range(-1, 3) if mode == "bicubic" else range(2)
        weight = _cubic if mode == "bicubic" else lambda d: np.maximum(1 - np.abs(d), 0)
        taken = [(np.clip(first + i, 0, old - 1).astype(int), weight(at - first - i)) for i in offsets]
    matrix = np.zeros((new, old))
    for rows, weight in taken:
        np.add.at(matrix, (places, rows), weight)
    return Tensor(matrix.astype(np.float32))


_AXES = {"linear": 1, "bilinear": 2, "nearest": 2, "bicubic": 2, "trilinear": 3}


def interpolate(inp, size=None, scale_factor=None, mode="bilinear", align_corners=None):
    """Images of another size, or of scale_factor times their size: mode bilinear, nearest, bicubic, linear (of
    [n, c, l]) or trilinear (of [n, c, d, h, w])."""
    mode = mode.lower()
    n = _AXES.get(mode)
    if n is None:
        raise ValueError(f"interpolate: mode {mode!r}: one of {', '.join(_AXES)}")
    if inp.ndim != n + 2:
        raise ValueError(f"interpolate: mode {mode} takes a tensor of {n + 2} axes, not of shape {inp.shape}")
    if align_corners and mode == "nearest":
        raise ValueError("interpolate: align_corners is nothing for mode nearest")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: size or scale_factor, one of them")
    if size is None:
        factors = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
        if len(factors) != n:
            raise ValueError(f"interpolate: {len(factors)} scale factors for {n} axes")
        size = [int(s * f) for s, f in zip(inp.shape[2:], factors)]
    else:
        size = _several(size.tolist() if isinstance(size, _core.Tensor) else size, n, "interpolate")
    y = inp
    for axis, new in enumerate(size, 2):
        if new < 1:
            raise ValueError(f"interpolate: size {size} is below 1")
        order = [a for a in range(y.ndim) if a != axis] + [axis]
        back = [order.index(a) for a in range(y.ndim)]
        weights = _weights(y.shape[axis], new, mode, align_corners)
        y = _shape.transpose(matmul(_shape.transpose(y, order), weights, transpose_b=True), back)
    return y


# ---- other views


def _inside(place, size, border):
    """Places of an axis, those outside brought in."""
    if border == "reflect":  # fedcba|abcdef
        place = place % (2 * size)
        return minimum(place, 2 * size - 1 - place)
    if border == "reflect_101":  # fedcb|abcdef
        around = builtins.max(2 * size - 2, 1)
        place = place % around
        return minimum(place, around - place)
    if border == "wrap":
        return place % size
    return clip(place, 0, size - 1)


def _sampled(inp, image, x, y, border, value, mode):
    """inp[n, c, h, w] at places (x, y)[m, ...] of images numbered image[m, 1, ...]: [m, ..., c]."""
    n, c, h, w = inp.shape
    rows = _shape.reshape(_shape.transpose(inp, (0, 2, 3, 1)), (n * h * w, c))

    def at(px, py):
        number = (image * h + _inside(py, h, border)) * w + _inside(px, w, border)
        taken = _take(rows, number.astype("int32"), axis=0)
        if border != "constant":
            return taken
        known = (px >= 0) & (px < w) & (py >= 0) & (py < h)
        return where(_shape.broadcast_to(expand_dims(known, -1), taken.shape), taken, float(value))

    if mode == "nearest":
        return at(floor(x + 0.5), floor(y + 0.5))
    left, top = floor(x), floor(y)
    right, below = expand_dims(x - left, -1), expand_dims(y - top, -1)
    above = at(left, top) * (1 - right) + at(left + 1, top) * right
    under = at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right
    return above * (1 - below) + under * below


_BORDERS = ("replicate", "constant", "reflect", "reflect_101", "wrap")


def _check(what, border_mode, interp_mode):
    border, mode = border_mode.lower(), interp_mode.lower()
    if border not in _BORDERS:
        raise ValueError(f"{what}: border_mode {border!r}: one of {', '.join(_BORDERS)}")
    if mode not in ("linear", "nearest"):
        raise ValueError(f"{what}: interp_mode {mode!r}: linear or nearest")
    return border, mode


def remap(inp, map_xy, border_mode="replicate", scalar=0.0, interp_mode="linear"):
    """Images whose places take those of inp that map_xy[n, oh, ow, 2] names, as x and y."""
    border, mode = _check("remap", border_mode, interp_mode)
    n = inp.shape[0]
    if map_xy.ndim != 4 or map_xy.shape[0] != n or map_xy.shape[3] != 2:
        raise ValueError(f"remap: map_xy of shape {map_xy.shape}: ({n}, oh, ow, 2)")
    image = _shape.reshape(arange(n), (n, 1, 1))
    y = _sampled(inp, image, map_xy[..., 0], map_xy[..., 1], border, scalar, mode)
    return _shape.transpose(y, (0, 3, 1, 2))


def warp_perspective(inp, mat, out_shape, mat_idx=None, border_mode="replicate", border_val=0.0, format="NCHW",
                     interp_mode="linear"):
    """Images whose place (x, y) takes inp's at mat[m, 3, 3] (x, y, 1), divided by its third number. mat_idx: which
    image each matrix is for."""
    border, mode = _check("warp_perspective", border_mode, interp_mode)
    if format.upper() not in ("NCHW", "NHWC"):
        raise ValueError(f"warp_perspective: format {format!r}: NCHW or NHWC")
    of_places = format.upper() == "NHWC"
    inp = _shape.transpose(inp, (0, 3, 1, 2)) if of_places else inp
    oh, ow = _several(out_shape.tolist() if isinstance(out_shape, _core.Tensor) else out_shape, 2, "warp_perspective")
    m = mat.shape[0]
    if mat_idx is None and m != inp.shape[0]:
        raise ValueError(f"warp_perspective: {m} matrices for {inp.shape[0]} images: mat_idx says which is whose")
    image = arange(m) if mat_idx is None else as_tensor(mat_idx).astype("float32")
    xs = _shape.broadcast_to(_shape.reshape(arange(ow), (1, ow)), (oh, ow)).flatten()
    ys = _shape.broadcast_to(_shape.reshape(arange(oh), (oh, 1)), (oh, ow)).flatten()
    places = matmul(mat, _shape.broadcast_to(stack([xs, ys, ys * 0 + 1])[None], (m, 3, oh * ow)))
    x, y = (_shape.reshape(places[:, i] / places[:, 2], (m, oh, ow)) for i in range(2))
    out = _sampled(inp, _shape.reshape(image, (m, 1, 1)), x, y, border, border_val, mode)
    return out if of_places else _shape.transpose(out, (0, 3, 1, 2))


def warp_affine(inp, mat, out_shape, border_mode="replicate", border_val=0.0, format="NHWC", interp_mode="linear"):
    """warp_perspective by mat[n, 2, 3], whose third row is 0, 0, 1; [n, h, w, c] unless format is NCHW."""
    third = Tensor(np.tile(np.array([[[0, 0, 1]]], np.float32), (mat.shape[0], 1, 1)))
    return warp_perspective(inp, concat([mat, third], 1), out_shape, None, border_mode, border_val, format, interp_mode)


# ---- boxes


def roi_align(inp, rois, output_shape, mode="average", spatial_scale=1.0, sample_points=2, aligned=True):
    """Means (mode max: the largest) of sample_points in each of output_shape equal parts of boxes: rois[k, 5] has
    an image's number and x0, y0, x1, y1, to be scaled by spatial_scale. -> [k, c, *output_shape]."""
    if mode.lower() not in ("average", "max"):
        raise ValueError(f"roi_align: mode {mode!r}: average or max")
    (oh, ow), (sh, sw) = _several(output_shape, 2, "roi_align"), _several(sample_points, 2, "roi_align")
    if builtins.min(sh, sw) < 1:
        raise ValueError(f"roi_align: sample_points {sample_points} is below 1")
    k, c = rois.shape[0], inp.shape[1]
    rois = rois.astype("float32")
    box = rois[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)

    def along(low, high, parts):
        """Sample places of a box along an axis: [k, parts]."""
        extent = high - low
        extent = maximum(extent, 0 if aligned else 1)
        return expand_dims(low, 1) + expand_dims(extent, 1) * ((arange(parts) + 0.5) / parts)

    shape = (k, oh * sh, ow * sw)
    x = _shape.broadcast_to(expand_dims(along(box[:, 0], box[:, 2], ow * sw), 1), shape)
    y = _shape.broadcast_to(expand_dims(along(box[:, 1], box[:, 3], oh * sh), 2), shape)
    out = _sampled(inp.astype("float32"), _shape.reshape(floor(rois[:, 0]), (k, 1, 1)), x, y, "constant", 0.0, "linear")
    out = _shape.reshape(_shape.transpose(out, (0, 3, 1, 2)), (k * c, oh, sh, ow, sw))
    out = (mean if mode.lower() == "average" else max)(out, (2, 4))
    return _shape.reshape(out, (k, c, oh, ow))


def _bins(low, high, parts, size):
    """Begin and end of equal parts of boxes along an axis of so many places: whole numbers, [k, parts]."""
    first = round(low)
    extent = maximum(round(high) - first + 1, 1) / parts
    number, first, extent = arange(parts), expand_dims(first, 1), expand_dims(extent, 1)
    return (clip(floor(number * extent) + first, 0, size), clip(ceil((number + 1) * extent) + first, 0, size))


def roi_pooling(inp, rois, output_shape, mode="max", scale=1.0):
    """The largest (mode average: the means) of equal parts of boxes, each of whole places: rois[k, 5] has an image's
    number and x0, y0, x1, y1, to be scaled by scale. -> [k, c, *output_shape]; 0 of parts outside of the image."""
    if mode not in ("max", "average"):
        raise ValueError(f"roi_pooling: mode {mode!r}: max or average")
    oh, ow = _several(output_shape, 2, "roi_pooling")
    k, h, w = rois.shape[0], *inp.shape[2:]
    box = rois[:, 1:] * scale
    top, bottom = _bins(box[:, 1], box[:, 3], oh, h)
    left, right = _bins(box[:, 0], box[:, 2], ow, w)
    image = _take(inp, rois[:, 0].astype("int32"), axis=0)
    outside, join = (-float("inf"), max) if mode == "max" else (0.0, sum)

    def reduced(x, low, high, size):
        """Along the last axis of x, where it is in [low, high) of each box."""
        at = _shape.reshape(arange(size), (1,) * (x.ndim - 1) + (size,))
        low, high = (_shape.reshape(b, (k,) + (1,) * (x.ndim - 1)) for b in (low, high))
        return join(where(_shape.broadcast_to((at >= low) & (at < high), x.shape), x, outside), x.ndim - 1)

    columns = [reduced(image, left[:, i], right[:, i], w) for i in range(ow)]
    y = stack([stack([reduced(c, top[:, i], bottom[:, i], h) for c in columns], 2) for i in range(oh)], 2)
    area = expand_dims(bottom - top, 2) * expand_dims(right - left, 1)
    y = y / expand_dims(maximum(area, 1), 1) if mode == "average" else y
    return where(_shape.broadcast_to(expand_dims(area > 0, 1), y.shape), y, 0.0)


_SWAPS = {"RGB2BGR": [2, 1, 0], "BGR2RGB": [2, 1, 0], "GRAY2RGB": [0, 0, 0], "GRAY2BGR": [0, 0, 0],
          "RGBA2RGB": [0, 1, 2], "RGBA2BGR": [2, 1, 0]}
_GRAY = {"RGB2GRAY": (0.299, 0.587, 0.114), "BGR2GRAY": (0.114, 0.587, 0.299), "RGBA2GRAY": (0.299, 0.587, 0.114, 0)}


def cvt_color(inp, mode=""):
    """Images [n, h, w, c] in other colours: between RGB and BGR, of those to GRAY, back to equal parts, without alpha."""
    channels = 1 if mode.startswith("GRAY") else 4 if mode.startswith("RGBA") else 3
    if mode not in _SWAPS and mode not in _GRAY:
        raise ValueError(f"cvt_color: mode {mode!r}: one of {', '.join([*_GRAY, *_SWAPS])}")
    if inp.ndim != 4 or inp.shape[3] != channels:
        raise ValueError(f"cvt_color: {mode} of shape {inp.shape}: (n, h, w, {channels})")
    if mode in _SWAPS:
        return inp[..., _SWAPS[mode]]
    weights = Tensor(np.array(_GRAY[mode], np.float32))
    return sum(inp.astype("float32") * weights, 3, True).astype(inp.dtype)


def nms(boxes, scores, iou_thresh, max_output=None):
    """Numbers of the boxes[n, 4] that are kept, the best score first: of two whose intersection is more than
    iou_thresh of their union, the better. The host decides, and waits for the data."""
    boxes, scores = as_tensor(boxes).numpy(), as_tensor(scores).numpy()
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
        raise ValueError(f"nms: boxes of shape (n, 4) and scores (n,), not {boxes.shape} and {scores.shape}")
    left, kept = np.argsort(-scores, kind="stable"), []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while len(left) and (max_output is None or len(kept) < max_output):
        best, left = left[0], left[1:]
        kept.append(best)
        low, high = np.maximum(boxes[best, :2], boxes[left, :2]), np.minimum(boxes[best, 2:], boxes[left, 2:])
        common = np.prod(np.maximum(high - low, 0), 1)
        left = left[common <= iou_thresh * (area[best] + area[left] - common)]
    return counted(kept)
