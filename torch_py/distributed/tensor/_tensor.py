"""Tensors spread over the processes of a mesh. In a world of one, the only piece is the whole tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch_py.distributed.tensor.placement_types import Placement, Replicate, normalized
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.utils._pytree import tree_leaves, tree_map

_torch: Any = _C._torch


class DTensor(Tensor):
    """A tensor with a mesh and a placement for each dimension of the mesh.

    Made by `distribute_tensor` or `DTensor.from_local`. Operators compute on the local tensors, which in a
    world of one are whole; their results are replicated.
    """

    _mesh: DeviceMesh
    _placed: tuple[Placement, ...]

    def __new__(cls, *arguments: Any, **keywords: Any) -> DTensor:
        raise RuntimeError("DTensor is made by distribute_tensor() or DTensor.from_local(), not by its type")

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Any = None,
        stride: Any = None,
        grad_placements: Any = None,
    ) -> DTensor:
        """The tensor whose piece in this process is `local_tensor`. Gradients flow to `local_tensor`."""
        mesh = device_mesh or init_device_mesh(local_tensor.device.type, (1,))
        return _distributed(local_tensor.view_as(local_tensor), mesh, normalized(placements, mesh.ndim))

    def to_local(self, *, grad_placements: Any = None) -> Tensor:
        """The piece of this process, a plain tensor. Gradients flow through."""
        with DisableTorchFunctionSubclass():
            return self.view_as(self).as_subclass(Tensor)

    def full_tensor(self, *, grad_placements: Any = None) -> Tensor:
        """The whole tensor in every process."""
        return self.to_local()

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        **options: Any,
    ) -> DTensor:
        """The same tensor with other placements."""
        mesh = device_mesh or self._mesh
        return _distributed(self.to_local(), mesh, normalized(placements, mesh.ndim))

    @property
    def device_mesh(self) -> DeviceMesh:
        return self._mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        return self._placed

    @property
    def _local_tensor(self) -> Tensor:
        return self.to_local()

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Computes with the local tensors. New results belong to the mesh of the arguments."""
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))

        mesh = next(value._mesh for value in tree_leaves((args, kwargs)) if isinstance(value, DTensor))
        return tree_map(lambda value: _completed(value, mesh), result)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        place = f"device_mesh={self._mesh!r}, placements={self._placed}"
        return f"DTensor(local_tensor={self.to_local()!r}, {place})"


def _distributed(local: Tensor, mesh: DeviceMesh, placements: tuple[Placement, ...]) -> DTensor:
    """`local`, which may not be used elsewhere, as a DTensor."""
    with DisableTorchFunctionSubclass():
        made = local.as_subclass(DTensor)
    made._mesh = mesh
    made._placed = placements
    return made  # type: ignore[no-any-return]


def _completed(value: Any, mesh: DeviceMesh) -> Any:
    """A result of an operator: a tensor without a mesh gets that of the arguments."""
    if not isinstance(value, Tensor) or (isinstance(value, DTensor) and "_mesh" in vars(value)):
        return value
    return _distributed(value, mesh, (Replicate(),) * mesh.ndim)


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """The pieces of a tensor that all processes have, spread over the mesh.

    The result is a leaf if `tensor` is one. Raises ValueError for placements that do not fit the mesh.
    """
    mesh = device_mesh or init_device_mesh(tensor.device.type, (1,))
    placed = normalized(placements, mesh.ndim)
    if not tensor.is_leaf:
        raise RuntimeError(
            "`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!"
        )
    made = _distributed(tensor.detach().view_as(tensor), mesh, placed)
    return made.requires_grad_(tensor.requires_grad)  # type: ignore[return-value]


def distribute_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, Module, DeviceMesh], None] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> Module:
    """Spreads the parameters and buffers of a module, in place.

    `partition_fn(name, submodule, mesh)` may do so first; what it leaves is replicated. `input_fn(module,
    inputs, mesh)` and `output_fn(module, outputs, mesh)` run before and after `forward`.
    """
    mesh = device_mesh or init_device_mesh("cpu", (1,))
    for name, submodule in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, submodule, mesh)
        _replicate(submodule, mesh)

    if input_fn is not None:
        module.register_forward_pre_hook(lambda owner, inputs: input_fn(owner, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda owner, inputs, outputs: output_fn(owner, outputs, mesh))
    return module


def _replicate(module: Module, mesh: DeviceMesh) -> None:
    for key, parameter in module._parameters.items():
        if parameter is not None and not isinstance(parameter, DTensor):
            spread = distribute_tensor(parameter.detach(), mesh)
            module.register_parameter(key, Parameter(spread, parameter.requires_grad))
    for key, buffer in module._buffers.items():
        if buffer is not None and not isinstance(buffer, DTensor):
            module._buffers[key] = distribute_tensor(buffer, mesh)


def _factory(name: str) -> Callable[..., DTensor]:
    def make(
        *size: Any,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        **options: Any,
    ) -> DTensor:
        mesh = device_mesh or init_device_mesh("cpu", (1,))
        requires_grad = options.pop("requires_grad", False)
        made = _distributed(getattr(_torch, name)(*size, **options), mesh, normalized(placements, mesh.ndim))
        return made.requires_grad_(requires_grad)  # type: ignore[return-value]

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"`torch.{name}` spread over a mesh; by default, replicated over all processes."
    return make


empty = _factory("empty")
full = _factory("full")
ones = _factory("ones")
rand = _factory("rand")
randn = _factory("randn")
zeros = _factory("zeros")
