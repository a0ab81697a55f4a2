"""How a tensor is laid out along one dimension of a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """The base of the layouts."""

    def is_shard(self, dim: int | None = None) -> bool:
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """The tensor is cut along `dim`, and each process has one piece."""

    dim: int

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """The size and the start of piece `rank`, where pieces are as large as those of `torch.chunk`."""
        piece = -(-curr_local_size // num_chunks)
        start = min(piece * rank, curr_local_size)
        return min(piece, curr_local_size - start), start

    _local_shard_size_and_offset = local_shard_size_and_offset


class _StridedShard(Shard):
    """The tensor is cut along `dim` after it has been cut by a later dimension of the mesh."""

    def __init__(self, dim: int, *, split_factor: int) -> None:
        super().__init__(dim)
        object.__setattr__(self, "split_factor", split_factor)


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole tensor."""


@dataclass(frozen=True)
class Partial(Placement):
    """The tensor is the sum, or another reduction, of those of the processes."""

    reduce_op: str = "sum"


def normalized(placements: Any, dimensions: int) -> tuple[Placement, ...]:
    """One placement for each dimension of the mesh; default: `Replicate`.

    Raises ValueError for another number of them.
    """
    given = tuple(placements) if placements is not None else (Replicate(),) * dimensions
    if len(given) != dimensions or not all(isinstance(placement, Placement) for placement in given):
        raise ValueError(
            f"expected a placement for each of the {dimensions} dimensions of the mesh, got {given}"
        )
    return given


__getattr__ = _lacking(__name__)
