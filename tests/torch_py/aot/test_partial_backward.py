"""Backward where some results have no gradient: eager mode leaves out what only these need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torch_py as torch
from torch_py._functorch.aot import aot_function
from torch_py._functorch.aot.partial_backward import _MOST_GRAPHS
from torch_py._functorch.compilers import nop
from torch_py._inductor.cache import Cache

BACKENDS = ["eager", "aot_eager", "aot_eager_decomp_partition", "inductor"]


def _infinite(x: Any, w: Any) -> Any:
    """The derivative of each result but the last is infinite for the 0 in `x`."""
    return x.sqrt(), x.log() * w, x.reciprocal(), (x * w).sum()


def _common_part(x: Any, w: Any) -> Any:
    y = (x @ w.diag()).exp()
    return y, y.sqrt().sum(0), torch.cat([y, x], 1), torch.stack([y[0], x[1]])


def _rows(x: Any, w: Any) -> Any:
    """The gradients of the results meet in an operator that is not a sum."""
    first, second = torch.split(x * w, 1)
    return first.clone(), second * w, first.expand(4, -1) + 1


def _statistics(x: Any, w: Any) -> Any:
    deviation, mean = torch.std_mean(x * w, 0)
    values, places = (x + w).sort(1)
    return deviation, mean, values, places


def _layers(x: Any, w: Any) -> Any:
    normed = torch.nn.functional.layer_norm(x, (3,), w)
    image = torch.nn.functional.conv1d(x[None], w.expand(2, 2, 3))
    return normed, image, normed.transpose(0, 1).reshape(-1) * 2


def _changed(x: Any, w: Any) -> Any:
    y = x * w
    y.mul_(2)
    first = (y + 1).sin()
    y[0] = w
    return first, y, y[1].exp()


PROGRAMS = [_infinite, _common_part, _rows, _statistics, _layers, _changed]


def _gradients(function: Callable[..., Any], chosen: list[int], shape: tuple[int, ...] = (2, 3)) -> list[Any]:
    """Of one pass from the results with these numbers."""
    count = shape[0] * shape[1]
    x = torch.arange(float(count)).reshape(shape).requires_grad_()
    w = torch.linspace(0.5, 2, shape[1]).requires_grad_()
    results = function(x, w)
    outputs = [results[number] for number in chosen]
    weights = [torch.linspace(1, 2, y.numel()).reshape(y.shape) for y in outputs]
    torch.autograd.backward(outputs, weights)
    return [x.grad, w.grad]


def _assert_same(found: list[Any], expected: list[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_choice_of_results(program: Callable[..., Any], backend: str):
    differentiable = [n for n, y in enumerate(program(*_leaves())) if y.requires_grad]
    choices = [[number] for number in differentiable] + [differentiable[:2], differentiable[1:]]
    compiled = torch.compile(program, backend=backend, fullgraph=True)
    for chosen in choices:
        _assert_same(_gradients(compiled, chosen), _gradients(program, chosen))


def _leaves() -> tuple[Any, Any]:
    return torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("program", [_infinite, _rows])
def test_sizes_that_vary(program: Callable[..., Any], backend: str):
    compiled = torch.compile(program, backend=backend, dynamic=True)
    for shape in [(2, 3), (2, 5), (2, 7)] if program is _rows else [(2, 3), (4, 5), (3, 7)]:
        for chosen in ([0], [1], [2], [0, 2]):
            _assert_same(_gradients(compiled, chosen, shape), _gradients(program, chosen, shape))


def test_a_graph_is_compiled_once_for_each_set_of_tangents():
    graphs: list[str] = []

    def backward(module: Any, inputs: Any) -> Any:
        graphs.append(module.code.strip())
        return module

    function = aot_function(lambda x, w: (x.sin(), x * w), nop, backward)
    for _ in range(3):
        for chosen in ([0, 1], [1], [0]):
            _gradients(function, chosen)
    assert len(graphs) == 3

    assert "sin_backward" not in graphs[1] and graphs[1].endswith("return [mul_1, sum_1]")
    assert graphs[2].endswith("return [sin_backward, None]")


def test_after_many_sets_of_tangents_backward_takes_zeros():
    graphs: list[Any] = []

    def backward(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module

    def program(x: Any, w: Any) -> Any:
        return [x * number for number in range(2, _MOST_GRAPHS + 4)]

    function = aot_function(program, nop, backward)
    for number in range(_MOST_GRAPHS + 2):
        _assert_same(_gradients(function, [number]), _gradients(program, [number]))
    assert len(graphs) == 1 + _MOST_GRAPHS


def test_state_of_the_thread_in_such_a_pass():
    """What is compiled in the middle of a backward is what a call compiles."""

    seen: list[str] = []

    class Calls(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    def outcome(function: Callable[..., Any]) -> list[Any]:
        x, w = torch.arange(6.0).reshape(2, 3).requires_grad_(), torch.linspace(0.5, 2, 3).requires_grad_()
        first = function(x, w)[0]
        gradient = torch.linspace(1, 2, first.numel()).reshape(first.shape)
        seen.clear()
        with torch.autocast("cpu"), torch.device("meta"), Calls():
            first.backward(gradient)
        return [x.grad, w.grad]

    expected = outcome(_rows)
    seen_by_eager = list(seen)
    _assert_same(outcome(torch.compile(_rows, backend="inductor")), expected)
    assert seen == seen_by_eager


def test_calls_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(Cache, "_opened", None)
    for number in range(3):
        torch._dynamo.reset()
        for program in PROGRAMS:
            compiled = torch.compile(program, backend="inductor")
            for chosen in ([0], [1], [number]):
                _assert_same(_gradients(compiled, chosen), _gradients(program, chosen))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_of_the_program_with_two_results(backend: str):
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            (x,) = ctx.saved_tensors
            return gradients[0] * 2 + gradients[1] * x.cos()

    def program(x: Any, w: Any) -> Any:
        one, two = Both.apply(x)
        return one * w, two.exp()

    compiled = torch.compile(program, backend=backend)
    for chosen in ([0], [1], [0, 1]):
        _assert_same(_gradients(compiled, chosen), _gradients(program, chosen))
