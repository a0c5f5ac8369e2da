"""Which samples make a batch."""

import math

import numpy as np


class Sampler:
    """The base of samplers: batches of numbers of a dataset's samples."""

    def __init__(self, dataset, batch_size=1, drop_last=False, indices=None, seed=None):
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size} is below 1")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.indices = list(range(len(dataset)) if indices is None else indices)
        self.rng = np.random.default_rng(seed)

    def sample(self):
        """All numbers, in the order of an epoch."""
        raise NotImplementedError

    def __iter__(self):
        order = list(self.sample())
        for i in range(len(self)):
            yield order[i * self.batch_size : (i + 1) * self.batch_size]

    def __len__(self):
        whole = self._n_samples() / self.batch_size
        return math.floor(whole) if self.drop_last else math.ceil(whole)

    def _n_samples(self):
        return len(self.indices)


MapSampler = Sampler


class SequentialSampler(Sampler):
    """In the dataset's order."""

    def sample(self):
        return self.indices


class RandomSampler(Sampler):
    """In an order drawn anew for each epoch."""

    def sample(self):
        return self.rng.permutation(self.indices).tolist()


class ReplacementSampler(Sampler):
    """num_samples of them (as many as there are), each drawn from all of them, with probabilities like weights."""

    def __init__(self, dataset, batch_size=1, drop_last=False, num_samples=None, weights=None, seed=None):
        super().__init__(dataset, batch_size, drop_last, None, seed)
        self.num_samples = len(self.indices) if num_samples is None else num_samples
        if self.num_samples < 1:
            raise ValueError(f"ReplacementSampler: num_samples {num_samples} is below 1")
        self.weights = None if weights is None else np.asarray(weights, np.float64)
        if weights is not None and (len(weights) != len(self.indices) or self.weights.min() < 0):
            raise ValueError(f"ReplacementSampler: {len(weights)} weights, none below 0, for {len(self.indices)} samples")

    def sample(self):
        shares = None if self.weights is None else self.weights / self.weights.sum()
        return self.rng.choice(self.indices, self.num_samples, p=shares).tolist()

    def _n_samples(self):
        return self.num_samples


class Infinite:
    """A sampler's epochs, one after the other without an end."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from self.sampler

    def __len__(self):
        raise TypeError("an Infinite sampler has no length")


class StreamSampler:
    """Batches of so many samples of a StreamDataset, as they come."""

    def __init__(self, batch_size=1):
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size} is below 1")
        self.batch_size = batch_size
