"""Compares compiled graphs with their operators run one by one: in each call, with
``TORCH_PY_COMPILE_CHECK=1``, and for the minifier, which asks whether a compiler fails on a graph.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from torch_py import _C, random
from torch_py._dynamo import config
from torch_py._dynamo.capture_mode import Draws
from torch_py._dynamo.exc import TorchDynamoException
from torch_py._tensor import Tensor
from torch_py.autograd import grad
from torch_py.fx._copies import copied
from torch_py.fx.graph_module import GraphModule


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
        addresses = [_address(value) for value in inputs if isinstance(value, Tensor)]
        if len(set(addresses)) < len(addresses):
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


# Graphs that a compiler fails on: it raises, or its results differ

# Compiles a graph for inputs.
Compile = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]


class AccuracyError(TorchDynamoException):
    """A compiled graph has other results than its operators."""


def problem_of(module: GraphModule, inputs: Sequence[Any], compile: Compile) -> Exception | None:
    """The exception that compiling and running a graph raises; None if it works, or does not run at all."""
    with suppress(Exception):
        _run(module, inputs)
        try:
            _run(compile(module, list(inputs)), inputs)
        except Exception as problem:
            return problem
    return None


def difference_of(module: GraphModule, inputs: Sequence[Any], compile: Compile) -> AccuracyError | None:
    """What a compiled graph computes that its operators do not; None if there is nothing.

    Numbers are compared with those that the operators compute of the same inputs as float64. They differ if
    they are further away than `config.repro_tolerance`, and than twice the distance of the operators' own.
    """
    try:
        expected = _run(module, inputs)
        exact = _exact(module, inputs) or expected
        actual = _run(compile(module, list(inputs)), inputs)
    except Exception:
        return None  # that is another failure

    for number, (one, other, true) in enumerate(zip(expected, actual, exact)):
        what = _compared(one, other, true)
        if what:
            return AccuracyError(f"result {number}, gradients counted, {what}")
    return None


def _run(call: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    """Results, and the gradients of inputs, with the random numbers of a seed of their own."""
    given = [copied(value) for value in inputs]
    with random.fork_rng(devices=()):
        random.manual_seed(0)
        results = list(call(*given))
        return [*results, *_gradients(results, given)]


def _gradients(results: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    outputs = [r for r in results if isinstance(r, Tensor) and r.requires_grad]
    leaves = [g for g in given if isinstance(g, Tensor) and g.requires_grad]
    if not outputs or not leaves or config.repro_forward_only:
        return []
    return list(grad(outputs, leaves, list(map(_C._torch.ones_like, outputs)), allow_unused=True))


def _exact(module: GraphModule, inputs: Sequence[Any]) -> list[Any] | None:
    """Results for inputs of float64; None if the graph does not take them."""

    def wide(value: Any) -> Any:
        if not isinstance(value, Tensor) or not value.dtype.is_floating_point:
            return value
        return value.detach().double().requires_grad_(value.requires_grad)

    with suppress(Exception):
        return _run(module, [wide(value) for value in inputs])
    return None


def _compared(expected: Any, actual: Any, exact: Any) -> str:
    """How a result differs; nothing if it does not."""
    if not isinstance(expected, Tensor):
        return ""
    wanted, found = _form(expected), _form(actual)
    if wanted != found:
        return f"is {found}, expected {wanted}"
    if not (expected.dtype.is_floating_point or expected.dtype.is_complex):
        return "" if expected.equal(actual) else "has other elements"

    distance = _distance(actual, exact)
    allowed = max(config.repro_tolerance, 2 * _distance(expected, exact))
    return f"is {distance:.3g} away, {allowed:.3g} is allowed" if not distance <= allowed else ""


def _form(value: Any) -> str:
    is_tensor = isinstance(value, Tensor)
    return f"a tensor of shape {tuple(value.shape)} and dtype {value.dtype}" if is_tensor else repr(value)


def _distance(value: Any, exact: Any) -> float:
    """The root of the mean square of the difference, relative to that of the exact value, if that is more
    than 1. Equal infinities count as equal, and so does NaN in both."""
    wide = _C.complex128 if value.dtype.is_complex else _C.float64
    value, exact = (tensor.detach().to(wide).resolve_conj() for tensor in (value, exact))
    same = (value == exact) | (value.isnan() & exact.isnan())
    if bool(same.all()):
        return 0.0
    difference = (value - exact).abs().masked_fill(same, 0.0)
    scale = exact.abs().masked_fill(~exact.abs().isfinite(), 0.0).square().mean().sqrt().item()
    return float(difference.square().mean().sqrt().item() / max(scale, 1.0))
