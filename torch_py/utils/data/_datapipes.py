"""What packages that define data pipes of their own need to be imported; there are no data pipes here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Pipe = TypeVar("Pipe", bound=type)


def functional_datapipe(name: str, enable_df_api_tracing: bool = False) -> Callable[[Pipe], Pipe]:
    """Leaves the decorated class as it is.

    PyTorch adds a method `name` to all data pipes. No data pipe can be made here, so there is nothing to add
    it to.

    Args:
        name: the name of the method
        enable_df_api_tracing: has no effect; default False

    Example:
        >>> @torch.utils.data.functional_datapipe("twice")
        ... class Twice:
        ...     pass
    """
    return lambda pipe: pipe
