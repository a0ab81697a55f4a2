"""The choice of how `scaled_dot_product_attention` computes.

The CPU has a fused and a plain implementation; both are exact.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """Implementations of attention.

    Example:
        >>> torch.nn.attention.SDPBackend.MATH.name
        'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(
    backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False
) -> Iterator[dict[Any, Any]]:
    """Allows only some implementations of attention inside the block.

    Here the library chooses in any case, as their results agree up to rounding.

    Raises AssertionError unless `backends` is an SDPBackend or a sequence of them.

    Args:
        backends: one implementation, or several
        set_priority: accepted as in PyTorch; default False

    Example:
        >>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        ...     F.scaled_dot_product_attention(*[torch.ones(1, 2, 4)] * 3).shape
        torch.Size([1, 2, 4])
    """
    wanted = [backends] if isinstance(backends, SDPBackend) else backends
    assert isinstance(wanted, (list, tuple, set)) and all(isinstance(one, SDPBackend) for one in wanted), (
        f"sdpa_kernel: expected SDPBackend or a list of SDPBackend as backends, got {backends!r}"
    )
    yield {}


__getattr__ = _lacking(__name__, __path__)
