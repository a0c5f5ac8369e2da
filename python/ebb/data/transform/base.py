"""What transforms are: a sample is an array, or a tuple whose parts `order` names.

image [h, w, channels]; mask [h, w] or [h, w, 1]; coords [n, 2] of x and y; boxes [n, 4] of x0, y0, x1 and y1; keypoints
[n, k, 3], x, y and a mark; polygons, a list of arrays like coords for each thing. What ends in category or info stays as
it is.
"""

import threading

import numpy as np

__all__ = ["Compose", "PseudoTransform", "TorchTransformCompose", "Transform", "VisionTransform"]

_CORNERS = [0, 1, 2, 1, 0, 3, 2, 3]  # of a box, as coords


class Transform:
    """The base of transforms: apply(sample), and apply_batch(samples)."""

    def apply(self, input):
        raise NotImplementedError

    def apply_batch(self, inputs):
        return tuple(self.apply(one) for one in inputs)

    def __repr__(self):
        return type(self).__name__


class PseudoTransform(Transform):
    """Samples as they are."""

    def apply(self, input):
        return input


class VisionTransform(Transform):
    """Changes each part of a sample by the method that is named for it: what order calls "mask" by _apply_mask. Parts
    beyond order stay as they are. Boxes, keypoints and polygons are changed by _apply_coords, unless a class has more."""

    def __init__(self, order=None):
        order = ("image",) if order is None else order
        if not isinstance(order, (tuple, list)):
            raise ValueError(f"{type(self).__name__}: order {order!r}: a tuple of names")
        for name in order:
            if not (self._knows(name) or name.endswith(("category", "info"))):
                raise NotImplementedError(f"{type(self).__name__}: order {tuple(order)}: {name!r} is no kind of data that is known")
        self.order = tuple(order)

    def _knows(self, name):
        return self._get_apply(name) is not None

    def _get_apply(self, name):
        return getattr(self, f"_apply_{name}", None)

    def _get_image(self, input):
        if "image" not in self.order:
            raise ValueError(f"{type(self).__name__}: order {self.order} names no image")
        return (input if isinstance(input, tuple) else (input,))[self.order.index("image")]

    def apply(self, input):
        """The sample changed; one part alone is no tuple."""
        input = input if isinstance(input, tuple) else (input,)
        ways = [self._get_apply(name) for name in self.order[: len(input)]]
        parts = [part if way is None else way(part) for way, part in zip(ways, input)]
        parts += input[len(ways) :]
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _lacks(self, name):
        return NotImplementedError(f"{type(self).__name__}: order {self.order} needs _apply_{name}, which it does not have")

    def _apply_image(self, image):
        raise self._lacks("image")

    def _apply_mask(self, mask):
        raise self._lacks("mask")

    def _apply_coords(self, coords):
        raise self._lacks("coords")

    def _apply_boxes(self, boxes):
        corners = np.asarray(boxes).reshape(-1, 4)[:, _CORNERS].reshape(-1, 2)
        corners = np.asarray(self._apply_coords(corners)).reshape(-1, 4, 2)
        return np.concatenate([corners.min(1), corners.max(1)], 1)

    def _apply_keypoints(self, keypoints):
        keypoints = np.asarray(keypoints)
        places = keypoints[..., :2]
        moved = np.asarray(self._apply_coords(places.reshape(-1, 2))).reshape(places.shape)
        return np.concatenate([moved, keypoints[..., 2:]], -1)

    def _apply_polygons(self, polygons):
        return [[self._apply_coords(np.asarray(one)) for one in thing] for thing in polygons]


class OfValues(VisionTransform):
    """Changes images alone: masks and places stay as they are."""

    def _apply_mask(self, mask):
        return mask

    def _apply_coords(self, coords):
        return coords


_now = threading.local()  # workers are threads, and share a transform


class OfPlaces(VisionTransform):
    """Moves the parts of a sample alike: _draw(h, w) says how, of the image's size, and _how is what it said."""

    def apply(self, input):
        vars(_now)[id(self)] = self._draw(*self._get_image(input).shape[:2])
        try:
            return super().apply(input)
        finally:
            del vars(_now)[id(self)]

    @property
    def _how(self):
        if id(self) not in vars(_now):
            raise RuntimeError(f"{type(self).__name__}: what all parts of a sample share is drawn by apply(sample): call that")
        return vars(_now)[id(self)]

    def _draw(self, h, w):
        raise NotImplementedError


def signed(coords):
    """Coords that may be moved to either side: of unsigned numbers int32."""
    coords = np.array(coords)
    return coords.astype(np.int32) if coords.dtype.kind == "u" else coords


def moved(coords, x, y, by_x=1, by_y=1):
    """Coords moved by x and y, then stretched, of the dtype that they had."""
    coords = signed(coords)
    return ((coords + (x, y)) * (by_x, by_y)).astype(coords.dtype)


class Compose(VisionTransform):
    """Transforms one after the other, all of them with this order.

    batch_compose: each is given the whole batch, before the next is. shuffle_indices: groups of numbers, from 1 on, of
    transforms that change places with one another for each sample.
    """

    def __init__(self, transforms=(), batch_compose=False, shuffle_indices=None, *, order=None):
        self.transforms = list(transforms)
        super().__init__(order)
        self._set_order()
        if batch_compose and shuffle_indices is not None:
            raise ValueError("Compose: batch_compose and shuffle_indices do not go together")
        self.batch_compose = batch_compose
        self.shuffle_indices = None if shuffle_indices is None else [tuple(i - 1 for i in group) for group in shuffle_indices]
        if any(not 0 <= i < len(self.transforms) for group in self.shuffle_indices or () for i in group):
            raise ValueError(f"Compose: shuffle_indices {shuffle_indices}: from 1 to {len(self.transforms)}")

    def _knows(self, name):
        inside = (one for one in self.transforms if isinstance(one, VisionTransform))
        return super()._knows(name) or any(one._knows(name) for one in inside)

    def _set_order(self):
        for one in self.transforms:
            one.order = self.order
            if isinstance(one, Compose):
                one._set_order()

    def apply(self, input):
        for one in self._shuffle():
            input = one.apply(input)
        return input

    def apply_batch(self, inputs):
        if not self.batch_compose:
            return super().apply_batch(inputs)
        for one in self.transforms:
            inputs = one.apply_batch(inputs)
        return inputs

    def _shuffle(self):
        if self.shuffle_indices is None:
            return self.transforms
        order = list(range(len(self.transforms)))
        for group in self.shuffle_indices:
            for place, i in zip(group, np.random.permutation(group).tolist()):
                order[place] = i
        return [self.transforms[i] for i in order]


class TorchTransformCompose(VisionTransform):
    """Transforms of images as functions, one after the other: torchvision's, say."""

    def __init__(self, transforms, *, order=None):
        super().__init__(order)
        self.transforms = list(transforms)

    def _apply_image(self, image):
        for one in self.transforms:
            image = one(image)
        return image
