"""Activation functions as modules. The formulas are repeated in `nn.functional`."""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.activation import (
    _gates,
    _multihead_attention,
    _rectifiers,
    _shrinkage,
    _sigmoids,
    _softmax,
)
from torch_py.nn.modules.activation._gates import *
from torch_py.nn.modules.activation._multihead_attention import *
from torch_py.nn.modules.activation._rectifiers import *
from torch_py.nn.modules.activation._shrinkage import *
from torch_py.nn.modules.activation._sigmoids import *
from torch_py.nn.modules.activation._softmax import *
from torch_py.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = [
    *_rectifiers.__all__,
    *_gates.__all__,
    *_sigmoids.__all__,
    *_shrinkage.__all__,
    *_softmax.__all__,
    *_multihead_attention.__all__,
]
_adopt(globals(), _rectifiers, _gates, _sigmoids, _shrinkage, _softmax, _multihead_attention)
# What typing.get_type_hints() looks up here, and what packages import from PyTorch's module of this name.
_ALSO_HERE = (
    F,
    Module,
    NonDynamicallyQuantizableLinear,
    Parameter,
    Tensor,
)
