"""The older place of the question whether a call is captured."""

from torch_py._dynamo.marks import is_compiling as is_compiling
from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = ["is_compiling"]

__getattr__ = _lacking(__name__)
