"""`MaskedTensor`, and how operators act on it."""

from torch_py.masked.maskedtensor.core import MaskedTensor, is_masked_tensor

__all__ = ["MaskedTensor", "is_masked_tensor"]
