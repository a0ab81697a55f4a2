"""Random programs, exported for sizes that vary, are refused or right."""

import random

import pytest

import torch_py as torch
from torch_py import nn
from torch_py.export import Dim, export

F = nn.functional

# Each takes a source of random numbers and a tensor.
OPERATIONS = [
    lambda r, x: x.transpose(r.randrange(x.dim()), r.randrange(x.dim())),
    lambda r, x: x.flatten(0, 1) if x.dim() > 1 else x,
    lambda r, x: x.flatten(-2) if x.dim() > 1 else x,
    lambda r, x: x[:, : x.shape[1] // 2 + 1] if x.dim() > 1 else x[: x.shape[0] // 2 + 1],
    lambda r, x: x[..., ::2],
    lambda r, x: x[..., 1:] if x.shape[-1] > 1 else x,
    lambda r, x: torch.cat([x, x * 2], r.randrange(x.dim())),
    lambda r, x: torch.cat([x, x.new_ones(1).expand(x.shape)[..., :1]], -1),
    lambda r, x: x.unsqueeze(r.randrange(x.dim() + 1)) if x.dim() < 4 else x,
    lambda r, x: x.mean(r.randrange(x.dim())) if x.dim() > 1 else x,
    lambda r, x: (
        F.avg_pool1d(x.flatten(0, -2)[None], 2, ceil_mode=True)[0] if x.dim() > 1 and x.shape[-1] > 2 else x
    ),
    lambda r, x: F.max_pool1d(x.flatten(0, -2)[None], 3, 2, 1)[0] if x.dim() > 1 and x.shape[-1] > 3 else x,
    lambda r, x: F.pad(x, (1, 2)),
    lambda r, x: F.interpolate(x[None, None].flatten(1, -2), scale_factor=2.0)[0] if x.dim() > 1 else x,
    lambda r, x: F.interpolate(x.flatten(0, -2)[None], size=x.shape[-1] // 2 + 1)[0] if x.dim() > 1 else x,
    lambda r, x: x.reshape(-1),
    lambda r, x: x.reshape(x.shape[0], -1),
    lambda r, x: x.reshape(-1, x.shape[-1]),
    lambda r, x: x * x.shape[0] / x.shape[-1],
    lambda r, x: x + torch.arange(x.shape[-1]),
    lambda r, x: x.unfold(-1, 2, 1).flatten(-2) if x.shape[-1] > 2 else x,
    lambda r, x: x.expand(2, *x.shape).reshape(-1, *x.shape[1:]),
    lambda r, x: x.roll(1, -1),
    lambda r, x: x.narrow(-1, 0, max(1, x.shape[-1] - 1)),
    lambda r, x: torch.stack([x, x.flip(0)], 1).flatten(0, 1) if x.dim() < 4 else x,
    lambda r, x: x / (x.numel() - 1) + x.numel() ** -0.5,
    lambda r, x: x.split(2, -1)[0],
    lambda r, x: x.cumsum(-1).tril() if x.dim() > 1 else x.cumsum(0),
    lambda r, x: (
        F.conv1d(x.flatten(0, -2)[:, None], torch.ones(2, 1, 3), stride=2, padding=1) if x.dim() > 1 else x
    ),
    lambda r, x: x.contiguous().view(x.numel()),
    lambda r, x: x.repeat(*([2] + [1] * (x.dim() - 1))),
    lambda r, x: x.movedim(0, -1),
    lambda r, x: x.new_zeros(x.shape[0] + 3).add_(1).sum() + x,
]
DIMENSIONS = [
    {0: Dim("a"), 1: Dim("b")},
    {0: Dim("a")},
    {1: Dim("b"), 2: Dim("c")},
    {0: Dim.AUTO, 1: Dim.AUTO, 2: Dim.AUTO},
]


class Program(nn.Module):
    def __init__(self, seed, length):
        super().__init__()
        self.seed = seed
        self.length = length

    def forward(self, x):
        choice = random.Random(self.seed)
        for _ in range(self.length):
            x = choice.choice(OPERATIONS)(choice, x)
            if x.numel() > 200_000:
                break
        return x


def program_of(seed):
    """A program that runs for an example, and the example."""
    while True:
        choice = random.Random(seed)
        program = Program(seed, choice.randrange(2, 7))
        x = torch.randn(choice.randrange(2, 6), choice.randrange(2, 7), choice.randrange(4, 9))
        try:
            program(x)
        except (RuntimeError, IndexError, ValueError):
            seed += 1000
            continue
        return program, x, choice


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program_is_refused_or_right(seed):
    torch.manual_seed(seed)
    program, x, choice = program_of(seed)
    shapes = choice.choice(DIMENSIONS)
    try:
        exported = export(program, (x,), dynamic_shapes=(shapes,))
    except RuntimeError as error:
        assert "Constraints violated" in str(error)
        return

    module = exported.module()
    dynamic = {row.dim for row in exported._dimensions.rows}
    for _ in range(6):
        other = torch.randn([choice.randrange(1, 30) if d in dynamic else x.shape[d] for d in range(3)])
        try:
            found = module(other)
        except AssertionError as error:
            assert "Guard failed" in str(error)
            continue
        torch.testing.assert_close(found, program(other), rtol=1e-4, atol=1e-4, equal_nan=True)
