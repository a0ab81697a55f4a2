"""Backward hooks of modules: identity nodes before and after `forward`
see the gradients that leave and enter the module."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.autograd.function import Function


class BackwardHooks:
    """The backward hooks of one call of one module."""

    def __init__(
        self, module: Any, hooks: list[Callable[..., Any]], pre_hooks: list[Callable[..., Any]]
    ) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.input_count = 0
        self.watches_inputs = False
        self.grad_output: tuple[Any, ...] = ()

    def watch_inputs(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the arguments of the call with tensors that report their gradients to `leave`."""
        positions = [position for position, value in enumerate(arguments) if isinstance(value, Tensor)]
        self.input_count = len(arguments)
        self.positions = positions
        self.watches_inputs = _C.is_grad_enabled() and any(
            arguments[position].requires_grad for position in positions
        )
        if not self.watches_inputs:
            return arguments

        watched = BackwardHookFunction.apply(self.leave, *(arguments[position] for position in positions))
        passed = list(arguments)
        for position, tensor in zip(positions, watched):
            passed[position] = tensor
        return tuple(passed)

    def watch_outputs(self, output: Any) -> Any:
        """Returns the output of the call with tensors that report their gradients to `enter`."""
        if isinstance(output, Tensor):
            return BackwardHookFunction.apply(self.enter, output)[0] if output.requires_grad else output
        if not isinstance(output, (tuple, list)):
            return output

        positions = [position for position, value in enumerate(output) if isinstance(value, Tensor)]
        if not any(output[position].requires_grad for position in positions):
            return output

        watched = BackwardHookFunction.apply(self.enter, *(output[position] for position in positions))
        passed = list(output)
        for position, tensor in zip(positions, watched):
            passed[position] = tensor
        return type(output)(passed)

    def enter(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Runs the pre-hooks on the gradients of outputs, and the hooks too if no input needs a gradient."""
        for hook in self.pre_hooks:
            gradients = _replaced(gradients, hook(self.module, gradients), "grad_output")
        self.grad_output = gradients

        if not self.watches_inputs:
            if self.hooks:
                warnings.warn(
                    "Full backward hook is firing when gradients are computed with respect to module "
                    "outputs since no inputs require gradients.",
                    stacklevel=6,  # the line that calls backward
                )
            self._call((None,) * self.input_count)

        return gradients

    def leave(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Runs the hooks on the gradients of the inputs."""
        everything: list[Any] = [None] * self.input_count
        for position, gradient in zip(self.positions, gradients):
            everything[position] = gradient
        changed = self._call(tuple(everything))
        return tuple(changed[position] for position in self.positions)

    def _call(self, grad_input: tuple[Any, ...]) -> tuple[Any, ...]:
        """Passes the gradients of the inputs through the hooks."""
        for hook in self.hooks:
            grad_input = _replaced(grad_input, hook(self.module, grad_input, self.grad_output), "grad_input")
        return grad_input


def _replaced(before: tuple[Any, ...], result: Any, what: str) -> tuple[Any, ...]:
    """Returns what a hook returned, or the gradients before it if it returned None.

    Raises RuntimeError for a wrong number of gradients.
    """
    if result is None:
        return before
    after = result if isinstance(result, tuple) else (result,)
    if len(after) != len(before):
        raise RuntimeError(
            f"Backward hook returned an invalid number of {what}, got {len(after)}, but expected "
            f"{len(before)}"
        )
    return after


class BackwardHookFunction(Function):
    """Returns its tensors as views; in backward, `receive` sees their gradients and may replace them."""

    @staticmethod
    def forward(ctx: Any, receive: Any, *tensors: Any) -> Any:
        ctx.receive = receive
        ctx.set_materialize_grads(False)
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return (None, *ctx.receive(gradients))
