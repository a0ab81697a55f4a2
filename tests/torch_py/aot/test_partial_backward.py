"""Backward where some results have no gradient: eager mode leaves out what only these need."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import torch_py as torch
from torch_py._functorch.aot import aot_function
from torch_py._functorch.aot.partial_backward import _MOST_GRAPHS
from torch_py._functorch.aot.recipes import TANGENTS
from torch_py._functorch.compilers import nop
from torch_py._inductor import config, graph_cache
from torch_py._inductor.cache import Cache
from torch_py._inductor.entries import decoded, encoded
from torch_py.utils.checkpoint import checkpoint

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


def _joined(x: Any, w: Any) -> Any:
    """Gradients that are parts of others, in memory."""
    y = torch.cat([x, (x * w).flip(0)], 1)
    return x * w, y, y[:, 2:5] + 1, torch.cat([x.t(), w[:, None]], 1)


def _statistics_of_columns(x: Any, w: Any) -> Any:
    return x.t().contiguous() * w[:, None], (x * w / 8).softmax(1), torch.cov(x)


PROGRAMS = [_joined, _statistics_of_columns, _infinite, _common_part, _rows, _statistics, _layers, _changed]


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
@pytest.mark.parametrize("program", [_infinite, _rows, _joined, _statistics_of_columns])
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


def test_modes_of_the_thread_do_not_see_what_is_compiled_in_a_pass():
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


# Functions of the program
# ------------------------------------------------------------


class Bent(torch.autograd.Function):
    """A derivative that is not linear."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        (x,) = ctx.saved_tensors
        return first.cos() + second * x + 1


class WithoutZeros(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        return (0 if first is None else first.cos()) + (0 if second is None else second)


class Constant(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return torch.full(gradient.shape, 3.0)


class Drawn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * torch.rand(gradient.shape)


def _bent(x: Any, w: Any) -> Any:
    first, second = Bent.apply(x)
    return first * w, second.exp(), x * w


def _constant(x: Any, w: Any) -> Any:
    return Constant.apply(x), x * w, Constant.apply(x * w) * w


def _drawn(x: Any, w: Any) -> Any:
    return Drawn.apply(x), Drawn.apply(x * w), x.sin() + w


def _hooked(x: Any, w: Any) -> Any:
    y = x * w
    y.register_hook(lambda gradient: gradient + 1)
    return y.sin(), x.cos(), y[0] * 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", [_bent, _constant, _drawn, _hooked])
def test_steps_of_the_program(program: Callable[..., Any], backend: str):
    compiled = torch.compile(program, backend=backend)
    for chosen in ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2]):
        outcomes = []
        for function in (program, compiled):
            torch.manual_seed(0)
            outcomes.append([*_gradients(function, chosen), torch.rand(1)])
        _assert_same(outcomes[1], outcomes[0])


def test_a_function_that_asks_which_gradients_are_there():
    """It is recorded with all of them, so that those that do not arrive are zeros."""

    def program(x: Any, w: Any) -> Any:
        first, second = WithoutZeros.apply(x)
        return first * w, second * w

    compiled = torch.compile(program, backend="aot_eager")
    _assert_same(_gradients(compiled, [0, 1]), _gradients(program, [0, 1]))
    _assert_same(_gradients(compiled, [0]), _gradients(program, [0]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_passes_that_add_up(backend: str):
    compiled = torch.compile(_common_part, backend=backend)
    outcomes = []
    for function in (_common_part, compiled):
        x, w = torch.arange(6.0).reshape(2, 3).requires_grad_(), torch.linspace(0.5, 2, 3).requires_grad_()
        results = function(x, w)
        results[2].sum().backward(retain_graph=True)
        (results[0].sum() + results[1].sum()).backward(retain_graph=True)
        outcomes.append([x.grad.clone(), *torch.autograd.grad(results[3].sum(), (x, w), retain_graph=True)])
        results[2].sum().backward()
        outcomes[-1] += [x.grad, w.grad]
    _assert_same(outcomes[1], outcomes[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_hooks_of_results_without_gradient(backend: str):
    """Those of compiled results are called for gradients only."""
    calls: list[Any] = []
    compiled = torch.compile(lambda x: (x.sin(), x.cos()), backend=backend)
    first, second = compiled(torch.ones(2, requires_grad=True))
    first.register_hook(calls.append)
    second.register_hook(calls.append)
    first.sum().backward()
    assert len(calls) == 1 and calls[0] is not None


class _Divided(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.sqrt()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient / 0.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_comes_before_an_argument_without_gradient(backend: str):
    """It does not run, as nothing leads to it in eager mode."""
    calls: list[Any] = []

    def outcome(function: Callable[..., Any]) -> list[Any]:
        calls.clear()
        x, w = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
        other = torch.ones(2, requires_grad=True)
        other.register_hook(calls.append)
        linear = torch.nn.Linear(2, 2)
        linear.register_full_backward_hook(lambda *given: calls.append(given))

        between = _Divided.apply(w)
        between.register_hook(calls.append)
        between.grad_fn.register_hook(lambda *given: calls.append(given))
        results = function(
            x, between, other, linear(torch.ones(2, 2)), checkpoint(torch.sqrt, w, use_reentrant=True)
        )
        results[0].sum().backward(retain_graph=True)
        assert not calls
        (results[0].sum() + results[2].sum()).backward()
        assert len(calls) == 1
        return [x.grad, w.grad, other.grad, linear.weight.grad]

    def program(*given: Any) -> Any:
        return tuple(value * (2 + number) for number, value in enumerate(given))

    _assert_same(outcome(torch.compile(program, backend=backend)), outcome(program))


# Compilers
# ------------------------------------------------------------


def test_a_compiler_that_fails_in_a_pass():
    def backward(module: Any, inputs: Any) -> Any:
        if len(module.graph.find_nodes(op="placeholder")) < 4:
            raise ValueError("no such graph")
        return module

    function = aot_function(lambda x, w: (x.sin(), x * w), nop, backward)
    for _ in range(_MOST_GRAPHS + 2):
        with pytest.raises(ValueError, match="no such graph"):
            _gradients(function, [1])
    _assert_same(_gradients(function, [0, 1]), _gradients(lambda x, w: (x.sin(), x * w), [0, 1]))


def test_threads_that_need_the_same_graph():
    graphs: list[Any] = []

    def backward(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        time.sleep(0.02)
        return module

    function = aot_function(_common_part, nop, backward)
    expected = _gradients(_common_part, [1])
    _gradients(function, [0, 1, 2, 3])
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: _gradients(function, [1]), range(16)):
            _assert_same(found, expected)
    assert len(graphs) == 2


def test_settings_and_passes_of_the_call():
    seen: list[Any] = []

    def look(graph: Any) -> None:
        seen.append(config.allow_buffer_reuse)

    options = {"allow_buffer_reuse": False, "post_grad_custom_pre_pass": look}
    compiled = torch.compile(_common_part, options=options)
    _gradients(compiled, [0])
    assert seen == [False] * 3  # forward, the whole of backward, and the part
    assert config.allow_buffer_reuse and config.post_grad_custom_pre_pass is None


def test_nothing_is_kept_of_what_is_compiled_for_a_pass():
    class Mark:
        pass

    def program(x: Any) -> Any:
        return x.sin(), x.cos()

    marks = []

    def backward(module: Any, inputs: Any) -> Any:
        mark = Mark()
        marks.append(weakref.ref(mark))

        def run(*values: Any) -> Any:
            return module(*values) if mark is not functions[0] else None

        return run

    functions = [aot_function(program, nop, backward)]
    x = torch.ones(2, requires_grad=True)
    functions[0](x)[0].sum().backward()
    assert len(marks) == 2 and None not in [mark() for mark in marks]
    functions.clear()
    del x
    gc.collect()
    assert [mark() for mark in marks] == [None, None]


# The cache
# ------------------------------------------------------------


@pytest.mark.parametrize("program", [*PROGRAMS, _hooked])
def test_calls_from_the_cache(program: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(Cache, "_opened", None)
    read: list[Any] = []
    original = graph_cache.module_of
    monkeypatch.setattr(graph_cache, "module_of", lambda parts: read.append(parts) or original(parts))

    for number in range(2):
        torch._dynamo.reset()
        compiled = torch.compile(program, backend="inductor")
        for chosen in ([0], [1], [0, 1]):
            _assert_same(_gradients(compiled, chosen), _gradients(program, chosen))
        assert bool(read) == (number == 1)


def test_a_kept_graph_is_what_it_was(tmp_path: Path):
    """Whatever the default dtype is when it is read."""
    graphs: list[Any] = []

    def backward(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module

    aot_function(_statistics, nop, backward)(*_leaves())
    (before,) = graphs
    parts = decoded(encoded(graph_cache.graph_parts(before.graph)))
    torch.set_default_dtype(torch.float64)
    try:
        after = graph_cache.module_of(parts)
    finally:
        torch.set_default_dtype(torch.float32)
    assert after.code == before.code
    assert graph_cache.text_of_graph(after) == graph_cache.text_of_graph(before)
    assert [node.meta.get(TANGENTS) for node in after.graph.nodes] == [
        node.meta.get(TANGENTS) for node in before.graph.nodes
    ]
