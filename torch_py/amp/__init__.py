"""Automatic mixed precision: operators choose their dtypes inside of `autocast`, and `GradScaler` keeps
float16 gradients in range.

Which operators convert their arguments, and to what, stands in `native_functions.yaml` under `autocast:`.
"""

from torch_py.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from torch_py.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
