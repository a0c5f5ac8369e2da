"""Data, batch by batch."""

from .dataloader import Collator, DataLoader
from .dataset import ArrayDataset, Dataset
from .sampler import RandomSampler, Sampler, SequentialSampler

__all__ = [
    "ArrayDataset", "Collator", "DataLoader", "Dataset", "RandomSampler", "Sampler", "SequentialSampler",
]
