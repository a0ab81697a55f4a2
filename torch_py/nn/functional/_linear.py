"""Linear and bilinear maps, as functions."""

from __future__ import annotations

from torch_py._C import _nn, _torch

__all__ = ["bilinear", "linear"]

linear = _nn.linear
bilinear = _torch.bilinear
