"""Inference mode and autocast inside of programs."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from torch_py._functorch.aot import aot_function
from torch_py._functorch.compilers import nop
from torch_py._thread_state import ThreadState


@pytest.mark.filterwarnings("error:torch.compile.*runs eagerly")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_graphs_that_end_in_inference_mode(backend: str):
    """The graph up to the break begins without it, and returns a view of its argument."""

    def function(x: Any, w: Any) -> Any:
        part = w[1:]
        with torch.inference_mode():
            row = x[0]
            torch._dynamo.graph_break()
        return w * 2, part, row

    def outcome(call: Any) -> Any:
        results = call(torch.ones(2, 3), torch.ones(3, requires_grad=True))
        modes = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        return [(t.requires_grad, t.is_leaf, t.is_inference()) for t in results], modes

    assert outcome(torch.compile(function, backend=backend)) == outcome(function)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_graphs_that_leave_inference_mode(backend: str):
    """The graph after the break begins in it, and its results are ordinary tensors."""

    def function(x: Any, w: Any) -> Any:
        with torch.inference_mode():
            torch._dynamo.graph_break()
            inside = x + 1
        return x * 2, w[1:], w * inside.sum().clone()

    def outcome(call: Any) -> Any:
        results = call(torch.ones(2, 3), torch.ones(3, requires_grad=True))
        return [(t.requires_grad, t.is_leaf, t.is_inference()) for t in results]

    assert outcome(torch.compile(function, backend=backend)) == outcome(function)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_graphs_that_leave_inference_mode_and_come_back(backend: str):
    """The second graph begins and ends in it, at the breaks."""

    def function(x):
        with torch.inference_mode():
            inside = x + 1
            torch._dynamo.graph_break()
        outside = x.new_ones(2, 3)
        with torch.inference_mode():
            last = x * 2
            torch._dynamo.graph_break()
        outside.mul_(3)
        return inside, outside, last

    compiled = torch.compile(function, backend=backend)
    results = [call(torch.ones(2, 3)) for call in (function, compiled)]
    facts = [[(t.is_inference(), t.tolist()) for t in found] for found in results]
    assert facts[0] == facts[1]
    assert [is_inference for is_inference, _ in facts[0]] == [True, False, True]


@pytest.mark.filterwarnings("error:torch.compile.*runs eagerly")
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("mode", [False, True])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_results_of_inference_mode(backend: str, mode: bool, requires_grad: bool):
    """What a program computes in inference mode stays so, and views of it and of arguments are as eager's."""

    def function(x: Any) -> Any:
        with torch.inference_mode():
            inner = x.exp()
            row = x[0]
            torch._dynamo.graph_break()
            later = inner + 1
        return inner, inner[0], inner.t(), row, later, x * 2

    def outcome(call: Any) -> Any:
        x = torch.ones(2, 3, requires_grad=requires_grad)
        with torch.inference_mode(mode):
            results = call(x)
        memory = [t.untyped_storage()._cdata for t in results]
        facts = [(t.is_inference(), t.requires_grad, t.is_leaf, t._is_view(), t.tolist()) for t in results]
        return facts, [memory.index(place) for place in memory]

    assert outcome(torch.compile(function, backend=backend)) == outcome(function)


@pytest.mark.filterwarnings("error:torch.compile.*runs eagerly")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_tensors_of_inference_mode_change_in_it(backend: str):
    def function(x: Any) -> Any:
        with torch.inference_mode():
            x.mul_(3)
        return x + 1

    with torch.inference_mode():
        x = torch.ones(3)
    result = torch.compile(function, backend=backend)(x)
    assert (x.tolist(), result.tolist()) == ([3.0] * 3, [4.0] * 3)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_tensors_of_inference_mode_get_another_shape_in_it(backend: str):
    def function(x: Any) -> Any:
        with torch.inference_mode():
            x.t_()
        return x + 1

    with torch.inference_mode():
        x = torch.ones(2, 3)
    result = torch.compile(function, backend=backend)(x)
    assert x.shape == result.shape == (3, 2)


def _fails_in_blocks(x: Any, position: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        x.add_(1)
        return x[position]


def _fails_after_breaks(x: Any, position: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        x.add_(1)
        torch._dynamo.graph_break()
        x.add_(1)
        torch._dynamo.graph_break()
        x.add_(1)
        return x[position]


@pytest.mark.parametrize("function", [_fails_in_blocks, _fails_after_breaks])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_graphs_that_fail_leave_blocks(backend: str, function: Any):
    """Such a graph is not run again where it changes tensors: the exception leaves the program."""
    compiled = torch.compile(function, backend=backend)
    before = ThreadState()
    for _ in range(2):
        with pytest.raises(IndexError):
            compiled(torch.ones(3), torch.tensor([7]))
        assert not ThreadState().changes_from(before)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_graphs_that_end_in_autocast(backend: str):
    """The graph up to the break begins without it, and is compiled without it. The blocks are counted: what
    was cast is forgotten where the outermost one ends."""

    def function(x: Any) -> Any:
        product = x @ x
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch._dynamo.graph_break()
        return product, torch.is_autocast_enabled("cpu")

    def depth() -> int:
        torch.autocast_increment_nesting()
        return torch.autocast_decrement_nesting()

    before = depth()
    compiled = torch.compile(function, backend=backend)
    for _ in range(2):
        product, is_enabled = compiled(torch.ones(2, 2))
        assert product.dtype == torch.float32 and not is_enabled and depth() == before


@pytest.mark.parametrize("requires_grad", [False, True])
def test_parts_without_autocast(requires_grad: bool):
    """Graphs have the casts in them, and run without further ones."""

    def function(x: Any) -> Any:
        with torch.autocast("cpu", enabled=False):
            exact = x @ x
        return exact, x @ x

    with torch.autocast("cpu", dtype=torch.bfloat16):
        exact, rounded = aot_function(function, nop)(torch.ones(2, 2, requires_grad=requires_grad))
        assert torch.is_autocast_enabled("cpu")
    assert (exact.dtype, rounded.dtype) == (torch.float32, torch.bfloat16)


def test_backward_is_without_autocast():
    """As it is where the program calls it after the block."""

    def function(x: Any, w: Any) -> Any:
        with torch.autocast("cpu", enabled=False):
            return x @ w

    def gradient(call: Any) -> Any:
        x, w = torch.rand(2, 3), torch.full((3, 2), 1.001, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            result = call(x, w)
        return torch.autograd.grad(result.sin().sum(), w)[0]

    torch.manual_seed(0)
    expected = gradient(function)
    torch.manual_seed(0)
    assert torch.equal(gradient(aot_function(function, nop)), expected)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_weight_is_cast_once_in_a_graph(backend: str):
    def function(w):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return torch.addmm(w, w.sigmoid(), w)

    w = torch.randn(6, 6, requires_grad=True)
    results = [function(w), torch.compile(function, backend=backend)(w)]
    gradients = [torch.autograd.grad(result.float().sum(), w)[0] for result in results]
    assert torch.equal(*results) and torch.equal(*gradients)  # summed in bfloat16


def test_shapes_changed_in_inference_mode():
    def function(x):
        y = x.sigmoid()
        with torch.inference_mode():
            y.squeeze_()
            view = y.view(-1)
        return y, view

    x = torch.randn(1, 3, requires_grad=True)
    results = zip(function(x), torch.compile(function, backend="aot_eager")(x))
    for expected, result in results:
        assert torch.equal(result, expected) and result.is_leaf is expected.is_leaf


def test_draws_inside_of_another_default_device():
    def function(x):
        drawn = x.bernoulli(0.5)
        return drawn, drawn.bernoulli(0.5)

    x = torch.zeros(4, 6)
    results = []
    for run in (function, torch.compile(function, backend="aot_eager")):
        torch.manual_seed(0)
        with torch.device("meta"):
            results.append((*run(x), torch.rand(1, device="cpu")))
    assert all(map(torch.equal, *results))


def test_draws_for_tensors_with_gaps():
    def function(x):
        for _ in range(2):
            x.normal_()
        return x * 1

    memory = torch.zeros(2, 4, 12)
    results = []
    for run, rows in zip((function, torch.compile(function, backend="aot_eager")), memory):
        torch.manual_seed(0)
        results.append(run(rows[:, 3:9]))
    assert torch.equal(*results) and torch.equal(*memory)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_programs_compiled_while_anomalies_are_looked_for():
    def function(w: Any) -> Any:
        return (w * 2).log_softmax(0).squeeze(0)

    w = torch.randn(3, 3, requires_grad=True)
    with torch.autograd.detect_anomaly():
        compiled = torch.compile(function, backend="aot_eager")(w)
    gradients = [torch.autograd.grad(out.sin().sum(), w)[0] for out in (compiled, function(w))]
    assert torch.equal(*gradients)
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan"):
        compiled = torch.compile(lambda x: x.sqrt() * 0, backend="aot_eager")(w * 0)
        compiled.sum().backward()


@pytest.mark.parametrize("requires_grad", [True, False])
def test_views_that_are_taken_before_inference_mode(requires_grad):
    """The graph ends in inference mode; its result is a view that autograd knows all the same."""

    def program(x):
        view = x.t()
        with torch.inference_mode():
            x.squeeze_()  # which ends the graph
        return view * 2, view

    def outcome(function):
        x = torch.linspace(0, 1, 6).reshape(2, 3).requires_grad_(requires_grad)
        result, view = function(x)
        names = [type(t.grad_fn).__name__ for t in (view,)]
        if requires_grad:
            result.sum().backward()
        return [result, view, x.grad, view._is_view(), view._base is x, names]

    for backend in ("eager", "aot_eager", "inductor"):
        for one, other in zip(outcome(torch.compile(program, backend=backend)), outcome(program)):
            same = torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
            assert same


def test_views_of_leaves_that_are_views():
    """Without grad mode these are views of the base, which requires a gradient or not."""

    def program(x):
        with torch.no_grad():
            view = x.mT
        return view, view.sin()

    def argument(kind):
        base = torch.rand(2, 3, requires_grad=kind != "alone")
        with torch.no_grad():
            return base if kind == "leaf" else base[:2].requires_grad_()

    for first in ("leaf", "alone", "view"):
        compiled = torch.compile(program, backend="aot_eager")
        for kind in (first, "alone", "leaf", "view"):
            results = [function(argument(kind)) for function in (program, compiled)]
            assert [[t.requires_grad for t in result] for result in results] == [[kind != "alone"] * 2] * 2
        torch.compiler.reset()
