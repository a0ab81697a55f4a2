"""Automatic mixed precision: inside `autocast` operators choose the dtypes of their arguments, and
`GradScaler` keeps float16 gradients in range.

`native_functions.yaml` lists under `autocast:` which operators convert their arguments, and to which dtype.
"""

from torch_py.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from torch_py.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
