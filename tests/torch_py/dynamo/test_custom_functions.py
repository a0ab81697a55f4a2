"""Custom autograd Functions: compiled code notices what their methods read, and does what they do."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import torch_py as torch
from torch_py._dynamo.utils import counters

BACKENDS = ["eager", "aot_eager", "inductor"]


class _Settings:
    factor = 2.0


class _State:
    """What the methods read, and how it changes."""

    def __init__(self) -> None:
        self.entries: dict[str, Any] = {"factor": 2.0}
        self.items = [2.0]
        self.object = SimpleNamespace(factor=2.0)
        self.module = torch.nn.Module()
        self.module.factor = 2.0
        _Settings.factor = 2.0


STATE = _State()
READS: dict[str, tuple[Callable[[], float], Callable[[], Any]]] = {
    "class": (lambda: _Settings.factor, lambda: setattr(_Settings, "factor", 5.0)),
    "dictionary": (lambda: STATE.entries["factor"], lambda: STATE.entries.update(factor=5.0)),
    "list": (lambda: STATE.items[0], lambda: STATE.items.insert(0, 5.0)),
    "length": (lambda: 2.0 * len(STATE.items), lambda: STATE.items.append(0.0)),
    "object": (lambda: STATE.object.factor, lambda: setattr(STATE.object, "factor", 5.0)),
    "module": (lambda: STATE.module.factor, lambda: setattr(STATE.module, "factor", 5.0)),
}


def _run(function: Callable[..., Any], *args: Any) -> list[Any]:
    x = torch.linspace(1, 2, 3).requires_grad_()
    result = function(x, *args)
    result.sum().backward()
    return [result.detach(), x.grad]


def _assert_same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert torch.allclose(one, other)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("where", ["forward", "backward", "both"])
@pytest.mark.parametrize("name", READS)
def test_changes_of_what_methods_read(name: str, where: str, backend: str) -> None:
    global STATE
    read, change = READS[name]
    STATE = _State()

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * (1.0 if where == "backward" else read())

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * (1.0 if where == "forward" else read())

    def program(x: Any) -> Any:
        return Scaled.apply(x) + 1

    compiled = torch.compile(program, backend=backend)
    _assert_same(_run(compiled), _run(program))
    change()
    _assert_same(_run(compiled), _run(program))


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_that_methods_read(backend: str) -> None:
    """They do not vary, as other integers of a program do."""

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * STATE.entries["count"]

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * len(STATE.items)

    def program(x: Any) -> Any:
        return Scaled.apply(x) + 1

    compiled = torch.compile(program, backend=backend)
    for count in (2, 5, 7, 5):
        STATE.entries["count"] = count
        STATE.items = [0.0] * count
        _assert_same(_run(compiled), _run(program))


@pytest.mark.parametrize("backend", BACKENDS)
def test_reversed_gradients_of_a_module(backend: str) -> None:
    class Reversed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, module: Any) -> Any:
            ctx.module = module
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return -ctx.module.weight_of_loss * gradient, None

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return Reversed.apply(x, self) * 2

    model = Model()
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    for weight in (0.1, 0.2, 0.3):
        model.weight_of_loss = weight
        _assert_same(_run(compiled), _run(model))


class _Counted(torch.autograd.Function):
    count = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        _Counted.count += 1
        return x * _Counted.count

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


_LOG: list[str] = []


class _Logged(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        _LOG.append("forward")
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        _LOG.append("backward")
        return gradient * 2


class _Printed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        print("forward", tuple(x.shape))
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        print("backward")
        return gradient * 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [_Counted, _Logged, _Printed])
def test_what_methods_do_besides(function: Any, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    def outcome(run: Callable[..., Any]) -> list[Any]:
        _Counted.count = 0
        _LOG.clear()
        found = []
        for size in (3, 3, 4, 5):
            x = torch.ones(size, requires_grad=True)
            result = run(x)
            result.sum().backward()
            found.append((result.tolist(), x.grad.tolist()))
        return [found, _Counted.count, list(_LOG), capsys.readouterr().out]

    def program(x: Any) -> Any:
        return function.apply(x + 1) * 3

    expected = outcome(program)
    assert outcome(torch.compile(program, backend=backend)) == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_count_that_the_program_has_changed_before(backend: str) -> None:
    def program(x: Any) -> Any:
        _Counted.count += 1
        return _Counted.apply(x) + _Counted.count

    outcomes = []
    for function in (program, torch.compile(program, backend=backend)):
        _Counted.count = 0
        outcomes.append([*_run(function), *_run(function), torch.tensor(_Counted.count)])
    _assert_same(outcomes[1], outcomes[0])


_OUTSIDE = torch.full((3,), 2.0)


class _UsesOutside(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * _OUTSIDE


class _UsesOutsideInForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * _OUTSIDE

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 3


class _Branches(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient / 2 if x.abs().max() > 1 else gradient


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [_UsesOutside, _UsesOutsideInForward, _Branches])
def test_methods_that_cannot_be_compiled(function: Any, backend: str) -> None:
    def program(x: Any) -> Any:
        return function.apply(x.sin()) + x

    counters.clear()
    compiled = torch.compile(program, backend=backend)
    for _ in range(3):
        _assert_same(_run(compiled), _run(program))
        _OUTSIDE.add_(1)
    _OUTSIDE.fill_(2)
    assert any("apply" in reason for reason in counters["graph_break"])
    with pytest.raises(torch._dynamo.exc.Unsupported, match=f"{function.__name__}.apply"):
        torch.compile(program, backend=backend, fullgraph=True)(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize("backend", BACKENDS)
def test_methods_with_all_that_a_context_has(backend: str) -> None:
    class Full(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: float, flags: Any) -> Any:
            return x * factor, x.argsort(), x.exp()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, ctx.factor, ctx.flags = inputs
            ctx.save_for_backward(x, output[2])
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, first: Any, _: Any, third: Any) -> Any:
            x, exponential = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False, False)
            total = first * ctx.factor + third * exponential
            return total if ctx.flags["negated"] is False else -total, None, None

    def program(x: Any, negated: bool) -> Any:
        first, places, third = Full.apply(x, 3.0, {"negated": negated})
        return first + places + third

    compiled = torch.compile(program, backend=backend, fullgraph=True)
    for negated in (False, True, False):
        _assert_same(_run(compiled, negated), _run(program, negated))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_that_changes_its_argument(backend: str) -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2

    def program(x: Any) -> Any:
        y = x.sin()
        return Doubled.apply(y) + y

    _assert_same(_run(torch.compile(program, backend=backend)), _run(program))


# Sizes that vary
# ------------------------------------------------------------


class _WithSize(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, x.shape[0], (x.shape[0] * 2 + 1, "text")

    @staticmethod
    def backward(ctx: Any, gradient: Any, *_: Any) -> Any:
        return gradient


class _OnlySize(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.shape[0]


class _Box:
    pass


class _Storing(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, box: Any) -> Any:
        if isinstance(box, list):
            box.append(x.shape[0])
        elif isinstance(box, dict):
            box["n"] = x.shape[0]
        else:
            box.n = x.shape[0]
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient, None


class _OfFixedSize(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return torch.ones(4) * gradient.sum()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dynamic", [None, True])
def test_sizes_that_methods_return_or_store(backend: str, dynamic: bool | None) -> None:
    def returned(x: Any) -> Any:
        y, n, (m, text) = _WithSize.apply(x)
        return y / n + m, n, int(f"{n}0"), len(text), len(range(n)), _OnlySize.apply(x)

    def stored(x: Any) -> Any:
        found = []
        for box in (_Box(), [], {}):
            y = _Storing.apply(x, box)
            found += [y * 3, box.n if isinstance(box, _Box) else box]
        return found

    for program in (returned, stored):
        compiled = torch.compile(program, backend=backend, dynamic=dynamic)
        for size in (3, 4, 5):
            expected = program(torch.ones(size))
            torch.testing.assert_close(compiled(torch.ones(size)), expected, rtol=0, atol=0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backward_for_one_size(backend: str) -> None:
    def program(x: Any) -> Any:
        return _OfFixedSize.apply(x) + 1

    compiled = torch.compile(program, backend=backend, dynamic=True)
    for size in (4, 3, 4):
        outcomes = []
        for function in (program, compiled):
            x = torch.ones(size, requires_grad=True)
            try:
                function(x).sum().backward()
                outcomes.append(x.grad.tolist())
            except RuntimeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


class Unsaved(torch.autograd.Function):
    """One whose backward fails."""

    @staticmethod
    def forward(ctx: Any, value: Any) -> Any:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (value,) = ctx.saved_tensors
        return gradient * value


@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_of_backward_are_not_those_of_the_call(backend: str) -> None:
    def function(x: Any) -> Any:
        try:
            return Unsaved.apply(x) * 2
        except ValueError:
            return x * 3

    compiled = torch.compile(function, backend=backend)
    for call in (function, compiled):
        result = call(torch.ones(2, requires_grad=True))
        assert result.tolist() == [2.0, 2.0]
        with pytest.raises(ValueError, match="not enough values to unpack"):
            result.sum().backward()
