"""A module path of PyTorch that programs import from."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.parallel._devices import gather as gather
from torch_py.nn.parallel._devices import scatter as scatter
from torch_py.nn.parallel._devices import scatter_kwargs as scatter_kwargs

__getattr__ = _lacking(__name__)
