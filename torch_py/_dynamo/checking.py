"""``TORCH_PY_COMPILE_CHECK=1``: calls of compiled graphs are compared with their operators run one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._dynamo.effects import Draws
from torch_py._dynamo.exc import TorchDynamoException
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad


class GraphDiffers(TorchDynamoException):
    """A compiled graph does something other than its operators do."""


def is_on() -> bool:
    return os.environ.get("TORCH_PY_COMPILE_CHECK", "0") not in ("", "0")


def checked(module: Any, compiled: Callable[..., Any]) -> Callable[..., Any]:
    """`compiled`, compared with the graph module in each call.

    Results must be close and have equal strides, inputs must change alike, and the same results must share
    memory with the same inputs. Raises GraphDiffers. Calls whose inputs share memory are not compared.
    """

    draws = Draws([_C.default_generator, *_generators(module.graph)])

    def run(*inputs: Any) -> Any:
        if _share_memory(inputs):
            return compiled(*inputs)

        states = draws.states()
        copies = [copied(value) for value in inputs]
        expected = module.forward(*copies)
        draws.take_back(states)
        actual = compiled(*inputs)

        for number, (one, other) in enumerate(zip(expected, actual)):
            _compare(f"result {number}", one, other)
            _compare_aliases(number, one, other, copies, inputs)
        for number, (one, other) in enumerate(zip(copies, inputs)):
            _compare(f"input {number} afterwards", one, other)
        return actual

    return run


def _generators(graph: Any) -> list[Any]:
    """The generators of random numbers in the arguments of nodes."""
    values = [value for node in graph.nodes for value in (*node.args, *node.kwargs.values())]
    return [value for value in values if isinstance(value, _C.Generator)]


def _address(value: Any) -> int | None:
    return value.untyped_storage()._cdata if isinstance(value, Tensor) else None


def _share_memory(values: Sequence[Any]) -> bool:
    addresses = [_address(value) for value in values if isinstance(value, Tensor)]
    return len(set(addresses)) < len(addresses)


def copied(value: Any) -> Any:
    """A tensor of the same elements, strides and requires_grad, as a leaf if it is one; other values as they
    are."""
    if not isinstance(value, Tensor):
        return value
    source: Any = value.detach()
    made = source.new_empty_strided(source.size(), source.stride())
    if not value.requires_grad or value.is_leaf:
        return made.copy_(source).requires_grad_(value.requires_grad)

    with enable_grad():
        return made.copy_(source.requires_grad_())


def _compare(what: str, expected: Any, actual: Any) -> None:
    if not isinstance(expected, Tensor):
        return
    if expected.stride() != actual.stride() and expected.numel() > 1:
        raise GraphDiffers(f"{what} has strides {actual.stride()}, expected {expected.stride()}")

    # Imported here: few programs check what they compile.
    from torch_py.testing import assert_close

    try:
        assert_close(actual.detach(), expected.detach(), equal_nan=True)
    except AssertionError as error:
        raise GraphDiffers(f"{what} differs: {error}") from None


def _compare_aliases(number: int, one: Any, other: Any, copies: Sequence[Any], inputs: Sequence[Any]) -> None:
    """The same result shares memory with the same inputs."""
    if not isinstance(one, Tensor):
        return
    expected = [i for i, value in enumerate(copies) if _address(value) == _address(one)]
    actual = [i for i, value in enumerate(inputs) if _address(value) == _address(other)]
    if expected != actual:
        raise GraphDiffers(f"result {number} shares memory with inputs {actual}, expected {expected}")
