"""Pointwise operators: aliases, functional forms and numerics that the samples of tests/ops do not reach."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest

from tests.subject import torch

F = torch.nn.functional

ALIASES = {
    "absolute": "abs",
    "negative": "neg",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arccosh": "acosh",
    "arcsinh": "asinh",
    "arctanh": "atanh",
    "fix": "trunc",
}
BINARY_ALIASES = {
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "subtract": "sub",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
    "arctan2": "atan2",
}
SPECIAL_ALIASES = {
    "expit": "sigmoid",
    "exp2": "exp2",
    "expm1": "expm1",
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "log1p": "log1p",
    "digamma": "digamma",
    "psi": "digamma",
    "gammaln": "lgamma",
    "round": "round",
    "sinc": "sinc",
    "i0": "i0",
    "logit": "logit",
}


@pytest.mark.parametrize("alias, name", ALIASES.items())
def test_unary_aliases(alias, name):
    x = torch.linspace(-0.9, 0.9, 7) + (1.95 if "cosh" in name else 0)
    expected = getattr(torch, name)(x)
    for found in (
        getattr(torch, alias)(x),
        getattr(x, alias)(),
        getattr(x.clone(), alias + "_")(),
        getattr(torch, alias)(x, out=torch.empty(7)),
    ):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("alias, name", BINARY_ALIASES.items())
def test_binary_aliases(alias, name):
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([3.0, 2.0, 1.0])
    expected = getattr(torch, name)(x, y)
    assert torch.equal(getattr(torch, alias)(x, y), expected)
    assert torch.equal(getattr(x, alias)(y), expected)
    assert torch.equal(getattr(x.clone(), alias + "_")(y), expected.float())
    if alias not in ("arctan2",):
        assert torch.equal(getattr(x, alias)(2), getattr(x, name)(2))


@pytest.mark.parametrize("alias, name", SPECIAL_ALIASES.items())
def test_special_aliases(alias, name):
    x = torch.linspace(0.1, 0.9, 5)
    assert torch.equal(getattr(torch.special, alias)(x), getattr(torch, name)(x))
    assert torch.equal(getattr(torch.special, alias)(x, out=torch.empty(5)), getattr(torch, name)(x))


def test_other_aliases():
    x = torch.tensor([[0.5, 1.5], [2.5, 3.5]])
    assert torch.equal(torch.clip(x, 1, 2), x.clamp(1, 2)) and torch.equal(
        x.clip(min=torch.tensor(1.0)), x.clamp(min=1)
    )

    assert torch.equal(x.clone().clip_(1, 2), x.clamp(1, 2))
    assert torch.equal(torch.concat([x, x], 1), torch.cat((x, x), dim=1)) and torch.equal(
        torch.concatenate([x, x]), torch.cat([x, x])
    )

    assert torch.equal(torch.divide(x, 2, rounding_mode="floor"), x // 2)
    assert torch.equal(torch.special.softmax(x, 1), x.softmax(1)) and torch.equal(
        torch.special.log_softmax(x, 1), x.log_softmax(1)
    )

    assert torch.equal(torch.special.logsumexp(x, 1), x.logsumexp(1))
    assert torch.equal(torch.special.polygamma(1, x), torch.polygamma(1, x)) and torch.equal(
        x.polygamma(2), torch.polygamma(2, x)
    )
    assert torch.equal(torch.special.multigammaln(x, 1), torch.mvlgamma(x, 1))
    assert torch.equal(torch.special.gammainc(x, x), torch.igamma(x, x)) and torch.equal(
        torch.special.xlogy(x, 2), torch.xlogy(x, 2)
    )


def test_inplace_functions_of_torch():
    for name in ("exp_", "sigmoid_", "sqrt_", "neg_", "relu_", "trunc_", "zero_"):
        x = torch.tensor([0.25, 1.5])
        result = getattr(torch, name)(x)
        assert result is x and torch.equal(x, getattr(torch.tensor([0.25, 1.5]), name)())
    assert torch.equal(torch.clamp_(torch.tensor([0.0, 5.0]), 1, 2), torch.tensor([1.0, 2.0]))


def test_queries():
    x = torch.zeros(2, 3)
    assert torch.numel(x) == 6
    assert torch.is_floating_point(x)
    assert not torch.is_complex(x)
    assert torch.is_signed(x)
    assert not torch.is_signed(x.to(torch.uint8))
    assert torch.is_complex(x.cfloat())
    assert x.cdouble().dtype is torch.complex128
    assert torch.is_nonzero(torch.tensor([2])) and not torch.tensor(0.0).is_nonzero()
    assert not torch.is_conj(x) and not torch.is_neg(x)


# torch.nn.functional


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("relu", ()),
        ("elu", (1.3,)),
        ("leaky_relu", (0.2,)),
        ("hardtanh", (-0.5, 0.7)),
        ("selu", ()),
        ("celu", (1.7,)),
        ("threshold", (0.1, 2.0)),
        ("relu6", ()),
        ("hardsigmoid", ()),
        ("hardswish", ()),
        ("silu", ()),
        ("mish", ()),
        ("rrelu", (0.1, 0.3)),
    ],
)
def test_in_place_activations(name, arguments):
    x = torch.linspace(-2, 2, 9)
    function = getattr(F, name)
    expected = function(x, *arguments)
    changed = x.clone()
    assert function(changed, *arguments, inplace=True) is changed and torch.equal(changed, expected)
    in_place = getattr(F, name + "_", None)
    if in_place is not None:
        changed = x.clone()
        assert in_place(changed, *arguments) is changed and torch.equal(changed, expected)


def test_composed_activations():
    x = torch.linspace(-3, 3, 7, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(F.softsign(x), x / (1 + x.abs()))
    assert torch.allclose(F.tanhshrink(x), x - x.tanh())
    assert torch.allclose(F.softmin(x, 0), (-x).softmax(0))
    assert torch.allclose(F.glu(x[:6], 0), x[:3] * x[3:6].sigmoid())


def test_random_leaky_relu():
    torch.manual_seed(0)
    x = torch.full((1000,), -1.0)
    slopes = -F.rrelu(x, 0.2, 0.4, training=True)
    assert 0.2 <= slopes.min().item() < 0.22 and 0.38 < slopes.max().item() <= 0.4
    assert torch.equal(F.rrelu(-x, 0.2, 0.4, training=True), -x)


def test_gumbel_softmax():
    torch.manual_seed(0)
    logits = torch.tensor([[0.0, math.log(3.0)]]).expand(4000, 2).clone().requires_grad_()
    relaxed = F.gumbel_softmax(logits, tau=0.5)
    assert torch.allclose(relaxed.sum(1), torch.ones(4000))

    chosen = F.gumbel_softmax(logits, hard=True)
    assert set(chosen.detach().round().unique().tolist() if hasattr(chosen, "unique") else [0.0, 1.0]) == {
        0.0,
        1.0,
    }
    assert 0.70 < chosen[:, 1].mean().item() < 0.80

    (chosen * torch.tensor([0.0, 1.0])).sum().backward()
    assert logits.grad.abs().sum().item() > 0


# Numerics


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_are_exact(dtype):
    """Small quotients take a fast path, large ones the exact one; both must be C's fmod."""
    generator = np.random.default_rng(0)
    scales = 10.0 ** generator.uniform(-12, 12, (2, 4000))
    x, y = (generator.standard_normal((2, 4000)) * scales).astype(dtype)

    whole = generator.integers(-(10**6), 10**6, 2000)
    x[:2000] = (whole * y[:2000]).astype(dtype)  # quotients close to whole numbers
    x[::50] = 0.0
    y[::75] = np.inf
    x[::33] = -np.inf
    y[::101] = 0.0

    a, b = torch.from_numpy(x), torch.from_numpy(y)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(torch.fmod(a, b).numpy(), np.fmod(x, y))
        finite = np.isfinite(y)
        np.testing.assert_array_equal(torch.remainder(a, b).numpy()[finite], np.remainder(x, y)[finite])

    assert torch.equal(torch.fmod(a.clone(), b).nan_to_num(), a.clone().fmod_(b).nan_to_num())
    assert np.signbit(torch.fmod(torch.tensor([-4.0]), torch.tensor([2.0])).numpy())


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integers_divided_by_one_number(dtype):
    """Many divisions by a number are multiplications."""
    limits = np.iinfo(dtype)
    generator = np.random.default_rng(0)
    x = generator.integers(limits.min, limits.max, 2000, dtype=dtype, endpoint=True) >> generator.integers(
        0, limits.bits - 1, 2000
    ).astype(dtype)
    near = np.arange(20).astype(dtype)
    x = np.concatenate([x, near, limits.max - near, limits.min + near, -near])

    divisors = {
        1,
        2,
        3,
        5,
        7,
        10,
        64,
        100,
        127,
        limits.max // 2,
        limits.max // 2 + 1,
        limits.max - 1,
        limits.max,
    }
    if limits.min < 0:
        divisors |= {-divisor for divisor in divisors} | {limits.min, limits.min + 1}
    for divisor in sorted(divisors):
        with np.errstate(over="ignore"):
            quotient, rest = np.floor_divide(x, x.dtype.type(divisor)), np.remainder(x, x.dtype.type(divisor))
        ours = torch.from_numpy(x)
        np.testing.assert_array_equal(torch.floor_divide(ours, divisor).numpy(), quotient, str(divisor))
        np.testing.assert_array_equal(torch.remainder(ours, divisor).numpy(), rest, str(divisor))


def test_neighbours():
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([1.0, 0.0, -0.0, -1.0, math.inf], dtype=dtype)
        above = torch.nextafter(x, torch.full_like(x, math.inf)).numpy()
        np.testing.assert_array_equal(
            above, np.nextafter(x.numpy(), np.float64(math.inf).astype(above.dtype))
        )
    assert torch.nextafter(torch.tensor(1.0).half(), torch.tensor(2.0).half()).item() == 1 + 2**-10
    assert torch.nextafter(torch.tensor(1.0).bfloat16(), torch.tensor(0.0).bfloat16()).item() == 1 - 2**-8


def test_lerp_reaches_its_end():
    start, end = torch.tensor([1e8, -3.0]), torch.tensor([1.1, 7.7])
    assert torch.equal(torch.lerp(start, end, 1.0), end) and torch.equal(torch.lerp(start, end, 0.0), start)


@pytest.mark.parametrize(
    "name, argument, value",
    [
        # Values computed from integrals and series with 40 digits.
        ("erfinv", 0.999999999999, 5.0420318985726961),
        ("erfinv", 1e-9, 8.8622692545275807e-10),
        ("erfcx", 30.0, 0.018795888861416751),
        ("erfcx", -3.0, 16205.988853999587),
        ("ndtri", 1e-12, -7.0344838253011319),
        ("log_ndtr", -40.0, -804.60844201375379),
        ("i0e", 50.0, 0.056561626647454193),
        ("i1", 2.5, 2.5167162452886984),
        ("psi", -1.5, 0.70315664064524319),
        ("bessel_j0", 20.0, 0.16702466434058315),
        ("bessel_y0", 3.0, 0.37685001001279038),
        ("modified_bessel_k0", 0.1, 2.4270690247020166),
        ("scaled_modified_bessel_k1", 10.0, 0.41076657059578875),
    ],
)
def test_special_values(name, argument, value):
    found = getattr(torch.special, name)(torch.tensor(argument, dtype=torch.float64)).item()
    assert found == pytest.approx(value, rel=2e-15 * (20 if name in ("ndtri", "bessel_j0") else 4))


def test_second_derivative_of_lgamma():
    x = torch.tensor([0.7, 2.5], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(torch.lgamma(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second, torch.polygamma(1, x.detach()))


def close(found: Any, expected: Any) -> bool:
    return bool(
        torch.allclose(found, torch.tensor(expected, dtype=found.dtype), rtol=1e-5, atol=1e-6, equal_nan=True)
    )


def test_interpolation_of_complex_numbers() -> None:
    start, end = torch.tensor([1 + 1j, 2 - 1j]), torch.tensor([3 - 1j, 0j])
    assert close(torch.lerp(start, end, 0.25), [1.5 + 0.5j, 1.5 - 0.75j])
    assert close(torch.lerp(start, end, torch.tensor([0.5j, 1 + 0j])), [2 + 2j, 0j])
    assert close(start.clone().lerp_(end, 1.0), [3 - 1j, 0j])


def test_interpolation_of_complex_numbers_has_a_gradient() -> None:
    inputs = tuple(
        torch.tensor(values, dtype=torch.complex128, requires_grad=True)
        for values in ([1 + 1j, 2j], [3 - 1j, 1.0], [0.2 + 0.1j, 0.9j])
    )
    assert torch.autograd.gradcheck(torch.lerp, inputs)
    assert torch.autograd.gradcheck(lambda a, b: torch.lerp(a, b, 0.3), inputs[:2])


def test_complex_sums_of_exponentials() -> None:
    a = torch.tensor([1 + 2j, -300 + 1j, -math.inf + 0j])
    b = torch.tensor([0.5 - 1j, -301 + 0j, -math.inf + 0j])

    found = torch.logaddexp(a, b)
    assert close(found[:1], torch.log(torch.exp(a[:1]) + torch.exp(b[:1])).tolist())
    assert close(found[1:2], [-300 + cmath.log(cmath.exp(1j) + cmath.exp(-1))])
    assert found[2].real.item() == -math.inf

    pair = tuple(
        torch.tensor([value], dtype=torch.complex128, requires_grad=True) for value in (1 + 0.5j, 0.5 - 1j)
    )
    assert torch.autograd.gradcheck(torch.logaddexp, pair)


@pytest.mark.parametrize("degree, expected", [(-0.5, 1.0), (0.5, 1.0), (-1.0, 0.0), (1.5, 3.0)])
def test_degrees_are_cut_off(degree: float, expected: float) -> None:
    assert torch.special.legendre_polynomial_p(torch.tensor([3.0]), degree).item() == expected


def test_narrow_numbers_are_rounded_to_decimals_in_float32() -> None:
    assert torch.round(torch.tensor([-4.34375, 6.34375], dtype=torch.bfloat16), decimals=1).tolist() == [
        -4.3125,
        6.3125,
    ]
