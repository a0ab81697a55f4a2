"""Losses as modules. The formulas are repeated in `nn.functional`."""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.distance import PairwiseDistance
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from torch_py.nn.modules.loss import _base, _classification, _margins, _regression
from torch_py.nn.modules.loss._base import _Loss, _WeightedLoss
from torch_py.nn.modules.loss._classification import *
from torch_py.nn.modules.loss._margins import *
from torch_py.nn.modules.loss._regression import *
from torch_py.nn.modules.module import Module

__all__ = [
    *_regression.__all__,
    *_classification.__all__,
    *_margins.__all__,
]
_adopt(globals(), _base, _regression, _classification, _margins)
# What typing.get_type_hints() looks up here, and what packages import from PyTorch's module of this name.
_ALSO_HERE = (
    F,
    Linear,
    LinearCrossEntropyOptions,
    Module,
    PairwiseDistance,
    Tensor,
)
