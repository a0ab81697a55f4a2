"""Sizes that vary and have to be even, or multiples of more."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounterWithBackend

F = torch.nn.functional
SIZES = range(3, 9)


class _UNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.second = torch.nn.Conv2d(4, 8, 3, padding=1)
        self.inner = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.up = torch.nn.ConvTranspose2d(8, 8, 2, 2)
        self.last = torch.nn.ConvTranspose2d(16, 4, 2, 2)

    def forward(self, x: Any) -> Any:
        fine = F.relu(self.first(x))
        coarse = F.relu(self.second(F.max_pool2d(fine, 2)))
        inner = F.relu(self.inner(F.max_pool2d(coarse, 2)))
        joined = torch.cat([self.up(inner), coarse], 1)
        return torch.cat([self.last(joined), fine], 1)


class _Patches(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Conv2d(3, 8, 4, 4)
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x: Any) -> Any:
        batch, _, height, width = x.shape
        assert height % 4 == 0 and width % 4 == 0, "no whole patches"
        tokens = self.project(x).flatten(2).transpose(1, 2)
        return self.norm(tokens).view(batch, height // 4, width // 4, 8), height // 4, height % 2


def _windows(x: Any) -> Any:
    batch, channels, height, width = x.shape
    x = x.permute(0, 2, 3, 1).reshape(batch, height // 4, 4, width // 4, 4, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels).softmax(1)


def _gated(x: Any) -> Any:
    first, second = x.flatten(1).chunk(2, -1)
    return F.silu(first) * second


def _changed(x: Any) -> Any:
    x = x * 2
    x.view(-1, 4)[:, 1::2].add_(1)
    return x.view(x.shape[0], -1, 2).cumsum(1), x.numel() // 4


PROGRAMS = {
    "u-net": _UNet(),
    "patches": _Patches(),
    "windows": _windows,
    "gated": _gated,
    "changed": _changed,
    "shuffled": lambda x: F.pixel_unshuffle(x, 2) + 1,
}


def _seen(program: Any, *args: Any) -> list[Any]:
    args = [arg.detach().clone().requires_grad_() for arg in args]
    found = program(*args)
    found = list(found) if isinstance(found, tuple) else [found]
    gradients = torch.autograd.grad(found[0].sin().sum(), args)
    return [*found, found[0].stride(), *gradients]


def _check(program: Any, calls: list[list[Any]], compilations: int, backend: str = "aot_eager"):
    torch.compiler.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(program, backend=counter)
    for args in calls:
        for actual, expected in zip(_seen(compiled, *args), _seen(program, *args), strict=True):
            if isinstance(expected, torch.Tensor):
                torch.testing.assert_close(actual, expected)
            else:
                assert actual == expected
    assert counter.frame_count <= compilations


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_images(name: str, backend: str):
    _check(PROGRAMS[name], [[torch.rand(2, 3, 4 * n, 4 * n + 4)] for n in SIZES], 2, backend)


def test_less_is_needed_than_the_first_sizes_have():
    """From 16 and 32 it looks as if sizes were multiples of 16."""
    _check(lambda x: x.view(-1, 2).sum(1), [[torch.rand(n)] for n in (16, 32, 40, 12, 6, 18, 48)], 5)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize(
    ("program", "sizes"),
    [
        (lambda x: x.view(-1, 4).squeeze() * 2, (16, 12, 8, 4, 20, 4)),
        (lambda x: x.chunk(2, -1)[0].squeeze() * 2, (4, 6, 8, 2, 10)),
        (lambda x: x.view(2, -1).t().contiguous().stride()[0] * x, (8, 12, 16, 6, 24, 10, 32, 4, 2)),
    ],
)
def test_one_time_the_divisor_is_compiled_for_itself(program: Any, sizes: Any, backend: str):
    """What a divisor goes into once may be dropped as a dimension of one element."""
    _check(program, [[torch.rand(n)] for n in sizes], 5, backend)


def _fours(x: Any) -> Any:
    assert x.shape[0] % 4 == 0
    return x * 2


def _twelves(x: Any) -> Any:
    assert x.shape[0] % 4 == 0 and x.shape[0] % 6 == 0
    return x * 2


@pytest.mark.parametrize(
    ("program", "shapes", "compilations"),
    [
        (_fours, [(n,) for n in (8, 4, 12, 16, 20, 24, 28, 4)], 3),
        (_twelves, [(n,) for n in (24, 12, 36, 48, 60)], 3),
        (lambda x: (x * 2, x.numel() % 8), [(4, 6), (8, 5), (16, 3), (8, 9)], 4),
    ],
)
def test_remainders_of_sizes(program: Any, shapes: Any, compilations: int):
    counter = CompileCounterWithBackend("eager")
    torch.compiler.reset()
    compiled = torch.compile(program, backend=counter)
    frames = []
    for shape in shapes:
        x = torch.rand(shape)
        actual, expected = compiled(x), program(x)
        assert torch.equal(*(found[0] if isinstance(found, tuple) else found for found in (actual, expected)))
        assert not isinstance(actual, tuple) or actual[1] == expected[1]
        frames.append(counter.frame_count)
    assert frames[1] > 1 and frames[-1] == compilations


def test_several_tensors():
    def joined(x, y):
        return x.view(-1, 4).sum(1) + y

    _check(joined, [[torch.rand(4 * n), torch.rand(n)] for n in SIZES], 2)
    _check(lambda x, y: x.view(-1, 2) + y.view(-1, 2), [[torch.rand(2 * n), torch.rand(2)] for n in SIZES], 2)


def test_odd_sizes_are_compiled_for_themselves():
    def padded(x):
        if x.shape[-1] % 2:
            x = F.pad(x, (0, 1))
        return x.view(x.shape[0], -1, 2).sum(-1)

    _check(padded, [[torch.rand(3, n)] for n in range(4, 12)], 8)


def test_an_error_for_sizes_that_do_not_fit():
    compiled = torch.compile(_Patches(), backend="aot_eager")
    for n in (8, 12, 16):
        compiled(torch.rand(1, 3, n, n))
    with pytest.raises(AssertionError, match="no whole patches"):
        compiled(torch.rand(1, 3, 10, 12))


def test_numbers_in_the_place_of_tensors():
    _check(lambda x: x % x.shape[0] + torch.fmod(x, 2 * x.shape[0]), [[torch.rand(n, 3)] for n in SIZES], 2)
    _check(
        lambda x: x % x.shape[0] + torch.fmod(x, 2 * x.shape[0]),
        [[torch.rand(n, 3)] for n in SIZES],
        2,
        "inductor",
    )
