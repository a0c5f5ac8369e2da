"""Images in other colours and with noise. Numbers are drawn by NumPy's generator; images are [h, w, 3], BGR, as OpenCV
reads them, of values from 0 to 255, which what comes of them is brought into."""

import numpy as np

from .base import OfValues

__all__ = [
    "BrightnessTransform", "ColorJitter", "ContrastTransform", "GaussianNoise", "HueTransform", "Lighting",
    "SaturationTransform",
]

_GRAY = np.array([0.114, 0.587, 0.299], np.float32)
# Directions and sizes in which the colours of photographs differ (Krizhevsky et al., NIPS 2012), BGR.
_DIRECTIONS = np.array([[-0.5836, -0.6948, 0.4203], [-0.5808, -0.0045, -0.8140], [-0.5675, 0.7192, 0.4009]])
_SIZES = np.array([0.2175, 0.0188, 0.0045])


class _Colours(OfValues):
    """Of values: _changed(image) of a float32 image."""

    def _apply_image(self, image):
        return np.clip(self._changed(image.astype(np.float32)), 0, 255).astype(image.dtype)


class _ByFactor(_Colours):
    """A factor in 1 ± value, which is not below 0."""

    _most = float("inf")

    def __init__(self, value, *, order=None):
        super().__init__(order)
        if not 0 <= value <= self._most:
            raise ValueError(f"{type(self).__name__}: value {value} is not in [0, {self._most}]")
        self.value = value

    def _apply_image(self, image):
        return super()._apply_image(image) if self.value else image

    def _factor(self):
        return np.random.uniform(max(0, 1 - self.value), 1 + self.value)


class BrightnessTransform(_ByFactor):
    """Values times the factor."""

    def _changed(self, image):
        return image * self._factor()


class ContrastTransform(_ByFactor):
    """The factor times the distance to the mean gray."""

    def _changed(self, image):
        mean = (image @ _GRAY).mean()
        return mean + (image - mean) * self._factor()


class SaturationTransform(_ByFactor):
    """The factor times the distance to each place's gray."""

    def _changed(self, image):
        gray = (image @ _GRAY)[..., None]
        return gray + (image - gray) * self._factor()


class HueTransform(_ByFactor):
    """Colours turned about the circle of hues, by at most value, of which 1 is a whole turn."""

    _most = 0.5

    def _changed(self, image):
        high, low = image.max(-1), image.min(-1)
        spread = np.where(high > low, high - low, 1)
        b, g, r = np.moveaxis(image, -1, 0)
        sixth = np.where(high == r, (g - b) / spread % 6, np.where(high == g, (b - r) / spread + 2, (r - g) / spread + 4))
        sixth = sixth + 6 * np.random.uniform(-self.value, self.value)
        parts = [(sixth + n) % 6 for n in (1, 3, 5)]  # of b, g, r
        return np.stack([high - (high - low) * np.clip(np.minimum(p, 4 - p), 0, 1) for p in parts], -1)


class ColorJitter(OfValues):
    """Brightness, contrast, saturation and hue, one after the other in any order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0, *, order=None):
        super().__init__(order)
        kinds = (BrightnessTransform, ContrastTransform, SaturationTransform, HueTransform)
        values = (brightness, contrast, saturation, hue)
        self.transforms = [kind(value) for kind, value in zip(kinds, values) if value]

    def _apply_image(self, image):
        for i in np.random.permutation(len(self.transforms)):
            image = self.transforms[i]._apply_image(image)
        return image


class Lighting(_Colours):
    """The same colour added everywhere, along the directions in which photographs differ, scale times as far."""

    def __init__(self, scale, *, order=None):
        super().__init__(order)
        if scale < 0:
            raise ValueError(f"Lighting: scale {scale} is below 0")
        self.scale = scale

    def _changed(self, image):
        return image + _DIRECTIONS @ (np.random.normal(0, self.scale, 3) * _SIZES)


class GaussianNoise(_Colours):
    """Numbers of the normal distribution added at each place, of which 1 is the whole range, 255."""

    def __init__(self, mean=0.0, std=1.0, *, order=None):
        super().__init__(order)
        self.mean, self.std = mean, std

    def _changed(self, image):
        return image + 255 * np.random.normal(self.mean, self.std, image.shape).astype(np.float32)
