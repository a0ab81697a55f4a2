"""A module path of PyTorch that programs import from."""

from torch_py.nn.parallel._wrappers import DistributedDataParallel as DistributedDataParallel
