"""Deprecated forms of `torch.amp` for CUDA."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.amp import GradScaler as _GradScaler
from torch_py.amp import autocast as _autocast
from torch_py.amp import custom_bwd as _custom_bwd
from torch_py.amp import custom_fwd as _custom_fwd
from torch_py.amp.autocast_mode import warn_of_older_name as _warn

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_autocast):
    """Deprecated: `torch.amp.autocast('cuda', ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _warn("torch.cuda.amp.autocast", "torch.amp.autocast", "cuda")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """Deprecated: `torch.amp.GradScaler('cuda', ...)`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "cuda")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Deprecated: `torch.amp.custom_fwd(device_type='cuda')`."""
    return _custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """Deprecated: `torch.amp.custom_bwd(device_type='cuda')`."""
    return _custom_bwd(bwd, device_type="cuda")


__getattr__ = _lacking(__name__, __path__)
