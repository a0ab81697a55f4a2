"""Layers as functions.

Where PyTorch's function has the operator's arguments it is the operator itself; the other functions adapt
arguments.
"""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.nn import _reduction as _Reduction  # noqa: N812  # PyTorch's name
from torch_py.nn.functional import (
    _adaptive_pooling,
    _attention,
    _average_pooling,
    _classification_losses,
    _convolution,
    _distance,
    _dropout,
    _embedding,
    _fractional_pooling,
    _gates,
    _linear,
    _margin_losses,
    _max_pooling,
    _normalization,
    _padding,
    _rectifiers,
    _regression_losses,
    _resampling,
    _shrinkage,
    _sigmoids,
    _softmax,
)
from torch_py.nn.functional._adaptive_pooling import *
from torch_py.nn.functional._attention import *
from torch_py.nn.functional._average_pooling import *
from torch_py.nn.functional._classification_losses import *
from torch_py.nn.functional._convolution import *
from torch_py.nn.functional._distance import *
from torch_py.nn.functional._dropout import *
from torch_py.nn.functional._embedding import *
from torch_py.nn.functional._fractional_pooling import *
from torch_py.nn.functional._gates import *
from torch_py.nn.functional._linear import *
from torch_py.nn.functional._margin_losses import *
from torch_py.nn.functional._max_pooling import *
from torch_py.nn.functional._normalization import *
from torch_py.nn.functional._padding import *
from torch_py.nn.functional._rectifiers import *
from torch_py.nn.functional._rectifiers import _threshold
from torch_py.nn.functional._regression_losses import *
from torch_py.nn.functional._resampling import *
from torch_py.nn.functional._shrinkage import *
from torch_py.nn.functional._sigmoids import *
from torch_py.nn.functional._softmax import *

_FILES = (
    _attention,
    _convolution,
    _dropout,
    _linear,
    _embedding,
    _distance,
    _normalization,
    _rectifiers,
    _gates,
    _sigmoids,
    _shrinkage,
    _softmax,
    _max_pooling,
    _average_pooling,
    _adaptive_pooling,
    _fractional_pooling,
    _padding,
    _resampling,
    _regression_losses,
    _classification_losses,
    _margin_losses,
)
__all__ = [name for file in _FILES for name in file.__all__]
_adopt(globals(), *_FILES)
_ALSO_HERE = (Tensor, _threshold)  # packages import them from here

__getattr__ = _lacking(__name__)
