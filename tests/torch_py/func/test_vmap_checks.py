"""Checks of values see all members of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

F = torch.nn.functional
SINGULAR = torch.stack([torch.eye(2), torch.zeros(2, 2)])
LinAlgError = torch.linalg.LinAlgError


@pytest.mark.parametrize(
    ("function", "batch", "error"),
    [
        (torch.linalg.inv, SINGULAR, LinAlgError),
        (lambda a: torch.linalg.solve(a, torch.ones(2)), SINGULAR, LinAlgError),
        (torch.linalg.lu_factor, SINGULAR, RuntimeError),
        (torch.linalg.cholesky, torch.stack([torch.eye(2), -torch.eye(2)]), LinAlgError),
        (lambda q: torch.quantile(torch.arange(3.0), q), torch.tensor([0.5, 2.0]), RuntimeError),
        (lambda t: F.binary_cross_entropy(torch.tensor([0.5]), t), torch.tensor([[2.0]]), RuntimeError),
        (lambda p: F.binary_cross_entropy(p, torch.tensor([0.5])), torch.tensor([[0.5], [-1]]), RuntimeError),
        (lambda i: torch.zeros(3).index_select(0, i), torch.tensor([[0], [3]]), (IndexError, RuntimeError)),
    ],
)
def test_a_member_fails(function: Callable[[Any], Any], batch: Any, error: Any) -> None:
    function(batch[0]) if len(batch) > 1 else None
    with pytest.raises(error):
        torch.vmap(function)(batch)
    with pytest.raises(error):
        torch.vmap(torch.vmap(function))(batch[None])


def test_the_member_is_named() -> None:
    with pytest.raises(LinAlgError, match=r"inv: \(Batch element 1\)"):
        torch.vmap(torch.linalg.inv)(SINGULAR)


def test_under_forward_mode() -> None:
    with pytest.raises(LinAlgError, match=r"\(Batch element 1\)"):
        torch.vmap(lambda a: torch.func.jvp(torch.linalg.inv, (a,), (a,)))(SINGULAR)
