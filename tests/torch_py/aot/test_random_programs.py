"""Random programs of views, changes in place and aliases do the same compiled ahead of time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import compare
from torch_py._functorch.aot import default_partition, min_cut_rematerialization_partition

VIEWS: list[Callable[[Any, random.Random], Any]] = [
    lambda t, r: t.view(-1) if t.is_contiguous() else t.t(),
    lambda t, r: t.t() if t.dim() == 2 else t.unsqueeze(0),
    lambda t, r: t[r.randrange(t.shape[0])] if t.dim() > 1 else t[1:],
    lambda t, r: t[..., : max(1, t.shape[-1] // 2)],
    lambda t, r: t[::2],
    lambda t, r: t.unsqueeze(r.randrange(t.dim() + 1)),
    lambda t, r: t.squeeze(),
    lambda t, r: t.transpose(0, -1),
    lambda t, r: t.detach(),
    lambda t, r: t.view_as(t),
    lambda t, r: t.chunk(2, 0)[0],
    lambda t, r: t.unbind(0)[0] if t.dim() > 1 else t,
    lambda t, r: t.diagonal() if t.dim() == 2 else t,
    lambda t, r: t.expand(2, *t.shape)[0],
    lambda t, r: t.as_strided((2, 2), (1, 2), t.storage_offset()) if t.numel() > 4 else t,
    lambda t, r: t.reshape(-1),
]
VALUES: list[Callable[[Any, Any], Any]] = [
    lambda t, u: t * 2,
    lambda t, u: t.sin(),
    lambda t, u: t + u.sum(),
    lambda t, u: t * u.mean(),
    lambda t, u: torch.where(t > 0, t, u.sum()),
    lambda t, u: t.clone(),
    lambda t, u: torch.stack([t, t * 3]),
    lambda t, u: t.sum(0, keepdim=True) + t,
    lambda t, u: t.softmax(-1),
    lambda t, u: torch.rand_like(t) * t,
    lambda t, u: torch.zeros_like(t),
]
CHANGES: list[Callable[[Any, Any], Any]] = [
    lambda t, u: t.add_(1),
    lambda t, u: t.mul_(u.sum()),
    lambda t, u: t.copy_(u.mean()),
    lambda t, u: t.zero_(),
    lambda t, u: t.fill_(2),
    lambda t, u: t.sin_(),
    lambda t, u: t.masked_fill_(t > 0.5, 0.25),
    lambda t, u: t.uniform_() if not t.requires_grad else t.neg_(),
    lambda t, u: t.__setitem__(0, u.sum()),
    lambda t, u: t.clamp_(-1, 1),
]


def program(seed: int, length: int = 12) -> Callable[..., Any]:
    """A program of `length` calls; it skips those that the tensors do not allow."""

    def run(*arguments: Any) -> Any:
        choice = random.Random(seed)
        tensors = list(arguments)
        for _ in range(length):
            target, other = choice.choice(tensors), choice.choice(tensors)
            kind = choice.random()
            without_grad = choice.random() < 0.2
            if target.numel() == 0 or target.dim() == 0:
                continue
            with torch.set_grad_enabled(not without_grad and torch.is_grad_enabled()):
                if kind < 0.45:
                    tensors.append(choice.choice(VIEWS)(target, choice))
                elif kind < 0.7:
                    tensors.append(choice.choice(VALUES)(target, other))
                else:
                    choice.choice(CHANGES)(target, other)
        return [choice.choice(tensors) for _ in range(4)]

    return run


def arguments(seed: int) -> Callable[[], tuple[list[Any], list[Any]]]:
    def make() -> tuple[list[Any], list[Any]]:
        choice = random.Random(seed)
        leaves: list[Any] = []
        made: list[Any] = []
        for _ in range(2):
            leaf = torch.randn(choice.choice([(3, 4), (4, 4), (2, 6)]))
            kind = choice.randrange(5)
            if kind == 0:
                made.append(leaf.t())
            elif kind == 1:
                leaves.append(leaf.requires_grad_())
                made.append(leaf.exp())
            elif kind == 2:
                leaves.append(leaf.requires_grad_())
                made.append(leaf)
            elif kind == 3 and made:
                made.append(made[0].view_as(made[0]) if choice.random() < 0.5 else made[0][1:])
            else:
                made.append(leaf)
        return made, leaves

    return make


def check(seed: int) -> None:
    partition = default_partition if seed % 2 else min_cut_rematerialization_partition
    compare(program(seed), arguments(seed), partition=partition, calls=1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, 200, 20))
def test_random_programs(start: int):
    for seed in range(start, start + 20):
        try:
            check(seed)
        except Exception as error:
            raise AssertionError(f"check({seed}): {error}") from error
