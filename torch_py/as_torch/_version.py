"""The version that programs read from `torch.__version__`."""

from __future__ import annotations

from torch_py.torch_version import TorchVersion as TorchVersion

COMPATIBLE_WITH = "2.13.0"  # whose API this is
