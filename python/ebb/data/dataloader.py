"""Batches of a dataset, as arrays."""

import numpy as np

from .sampler import SequentialSampler


class Collator:
    """Samples to a batch: arrays and numbers stacked, in tuples, lists and dicts as they are."""

    def apply(self, samples):
        first = samples[0]
        if isinstance(first, (tuple, list)):
            return type(first)(self.apply([s[i] for s in samples]) for i in range(len(first)))
        if isinstance(first, dict):
            return {k: self.apply([s[k] for s in samples]) for k in first}
        return first if isinstance(first, (str, bytes)) and len(samples) == 1 else np.stack(samples)


class DataLoader:
    """for batch in DataLoader(dataset, sampler): arrays, of samples that transform.apply has changed."""

    def __init__(self, dataset, sampler=None, transform=None, collator=None, num_workers=0, **kwargs):
        if num_workers:
            raise ValueError(f"DataLoader: num_workers {num_workers}: batches are made in this process: 0")
        unknown = kwargs.keys() - {"timeout", "preload", "parallel_stream"}
        if unknown:
            raise TypeError(f"DataLoader: no options {sorted(unknown)}")
        self.dataset, self.transform = dataset, transform
        self.sampler = SequentialSampler(dataset) if sampler is None else sampler
        self.collator = Collator() if collator is None else collator

    def __iter__(self):
        for numbers in self.sampler:
            samples = [self.dataset[i] for i in numbers]
            if self.transform is not None:
                samples = [self.transform.apply(s) for s in samples]
            yield self.collator.apply(samples)

    def __len__(self):
        return len(self.sampler)
