"""Which part of a tensor a process has."""

from __future__ import annotations

from collections.abc import Sequence

from torch_py.distributed.device_mesh import DeviceMesh
from torch_py.distributed.tensor.placement_types import Placement


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this process's piece and where it begins: the whole tensor, from 0."""
    return tuple(global_shape), (0,) * len(global_shape)
