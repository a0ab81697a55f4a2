"""The options of `nn.LinearCrossEntropyLoss`."""

from __future__ import annotations

import dataclasses

from torch_py.types import _dtype

__all__ = ["LinearCrossEntropyOptions"]

_POLICIES = ("accurate", "balanced", "compact", "auto")


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch splits `linear_cross_entropy` into chunks to save memory. The options do not change the
    loss, which is computed whole here.

    Args:
        allow_retain_graph: whether backward may run twice; default False
        batch_chunk_size: the number of rows of a chunk; default None
        chunking_method: the dimension along which chunks are made; default 'auto'
        acc_policy: 'accurate', 'balanced', 'compact' or 'auto' (default)
        acc_dtype: the dtype in which chunks are added up; default None

    Raises:
        ValueError: `acc_policy` is unknown

    Example:
        >>> nn.LinearCrossEntropyOptions(batch_chunk_size=1024).batch_chunk_size
        1024
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: _dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in _POLICIES:
            raise ValueError(
                f"LinearCrossEntropyOptions: expected acc_policy to be one of {_POLICIES}, "
                f"got {self.acc_policy!r}"
            )
