"""Quantisation, as far as programs name it."""

from torch_py.ao import quantization as quantization
