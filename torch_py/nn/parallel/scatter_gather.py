"""Where programs look for parts of `torch.nn.parallel`."""

from torch_py.nn.parallel._devices import gather as gather
from torch_py.nn.parallel._devices import scatter as scatter
from torch_py.nn.parallel._devices import scatter_kwargs as scatter_kwargs
