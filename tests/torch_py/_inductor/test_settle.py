"""Loops that write the new values of inputs to their memory."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import compare, plain
from tests.torch_py.aot.test_changes import FUNCTIONS, S, _expanded, _permuted, _with_gaps
from torch_py._functorch.aot import aot_function
from torch_py._functorch.aot.in_place import write_in_place
from torch_py._inductor.stages import compile_graph


def _compile(graph: Any, inputs: Any) -> Any:
    write_in_place(graph)
    return compile_graph(graph).program


def _compare(function: Any, make: Any) -> None:
    compare(function, make, compiler=_compile, keep_inference_input_mutations=True)


def _program(function: Any, *arguments: Any) -> str:
    """The steps for a function that changes its arguments."""
    found = []

    def keep(graph: Any, inputs: Any) -> Any:
        found.append(_compile(graph, inputs))
        return found[0]

    aot_function(function, keep, keep_inference_input_mutations=True)(*arguments)
    return str(found[0].debug())


def _momentum(x: Any, y: Any) -> None:
    x.mul_(0.9).add_(0.5)
    y.add_(x, alpha=-0.1)


def _exchange(x: Any, y: Any) -> None:
    old = x.clone()
    x.copy_(y)
    y.copy_(old)


def _softmax(x: Any, y: Any) -> None:
    x.copy_(torch.softmax(x, -1))
    y.sub_(y.mean(0))


def _shifted(x: Any, y: Any) -> None:
    x.copy_(torch.roll(x, 1, 1))
    y[1:].add_(y[:-1].clone())


def _also_returned(x: Any, y: Any) -> Any:
    new = x + 1
    x.copy_(new)
    return new, y.mul_(2)


def _of_a_product(x: Any, y: Any) -> Any:
    y.copy_(x @ x.t() @ y + 1)
    return y.sum()


def _read_by_calls(x: Any, y: Any) -> Any:
    product = x @ y.t()
    x.add_(1)
    y.add_(x)
    return product, x @ y.t()


CHANGES = [_momentum, _exchange, _softmax, _shifted, _also_returned, _of_a_product, _read_by_calls]


@pytest.mark.parametrize("make", [plain(S, S), _permuted, _with_gaps], ids=["plain", "permuted", "gaps"])
@pytest.mark.parametrize("function", CHANGES, ids=lambda function: function.__name__)
def test_changes(function: Any, make: Any, monkeypatch: Any):
    monkeypatch.setenv("TORCH_PY_VERIFY", "1")
    _compare(function, make)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_that_change_arguments(function: Any):
    _compare(function, plain(S, S))


def test_expanded_arguments():
    for function in CHANGES:
        if function in (_momentum, _softmax):
            _compare(function, _expanded)


def test_changes_take_no_memory():
    program = _program(_momentum, torch.ones(3, 4), torch.ones(3, 4))
    assert "allocate" not in program and "copy_" not in program
    assert program.count("changes") == 1  # one loop for both


def test_an_exchange_copies_once():
    program = _program(_exchange, torch.ones(3, 4), torch.ones(3, 4))
    assert program.count("allocate") == 1 and program.count("copy_") == 1


@torch.no_grad()
def _step_of_adam(x: Any, grad: Any, mean: Any, square: Any) -> None:
    mean.lerp_(grad, 0.1)
    square.mul_(0.9).addcmul_(grad, grad, value=0.1)
    x.addcdiv_(mean, square.sqrt() + 1e-8, value=-0.1)


def test_varying_sizes():
    compiled = torch.compile(_step_of_adam, dynamic=True)
    for size in (3, 7, 64):
        eager = list(torch.rand(4, size, 5).unbind())
        found = [tensor.clone() for tensor in eager]
        versions = [tensor._version for tensor in found]

        _step_of_adam(*eager)
        compiled(*found)
        for one, other in zip(found, eager):
            torch.testing.assert_close(one, other)
        changed = [one._version > before for one, before in zip(found, versions)]
        assert changed == [True, False, True, True]


OPTIMIZERS = [
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("AdamW", {"fused": False, "foreach": False}),
    ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Adagrad", {}),
    ("Adadelta", {}),
    ("Adamax", {}),
    ("NAdam", {}),
    ("RAdam", {}),
    ("Rprop", {}),
    ("ASGD", {}),
]


@pytest.mark.parametrize("name, options", OPTIMIZERS)
def test_optimizers(name: str, options: dict[str, Any]):
    def parameters_after(compile: Any) -> list[Any]:
        torch.manual_seed(0)
        parameters = [torch.nn.Parameter(torch.randn(4, 5)) for _ in range(3)]
        optimizer = getattr(torch.optim, name)(parameters, lr=0.1, **options)
        step = compile(optimizer.step)
        for _ in range(4):
            for parameter in parameters:
                parameter.grad = torch.randn(4, 5)
            step()
        return parameters

    for one, other in zip(parameters_after(torch.compile), parameters_after(lambda step: step)):
        torch.testing.assert_close(one, other)
