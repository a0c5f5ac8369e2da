"""Images cut, padded and turned about, with what lies in them."""

import numpy as np

from .base import OfPlaces, OfValues, VisionTransform, moved, signed

__all__ = [
    "CenterCrop", "Normalize", "Pad", "RandomCrop", "RandomHorizontalFlip", "RandomVerticalFlip", "ToMode",
]


class Normalize(OfValues):
    """(image - mean) / std, of channels that come last."""

    def __init__(self, mean=0.0, std=1.0, *, order=None):
        super().__init__(order)
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)

    def _apply_image(self, image):
        return (image - self.mean) / self.std


class ToMode(OfValues):
    """[h, w, c] as [c, h, w] (mode CHW), masks too."""

    def __init__(self, mode="CHW", *, order=None):
        super().__init__(order)
        if mode != "CHW":
            raise ValueError(f"ToMode: mode {mode!r}: CHW")
        self.mode = mode

    def _apply_image(self, image):
        return np.ascontiguousarray(np.rollaxis(image, 2)) if image.ndim == 3 else image[None]

    _apply_mask = _apply_image


def _sides(size):
    """(top, bottom, left, right) of a padding: the same everywhere, (bottom, right), or all four."""
    sides = (size,) * 4 if isinstance(size, (int, np.integer)) else tuple(size)
    sides = (0, sides[0], 0, sides[1]) if len(sides) == 2 else sides
    if len(sides) != 4 or min(sides) < 0:
        raise ValueError(f"Pad: size {size}: one number, two or four, none below 0")
    return sides


def _padded(image, sides, value):
    """value, one number or one a channel, around an image, which is of float32 then if the value is not whole."""
    top, bottom, left, right = sides
    h, w, *channels = image.shape
    dtype = np.float32 if np.asarray(value).dtype.kind == "f" else image.dtype
    wide = np.empty((top + h + bottom, left + w + right, *channels), dtype)
    wide[...] = value
    wide[top : top + h, left : left + w] = image
    return wide


class Pad(VisionTransform):
    """value around images and mask_value around masks. size: places on each side, (bottom, right), or (top, bottom, left,
    right). A value that is a float makes the image float32."""

    def __init__(self, size=0, value=0, mask_value=0, *, order=None):
        super().__init__(order)
        if not isinstance(mask_value, (int, np.integer)):
            raise ValueError(f"Pad: mask_value {mask_value!r}: a whole number")
        self.size, self.value, self.mask_value = _sides(size), value, mask_value

    def _apply_image(self, image):
        return _padded(image, self.size, self.value)

    def _apply_mask(self, mask):
        return _padded(mask, self.size, self.mask_value)

    def _apply_coords(self, coords):
        return moved(coords, self.size[2], self.size[0])


def _pair(size):
    return (size,) * 2 if isinstance(size, (int, np.integer)) else tuple(size)


def cut(image, top, left, size):
    return image[top : top + size[0], left : left + size[1]]


class CenterCrop(OfPlaces):
    """The middle of images: output_size rows and columns."""

    def __init__(self, output_size, *, order=None):
        super().__init__(order)
        self.output_size = _pair(output_size)

    def _draw(self, h, w):
        tall, wide = self.output_size
        if tall > h or wide > w:
            raise ValueError(f"CenterCrop: an image of {(h, w)} has no {self.output_size} places")
        return round((h - tall) / 2), round((w - wide) / 2)

    def _apply_image(self, image):
        return cut(image, *self._how, self.output_size)

    _apply_mask = _apply_image

    def _apply_coords(self, coords):
        top, left = self._how
        return moved(coords, -left, -top)


class RandomCrop(OfPlaces):
    """output_size rows and columns of images, where NumPy's generator says. They are padded before: by padding_size, as
    Pad's size is, and at the bottom and on the right where there are fewer rows or columns."""

    def __init__(self, output_size, padding_size=0, padding_value=0, padding_maskvalue=0, *, order=None):
        super().__init__(order)
        self.output_size, self.padding_size = _pair(output_size), _sides(padding_size)
        self.padding_value, self.padding_maskvalue = padding_value, padding_maskvalue

    def _draw(self, h, w):
        """The sides of the padding, and the first row and column."""
        top, bottom, left, right = self.padding_size
        (tall, wide), (h, w) = self.output_size, (top + h + bottom, left + w + right)
        first = np.random.randint(max(0, w - wide) + 1)
        return (top, bottom + max(0, tall - h), left, right + max(0, wide - w)), np.random.randint(max(0, h - tall) + 1), first

    def _cut(self, image, value):
        sides, top, left = self._how
        return cut(_padded(image, sides, value), top, left, self.output_size)

    def _apply_image(self, image):
        return self._cut(image, self.padding_value)

    def _apply_mask(self, mask):
        return self._cut(mask, self.padding_maskvalue)

    def _apply_coords(self, coords):
        sides, top, left = self._how
        return moved(coords, sides[2] - left, sides[0] - top)


class RandomHorizontalFlip(OfPlaces):
    """Images whose columns are turned about, as often as prob says."""

    _axis = 1

    def __init__(self, prob=0.5, *, order=None):
        super().__init__(order)
        self.prob = prob

    def _draw(self, h, w):
        """Whether it is turned, and the size along the axis."""
        return np.random.random() < self.prob, (h, w)[self._axis]

    def _apply_image(self, image):
        return np.ascontiguousarray(np.flip(image, self._axis)) if self._how[0] else image

    _apply_mask = _apply_image

    def _apply_coords(self, coords):
        turned, whole = self._how
        if not turned:
            return coords
        coords = signed(coords)
        coords[:, 1 - self._axis] = whole - coords[:, 1 - self._axis]
        return coords


class RandomVerticalFlip(RandomHorizontalFlip):
    """Images whose rows are turned about."""

    _axis = 0
