"""The `pin_memory` setting of a DataLoader: memory that an accelerator can read directly."""

from __future__ import annotations

import warnings
from typing import Any


def warn_without_accelerator() -> None:
    """Warns that this build has no accelerator, so batches stay where they are."""
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't "
        "be used.",
        UserWarning,
        stacklevel=4,
    )


def pin_memory(data: Any, device: str | None = None) -> Any:
    """The result of ``data.pin_memory()``, or `data` itself if it has no such method.

    `Tensor.pin_memory` raises RuntimeError.
    """
    method = getattr(data, "pin_memory", None)
    return data if method is None else method()
