"""Numbers as operands: of float16 and bfloat16 tensors, which round once, and in the first place."""

from __future__ import annotations

import operator

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

NARROW = (torch.float16, torch.bfloat16)
NUMBERS = (0.1, 1 - 1e-4, 3.3, -0.3, 1000.7, 1001)


def values(dtype):
    torch.manual_seed(0)
    return (torch.randn(320) * 4).to(dtype)


def mostly_equal(found, expected):
    """Nearly all elements are equal: fused multiply-add rounds a few differently, while rounding the number
    first would change a tenth."""
    return (found != expected).float().mean().item() < 0.02


def truncated(x, divisor):
    return torch.div(x, divisor, rounding_mode="trunc")


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("operation", [torch.mul, torch.div, torch.floor_divide, truncated])
def test_number_is_not_rounded_first(operation, number, dtype):
    x = values(dtype)
    wide = torch.tensor(number, dtype=torch.float32)
    assert torch.equal(operation(x, number), operation(x.float(), wide).to(dtype))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("number", (0.1, 0.9999, 3.3))
def test_weight_of_lerp_is_not_rounded(number, dtype):
    x = values(dtype)
    a = x.float()
    b = x.flip(0).float()
    expected = a + number * (b - a) if number < 0.5 else b - (b - a) * (torch.tensor(1.0) - number)
    assert mostly_equal(torch.lerp(x, x.flip(0), number), expected.to(dtype))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("number", NUMBERS)
def test_forms_agree(number, dtype):
    x = values(dtype)
    expected = x * number
    assert torch.equal(x.clone().mul_(number), expected)
    assert torch.equal(torch.mul(x, number, out=torch.empty_like(x)), expected)
    assert torch.equal(x * torch.tensor(number, dtype=torch.float64), expected)
    assert torch.equal(torch.stack([x, x], 1)[:, 0] * number, expected)
    assert torch.equal(torch.stack([value * number for value in x]), expected)


def test_decay_of_weights_is_not_lost():
    """1 - 1e-4 rounds to 1 in bfloat16; small products show the difference."""
    weight = torch.full((1,), 1.0, dtype=torch.bfloat16)
    assert (weight * 1.004).item() == 1.0078125
    assert torch.full((1,), 256.0, dtype=torch.bfloat16).mul_(0.998).item() == 255.0


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("number", NUMBERS)
def test_sums_round_numbers_first(number, dtype):
    x = values(dtype)
    rounded = torch.tensor(number).to(dtype).float()
    assert torch.equal(x + number, (x.float() + rounded).to(dtype))
    assert mostly_equal(
        torch.add(x, x.flip(0), alpha=number), (x.float() + x.flip(0).float() * rounded).to(dtype)
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_numbers_beyond_the_dtype_are_refused_as_bounds_and_factors(dtype):
    x = torch.ones(2, dtype=dtype)
    for wrong in (
        lambda: x.clamp(max=1e300),
        lambda: x.clamp(min=-1e300),
        lambda: torch.add(x, x, alpha=1e300),
        lambda: torch.nn.functional.hardtanh(x, -1e300, 1e300),
        lambda: torch.nn.functional.threshold(x, 1e300, 0.0),
    ):
        with pytest.raises(RuntimeError, match="without overflow"):
            wrong()
    assert torch.equal(x.clamp(max=float("inf")), x)


def test_result_type_of_a_float_tensor_with_a_complex_number():
    assert torch.result_type(torch.ones(3), torch.tensor(1j, dtype=torch.complex128)) == torch.complex64
    assert torch.result_type(torch.ones(3, dtype=torch.float64), torch.tensor(1j)) == torch.complex128


NUMBER_FIRST_CALLS = {
    "number first": lambda t: [
        getattr(t, f)(7, t.tensor([2.0, -3.0])).tolist()
        for f in ("add", "sub", "mul", "div", "true_divide", "floor_divide")
    ],
    "number first, weighted": lambda t: t.add(7, t.tensor([2, 3]), alpha=2).tolist(),
    "number first, rounded": lambda t: [
        t.div(7, t.tensor([2, -3]), rounding_mode=mode).tolist() for mode in ("floor", "trunc", None)
    ],
    "numbers only": lambda t: t.sub(7, 2).item(),
}


@pytest.mark.parametrize("call", NUMBER_FIRST_CALLS.values(), ids=NUMBER_FIRST_CALLS)
def test_number_in_first_place_agrees_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


@pytest.mark.parametrize(
    "name",
    "remainder xlogy bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift "
    "special.xlog1py special.zeta special.chebyshev_polynomial_t special.hermite_polynomial_h "
    "special.shifted_chebyshev_polynomial_w".split(),
)
def test_one_operand_must_be_a_tensor(name: str):
    function = operator.attrgetter(name)(torch)
    with pytest.raises(TypeError, match="received an invalid combination of arguments"):
        function(1, 2)
    function(torch.tensor(1), 2)
    function(1, torch.tensor(2))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "floor_divide"])
def test_all_operands_may_be_numbers(name: str):
    result = getattr(torch, name)(6, 2)
    assert isinstance(result, torch.Tensor) and result.dim() == 0


def test_numbers_kept_for_the_backward_pass_keep_their_value():
    """The memory of a number is used again by the next call, but not while somebody holds it."""
    x = torch.ones(3, requires_grad=True)
    products = [x * number for number in (2.0, 3.0, 5.0)]
    torch.stack(products).sum().backward()
    assert x.grad.tolist() == [10.0, 10.0, 10.0]

    logs = torch.xlogy(2.0, x), torch.xlogy(7.0, x)
    assert torch.autograd.grad(logs[0].sum(), x)[0].tolist() == [2.0, 2.0, 2.0]
    assert torch.autograd.grad(logs[1].sum(), x)[0].tolist() == [7.0, 7.0, 7.0]


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.gt])
def test_numbers_meet_every_layout_from_both_sides(operation):
    whole = torch.arange(24.0).reshape(2, 3, 4)
    full = torch.full_like(whole, 2.5)
    for x, same in ((whole, full), (whole.mT, full.mT), (whole[:, ::2], full[:, ::2]), (whole[:0], full[:0])):
        assert torch.equal(operation(x, 2.5), operation(x, same))
        assert torch.equal(operation(2.5, x), operation(same, x))
