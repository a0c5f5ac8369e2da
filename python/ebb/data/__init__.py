"""Data, batch by batch."""

from . import transform
from .collator import Collator
from .dataloader import DataLoader
from .dataset import ArrayDataset, ConcatDataset, Dataset, StreamDataset
from .sampler import Infinite, MapSampler, RandomSampler, ReplacementSampler, Sampler, SequentialSampler, StreamSampler

__all__ = [
    "ArrayDataset", "Collator", "ConcatDataset", "DataLoader", "Dataset", "Infinite", "MapSampler", "RandomSampler",
    "ReplacementSampler", "Sampler", "SequentialSampler", "StreamDataset", "StreamSampler", "transform",
]
