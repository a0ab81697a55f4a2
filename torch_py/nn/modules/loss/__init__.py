"""Losses as modules. The formulas are repeated in `nn.functional`."""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py._tensor import Tensor
from torch_py.nn.modules.loss import _base, _classification, _margins, _regression
from torch_py.nn.modules.loss._base import _Loss, _WeightedLoss
from torch_py.nn.modules.loss._classification import *
from torch_py.nn.modules.loss._margins import *
from torch_py.nn.modules.loss._regression import *

__all__ = [
    *_regression.__all__,
    *_classification.__all__,
    *_margins.__all__,
]
_adopt(globals(), _base, _regression, _classification, _margins)
# typing.get_type_hints() looks here for the names in annotations of the classes.
_ANNOTATIONS = (Tensor,)
