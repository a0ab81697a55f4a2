"""Where programs look for parts of `torch.nn.parallel`."""

from torch_py.nn.parallel._devices import replicate as replicate
