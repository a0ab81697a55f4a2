"""A module path of PyTorch that programs import from."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.parallel._wrappers import DistributedDataParallel as DistributedDataParallel

__getattr__ = _lacking(__name__)
