"""Kernels and their gradients in each floating-point dtype: conditions, slices, reductions by columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
import torch_py.nn.functional as F
from tests.subject import only_torch_py

pytestmark = only_torch_py


def _padded(x: Any) -> Any:
    return F.pad(x, (1, 2)).exp()


def _gated(x: Any) -> Any:
    return F.glu(x)


def _triangle(x: Any) -> Any:
    return x.tril().sin()


def _differences(x: Any) -> Any:
    return x[:, 1:] - x[:, :-1] + x[::2].sum(0, keepdim=True)[:, 1:]


def _clamped(x: Any) -> Any:
    return x.clamp(-0.5, 0.5).exp()


def _neither(x: Any) -> Any:
    return torch.where(torch.logical_not(x > -1), x.exp(), x.sin())


def _both(x: Any) -> Any:
    return torch.where(torch.logical_and(x > -1, x < 0.5), x.exp(), x.cos())


def _one_of_two(x: Any) -> Any:
    return torch.where(torch.logical_xor(x > -1, x < 0.5), x.exp(), x.cos())


def _either(x: Any) -> Any:
    return torch.where(torch.logical_or(x > 0, x.isnan()), x.exp(), x)


def _largest_of_columns(x: Any) -> Any:
    return x.amax(0)


def _count_of_largest(x: Any) -> Any:
    return (x == x.amax(0)).sum(0) / x.amax(0)


def _joined(x: Any) -> Any:
    return torch.cat([x, x.exp()], 1).roll(1, 0)


_PROGRAMS = (
    _padded, _gated, _triangle, _differences, _clamped, _neither, _both, _one_of_two, _either,
    _largest_of_columns, _count_of_largest, _joined,
)  # fmt: skip


_WITH_NUMBERS = {
    "==": lambda x: x == 0.3,
    "<=": lambda x: x <= 0.1,
    "!=": lambda x: x * (x != 0.1),
    "== large": lambda x: x * 1e4 == -1e9,
    "+": lambda x: x + 0.3,
    "-": lambda x: 0.3 - x,
    "*": lambda x: x * 0.3,
    "/": lambda x: x / 0.3,
    "**": lambda x: x.abs() ** 0.3,
    "beyond": lambda x: x + 70000,
    "beyond in a choice": lambda x: torch.where(x < 0, -100000, x),
    "nearly half": lambda x: x * 0 + (1 + 2**-11 + 2**-40),
    "a tensor": lambda x: x + torch.tensor(0.3),
    "a tensor of another dtype": lambda x: x - torch.full((), 0.1, dtype=torch.float64),
    "a size": lambda x: x + float(x.shape[0]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", _WITH_NUMBERS)
def test_numbers_are_rounded_where_eager_mode_rounds_them(name: str, dtype: torch.dtype) -> None:
    """To the dtype of the tensor, but as factors and divisors."""
    x = torch.cat([torch.linspace(-2, 2, 401), torch.tensor([0.3, 0.1])]).to(dtype)
    program = _WITH_NUMBERS[name]
    compiled = torch.compile(program)
    for given in (x, x[:257], x[:301]):
        assert torch.equal(compiled(given), program(given))


@pytest.mark.filterwarnings("error")
def test_a_negative_number_that_is_negated() -> None:
    x = torch.linspace(-4, 4, 33)
    assert torch.equal(torch.compile(lambda x: F.hardshrink(x, -2.5))(x), F.hardshrink(x, -2.5))


@pytest.mark.filterwarnings("error")  # which tells of kernels that the compiler refuses
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("program", _PROGRAMS)
def test_as_in_eager_mode(program: Callable[..., Any], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 6).to(dtype).requires_grad_()

    found, expected = torch.compile(program)(x), program(x)
    torch.testing.assert_close(found, expected)
    (one,) = torch.autograd.grad(found.sum(), x)
    (other,) = torch.autograd.grad(expected.sum(), x)
    torch.testing.assert_close(one, other)
