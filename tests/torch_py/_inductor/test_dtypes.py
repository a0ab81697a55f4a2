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
    "a dividend": lambda x: 257 / x,
    "a dividend beyond": lambda x: 70000.0 / x,
    "a tensor as a dividend": lambda x: torch.tensor(0.1) / x,
    "a tensor as the first factor": lambda x: torch.tensor(0.1) * x,
    "a tensor as the second factor": lambda x: x * torch.tensor(0.1),
    "integers as factors": lambda x: torch.arange(1000, 1000 + len(x)) * x,
    "integers as divisors": lambda x: x / torch.arange(1000, 1000 + len(x)),
    "alpha": lambda x: torch.add(x, x, alpha=0.1),
    "alpha of an activation": lambda x: F.elu(x, 0.7),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", _WITH_NUMBERS)
def test_numbers_are_rounded_where_eager_mode_rounds_them(name: str, dtype: torch.dtype) -> None:
    """To the dtype of the tensor, but as the second operand of a product or quotient."""
    x = torch.cat([torch.linspace(-2, 2, 401), torch.tensor([0.3, 0.1])]).to(dtype)
    program = _WITH_NUMBERS[name]
    compiled = torch.compile(program)
    for given in (x, x[:257], x[:301]):
        torch.testing.assert_close(compiled(given), program(given), rtol=0, atol=0, equal_nan=True)


_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


@pytest.mark.parametrize("kind", _INTEGERS, ids=str)
@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_the_way_to_an_integer_and_back(dtype: torch.dtype, kind: torch.dtype) -> None:
    """An integer has no sign of zero and less room, whatever a loop makes of both conversions."""
    x = torch.tensor([300.0, -0.5, 200.0, 3e9, -3e9, -0.0, 0.7] * 8).to(dtype)
    found = torch.compile(lambda x: 1 / x.to(kind).to(dtype))(x)
    torch.testing.assert_close(found, 1 / x.to(kind).to(dtype), rtol=0, atol=0)


@pytest.mark.filterwarnings("error")
def test_a_negative_number_that_is_negated() -> None:
    x = torch.linspace(-4, 4, 33)
    assert torch.equal(torch.compile(lambda x: F.hardshrink(x, -2.5))(x), F.hardshrink(x, -2.5))


@pytest.mark.filterwarnings("error")
def test_a_long_chain_of_operators() -> None:
    def chain(x: Any) -> Any:
        for step in range(300):
            x = x * 0.99 + step
        return x

    x = torch.ones(8, requires_grad=True)
    found = torch.compile(chain)(x)
    torch.testing.assert_close(found, chain(x))
    torch.testing.assert_close(*(torch.autograd.grad(y.sum(), x) for y in (found, chain(x))))


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
