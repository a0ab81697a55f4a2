"""Where programs look for a wrapper of `torch.nn.parallel`."""

from torch_py.nn.parallel._wrappers import DistributedDataParallel as DistributedDataParallel
