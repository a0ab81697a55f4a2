"""Signal processing: the windows of `torch_py.signal.windows`."""

from torch_py.signal import windows

__all__ = ["windows"]
