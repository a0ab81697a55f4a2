"""The front end of `torch.compile`: captures what a function does as FX graphs."""

from torch_py._pytorch_names.packages import lacking as _lacking

__getattr__ = _lacking(__name__, __path__)
