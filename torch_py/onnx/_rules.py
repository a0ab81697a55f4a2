"""All rules: importing this module registers those of every family of operators."""

from torch_py.onnx import (  # noqa: F401  # imported for the rules they register
    _decompositions,
    _elementwise,
    _indexing,
    _nn,
    _normalization,
    _pooling,
    _random,
    _recurrent,
    _reductions,
    _shapes,
)
from torch_py.onnx._creation import outside

__all__ = ["outside"]
