"""Tangents of operators: shapes, dtypes and memory, and graphs around jvp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

jvp = torch.func.jvp

V = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]])
D = torch.tensor([[0.5, 1.0, -1.0], [2.0, 0.0, 1.0]])

CASES: dict[str, Callable[[Any], Any]] = {
    "broadcast": lambda x: x * x[0] + x[1, 2],
    "number of higher precision": lambda x: x * torch.tensor(2.0, dtype=torch.float64) + x.double()[0, 0],
    "integers": lambda x: x * torch.tensor([1, 2, 3]) / torch.tensor(2),
    "two precisions": lambda x: x.double().sin() + x,
    "condition": lambda x: torch.where(x > 0, x * x, x[0, 1]),
    "several results": lambda x: torch.cat([t * i for i, t in enumerate(x.split(1, 1))]),
    "values and indices": lambda x: x.sort(1).values + x.max(1, keepdim=True).values,
    "complex": lambda x: torch.view_as_real(torch.complex(x, x * x) * 2j).sum(-1),
    "product": lambda x: x @ x.T + torch.linalg.solve(x @ x.T, x).sum(),
    "views": lambda x: x.t()[1:].reshape(-1).unfold(0, 2, 1) * 2,
    "constant": lambda x: torch.ones_like(x) * 3 + x.detach(),
}


def by_differences(function: Callable[[Any], Any]) -> Any:
    step = 1e-6
    x, v = V.double(), D.double()
    return (function(x + step * v) - function(x - step * v)) / (2 * step)


@pytest.mark.parametrize("name", CASES)
def test_tangents(name: str) -> None:
    function = CASES[name]
    value, tangent = jvp(function, (V,), (D,))
    assert torch.equal(value, function(V)) and tangent.dtype == value.dtype
    if name == "constant":
        assert not tangent.any()
        return
    torch.testing.assert_close(tangent.double(), by_differences(function).double(), rtol=1e-4, atol=1e-4)


def test_a_batch_of_tangents_of_one_value() -> None:
    function = CASES["broadcast"]
    found = torch.vmap(lambda v: jvp(function, (V,), (v,))[1])(torch.stack([D, 2 * D, -D]))
    expected = jvp(function, (V,), (D,))[1]
    for row, factor in zip(found, (1, 2, -1)):
        torch.testing.assert_close(row, factor * expected)


def test_a_batch_of_values() -> None:
    found = torch.vmap(lambda x, v: jvp(torch.sin, (x,), (v,))[1])(V, D)
    torch.testing.assert_close(found, V.cos() * D)


@only_torch_py
def test_results_do_not_share_the_memory_of_tangents() -> None:
    direction = D.clone()
    _, tangent = jvp(lambda x: (x + 1).mul_(2), (V,), (direction,))
    assert torch.equal(direction, D) and torch.equal(tangent, 2 * D)
    _, tangent = jvp(lambda x: x + 1, (V,), (direction,))
    tangent.zero_()
    assert torch.equal(direction, D)


def test_gradients_through_jvp() -> None:
    x, v = V.clone().requires_grad_(), D.clone().requires_grad_()
    _, tangent = jvp(lambda x: (x**3).sum(), (x,), (v,))
    by_value, by_direction = torch.autograd.grad(tangent, (x, v))
    torch.testing.assert_close(by_value, 6 * V * D)
    torch.testing.assert_close(by_direction, 3 * V**2)


def test_nothing_is_recorded_without_a_graph_around() -> None:
    value, tangent = jvp(torch.exp, (V,), (D,))
    assert not value.requires_grad and not tangent.requires_grad
