"""Operators refuse to mix meta tensors, which have no memory, with CPU tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "gather": lambda x, i: torch.gather(x, 0, i.to("meta")),
    "scatter": lambda x, i: torch.scatter(x, 0, i.to("meta"), x),
    "scatter_add": lambda x, i: torch.scatter_add(x, 0, i, x.to("meta")),
    "index_add": lambda x, i: torch.index_add(x, 0, i.to("meta"), x),
    "index_copy": lambda x, i: torch.index_copy(x, 0, i.to("meta"), x),
    "index_select": lambda x, i: torch.index_select(x, 0, i.to("meta")),
    "index_put_": lambda x, i: x.index_put_((i.to("meta"),), x),
    "take_along_dim": lambda x, i: torch.take_along_dim(x, i.to("meta"), 0),
    "add": lambda x, i: x + torch.ones(3, device="meta"),
    "mm": lambda x, i: torch.mm(x.view(3, 1), torch.ones(1, 3, device="meta")),
    "cat": lambda x, i: torch.cat([x, x.to("meta")]),
}


@pytest.mark.parametrize("name", CALLS)
def test_cpu_and_meta_do_not_mix(name: str) -> None:
    x = torch.arange(3.0)
    with pytest.raises((RuntimeError, IndexError)):
        CALLS[name](x, torch.tensor([2, 0, 1]))
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_numbers_on_the_cpu_may_come_first() -> None:
    x = torch.ones(3, device="meta")
    condition = torch.tensor(True)
    for result in (x.where(condition, 3.0), torch.where(condition, x, x), torch.tensor(2.0) * x):
        assert result.is_meta and result.shape == (3,)
