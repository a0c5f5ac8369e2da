"""Images of other sizes, and what lies in them. interpolation is numbered as in OpenCV: 0 takes the nearest place, 1 interpolates along lines."""

import numpy as np

from .base import OfPlaces, moved
from .places import cut

__all__ = ["RandomResize", "RandomResizedCrop", "Resize", "ShortestEdgeResize"]


def _along(image, size, axis, interpolation):
    """Places of an axis between those of the image: the middles of size equal parts."""
    n = image.shape[axis]
    if interpolation == 0:
        return np.take(image, np.minimum(np.arange(size) * n // size, n - 1), axis)
    at = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
    first = np.floor(at).astype(int)
    share = (at - first).astype(np.float32).reshape([-1 if a == axis else 1 for a in range(image.ndim)])
    return np.take(image, first, axis) * (1 - share) + np.take(image, np.minimum(first + 1, n - 1), axis) * share


def _resized(image, size, interpolation):
    if tuple(image.shape[:2]) == tuple(size):
        return image
    if min(size) < 1:
        raise ValueError(f"an image of {image.shape[:2]} cannot be {tuple(size)} places")
    made = _along(_along(image, size[0], 0, interpolation), size[1], 1, interpolation)
    return made if interpolation == 0 or image.dtype.kind == "f" else np.rint(made).astype(image.dtype)


class _Sized(OfPlaces):
    """What gives images another size: _size(h, w); masks take the nearest place."""

    def __init__(self, interpolation, order):
        super().__init__(order)
        if interpolation not in (0, 1):
            raise ValueError(f"{type(self).__name__}: interpolation {interpolation}: 0 (nearest) or 1 (linear)")
        self.interpolation = interpolation

    def _draw(self, h, w):
        """The part of the image, first row, first column and size, and the size that it becomes."""
        return (0, 0, h, w), self._size(h, w)

    def _to_size(self, image, interpolation):
        (top, left, *part), size = self._how
        return _resized(cut(image, top, left, part), size, interpolation)

    def _apply_image(self, image):
        return self._to_size(image, self.interpolation)

    def _apply_mask(self, mask):
        return self._to_size(mask, 0)

    def _apply_coords(self, coords):
        (top, left, tall, wide), size = self._how
        return moved(coords, -left, -top, size[1] / wide, size[0] / tall)


class Resize(_Sized):
    """output_size rows and columns; one number is the shorter side, and the other keeps its proportion."""

    def __init__(self, output_size, interpolation=1, *, order=None):
        super().__init__(interpolation, order)
        self.output_size = output_size if isinstance(output_size, (int, np.integer)) else tuple(output_size)

    def _size(self, h, w):
        if isinstance(self.output_size, tuple):
            return self.output_size
        shorter = min(h, w)
        return int(self.output_size * h / shorter), int(self.output_size * w / shorter)


class ShortestEdgeResize(_Sized):
    """The shorter side becomes min_size, the longer one at most max_size. min_size: a number, a range (sample_style
    "range") or numbers to choose from ("choice")."""

    def __init__(self, min_size, max_size=None, sample_style="range", interpolation=1, *, order=None):
        super().__init__(interpolation, order)
        if sample_style not in ("range", "choice"):
            raise ValueError(f"ShortestEdgeResize: sample_style {sample_style!r}: range or choice")
        self.min_size = (min_size, min_size) if isinstance(min_size, int) else tuple(min_size)
        if sample_style == "range" and len(self.min_size) != 2:
            raise ValueError(f"ShortestEdgeResize: min_size {min_size}: a range has two ends")
        self.max_size, self.sample_style = max_size, sample_style

    def _size(self, h, w):
        if self.sample_style == "range":
            size = np.random.randint(self.min_size[0], self.min_size[1] + 1)
        else:
            size = np.random.choice(self.min_size)
        scale = size / min(h, w)
        if self.max_size is not None:
            scale = min(scale, self.max_size / max(h, w))
        return max(1, round(h * scale)), max(1, round(w * scale))


class RandomResize(_Sized):
    """A share of the size, in scale_range."""

    def __init__(self, scale_range, interpolation=1, *, order=None):
        super().__init__(interpolation, order)
        self.scale_range = scale_range

    def _size(self, h, w):
        scale = np.random.uniform(*self.scale_range)
        return max(1, round(h * scale)), max(1, round(w * scale))


class RandomResizedCrop(_Sized):
    """A part of the image, of a share of it in scale_range and of sides in proportion in ratio_range, as output_size
    rows and columns; the middle where ten tries find none."""

    def __init__(self, output_size, scale_range=(0.08, 1.0), ratio_range=(3.0 / 4, 4.0 / 3), interpolation=1, *, order=None):
        super().__init__(interpolation, order)
        self.output_size = (output_size,) * 2 if isinstance(output_size, (int, np.integer)) else tuple(output_size)
        if min(scale_range) <= 0 or min(ratio_range) <= 0:
            raise ValueError(f"RandomResizedCrop: scale_range {scale_range} and ratio_range {ratio_range} are above 0")
        self.scale_range, self.ratio_range = scale_range, ratio_range

    def _draw(self, h, w):
        return self._part(h, w), self.output_size

    def _part(self, h, w):
        """First row, first column and size."""
        for _ in range(10):
            area = h * w * np.random.uniform(*self.scale_range)
            ratio = np.exp(np.random.uniform(*np.log(self.ratio_range)))
            tall, wide = round(np.sqrt(area / ratio)), round(np.sqrt(area * ratio))
            if 0 < tall <= h and 0 < wide <= w:
                left = np.random.randint(w - wide + 1)
                return np.random.randint(h - tall + 1), left, tall, wide
        tall, wide = min(h, max(1, round(w / self.ratio_range[0]))), min(w, max(1, round(h * self.ratio_range[1])))
        return (h - tall) // 2, (w - wide) // 2, tall, wide
