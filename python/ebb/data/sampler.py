"""Which samples make a batch."""

import itertools
import math

import numpy as np

from .. import distributed


def _counts(**numbers):
    """Whole numbers from 1."""
    for name, n in numbers.items():
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ValueError(f"{name} {n!r}: a whole number from 1")


class Sampler:
    """The base of samplers: batches of numbers of a dataset's samples, in the order of sample().

    num_samples: how many sample() gives, all ranks together; as many as the dataset has. world_size, rank: of every
    world_size numbers the rank-th is taken, the first ones once more where they are not equally many. seed: of rng, NumPy's
    RandomState, which is the same for all ranks.
    """

    def __init__(self, dataset, batch_size=1, drop_last=False, num_samples=None, world_size=None, rank=None, seed=None):
        world_size = distributed.get_world_size() if world_size is None else world_size
        _counts(batch_size=batch_size, world_size=world_size, **({} if num_samples is None else {"num_samples": num_samples}))
        if not isinstance(drop_last, (bool, np.bool_)):
            raise ValueError(f"drop_last {drop_last!r}: True or False")
        rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < world_size:
            raise ValueError(f"rank {rank} is not one of {world_size}")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.world_size, self.rank = world_size, rank
        self._share(len(dataset) if num_samples is None else num_samples)
        self.rng = np.random.RandomState(0 if seed is None and world_size > 1 else seed)

    def _share(self, n):
        self.num_samples = math.ceil(n / self.world_size)  # of one rank

    def sample(self):
        """All numbers, in the order of an epoch."""
        raise NotImplementedError(f"{type(self).__name__} has no sample()")

    def scatter(self, indices):
        """This rank's part of all numbers."""
        indices, whole = list(indices), self.num_samples * self.world_size
        if not 0 < len(indices) <= whole:
            raise ValueError(f"sample() gave {len(indices)} numbers for {self.world_size} ranks of {self.num_samples}")
        return list(itertools.islice(itertools.cycle(indices), whole))[self.rank :: self.world_size]

    def batch(self):
        """The batches of an epoch."""
        numbers = iter(self.sample() if self.world_size == 1 else self.scatter(self.sample()))
        while one := list(itertools.islice(numbers, self.batch_size)):
            if self.drop_last and len(one) < self.batch_size:
                return
            yield one

    def __iter__(self):
        return self.batch()

    def __len__(self):
        whole = self.num_samples / self.batch_size
        return math.floor(whole) if self.drop_last else math.ceil(whole)


class MapSampler(Sampler):
    """The base of samplers of datasets by number."""


class _OfIndices(MapSampler):
    """Of all numbers, or of those that indices has."""

    def __init__(self, dataset, batch_size=1, drop_last=False, indices=None, world_size=None, rank=None, seed=None):
        if indices is not None and not hasattr(indices, "__len__"):
            raise ValueError(f"indices {indices!r}: a sequence of numbers")
        super().__init__(dataset, batch_size, drop_last, None, world_size, rank, seed)
        self.indices = indices
        if indices is not None:
            self._share(len(indices))


class SequentialSampler(_OfIndices):
    """In the dataset's order."""

    def __init__(self, dataset, batch_size=1, drop_last=False, indices=None, world_size=None, rank=None):
        super().__init__(dataset, batch_size, drop_last, indices, world_size, rank)

    def sample(self):
        return range(len(self.dataset)) if self.indices is None else self.indices


class RandomSampler(_OfIndices):
    """In an order drawn anew for each epoch."""

    def sample(self):
        return self.rng.permutation(len(self.dataset) if self.indices is None else self.indices).tolist()


class ReplacementSampler(MapSampler):
    """num_samples of them (as many as there are), each drawn from all of them, with probabilities like weights."""

    def __init__(self, dataset, batch_size=1, drop_last=False, num_samples=None, weights=None, world_size=None, rank=None,
                 seed=None):
        super().__init__(dataset, batch_size, drop_last, num_samples, world_size, rank, seed)
        self.weights = None if weights is None else np.asarray(weights, np.float64)
        if weights is not None and (len(weights) != len(dataset) or self.weights.min() < 0):
            raise ValueError(f"ReplacementSampler: {len(weights)} weights, none below 0, for {len(dataset)} samples")

    def sample(self):
        shares = None if self.weights is None else self.weights / self.weights.sum()
        return self.rng.choice(len(self.dataset), self.num_samples * self.world_size, p=shares).tolist()


class Infinite(Sampler):
    """A sampler's epochs, one after the other without an end; what else it is asked for, the sampler answers."""

    def __init__(self, sampler):
        self.sampler = sampler
        self.sampler_iter = iter(sampler)

    def __iter__(self):
        return self

    def __next__(self):
        one = next(self.sampler_iter, None)
        if one is None:
            self.sampler_iter = iter(self.sampler)
            one = next(self.sampler_iter)
        return one

    def __len__(self):
        return int(np.iinfo(np.int64).max)

    def batch(self):
        return self.sampler.batch()

    def scatter(self, indices):
        return self.sampler.scatter(indices)

    def sample(self):
        raise NotImplementedError("Infinite has no sample(): its sampler has")

    def __getattr__(self, name):
        if name.startswith("__") or name == "sampler":
            raise AttributeError(name)
        return getattr(self.sampler, name)


class StreamSampler(Sampler):
    """Batches of so many samples of a StreamDataset, as they come."""

    def __init__(self, batch_size=1):
        _counts(batch_size=batch_size)
        self.batch_size, self.drop_last, self.world_size = batch_size, True, 1

    def sample(self):
        return itertools.count()

    def __len__(self):
        raise TypeError("a StreamSampler has no length")
