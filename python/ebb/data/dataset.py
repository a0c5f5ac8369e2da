"""Datasets by number."""

import bisect
import itertools


class Dataset:
    """The base of datasets: __getitem__(number) and __len__()."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError


MapDataset = Dataset


class ArrayDataset(Dataset):
    """Arrays of one length: sample i has the i-th of each."""

    def __init__(self, *arrays):
        lengths = {len(a) for a in arrays}
        if len(lengths) != 1:
            raise ValueError(f"ArrayDataset: arrays of one length, not {sorted(lengths)}")
        self.arrays = arrays

    def __getitem__(self, index):
        return tuple(a[index] for a in self.arrays)

    def __len__(self):
        return len(self.arrays[0])


class ConcatDataset(Dataset):
    """Datasets one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets or any(isinstance(d, StreamDataset) for d in self.datasets):
            raise ValueError("ConcatDataset: one dataset or more, and no StreamDataset, which has no length")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, index):
        whole = len(self)
        if not -whole <= index < whole:
            raise IndexError(f"sample {index} of a dataset of {whole}")
        index %= whole
        at = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[at][index - (self.cumulative_sizes[at - 1] if at else 0)]

    def __len__(self):
        return self.cumulative_sizes[-1]


class StreamDataset(Dataset):
    """The base of datasets that are read in their order: __iter__() gives (whether it is a batch, a tuple of data)."""

    def __iter__(self):
        raise NotImplementedError

    def __getitem__(self, index):
        raise TypeError("a StreamDataset is read in its order, not by number")

    def __len__(self):
        raise TypeError("a StreamDataset has no length")
