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
        whole = len(self.indices) / self.batch_size
        return math.floor(whole) if self.drop_last else math.ceil(whole)


class SequentialSampler(Sampler):
    """In the dataset's order."""

    def sample(self):
        return self.indices


class RandomSampler(Sampler):
    """In an order drawn anew for each epoch."""

    def sample(self):
        return self.rng.permutation(self.indices).tolist()
