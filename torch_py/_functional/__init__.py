"""Functions of the `torch` namespace that are written in Python over operators."""

from torch_py import _C
from torch_py._functional import _in_place, _indices, _linalg, _properties, _shapes
from torch_py._functional._in_place import *
from torch_py._functional._indices import *
from torch_py._functional._linalg import *
from torch_py._functional._properties import *
from torch_py._functional._shapes import *
from torch_py._namespace import adopt
from torch_py._pytorch_names.removed_functions import eig, lstsq, matrix_rank, solve, symeig

__all__ = [
    *_properties.__all__,
    *_in_place.__all__,
    *_shapes.__all__,
    *_indices.__all__,
    *_linalg.__all__,
    "eig",
    "from_dlpack",
    "lstsq",
    "matrix_rank",
    "solve",
    "symeig",
]
adopt(globals(), _properties, _in_place, _shapes, _indices, _linalg)

from_dlpack = _C.from_dlpack
