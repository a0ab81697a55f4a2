"""The `ctx` of a custom Function while a compiler finds out what its methods read."""

from __future__ import annotations

from typing import Any


class Context:
    """Has the methods and attributes of the real one, which is a node of autograd."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        pass

    def mark_dirty(self, *tensors: Any) -> None:
        pass

    def mark_non_differentiable(self, *tensors: Any) -> None:
        pass

    def mark_shared_storage(self, *pairs: Any) -> None:
        pass

    def set_materialize_grads(self, value: bool) -> None:
        pass
