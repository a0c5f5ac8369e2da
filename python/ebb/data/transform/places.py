"""Images cut, padded and turned about."""

import numpy as np

from .base import VisionTransform

__all__ = [
    "CenterCrop", "Normalize", "Pad", "RandomCrop", "RandomHorizontalFlip", "RandomVerticalFlip", "ToMode",
]


class Normalize(VisionTransform):
    """(image - mean) / std, of channels that come last."""

    def __init__(self, mean=0.0, std=1.0, *, order=None):
        super().__init__(order)
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)

    def _apply_image(self, image):
        return (image - self.mean) / self.std


class ToMode(VisionTransform):
    """[h, w, c] as [c, h, w] (mode CHW)."""

    def __init__(self, mode="CHW", *, order=None):
        super().__init__(order)
        if mode != "CHW":
            raise ValueError(f"ToMode: mode {mode!r}: CHW")
        self.mode = mode

    def _apply_image(self, image):
        return np.ascontiguousarray(np.rollaxis(image, 2)) if image.ndim == 3 else image[None]


class Pad(VisionTransform):
    """value around images: size places on each side, (top and bottom, left and right), or (top, bottom, left, right)."""

    _moves = True

    def __init__(self, size=0, value=0, *, order=None):
        super().__init__(order)
        size = (size,) * 4 if isinstance(size, int) else tuple(size)
        size = (size[0], size[0], size[1], size[1]) if len(size) == 2 else size
        if len(size) != 4 or min(size) < 0:
            raise ValueError(f"Pad: size {size}: one number, two or four, none below 0")
        self.size, self.value = size, value

    def _apply_image(self, image):
        top, bottom, left, right = self.size
        h, w, *channels = image.shape
        wide = np.empty((top + h + bottom, left + w + right, *channels), image.dtype)
        wide[...] = self.value  # one number, or one a channel
        wide[top : top + h, left : left + w] = image
        return wide


def _cut(image, size, name, places):
    """size rows and columns of an image; places(n): where to begin, of n ways."""
    ways = [have - want + 1 for have, want in zip(image.shape, size)]
    if min(ways) < 1:
        raise ValueError(f"{name}: an image of {image.shape[:2]} has no {size} places")
    y, x = (places(n) for n in ways)
    return image[y : y + size[0], x : x + size[1]]


class CenterCrop(VisionTransform):
    """The middle of images: output_size rows and columns."""

    _moves = True

    def __init__(self, output_size, *, order=None):
        super().__init__(order)
        self.output_size = (output_size,) * 2 if isinstance(output_size, int) else tuple(output_size)

    def _apply_image(self, image):
        return _cut(image, self.output_size, "CenterCrop", lambda n: (n - 1) // 2)


class RandomCrop(VisionTransform):
    """output_size rows and columns of images, where NumPy's generator says, padded before by padding_size."""

    _moves = True

    def __init__(self, output_size, padding_size=0, padding_value=0, *, order=None):
        super().__init__(order)
        self.output_size = (output_size,) * 2 if isinstance(output_size, int) else tuple(output_size)
        self._pad = Pad(padding_size, padding_value)

    def _apply_image(self, image):
        return _cut(self._pad._apply_image(image), self.output_size, "RandomCrop", np.random.randint)


class RandomHorizontalFlip(VisionTransform):
    """Images whose columns are turned about, as often as prob says."""

    _moves, _axis = True, 1

    def __init__(self, prob=0.5, *, order=None):
        super().__init__(order)
        self.prob = prob

    def _apply_image(self, image):
        return np.ascontiguousarray(np.flip(image, self._axis)) if np.random.random() < self.prob else image


class RandomVerticalFlip(RandomHorizontalFlip):
    """Images whose rows are turned about."""

    _axis = 0
