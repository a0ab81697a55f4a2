"""Calls between processes: what packages need at import. torch_py runs one process and refuses the calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking


def _require_initialized(function: Callable[..., Any]) -> Callable[..., NoReturn]:
    """A function that raises RuntimeError, as PyTorch's do before init_rpc(), which cannot be called here."""

    @functools.wraps(function)
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            f"{function.__name__}: RPC is not initialized: torch_py has worlds of one process only"
        )

    return refuse


__getattr__ = _lacking(__name__)
