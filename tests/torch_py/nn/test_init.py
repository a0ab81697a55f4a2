"""torch.nn.init, and the initial values of layers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn


def rounded(tensor: Any) -> list[float]:
    return [round(value, 6) for value in tensor.detach().flatten().tolist()]


@pytest.mark.parametrize(
    "make, name, expected",
    [
        (lambda: nn.Linear(3, 2), "weight", [-0.004323, 0.309716, -0.475185, -0.424895, -0.222369, 0.154821]),
        (lambda: nn.Linear(3, 2), "bias", [-0.011439, 0.457775]),
        (
            lambda: nn.Conv2d(2, 2, (1, 2)),
            "weight",
            [-0.003743, 0.268222, -0.411523, -0.36797, -0.192577, 0.134079, -0.009907, 0.396445],
        ),
        (lambda: nn.Conv2d(2, 2, (1, 2)), "bias", [-0.044372, 0.132306]),
        (
            lambda: nn.Embedding(3, 2, padding_idx=1),
            "weight",
            [1.540996, -0.293429, 0.0, 0.0, -1.084522, -1.398595],
        ),
    ],
)
def test_initial_values_of_layers(make: Any, name: str, expected: list[float]) -> None:
    torch.manual_seed(0)
    assert rounded(getattr(make(), name)) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("xavier_uniform_", [-0.008201, 0.587645, -0.901601, -0.806181, -0.421915, 0.293752]),
        ("xavier_normal_", [0.974612, -0.185581, -1.377987, 0.359508, -0.685912, -0.884549]),
        ("kaiming_uniform_", [-0.012968, 0.929148, -1.425556, -1.274684, -0.667107, 0.464462]),
        ("kaiming_normal_", [1.540996, -0.293429, -2.178789, 0.568431, -1.084522, -1.398595]),
        ("orthogonal_", [0.534953, -0.16993, -0.756361, 0.340184, -0.376489, -0.924878]),
        ("trunc_normal_", [1.540996, -0.293429, -0.719258, 0.568431, -1.084522, -1.398595]),
    ],
)
def test_init_functions(name: str, expected: list[float]) -> None:
    torch.manual_seed(0)
    tensor = torch.empty(3, 2)
    assert getattr(nn.init, name)(tensor) is tensor
    assert rounded(tensor) == pytest.approx(expected, abs=2e-6)


def test_init_of_leaves_is_not_recorded() -> None:
    parameter = nn.Parameter(torch.empty(2, 2))
    nn.init.ones_(parameter)
    nn.init.eye_(parameter)
    assert parameter.tolist() == [[1.0, 0.0], [0.0, 1.0]] and parameter.grad_fn is None
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(torch.empty(2))
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        nn.init.calculate_gain("cubic")
