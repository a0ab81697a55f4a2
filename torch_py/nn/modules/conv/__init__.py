"""Convolution layers and transposed convolution layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._namespace import adopt as _adopt
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.nn.modules.conv import _base, _convolution, _lazy, _transposed
from torch_py.nn.modules.conv._base import _ConvNd
from torch_py.nn.modules.conv._convolution import *
from torch_py.nn.modules.conv._lazy import *
from torch_py.nn.modules.conv._transposed import *
from torch_py.nn.modules.conv._transposed import _ConvTransposeNd
from torch_py.nn.modules.lazy import LazyModuleMixin  # other packages import it from here
from torch_py.nn.parameter import Parameter

__all__ = [
    *_convolution.__all__,
    *_transposed.__all__,
    *_lazy.__all__,
]
_adopt(globals(), _base, _convolution, _transposed, _lazy)
# typing.get_type_hints() looks here for the names in annotations of the classes.
_ANNOTATIONS = (
    Any,
    Callable,
    Parameter,
    Tensor,
)

__getattr__ = _lacking(__name__)
