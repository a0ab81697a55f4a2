"""The compiler's back end, of which torch_py has the settings."""

from torch_py._pytorch_names.packages import lacking as _lacking

__getattr__ = _lacking(__name__, __path__)
