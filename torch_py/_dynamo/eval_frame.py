"""The older place of what `torch.compile` returns."""

from torch_py._dynamo.decode import is_supported as is_dynamo_supported
from torch_py._dynamo.entry import optimize as optimize
from torch_py._dynamo.entry import reset as reset_code
from torch_py._dynamo.explaining import explain as explain
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.compiler._optimized_module import OptimizedModule as OptimizedModule

__all__ = ["OptimizedModule", "explain", "is_dynamo_supported", "optimize", "reset_code"]

__getattr__ = _lacking(__name__)
