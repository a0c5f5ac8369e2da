"""Samplers, transforms, workers and streams."""

import itertools
import time
import unittest

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
