"""Random programs of views, changes in place and aliases do the same compiled ahead of time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import Outcome, compare
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
            step(tensors, choice)
        return [choice.choice(tensors) for _ in range(4)]

    return run


def step(tensors: list[Any], choice: random.Random) -> None:
    target, other = choice.choice(tensors), choice.choice(tensors)
    kind = choice.random()
    with_grad = choice.random() > 0.2 and torch.is_grad_enabled()
    if target.numel() == 0 or target.dim() == 0:
        return

    with torch.set_grad_enabled(with_grad):
        if kind < 0.45:
            tensors.append(choice.choice(VIEWS)(target, choice))
        elif kind < 0.7:
            tensors.append(choice.choice(VALUES)(target, other))
        else:
            choice.choice(CHANGES)(target, other)


def arguments(seed: int) -> Callable[[], tuple[list[Any], list[Any]]]:
    """Two tensors: plain ones, leaves, computed ones, or a view of the first."""

    def make() -> tuple[list[Any], list[Any]]:
        choice = random.Random(seed)
        leaves: list[Any] = []
        made: list[Any] = []
        for _ in range(2):
            tensor = torch.randn(choice.choice([(3, 4), (4, 4), (2, 6)]))
            kind = choice.choice(["plain", "transposed", "leaf", "computed", "view"])
            if kind in ("leaf", "computed"):
                leaves.append(tensor.requires_grad_())

            if kind == "computed":
                tensor = tensor.exp()
            elif kind == "transposed":
                tensor = tensor.t()
            elif kind == "view" and made:
                tensor = made[0].view_as(made[0]) if choice.random() < 0.5 else made[0][1:]
            made.append(tensor)
        return made, leaves

    return make


# Eager programs that write to views whose gradients are ambiguous raise when these are asked for.
_AMBIGUOUS = ("A view was created", "is a view and its base or another view")
_REFUSED = "ahead-of-time autograd: "


def check(seed: int) -> bool:
    """Whether a program could be compiled; raises AssertionError if it does something else."""
    partition = default_partition if seed % 2 else min_cut_rematerialization_partition
    expected = Outcome(program(seed), arguments(seed)).error
    if expected is not None and any(text in str(expected) for text in _AMBIGUOUS):
        return False
    try:
        compare(program(seed), arguments(seed), partition=partition, calls=1)
    except NotImplementedError as error:
        assert str(error).startswith(_REFUSED), error
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, 200, 20))
def test_random_programs(start: int):
    compiled = 0
    for seed in range(start, start + 20):
        try:
            compiled += check(seed)
        except Exception as error:
            raise AssertionError(f"check({seed}): {error}") from error
    assert compiled >= 15
