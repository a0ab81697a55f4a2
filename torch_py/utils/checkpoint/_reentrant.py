"""Checkpoints with reentrance: a function as one node of the graph, with a backward pass of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.autograd import Function
from torch_py.autograd import backward as _backward
from torch_py.autograd.grad_mode import enable_grad, no_grad
from torch_py.utils.checkpoint._global_state import _Surroundings

__all__ = ["CheckpointFunction", "check_backward_validity", "detach_variable"]


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warns if none of the tensors among `inputs` requires grad.

    Args:
        inputs: the inputs

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs: Any) -> tuple[Any, ...]:
    """The inputs with their tensors detached; they require grad as before.

    Raises RuntimeError unless `inputs` is a tuple.

    Args:
        inputs: the inputs

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.detach_variable((torch.ones(1) * 2,))
        (tensor([2.]),)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(
        value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value
        for value in inputs
    )


class CheckpointFunction(Function):
    """A function as one node of the graph. Its backward runs the function again, then a backward of that.

    Example:
        >>> import torch_py.utils.checkpoint
        >>> issubclass(torch.utils.checkpoint.CheckpointFunction, torch.autograd.Function)
        True
    """

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state, *args)
        ctx.places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.others = [None if isinstance(value, Tensor) else value for value in args]
        ctx.save_for_backward(*(args[place] for place in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if not _C._is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an "
                "`inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )

        inputs = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            inputs[place] = tensor

        detached = detach_variable(tuple(inputs))
        with ctx.surroundings.restored(), enable_grad():
            outputs = ctx.run_function(*detached)

        results = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (result, grad)
            for result, grad in zip(results, gradients)
            if isinstance(result, Tensor) and result.requires_grad
        ]

        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")

        _backward([result for result, _ in pairs], [grad for _, grad in pairs])
        return (None, None, *(value.grad if isinstance(value, Tensor) else None for value in detached))


def _as_one_node(function: Any, args: tuple[Any, ...], preserve_rng_state: bool) -> Any:
    """Calls a function as a node; graphs of the compiler end here, as at any checkpoint."""
    return CheckpointFunction.apply(function, preserve_rng_state, *args)
