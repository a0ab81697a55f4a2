"""Feeding data: datasets, the order they are visited in, and batches of them."""

from torch_py.utils.data.collate import default_collate, default_convert
from torch_py.utils.data.dataloader import DataLoader, get_worker_info
from torch_py.utils.data.dataset import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
from torch_py.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler

__all__ = [
    "BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip
