"""Tensors spread over the processes of a mesh. In a world of one process, each is whole."""

from __future__ import annotations

from torch_py import _pytorch_names
from torch_py.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch_py.distributed.tensor._tensor import (
    DTensor,
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)
from torch_py.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "init_device_mesh",
    "ones",
    "rand",
    "randn",
    "zeros",
]

_pytorch_names.extend(__path__, __name__)
