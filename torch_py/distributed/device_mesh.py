"""Meshes: processes arranged in a grid. Here, the one process, at [0, 0, ...]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed import _world
from torch_py.distributed._world import GroupMember, ProcessGroup

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """A grid of processes.

    Args:
        device_type: the kind of device that each process uses, such as ``cpu``.
        mesh: the ranks, as nested lists or a tensor; in a world of one, a single 0.
        mesh_dim_names: a name for each dimension.

    Raises NotImplementedError for more than one process, ValueError for another rank than 0, and
    RuntimeError for another number of names than of dimensions.
    """

    def __init__(
        self, device_type: str, mesh: Any, *, mesh_dim_names: Sequence[str] | None = None, **options: Any
    ) -> None:
        ranks = _C.tensor(mesh) if not hasattr(mesh, "reshape") else mesh
        _check_size("DeviceMesh", tuple(ranks.shape))
        if ranks.numel() != 1 or int(ranks.reshape(())) != 0:
            raise ValueError(f"DeviceMesh: expected the rank 0 of a world of 1, got {ranks.tolist()}")
        if mesh_dim_names is not None and len(mesh_dim_names) != ranks.dim():
            raise RuntimeError(
                f"mesh_dim_names of length {len(mesh_dim_names)} do not fit a mesh of {ranks.dim()} "
                "dimensions"
            )

        self.device_type = device_type
        self.mesh = ranks
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._group = _world_group()

    @property
    def ndim(self) -> int:
        return int(self.mesh.dim())

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of processes, all or along a dimension: 1."""
        self._check_dim(mesh_dim)
        return 1

    def get_rank(self) -> int:
        return 0

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """The place of this process along a dimension: 0."""
        self._check_dim(mesh_dim)
        return 0

    def get_coordinate(self) -> list[int]:
        """The place of this process along each dimension."""
        return [0] * self.ndim

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The processes along a dimension."""
        if mesh_dim is None and self.ndim != 1:
            raise RuntimeError(
                f"get_group: a mesh of {self.ndim} dimensions needs mesh_dim, the dimension of the group"
            )
        self._check_dim(mesh_dim)
        return self._group

    def get_all_groups(self) -> list[ProcessGroup]:
        return [self._group] * self.ndim

    def __getitem__(self, names: str | Sequence[str]) -> DeviceMesh:
        """The mesh of some dimensions. Raises KeyError for names that the mesh does not have."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        unknown = [name for name in wanted if name not in (self.mesh_dim_names or ())]
        if unknown:
            raise KeyError(f"Invalid mesh_dim_name {unknown[0]!r}; the mesh has {self.mesh_dim_names}")
        return DeviceMesh(self.device_type, self.mesh.reshape((1,) * len(wanted)), mesh_dim_names=wanted)

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """The same processes along one dimension."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ("flat",))
        return DeviceMesh(self.device_type, self.mesh.reshape(1), mesh_dim_names=(name,))

    def _check_dim(self, mesh_dim: int | str | None) -> None:
        names = self.mesh_dim_names or ()
        inside = -self.ndim <= mesh_dim < self.ndim if isinstance(mesh_dim, int) else mesh_dim in names
        if mesh_dim is not None and not inside:
            raise ValueError(
                f"mesh_dim {mesh_dim!r} is not a dimension of a mesh of shape {self.shape}, {names}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and (
            (self.device_type, self.shape, self.mesh_dim_names)
            == (other.device_type, other.shape, other.mesh_dim_names)
        )

    def __hash__(self) -> int:
        return hash((self.device_type, self.shape, self.mesh_dim_names))

    def __repr__(self) -> str:
        names = "" if self.mesh_dim_names is None else f", mesh_dim_names={self.mesh_dim_names}"
        return f"DeviceMesh({self.device_type!r}, {self.mesh.tolist()}{names})"


def _check_size(name: str, shape: Sequence[int]) -> None:
    if math.prod(shape) > 1:
        raise NotImplementedError(
            f"torch.distributed.device_mesh.{name}: torch_py has worlds of one process only, got a mesh of "
            f"shape {tuple(shape)}"
        )


def _world_group() -> ProcessGroup:
    """The world, which a mesh starts if the program has not."""
    if _world.current_group() is None:
        _world.set_world(ProcessGroup())
    return GroupMember.of(None)


def init_device_mesh(
    device_type: str,
    mesh_shape: Sequence[int],
    *,
    mesh_dim_names: Sequence[str] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """A mesh of all processes, of shape `mesh_shape`.

    Raises NotImplementedError for more than one process, RuntimeError for repeated names.
    """
    _check_size("init_device_mesh", mesh_shape)
    if mesh_dim_names is not None and len(set(mesh_dim_names)) != len(mesh_dim_names):
        raise RuntimeError(f"Each mesh_dim_name must be unique, got mesh_dim_names={tuple(mesh_dim_names)}")
    return DeviceMesh(
        device_type, _C._torch.zeros(tuple(mesh_shape), dtype=_C.int64), mesh_dim_names=mesh_dim_names
    )


__getattr__ = _lacking(__name__)
