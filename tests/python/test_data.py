"""Datasets, samplers, workers and streams."""

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


class Samplers(unittest.TestCase):
    def test_with_replacement(self):
        dataset = data.ArrayDataset(list(range(20)))
        sampler = data.ReplacementSampler(dataset, 7, num_samples=30, weights=[0] * 18 + [1, 3], seed=1)
        drawn = list(sampler)
        self.assertEqual([len(b) for b in drawn], [7, 7, 7, 7, 2])
        self.assertEqual(set(sum(drawn, [])), {18, 19})
        with self.assertRaisesRegex(ValueError, "3 weights"):
            data.ReplacementSampler(dataset, weights=[1, 2, 3])

    def test_of_ones_own_give_all_that_they_sample(self):
        class Mine(data.MapSampler):
            def sample(self):
                return self.told

        dataset = Counted(10)
        for told in (list(range(10)) * 2, [5, 3, 1], (i for i in range(7)), []):
            one = Mine(dataset, batch_size=2)
            one.told, want = (told, list(told)) if isinstance(told, list) else (told, list(range(7)))
            self.assertEqual(list(one), [want[i : i + 2] for i in range(0, len(want), 2)])
        one = Mine(dataset, 2, True, 6)
        one.told = [5, 3, 1]
        self.assertEqual((list(one.batch()), len(one)), ([[5, 3]], 3))
        self.assertEqual(one.rng.randint(1), 0)  # as of MegEngine's

    def test_ranks_divide_the_samples(self):
        dataset = Counted(10)
        for world in (1, 2, 3, 4, 15):
            n = -(-10 // world)
            parts = []
            for rank in range(world):
                drawn = data.RandomSampler(dataset, 2, world_size=world, rank=rank)
                self.assertEqual((len(drawn), drawn.num_samples), (-(-n // 2), n))
                parts.append(sum(drawn, []))
            self.assertEqual([len(p) for p in parts], [n] * world)
            self.assertEqual(set(sum(parts, [])), set(range(10)))
        ones = data.SequentialSampler(dataset, 2, indices=[9, 8, 7, 6, 5], world_size=2, rank=1)
        self.assertEqual((list(ones), len(ones)), ([[8, 6], [9]], 2))
        some = data.ReplacementSampler(dataset, 4, num_samples=9, world_size=2, rank=1)
        self.assertEqual(([len(b) for b in some], some.num_samples), ([4, 1], 5))
        self.assertEqual(list(data.RandomSampler(dataset, 10, world_size=1, rank=0, seed=3)),
                         [np.random.RandomState(3).permutation(10).tolist()])

    def test_without_an_end(self):
        inner = data.SequentialSampler(Counted(3), 2)
        one = data.Infinite(inner)
        self.assertEqual([next(one) for _ in range(3)], [[0, 1], [2], [0, 1]])
        self.assertEqual((next(iter(one)), one.batch_size, one.num_samples), ([2], 2, 3))
        self.assertEqual((len(one), len(data.DataLoader(Counted(3), one))), (2**63 - 1,) * 2)
        self.assertEqual(list(one.batch()), [[0, 1], [2]])
        with self.assertRaises(AttributeError):
            one.bogus
        self.assertEqual(list(itertools.islice(data.StreamSampler(2), 2)), [[0, 1], [2, 3]])

    def test_what_is_no_number_is_refused(self):
        dataset = Counted(10)
        for wrong in ({"batch_size": 2.5}, {"batch_size": True}, {"batch_size": 0}, {"drop_last": 3}, {"world_size": 0},
                      {"rank": 1}, {"world_size": 2, "rank": 2}, {"indices": 5}):
            with self.assertRaisesRegex(ValueError, next(reversed(wrong))):
                data.RandomSampler(dataset, **wrong)
        with self.assertRaisesRegex(ValueError, "num_samples 0"):
            data.ReplacementSampler(dataset, num_samples=0)


class Datasets(unittest.TestCase):
    def test_one_after_the_other(self):
        from ebb.data.dataset import ConcatDataset

        whole = ConcatDataset([data.ArrayDataset([0, 1]), data.ArrayDataset([]), data.ArrayDataset([2, 3, 4])])
        self.assertEqual((len(whole), [whole[i] for i in range(5)]), (5, [(i,) for i in range(5)]))
        self.assertEqual((whole[-1], whole[-5]), ((4,), (0,)))
        for index in (5, -6):
            with self.assertRaisesRegex(IndexError, f"sample {index} of a dataset of 5"):
                whole[index]
        for wrong in ([], [Stream(3)]):
            with self.assertRaisesRegex(ValueError, "ConcatDataset"):
                ConcatDataset(wrong)


class Places(unittest.TestCase):
    def test_places_of_unsigned_numbers_do_not_wrap(self):
        image = np.zeros((4, 6, 3), np.uint8)
        boxes = np.array([[0, 0, 3, 3]], np.uint16)
        _, got = transform.CenterCrop(2, order=("image", "boxes")).apply((image, boxes))
        np.testing.assert_array_equal(got, [[-2, -1, 1, 2]])
        wide = np.zeros((2, 300, 3), np.uint8)
        _, got = transform.RandomHorizontalFlip(1, order=("image", "boxes")).apply((wide, boxes.astype(np.uint8)))
        np.testing.assert_array_equal(got, [[297, 0, 300, 3]])

    def test_parts_by_themselves_are_not_drawn_for(self):
        with self.assertRaisesRegex(RuntimeError, "apply"):
            transform.RandomHorizontalFlip(1)._apply_image(np.zeros((2, 2, 3), np.uint8))


if __name__ == "__main__":
    unittest.main()
