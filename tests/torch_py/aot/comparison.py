"""Runs a function eagerly and compiled ahead of time, on arguments of its own each, and compares all that a
program can see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch_py as torch
from tests.ops.comparison import significant_strides
from torch_py._functorch.aot import aot_function, default_partition
from torch_py._functorch.compilers import nop
from torch_py.utils._pytree import tree_leaves

Arguments = Callable[[], tuple[list[Any], list[Any]]]  # the arguments, and the leaves to differentiate by


class Outcome:
    """What one call did."""

    def __init__(self, function: Callable[..., Any], make: Arguments) -> None:
        torch.manual_seed(0)
        self.arguments, self.leaves = make()
        self.error: Exception | None = None
        self.results: list[Any] = []
        self.gradients: list[Any] = []
        torch.manual_seed(1)
        try:
            self.results = tree_leaves(function(*self.arguments))
            self.gradients = self._gradients()
        except Exception as error:
            self.error = error
        self.random = torch.rand(2)

    def _gradients(self) -> list[Any]:
        outputs = [x for x in [*self.results, *self.arguments] if _differentiable(x)]
        if not outputs:
            return []
        generator = torch.Generator().manual_seed(2)
        weights = [torch.rand(x.shape, generator=generator, dtype=torch.float64).to(x.dtype) for x in outputs]
        torch.autograd.backward(outputs, weights)
        return [leaf.grad for leaf in self.leaves]


def _differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad and value.grad_fn is not None


def compare(
    function: Callable[..., Any],
    make: Arguments,
    partition: Any = default_partition,
    calls: int = 2,
    compiler: Any = nop,
    **options: Any,
) -> None:
    """Raises AssertionError where compiled calls differ from eager ones."""
    expected = Outcome(function, make)
    compiled = aot_function(function, compiler, partition_fn=partition, **options)
    for _ in range(calls):
        found = Outcome(compiled, make)
        _assert_same_outcome(found, expected)


def _assert_same_outcome(found: Outcome, expected: Outcome) -> None:
    if expected.error is not None or found.error is not None:
        refused = isinstance(found.error, NotImplementedError)
        if found.error is not None and (expected.error is None or refused):
            raise found.error
        assert type(found.error) is type(expected.error), (found.error, expected.error)
        return

    assert len(found.results) == len(expected.results)
    for number, (one, other) in enumerate(zip(found.results, expected.results)):
        _assert_same(one, other, f"result {number}")
    for number, (one, other) in enumerate(zip(found.arguments, expected.arguments)):
        _assert_same(one, other, f"argument {number}")
    for number, (one, other) in enumerate(zip(found.gradients, expected.gradients)):
        _assert_same(one, other, f"gradient {number}")

    assert aliases(found) == aliases(expected)
    assert torch.equal(found.random, expected.random), "the random numbers that follow differ"


def _assert_same(one: Any, other: Any, what: str) -> None:
    assert type(one) is type(other), f"{what}: {type(one)}, not {type(other)}"
    if not isinstance(other, torch.Tensor):
        assert one == other, f"{what}: {one}, not {other}"
        return
    assert one.dtype == other.dtype and one.shape == other.shape, f"{what}: {one}, not {other}"
    assert significant_strides(one) == significant_strides(other), (
        f"{what}: {one.stride()}, not {other.stride()}"
    )
    assert one.requires_grad == other.requires_grad, f"{what}: requires_grad is {one.requires_grad}"
    assert one.is_leaf == other.is_leaf, f"{what}: is_leaf is {one.is_leaf}"
    # A sum over a tensor with gaps adds in another order than one over the same numbers without.
    close = torch.allclose(one, other, rtol=1e-6, atol=1e-6, equal_nan=True)
    assert close, f"{what}: {one}, not {other}"


def aliases(outcome: Outcome) -> list[tuple[int, int, bool]]:
    """Pairs of arguments and results that share memory, and whether they are the same object."""
    tensors = [x for x in [*outcome.arguments, *outcome.results] if isinstance(x, torch.Tensor)]
    return [
        (i, j, first is second)
        for i, first in enumerate(tensors)
        for j, second in enumerate(tensors[:i])
        if first.numel() and first.untyped_storage()._cdata == second.untyped_storage()._cdata
    ]


# Arguments
# ------------------------------------------------------------


def plain(*shapes: tuple[int, ...]) -> Arguments:
    """Tensors without gradients."""
    return lambda: ([torch.randn(shape) for shape in shapes], [])


def leaves(*shapes: tuple[int, ...]) -> Arguments:
    """Leaves that require gradients."""

    def make() -> tuple[list[Any], list[Any]]:
        made = [torch.randn(shape, requires_grad=True) for shape in shapes]
        return list(made), made

    return make


def computed(*shapes: tuple[int, ...]) -> Arguments:
    """Tensors that are computed from leaves, so that they may be changed in place."""

    def make() -> tuple[list[Any], list[Any]]:
        made = [torch.randn(shape, requires_grad=True) for shape in shapes]
        return [leaf.exp() for leaf in made], made

    return make


@contextmanager
def kept_graphs() -> Iterator[tuple[Callable[..., Any], list[Any]]]:
    """A compiler that keeps its graphs, and the list of them."""
    graphs: list[Any] = []

    def compiler(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    yield compiler, graphs
