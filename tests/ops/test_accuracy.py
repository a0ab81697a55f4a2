"""Values of special functions and losses where formulas lose digits, from 40 digits by mpmath."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

F = torch.nn.functional

# Float64; a few roundings of the result, or of an argument close to a zero of the function.
VALUES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "digamma": (
        (-0.9999999850988388, -1.0000000149011612, -7.5, 1e-12, -3.0000000001),
        (-67108863.57721563, 67108864.4227843, 2.08009081757942, -1000000000000.5773, 9999999173.852476),
    ),
    "bessel_j0": (
        (0.001, 2.4048, 7.5, 13.25, 325.9457784865106),
        (
            0.9999997500000156,
            1.3268284301171568e-05,
            0.2663396578803784,
            0.2177656779210489,
            0.000227917363801042,
        ),
    ),
    "bessel_j1": (
        (6.96317376284e-313, 0.001, 3.75, 10.5),
        (3.4815868814e-313, 0.0004999999375000026, 0.03322934912967973, -0.07885001422733148),
    ),
    "bessel_y0": (
        (0.001, 2.5, 7.5, 25.25),
        (-4.471416611375923, 0.4980703596152319, 0.11731328614820863, -0.09897715155607249),
    ),
    "bessel_y1": (
        (0.001, 2.5, 7.5, 25.25),
        (-636.6221672311394, 0.1459181379667858, -0.25912851048611624, -0.12612554501532683),
    ),
    "airy_ai": (
        (-10000000000.0, -1234.5, -3.0, 2.5, 90.0),
        (
            0.00017362064481528185,
            0.0847327393708121,
            -0.37881429367765806,
            0.01572592338047049,
            5.715163408001596e-249,
        ),
    ),
    "ndtri": ((5e-324, 1e-320, 1e-300), (-38.467405617144344, -38.26912534303265, -37.0470962993612)),
    "erfcx": ((-3.0, 0.001, 25.0), (16205.988853999586, 0.9988726200811514, 0.02254957243264136)),
    "log_ndtr": ((-30.0, -1.5, 4.0), (-454.3212439563432, -2.7059444008238898, -3.167174337748927e-05)),
}


def float64(values: Any, requires_grad: bool = False) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


@only_torch_py
@pytest.mark.parametrize("name", VALUES)
def test_special_functions(name: str) -> None:
    arguments, expected = VALUES[name]
    found = getattr(torch.special, name)(float64(arguments)).tolist()
    assert found == pytest.approx(list(expected), rel=2e-13, abs=5e-324)


@only_torch_py
def test_zeta_of_negative_numbers() -> None:
    orders = float64([2, 3, 4, 5])
    found = torch.special.zeta(orders, float64([-0.5, -2.25, -1000.75, 0.3])).tolist()
    expected = [8.934802200544679, -61.94847488703008, 259.7575760903411, 411.81118981237455]
    assert found == pytest.approx(expected, rel=1e-14)
    # As many steps for a number that is far from 0.
    assert math.isfinite(torch.special.zeta(float64(2), float64(-1e15 - 0.5)).item())


@only_torch_py
def test_derivatives_of_digamma() -> None:
    expected = {
        1: (-2.5, 9.539246644989124),
        2: (-1.25, 123.72136678366236),
        4: (-1000.75, -24481.57478282252),
    }
    for order, (x, value) in expected.items():
        assert torch.polygamma(order, float64(x)).item() == pytest.approx(value, rel=1e-13)

    assert math.isnan(torch.polygamma(1, float64(-math.inf)).item())
    x = float64([-math.inf, math.inf, -1e300], requires_grad=True)
    torch.digamma(x).sum().backward()
    assert math.isnan(x.grad[0].item()) and x.grad[1].item() == 0


@only_torch_py
def test_slope_of_sinc() -> None:
    x = float64([0.0, 1e-300, 1e-8, 0.001, 0.0999, 0.1001, 0.7], requires_grad=True)
    (first,) = torch.autograd.grad(torch.sinc(x).sum(), x, create_graph=True)
    expected = [
        0.0,
        -3.289868133696453e-300,
        -3.2898681336964526e-08,
        -0.0032898648867278964,
        -0.32543195527576435,
        -0.32607056123669076,
        -1.3652403755203533,
    ]
    assert first.tolist() == pytest.approx(expected, rel=1e-13, abs=0)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second[:2].tolist() == pytest.approx([-(math.pi**2) / 3] * 2)


def test_binary_cross_entropy_of_small_probabilities() -> None:
    x = float64([1e-20, 1e-10, 0.25])
    loss = F.binary_cross_entropy(x, torch.zeros_like(x), reduction="none")
    assert loss.tolist() == pytest.approx([1e-20, 1.00000000005e-10, 0.2876820724517809], rel=1e-13, abs=0)


def test_binary_cross_entropy_of_certain_predictions() -> None:
    x = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.5], requires_grad=True)
    target = torch.tensor([0.0, 1.0, 1.0, 0.0, 0.25])
    loss = F.binary_cross_entropy(x, target, reduction="none")
    assert loss.tolist() == pytest.approx([0, 0, 100, 100, math.log(2)])

    loss.sum().backward()
    assert x.grad.tolist() == pytest.approx([0, 0, -1e12, 1e12, 1])


def test_gradients_of_numbers_keep_the_digits_of_the_tensor() -> None:
    """A number next to a float64 tensor is float64, also under a logarithm."""
    x = float64([2.0], requires_grad=True)
    for result, slope in (
        (1.5**x, 1.5**2 * math.log(1.5)),
        (torch.xlogy(x, 1.5), math.log(1.5)),
        (torch.special.xlog1py(x, 1.5), math.log(2.5)),
    ):
        assert torch.autograd.grad(result, x)[0].item() == pytest.approx(slope, rel=1e-15)


@only_torch_py
def test_covariance_of_numbers_far_from_zero() -> None:
    rows = torch.tensor([[1e4, 1e4 + 1, 1e4 + 2], [1e5, 1e5 + 2, 1e5 - 1]])
    expected = [1, -0.5, -0.5, 7 / 3]
    assert torch.cov(rows).flatten().tolist() == pytest.approx(expected, rel=1e-6)
    weighted = torch.cov(rows, aweights=torch.ones(3))
    assert weighted.flatten().tolist() == pytest.approx(expected, rel=1e-6)


def test_curvature_of_log_ndtr_where_its_slope_vanishes() -> None:
    x = float64([12.0, 40.0, 120.0], requires_grad=True)
    (first,) = torch.autograd.grad(torch.special.log_ndtr(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx([-2.5756604827956516e-31, 0.0, 0.0], rel=1e-12, abs=0)
