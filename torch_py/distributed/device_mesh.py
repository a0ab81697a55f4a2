"""The type of process meshes, for annotations and isinstance; creating one raises NotImplementedError."""

from __future__ import annotations

from typing import Any

from torch_py.distributed._world import absent

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """An arrangement of processes, which cannot be created here."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        absent("device_mesh.DeviceMesh")()


init_device_mesh = absent("device_mesh.init_device_mesh")
