"""What is done to samples before they become batches. A sample is an array, or a tuple whose parts `order` names."""

import numpy as np

__all__ = ["Compose", "Normalize", "PseudoTransform", "ToMode", "Transform", "VisionTransform"]


class Transform:
    """The base of transforms: apply(sample), and apply_batch(samples)."""

    def apply(self, input):
        raise NotImplementedError

    def apply_batch(self, inputs):
        return tuple(self.apply(one) for one in inputs)


class PseudoTransform(Transform):
    """Samples as they are."""

    def apply(self, input):
        return input


class VisionTransform(Transform):
    """Changes the parts of a sample that order calls "image", by _apply_image; the others stay as they are."""

    def __init__(self, order=None):
        self.order = ("image",) if order is None else tuple(order)

    def apply(self, input):
        if not isinstance(input, tuple):
            return self._apply_image(input)
        names = self.order + (None,) * (len(input) - len(self.order))
        return tuple(self._apply_image(x) if name == "image" else x for x, name in zip(input, names))

    def _apply_image(self, image):
        raise NotImplementedError


class Compose(VisionTransform):
    """Transforms one after the other."""

    def __init__(self, transforms=(), order=None):
        super().__init__(order)
        self.transforms = list(transforms)

    def apply(self, input):
        for one in self.transforms:
            input = one.apply(input)
        return input


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
