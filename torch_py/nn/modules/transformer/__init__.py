"""Transformer encoders and decoders: stacks of attention and feed-forward layers."""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.activation import MultiheadAttention
from torch_py.nn.modules.container import ModuleList
from torch_py.nn.modules.dropout import Dropout
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import LayerNorm
from torch_py.nn.modules.transformer import _decoder, _encoder, _layer, _transformer
from torch_py.nn.modules.transformer._decoder import *
from torch_py.nn.modules.transformer._encoder import *
from torch_py.nn.modules.transformer._layer import _get_activation_fn
from torch_py.nn.modules.transformer._transformer import *

__all__ = [
    *_encoder.__all__,
    *_decoder.__all__,
    *_transformer.__all__,
]
_adopt(globals(), _encoder, _decoder, _transformer, _layer)
# What typing.get_type_hints() looks up here, and what packages import from PyTorch's module of this name.
_ALSO_HERE = (
    Dropout,
    F,
    LayerNorm,
    Linear,
    Module,
    ModuleList,
    MultiheadAttention,
    Tensor,
)
