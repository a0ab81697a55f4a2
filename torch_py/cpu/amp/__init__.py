"""Deprecated forms of `torch.amp` for the CPU."""

from __future__ import annotations

from typing import Any

from torch_py.amp import GradScaler as _GradScaler
from torch_py.amp import autocast as _autocast
from torch_py.amp.autocast_mode import warn_of_older_name as _warn

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):
    """Deprecated: `torch.amp.autocast('cpu', ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _warn("torch.cpu.amp.autocast", "torch.amp.autocast", "cpu")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """Deprecated: `torch.amp.GradScaler('cpu', ...)`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("torch.cpu.amp.GradScaler", "torch.amp.GradScaler", "cpu")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
