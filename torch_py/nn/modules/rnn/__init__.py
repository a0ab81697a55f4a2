"""Recurrent layers, and cells for one step."""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py._tensor import Tensor
from torch_py.nn import init
from torch_py.nn._packing import PackedSequence
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.rnn import _base, _cells, _layers
from torch_py.nn.modules.rnn._base import *
from torch_py.nn.modules.rnn._cells import *
from torch_py.nn.modules.rnn._layers import *
from torch_py.nn.parameter import Parameter

__all__ = [
    *_base.__all__,
    *_layers.__all__,
    *_cells.__all__,
]
_adopt(globals(), _base, _layers, _cells)
# What typing.get_type_hints() looks up here, and what packages import from PyTorch's module of this name.
_ALSO_HERE = (
    init,
    Module,
    PackedSequence,
    Parameter,
    Tensor,
)
