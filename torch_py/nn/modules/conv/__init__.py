"""Convolution layers and transposed convolution layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._namespace import adopt as _adopt
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.conv import _base, _convolution, _lazy, _transposed
from torch_py.nn.modules.conv._base import _ConvNd
from torch_py.nn.modules.conv._convolution import *
from torch_py.nn.modules.conv._lazy import *
from torch_py.nn.modules.conv._transposed import *
from torch_py.nn.modules.conv._transposed import _ConvTransposeNd
from torch_py.nn.modules.lazy import LazyModuleMixin  # other packages import it from here
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _reverse_repeat_tuple
from torch_py.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    *_convolution.__all__,
    *_transposed.__all__,
    *_lazy.__all__,
]
_adopt(globals(), _base, _convolution, _transposed, _lazy)
# What typing.get_type_hints() looks up here, and what packages import from PyTorch's module of this name.
_ALSO_HERE = (
    _reverse_repeat_tuple,
    Any,
    Callable,
    F,
    init,
    Module,
    Parameter,
    Tensor,
    UninitializedParameter,
)

__getattr__ = _lacking(__name__)
