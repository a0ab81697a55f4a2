"""Masked tensors: functions that leave elements out where a mask is False, and `MaskedTensor`, which carries
its mask through operators."""

from torch_py.masked._ops import *  # noqa: F403
from torch_py.masked._ops import __all__ as _functions
from torch_py.masked.maskedtensor.core import MaskedTensor, is_masked_tensor
from torch_py.masked.maskedtensor.creation import as_masked_tensor, masked_tensor

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
__all__ += [name for name in _functions if not name.startswith("_")]  # noqa: PLE0605
