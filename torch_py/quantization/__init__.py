"""The older name of `torch.ao.quantization`."""

from torch_py._absent_package import absent_names
from torch_py.ao.quantization import *

__getattr__ = absent_names(__name__, "torch_py does not quantise models")
