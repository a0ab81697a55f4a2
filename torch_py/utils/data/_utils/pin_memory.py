"""Moving batches to memory that an accelerator can read directly."""

from __future__ import annotations

import warnings
from typing import Any


def warn_without_accelerator() -> None:
    """There is none in this build: batches stay where they are."""
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't "
        "be used.",
        UserWarning,
        stacklevel=4,
    )


def pin_memory(data: Any, device: Any = None) -> Any:
    """Raises RuntimeError for tensors, as `Tensor.pin_memory` does; objects with a method `pin_memory` are
    asked for it."""
    method = getattr(data, "pin_memory", None)
    return data if method is None else method()
