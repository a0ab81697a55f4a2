"""Where programs look for parts of `torch.nn.parallel`."""

from torch_py.nn.parallel._devices import parallel_apply as parallel_apply
