"""Samplers, transforms, workers and streams."""

import itertools
import time
import unittest
import unittest.mock

import numpy as np

from ebb import data
from ebb.data import transform


class Counted(data.Dataset):
    def __init__(self, n, fails_at=None, slow=0.0):
        self.n, self.fails_at, self.slow = n, fails_at, slow

    def __getitem__(self, i):
        time.sleep(self.slow * (i % 3))
        if i == self.fails_at:
            raise KeyError(f"sample {i}")
        return np.full((2, 3), i, np.float32), i

    def __len__(self):
        return self.n


class Stream(data.StreamDataset):
    def __init__(self, n, batches=False, slow=0.0, told=True):
        self.n, self.batches, self.slow, self.told = n, batches, slow, told

    def __iter__(self):
        for i in range(self.n):
            time.sleep(self.slow)
            image = np.zeros((2, 2, 3), np.uint8)
            if not self.told:
                yield image, i
            elif self.batches:
                yield True, (np.stack([image] * 2), [2 * i, 2 * i + 1])
            else:
                yield False, (image, i)


class Workers(unittest.TestCase):
    def test_batches_come_in_the_order_of_one_process(self):
        dataset = Counted(50, slow=0.001)
        batches = []
        for workers in (0, 1, 3):
            sampler = data.RandomSampler(dataset, 4, seed=1)
            batches.append([b[1].tolist() for b in data.DataLoader(dataset, sampler, num_workers=workers)])
        self.assertEqual(batches[0], batches[1])
        self.assertEqual(batches[0], batches[2])
        self.assertEqual(sorted(sum(batches[0], [])), list(range(50)))

    def test_what_goes_wrong_in_a_worker(self):
        loader = iter(data.DataLoader(Counted(9, fails_at=3), num_workers=2))
        self.assertEqual([next(loader)[1].tolist() for _ in range(3)], [[0], [1], [2]])
        with self.assertRaisesRegex(RuntimeError, "worker died: KeyError.*sample 3"):
            next(loader)
        with self.assertRaisesRegex(RuntimeError, "timeout: no batch within 0.05 s"):
            list(data.DataLoader(Counted(9, slow=0.5), num_workers=1, timeout=0.05))

    def test_left_early_and_again(self):
        loader = data.DataLoader(Counted(100), data.Infinite(data.SequentialSampler(Counted(100), 30)), num_workers=2)
        sizes = [len(b[1]) for b in itertools.islice(loader, 9)]
        self.assertEqual(sizes, [30, 30, 30, 10] * 2 + [30])
        with self.assertRaises(TypeError):
            len(loader)

    def test_options_are_checked(self):
        dataset = Counted(4)
        for options in ({"num_workers": -1}, {"timeout": -1}, {"divide": True}, {"divide": True, "num_workers": 2}):
            with self.assertRaises(ValueError):
                data.DataLoader(dataset, **options)
        self.assertIsInstance(data.DataLoader(dataset).transform, transform.PseudoTransform)
        with self.assertRaisesRegex(TypeError, "StreamSampler"):
            data.DataLoader(Stream(3))


class Streams(unittest.TestCase):
    def test_samples_and_batches(self):
        change = transform.Compose([transform.Normalize(mean=(1, 2, 3), std=2.0), transform.ToMode("CHW")])
        for batches, workers in itertools.product((False, True), (0, 2)):
            loader = data.DataLoader(Stream(9, batches), data.StreamSampler(4), change, num_workers=workers)
            got = list(loader)
            self.assertEqual([b[1].tolist() for b in got][:2], [[0, 1, 2, 3], [4, 5, 6, 7]])
            self.assertEqual(len(got), 4 if batches else 2)
            self.assertEqual(got[0][0].shape, (4, 3, 2, 2))
            np.testing.assert_array_equal(got[0][0][0, :, 0, 0], [-0.5, -1, -1.5])

    def test_errors_and_timeouts(self):
        with self.assertRaisesRegex(AssertionError, "tuple"):
            next(iter(data.DataLoader(Stream(9, told=False), data.StreamSampler(4))))
        slow = Stream(9, slow=0.5)
        with self.assertRaisesRegex(RuntimeError, "timeout"):
            next(iter(data.DataLoader(slow, data.StreamSampler(4), timeout=0.05)))
        instead = lambda: (True, (np.zeros((2, 2)), np.ones(2)))
        loader = data.DataLoader(slow, data.StreamSampler(4), num_workers=2, timeout=0.05, timeout_event=instead)
        np.testing.assert_array_equal(next(iter(loader))[1], np.ones(4))


class Images(unittest.TestCase):
    def test_are_cut_padded_and_turned(self):
        image = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
        transform = data.transform
        wide = transform.Pad((1, 2), value=[7, 8, 9]).apply(image)
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
        for one, want in ((transform.Resize(5), (5, 5)), (transform.ShortestEdgeResize(10), (10, 15)),
                          (transform.ShortestEdgeResize(10, max_size=12), (8, 12)),
                          (transform.ShortestEdgeResize((7, 7), sample_style="choice"), (7, 11)),
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

    def test_what_would_have_to_move_along_is_refused(self):
        transform = data.transform
        for made in (lambda: transform.RandomHorizontalFlip(order=("image", "boxes")),
                     lambda: transform.Resize(3, order=("image", "mask")), lambda: transform.Pad(1, order=("coords",))):
            with self.assertRaisesRegex(ValueError, "are known"):
                made()
        self.assertEqual(transform.Normalize(order=("image", "boxes")).order, ("image", "boxes"))
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


class Samplers(unittest.TestCase):
    def test_with_replacement(self):
        dataset = data.ArrayDataset(list(range(20)))
        sampler = data.ReplacementSampler(dataset, 7, num_samples=30, weights=[0] * 18 + [1, 3], seed=1)
        drawn = list(sampler)
        self.assertEqual([len(b) for b in drawn], [7, 7, 7, 7, 2])
        self.assertEqual(set(sum(drawn, [])), {18, 19})
        with self.assertRaisesRegex(ValueError, "3 weights"):
            data.ReplacementSampler(dataset, weights=[1, 2, 3])


if __name__ == "__main__":
    unittest.main()
