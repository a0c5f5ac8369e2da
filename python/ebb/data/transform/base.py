"""What transforms are: a sample is an array, or a tuple whose parts `order` names."""

__all__ = ["Compose", "PseudoTransform", "TorchTransformCompose", "Transform", "VisionTransform"]

_UNMOVED = ("image", "image_category", "boxes_category", "info")  # where an image's places go changes nothing of them


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
    """Changes the parts of a sample that order calls "image", by _apply_image; the others stay as they are. One that
    moves places refuses parts that would have to move with them."""

    _moves = False

    def __init__(self, order=None):
        self.order = ("image",) if order is None else tuple(order)
        if self._moves and not set(self.order) <= set(_UNMOVED):
            raise ValueError(f"{type(self).__name__}: order {self.order}: {', '.join(_UNMOVED)} are known")

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


class TorchTransformCompose(Compose):
    """Transforms of images as functions, one after the other: torchvision's, say."""

    def apply(self, input):
        return VisionTransform.apply(self, input)

    def _apply_image(self, image):
        for one in self.transforms:
            image = one(image)
        return image
