"""Datasets, samplers that determine the order of their examples, and loaders that make batches of them."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.utils.data._datapipes import functional_datapipe
from torch_py.utils.data._utils.collate import default_collate, default_convert
from torch_py.utils.data._utils.worker import get_worker_info
from torch_py.utils.data.dataloader import DataLoader
from torch_py.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from torch_py.utils.data.distributed import DistributedSampler
from torch_py.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "functional_datapipe",
    "get_worker_info",
    "random_split",
]

__getattr__ = _lacking(__name__, __path__)
