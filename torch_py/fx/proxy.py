"""Where programs look for a class of `torch.fx`."""

from torch_py.fx._absent import Proxy as Proxy
