"""Pooling layers for sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W), with or without
the batch dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._namespace import adopt as _adopt
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.pooling import _adaptive, _average, _fractional, _max
from torch_py.nn.modules.pooling._adaptive import *
from torch_py.nn.modules.pooling._adaptive import _AdaptiveMaxPoolNd
from torch_py.nn.modules.pooling._average import *
from torch_py.nn.modules.pooling._average import _AvgPoolNd, _LPPoolNd
from torch_py.nn.modules.pooling._fractional import *
from torch_py.nn.modules.pooling._max import *
from torch_py.nn.modules.pooling._max import _MaxPoolNd, _MaxUnpoolNd

__all__ = [
    *_max.__all__,
    *_average.__all__,
    *_fractional.__all__,
    *_adaptive.__all__,
]
_adopt(globals(), _max, _average, _fractional, _adaptive)
# What typing.get_type_hints() looks up here, and what packages import from PyTorch's module of this name.
_ALSO_HERE = (
    Any,
    Callable,
    F,
    Module,
    Tensor,
)

__getattr__ = _lacking(__name__)
