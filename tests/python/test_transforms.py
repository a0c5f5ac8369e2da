"""Transforms of images and of what lies in them."""

import concurrent.futures
import pickle
import unittest
import unittest.mock

import numpy as np

from ebb import data
from ebb.data import transform as T


class Images(unittest.TestCase):
    def test_are_cut_padded_and_turned(self):
        image = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
        transform = data.transform
        wide = transform.Pad((1, 1, 2, 2), value=[7, 8, 9]).apply(image)
        self.assertEqual((wide.shape, wide.dtype), ((6, 9, 3), np.uint8))
        np.testing.assert_array_equal(wide[1:5, 2:7], image)
        self.assertEqual(wide[0, 0].tolist(), [7, 8, 9])
        np.testing.assert_array_equal(transform.CenterCrop((2, 3)).apply(image), image[1:3, 1:4])
        np.testing.assert_array_equal(transform.RandomHorizontalFlip(1.0).apply(image), image[:, ::-1])
        np.testing.assert_array_equal(transform.RandomVerticalFlip(1.0).apply(image), image[::-1])
        np.testing.assert_array_equal(transform.RandomVerticalFlip(0.0).apply(image), image)
        np.random.seed(1)
        whole = np.pad(image, ((1, 1), (1, 1), (0, 0)))
        ways = {(y, x): whole[y : y + 3, x : x + 4].tobytes() for y in range(4) for x in range(4)}
        seen = {transform.RandomCrop((3, 4), padding_size=1).apply(image).tobytes() for _ in range(300)}
        self.assertEqual(seen, set(ways.values()))
        both = transform.Compose([transform.CenterCrop(2), transform.ToMode()]).apply((image, 3))
        self.assertEqual((both[0].shape, both[1]), ((3, 2, 2), 3))
        for wrong in (lambda: transform.Pad((1, 2, 3)), lambda: transform.CenterCrop(5).apply(image)):
            with self.assertRaisesRegex(ValueError, "Pad: size|CenterCrop: an image"):
                wrong()


class Sizes(unittest.TestCase):
    def test_places_between_places(self):
        transform = data.transform
        ramp = np.repeat(np.arange(8.0, dtype=np.float32)[:, None, None] * 10, 6, 1)
        for to in (4, 16, 5):  # a ramp stays one but at its ends
            want = np.clip((np.arange(to) + 0.5) * 8 / to - 0.5, 0, 7) * 10
            np.testing.assert_allclose(transform.Resize((to, 3)).apply(ramp)[:, 0, 0], want, rtol=1e-6)
        image = np.random.default_rng(1).integers(0, 255, (8, 6, 3), np.uint8)
        np.testing.assert_array_equal(transform.Resize((4, 3), interpolation=0).apply(image), image[::2, ::2])
        np.testing.assert_array_equal(transform.Resize((8, 6)).apply(image), image)
        self.assertEqual(transform.Resize(5).apply(image).dtype, np.uint8)

    def test_shapes(self):
        transform, image = data.transform, np.zeros((20, 30, 3), np.uint8)
        for one, want in ((transform.Resize(5), (5, 7)), (transform.Resize((4, 6)), (4, 6)), (transform.ShortestEdgeResize(10), (10, 15)),
                          (transform.ShortestEdgeResize(10, max_size=12), (8, 12)),
                          (transform.ShortestEdgeResize((7, 7), sample_style="choice"), (7, 10)),
                          (transform.RandomResize((0.5, 0.5)), (10, 15)), (transform.RandomResizedCrop((4, 6)), (4, 6)),
                          (transform.RandomResizedCrop(9, scale_range=(4.0, 5.0)), (9, 9))):
            self.assertEqual(one.apply(image).shape, (*want, 3), type(one).__name__)

    def test_a_part_is_one_of_the_image(self):
        rows = np.arange(40.0)[:, None, None] * np.ones((1, 30, 1))
        np.random.seed(2)
        crop = data.transform.RandomResizedCrop(7, scale_range=(0.3, 0.6))
        for _ in range(50):
            top, left, tall, wide = crop._part(40, 30)
            self.assertTrue(0 <= top <= 40 - tall and 0 <= left <= 30 - wide and 0.25 < tall * wide / 1200 < 0.65)
            cut = crop.apply(rows)
            self.assertTrue(0 <= cut.min() <= cut.max() <= 39 and (np.diff(cut[:, 0, 0]) > 0).all())

    def test_what_cannot_be_is_refused(self):
        transform = data.transform
        for made in (lambda: transform.Resize(3, interpolation=2), lambda: transform.ShortestEdgeResize((1, 2, 3)),
                     lambda: transform.RandomResizedCrop(3, ratio_range=(0, 1))):
            with self.assertRaisesRegex(ValueError, "interpolation 2|two ends|above 0"):
                made()


class Colours(unittest.TestCase):
    def setUp(self):
        self.image = np.random.default_rng(1).integers(0, 255, (5, 4, 3), np.uint8)

    def drawn(self, transform):
        np.random.seed(4)
        return transform.apply(self.image), np.random.RandomState(4)

    def test_factors(self):
        t, image = data.transform, self.image.astype(np.float32)
        gray = (image @ np.float32([0.114, 0.587, 0.299]))[..., None]
        for transform, middle in ((t.BrightnessTransform(0.4), 0), (t.ContrastTransform(0.4), gray.mean()),
                                  (t.SaturationTransform(0.4), gray)):
            got, draws = self.drawn(transform)
            want = np.clip(middle + (image - middle) * draws.uniform(0.6, 1.4), 0, 255).astype(np.uint8)
            self.assertLessEqual(abs(got.astype(int) - want).max(), 1)
        for kind in (t.BrightnessTransform, t.HueTransform):
            np.testing.assert_array_equal(kind(0).apply(self.image), self.image)
            with self.assertRaisesRegex(ValueError, "value -1 is not in"):
                kind(-1)

    def test_hues(self):
        turned = data.transform.HueTransform(0.5)
        for share, place in ((1 / 3, [1, 2, 0]), (-1 / 3, [2, 0, 1]), (0, [0, 1, 2])):  # a third is the next channel
            with unittest.mock.patch("numpy.random.uniform", return_value=share):
                np.testing.assert_allclose(turned.apply(self.image.astype(np.float32)),
                                           self.image[..., place], atol=1e-3)

    def test_noise_and_light(self):
        for transform in (data.transform.GaussianNoise(3, 20), data.transform.Lighting(0.5),
                          data.transform.ColorJitter(0.2, 0.2, 0.2, 0.1)):
            got, _ = self.drawn(transform)
            again, _ = self.drawn(transform)
            self.assertEqual((got.shape, got.dtype), (self.image.shape, np.uint8))
            np.testing.assert_array_equal(got, again)
            self.assertTrue((got != self.image).any())
        light = self.drawn(data.transform.Lighting(0.1))[0].astype(int) - self.image
        free = (self.image > 20) & (self.image < 235)
        self.assertLessEqual(np.ptp(light[..., 0][free[..., 0]]), 1)  # the same one everywhere
        composed = data.transform.TorchTransformCompose([lambda x: x + 1, lambda x: x * 2])
        self.assertEqual(composed.apply((np.ones(2), 7))[0].tolist(), [4, 4])


class Orders(unittest.TestCase):
    """What lies in an image moves with it."""

    IMAGE = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    ORDER = ("image", "mask", "coords", "boxes", "keypoints", "polygons", "boxes_category", "info")

    def sample(self):
        """A mask that is the image's first channel, and places of which each is the middle of one of its places."""
        coords = np.float32([[1.5, 2.5], [4.5, 0.5]])
        return (self.IMAGE, self.IMAGE[..., :1], coords, np.float32([[1, 2, 3, 4]]),
                np.float32([[[1.5, 2.5, 7]]]), [[coords]], "cats", {"id": 3})

    def check(self, transform, change, seed=1):
        """The mask goes with the image, and change(x, y) is where places go."""
        np.random.seed(seed)
        before, sample = self.sample(), self.sample()
        image, mask, coords, boxes, keypoints, polygons, *rest = transform.apply(sample)
        np.testing.assert_array_equal(mask[..., 0], image[..., 0])
        for now, then in zip(sample[:5], before):
            np.testing.assert_array_equal(now, then)  # what was given has not changed
        want = np.float32([change(x, y) for x, y in before[2]])
        np.testing.assert_allclose(coords, want, rtol=1e-6)
        np.testing.assert_allclose(polygons[0][0], want, rtol=1e-6)
        np.testing.assert_allclose(keypoints[0, 0], [*want[0], 7], rtol=1e-6)
        corners = np.float32([change(x, y) for x in (1, 3) for y in (2, 4)])
        np.testing.assert_allclose(boxes, [[*corners.min(0), *corners.max(0)]], rtol=1e-6)
        self.assertEqual((rest, coords.dtype), (["cats", {"id": 3}], np.float32))
        return image, want

    def test_of_each_transform(self):
        o = {"order": self.ORDER}
        self.check(T.RandomHorizontalFlip(1, **o), lambda x, y: (6 - x, y))
        self.check(T.RandomVerticalFlip(1, **o), lambda x, y: (x, 4 - y))
        self.check(T.RandomVerticalFlip(0, **o), lambda x, y: (x, y))
        self.check(T.Pad((1, 2, 3, 4), **o), lambda x, y: (x + 3, y + 1))
        self.check(T.CenterCrop((2, 3), **o), lambda x, y: (x - 2, y - 1))  # 1.5 places left: the even one of 1 and 2
        self.check(T.Resize((2, 3), 0, **o), lambda x, y: (x / 2, y / 2))
        self.check(T.Resize((4, 6), **o), lambda x, y: (x, y))
        self.check(T.ShortestEdgeResize(8, interpolation=0, **o), lambda x, y: (x * 2, y * 2))
        self.check(T.RandomResize((2, 2), 0, **o), lambda x, y: (x * 2, y * 2))
        jittered = T.ColorJitter(0.4, 0.4, 0.4, 0.1, **o).apply(self.sample())
        np.testing.assert_array_equal(jittered[1], self.sample()[1])
        np.testing.assert_array_equal(jittered[3], self.sample()[3])

    def test_of_random_parts(self):
        for seed in range(20):
            np.random.seed(seed)
            left, top = np.random.randint(9 - 5 + 1), np.random.randint(5 - 3 + 1)  # as MegEngine draws them
            image, want = self.check(T.RandomCrop((3, 5), (1, 0, 1, 2), order=self.ORDER),
                                     lambda x, y: (x + 1 - left, y + 1 - top), seed)
            for x, y in zip(*np.floor(want.T).astype(int)):
                if 0 <= x < 5 and 0 <= y < 3:
                    self.assertIn(image[y, x].tolist(), (self.IMAGE[2, 1].tolist(), self.IMAGE[0, 4].tolist()))
            part = T.RandomResizedCrop((8, 8), (0.5, 0.9), interpolation=0)
            np.random.seed(seed)
            y0, x0, tall, wide = part._part(4, 6)
            T.Compose([part], order=self.ORDER)
            self.check(part, lambda x, y: ((x - x0) * 8 / wide, (y - y0) * 8 / tall), seed)

    def test_compose_gives_its_own(self):
        boxes = np.array([[1, 0, 3, 2]])
        inner = T.Compose([T.RandomHorizontalFlip(prob=1)])
        both = T.Compose([inner, T.Resize((8, 12))], order=("image", "boxes"))
        image, moved = both.apply((self.IMAGE, boxes))
        self.assertEqual((image.shape, moved.tolist(), moved.dtype), ((8, 12, 3), [[6, 0, 10, 4]], boxes.dtype))
        name, image = T.Compose([T.Normalize(), T.ToMode()], order=("image_category", "image")).apply((3, self.IMAGE))
        self.assertEqual((name, image.shape), (3, (3, 4, 6)))
        image, mask = T.ToMode(order=("image", "mask")).apply((self.IMAGE, self.IMAGE[..., :1]))
        self.assertEqual((image.shape, mask.shape), ((3, 4, 6), (1, 4, 6)))
        self.assertEqual(T.Pad(1, order=("image", "boxes")).apply((self.IMAGE, np.zeros((0, 4))))[1].shape, (0, 4))

    def test_names_that_are_not_known(self):
        for made in (lambda: T.Compose([], order=("image", "bogus")), lambda: T.Pad(order=("batch",))):
            with self.assertRaisesRegex(NotImplementedError, "order .*('bogus'|'batch') is no kind of data"):
                made()
        with self.assertRaisesRegex(ValueError, "Pad: order 'image': a tuple of names"):
            T.Pad(order="image")
        with self.assertRaisesRegex(ValueError, "CenterCrop: order .* names no image"):
            T.CenterCrop(2, order=("boxes",)).apply((np.zeros((1, 4)),))

    def test_of_a_transform_of_ones_own(self):
        class Mine(T.VisionTransform):
            def _apply_image(self, image):
                return image + 1

            def _apply_mask(self, mask):
                return mask + 2

            def _apply_boxes(self, boxes):
                return boxes + 3

            def _apply_depth(self, depth):
                return depth + 4

        order = ("image", "mask", "boxes", "depth", "image_category")
        for one in (Mine(order=order), T.Compose([T.Compose([Mine()])], order=order)):
            self.assertEqual(one.apply((1, 1, 1, 1, 1, 1)), (2, 3, 4, 5, 1, 1))
        with self.assertRaisesRegex(NotImplementedError, "Mine: order .* needs _apply_coords"):
            Mine(order=("image", "coords")).apply((1, np.zeros((2, 2))))

    def test_workers_do_not_take_each_others_numbers(self):
        one = T.Compose([T.RandomHorizontalFlip(), T.RandomCrop(3)], order=("image", "mask"))

        def agree(_):
            image, mask = one.apply((self.IMAGE, self.IMAGE[..., :1]))
            return np.array_equal(image[..., :1], mask)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertTrue(all(pool.map(agree, range(2000))))
        self.assertEqual(repr(pickle.loads(pickle.dumps(one)).transforms), "[RandomHorizontalFlip, RandomCrop]")


class LikeMegEngine(unittest.TestCase):
    """What was otherwise, and told nobody."""

    IMAGE = np.full((20, 30, 3), 100, np.uint8)

    def test_sizes(self):
        for one, want in ((T.Resize(10), (10, 15)), (T.Pad((2, 3)), (22, 33)), (T.Pad(2), (24, 34)),
                          (T.RandomCrop(25), (25, 25)), (T.RandomCrop((8, 40), 1), (8, 40)), (T.RandomResize((0.29, 0.29)), (6, 9)),
                          (T.Compose([T.Resize(16), T.CenterCrop(14)]), (14, 14))):
            self.assertEqual(one.apply(self.IMAGE).shape, (*want, 3), one)
        np.testing.assert_array_equal(T.Pad((2, 3), value=7).apply(self.IMAGE)[:20, :30], self.IMAGE)
        wide = T.RandomCrop(25, padding_value=7).apply(self.IMAGE)
        self.assertEqual((wide[19, 0, 0], wide[20, 0, 0]), (100, 7))

    def test_paddings(self):
        wide = T.Pad(1, value=0.5).apply(self.IMAGE)
        self.assertEqual((wide.dtype, wide[0, 0, 0], wide[1, 1, 0]), (np.float32, 0.5, 100))
        for one in (T.Pad(1, mask_value=255), T.RandomCrop(22, 1, padding_maskvalue=255), T.RandomCrop(40, padding_maskvalue=255)):
            image, mask = T.Compose([one], order=("image", "mask")).apply((self.IMAGE, self.IMAGE[..., :1]))
            self.assertEqual((image[-1, -1, 0], mask[-1, -1, 0], mask.dtype), (0, 255, np.uint8))
        with self.assertRaisesRegex(ValueError, "mask_value 0.5"):
            T.Pad(1, mask_value=0.5)

    def test_noise_and_light(self):
        np.random.seed(1)
        noise = T.GaussianNoise(0, 0.05).apply(self.IMAGE.astype(np.float32)) - 100
        self.assertTrue(11 < noise.std() < 14)
        np.random.seed(1)
        drawn = np.random.RandomState(1).normal(scale=1.0, size=3)
        light = T.Lighting(1.0).apply(self.IMAGE.astype(np.float32))[0, 0] - 100
        want = np.array([[-0.5836, -0.6948, 0.4203], [-0.5808, -0.0045, -0.814], [-0.5675, 0.7192, 0.4009]]) @ (
            drawn * [0.2175, 0.0188, 0.0045])
        np.testing.assert_allclose(light, want, atol=1e-4)

    def test_one_part_is_no_tuple(self):
        self.assertIsInstance(T.Normalize().apply((self.IMAGE,)), np.ndarray)
        arrays = data.ArrayDataset(np.stack([self.IMAGE] * 4))
        batch = next(iter(data.DataLoader(arrays, data.SequentialSampler(arrays, 4), T.Compose([T.ToMode()]))))
        self.assertEqual(batch.shape, (4, 3, 20, 30))

    def test_orders_drawn_and_whole_batches(self):
        class Said(T.Transform):
            def __init__(self, name, told):
                self.name, self.told = name, told

            def apply(self, input):
                self.told.append(self.name)
                return input

        told = []
        said = [Said(name, told) for name in "abcd"]
        one = T.Compose(said, shuffle_indices=[(1, 3), (2, 4)])
        seen = set()
        for _ in range(100):
            told.clear()
            one.apply(1)
            seen.add("".join(told))
        self.assertEqual(seen, {"abcd", "cbad", "adcb", "cdab"})
        told.clear()
        arrays = data.ArrayDataset(np.arange(2))
        list(data.DataLoader(arrays, data.SequentialSampler(arrays, 2), T.Compose(said, batch_compose=True)))
        self.assertEqual("".join(told), "aabbccdd")
        for wrong in ({"batch_compose": True, "shuffle_indices": [(1, 2)]}, {"shuffle_indices": [(0, 1)]}):
            with self.assertRaisesRegex(ValueError, "Compose: "):
                T.Compose(said, **wrong)


if __name__ == "__main__":
    unittest.main()
