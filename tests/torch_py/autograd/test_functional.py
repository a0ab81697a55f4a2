"""torch.autograd.functional: Jacobians, Hessians and their products with vectors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

autograd = torch.autograd


def test_jacobian_and_hessian() -> None:
    x = torch.tensor([1.0, 2.0])
    functional = autograd.functional
    assert functional.jacobian(lambda x: x * x, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert functional.hessian(lambda x: (x**3).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    blocks = functional.jacobian(lambda x, y: (x * y, x.sum()), (x, torch.ones(2)))
    assert blocks[0][1].tolist() == [[1.0, 0.0], [0.0, 2.0]] and blocks[1][1].tolist() == [0.0, 0.0]
    second = functional.hessian(lambda x, y: (x * y).sum(), (x, torch.ones(2)))
    assert second[0][1].tolist() == [[1.0, 0.0], [0.0, 1.0]] and second[0][0].tolist() == [
        [0.0, 0.0],
        [0.0, 0.0],
    ]


def test_products_with_vectors() -> None:
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    functional = autograd.functional
    assert functional.vjp(lambda x: x * x, x, v)[1].tolist() == [6.0, 20.0]
    assert functional.jvp(lambda x: x * x, x, v)[1].tolist() == [6.0, 20.0]
    assert functional.hvp(lambda x: (x**3).sum(), x, v)[1].tolist() == [18.0, 60.0]
    assert functional.vhp(lambda x: (x**3).sum(), x, v)[1].tolist() == [18.0, 60.0]
    with pytest.raises(RuntimeError):
        functional.vjp(lambda x: x * x, x)


def test_strict_and_recorded_jacobian() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError):
        autograd.functional.jacobian(lambda x: torch.ones(1), x, strict=True)
    recorded = autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    assert autograd.grad(recorded.sum(), x)[0].item() == 6.0


def cube(x: Any) -> Any:
    return (x**3).sum()


def test_options_of_jacobian_and_hessian() -> None:
    from importlib import import_module

    functional = import_module(f"{torch.__name__}.autograd.functional")
    x = torch.tensor([1.0, 2.0])
    expected = torch.diag(2 * x)
    for options in ({}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
        torch.testing.assert_close(functional.jacobian(lambda v: v**2, x, **options), expected)
    for options in ({}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}):
        torch.testing.assert_close(functional.hessian(cube, x, **options), torch.diag(6 * x))
    for options, error in [
        ({"strategy": "sideways"}, AssertionError),
        ({"strategy": "forward-mode"}, NotImplementedError),
        ({"strategy": "forward-mode", "vectorize": True, "create_graph": True}, NotImplementedError),
        ({"strict": True, "vectorize": True}, RuntimeError),
    ]:
        with pytest.raises(error):
            functional.jacobian(lambda v: v**2, x, **options)


def test_forward_mode_calls_the_function_once() -> None:
    from importlib import import_module

    functional = import_module(f"{torch.__name__}.autograd.functional")
    calls = []

    def outputs(x: Any, y: Any) -> Any:
        calls.append(x)
        return (x * y).sum(0), x.sin().sum()

    x = torch.arange(6.0).view(2, 3)
    y = torch.full((2, 3), 0.5)
    found = functional.jacobian(outputs, (x, y), vectorize=True, strategy="forward-mode")
    assert len(calls) == 1
    torch.testing.assert_close(found, functional.jacobian(outputs, (x, y)))
    assert not found[0][0].requires_grad
