"""Activation checkpointing: saves memory by computing intermediate results again in backward (Chen et al.
2016).

There are two ways. Without reentrance (``use_reentrant=False``, recommended) the function runs as usual, but
the tensors it saves are replaced by placeholders; when backward reads the first of them, the function runs
again. With reentrance the whole function is one node of the graph, whose backward runs the function and then
a backward pass of its own.
"""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.utils.checkpoint import _checkpoint, _global_state, _recomputation, _reentrant, _selective
from torch_py.utils.checkpoint._checkpoint import *
from torch_py.utils.checkpoint._global_state import *
from torch_py.utils.checkpoint._recomputation import *
from torch_py.utils.checkpoint._reentrant import *
from torch_py.utils.checkpoint._selective import *
from torch_py.utils.checkpoint._selective import _CachedTorchDispatchMode, _CachingTorchDispatchMode

__all__ = [
    *_checkpoint.__all__,
    *_recomputation.__all__,
    *_reentrant.__all__,
    *_selective.__all__,
    *_global_state.__all__,
    "_CachedTorchDispatchMode",
    "_CachingTorchDispatchMode",
]
_adopt(globals(), _checkpoint, _recomputation, _reentrant, _selective, _global_state)

__getattr__ = _lacking(__name__)
