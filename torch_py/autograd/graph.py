"""Looking into and influencing the recorded graph: what is done with saved tensors, and where a tensor's gradient arrives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch_py import _C
from torch_py._tensor import Tensor


class saved_tensors_hooks:
    """Inside the block every tensor saved for backward is stored as `pack_hook(tensor)` and read as `unpack_hook(stored)`.

    `unpack_hook` must return a tensor with the values, shape, dtype and device of the original.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _C._saved_tensors_hooks_push(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        _C._saved_tensors_hooks_pop()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors wait for backward in CPU memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0]))


class GradientEdge(NamedTuple):
    """Where a gradient enters a node: input `output_nr` of `node`."""

    node: Any
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that the gradient of `tensor` flows along. Raises RuntimeError when it does not require grad."""
    if not tensor.requires_grad:
        raise RuntimeError("get_gradient_edge: expected a tensor that requires grad, got one that does not")
    node = tensor.grad_fn if tensor.grad_fn is not None else tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr)
