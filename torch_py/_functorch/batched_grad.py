"""`torch.autograd.grad` with `is_grads_batched`: the rows of its gradients pass through the graph together,
as the members of a `vmap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._functorch.batching import batched, member_copies
from torch_py._functorch.engine import gradients_of
from torch_py._functorch.levels import highest_level, new_level
from torch_py._tensor import Tensor
from torch_py.autograd import _check_is_gradient, _checked_gradients, _plain_grad


def batched_grad(
    outputs: tuple[Any, ...],
    inputs: tuple[Any, ...],
    batches: Sequence[Tensor | None],
    retain_graph: bool,
    create_graph: bool,
    allow_unused: bool,
    materialize: bool,
) -> tuple[Tensor | None, ...]:
    """The gradients for each index of the first dimension of `batches`, stacked."""
    size = _common_size(outputs, batches)
    if size == 0 and all(isinstance(source, Tensor) for source in inputs):
        return tuple(source.new_zeros((0, *source.shape)) for source in inputs)

    in_transform = highest_level((list(outputs), list(inputs), list(batches))) > 0
    with new_level(size) as level:
        rows = tuple(None if batch is None else batched(batch, level) for batch in batches)
        if in_transform:
            found = gradients_of(outputs, inputs, rows, create_graph, allow_unused, materialize)
        else:
            found = _plain_grad(
                outputs, inputs, rows, retain_graph, create_graph, allow_unused, False, materialize
            )
        return tuple(None if row is None else member_copies(row, level, size) for row in found)


def _common_size(outputs: tuple[Any, ...], batches: Sequence[Tensor | None]) -> int:
    given = [batch for batch in batches if batch is not None]
    if not given:
        _checked_gradients(outputs, None, "grad")
        raise RuntimeError("grad: is_grads_batched=True needs at least one tensor in grad_outputs")

    for batch in given:
        _check_is_gradient(batch, "grad")
        if batch.dim() == 0:
            raise ValueError(
                "grad: with is_grads_batched=True each of grad_outputs needs a batch dimension, "
                "got a tensor of 0 dimensions"
            )

    sizes = {batch.shape[0] for batch in given}
    if len(sizes) > 1:
        raise ValueError(
            "grad: expected all grad_outputs to have the same size in their first dimension, "
            f"got {sorted(sizes)}"
        )
    return sizes.pop()
