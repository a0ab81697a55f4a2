"""PyTorch's wrappers for several devices. On the CPU they run the module itself."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.parallel import parallel_apply as _parallel_apply  # noqa: F401  # modules first: their names mean functions below
from torch_py.nn.parallel import replicate as _replicate  # noqa: F401
from torch_py.nn.parallel._devices import gather, parallel_apply, replicate, scatter  # noqa: F811
from torch_py.nn.parallel._wrappers import DataParallel, DistributedDataParallel, data_parallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

__getattr__ = _lacking(__name__, __path__)
