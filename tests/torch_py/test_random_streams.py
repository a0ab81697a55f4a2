"""Random numbers of seed 0: PyTorch 2.13's values, means, gradients, and independent generators."""

from __future__ import annotations

import pytest

from tests.subject import torch


def _filled(name, *arguments, shape=(3,), dtype="float64"):
    torch.manual_seed(0)
    return getattr(torch.empty(shape, dtype=getattr(torch, dtype)), name)(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("cauchy_", (1.0, 2.0), [22.195458653364593, 2.5295345192117997, 0.7434013158336519]),
        ("log_normal_", (0.5, 0.25), [2.4235878553037287, 1.5321052554493706, 0.9562868625441218]),
        ("geometric_", (0.2,), [1.0, 2.0, 4.0]),
    ],
)
def test_streams(name, arguments, expected):
    assert _filled(name, *arguments).tolist() == pytest.approx(expected, rel=1e-9)


def test_streams_of_functions():
    torch.manual_seed(0)
    assert torch.poisson(torch.tensor([0.5, 3.0, 20.0, 200.0])).tolist() == [2.0, 4.0, 21.0, 198.0]
    assert torch.binomial(torch.tensor([5.0, 100.0, 50.0]), torch.tensor([0.4, 0.3, 0.9])).tolist() == [
        2.0,
        29.0,
        45.0,
    ]

    assert torch._standard_gamma(torch.tensor([0.5, 3.0])).tolist() == pytest.approx(
        [0.3144574761390686, 5.308608055114746], rel=1e-5
    )

    drawn = torch.normal(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 0.1])).tolist()
    assert drawn == pytest.approx([-0.02087947353720665, 9.928152084350586], rel=1e-5)


@pytest.mark.parametrize(
    ("name", "arguments", "mean"), [("geometric_", (0.25,), 4.0), ("log_normal_", (0.0, 0.5), 1.1331)]
)
def test_means(name, arguments, mean):
    assert _filled(name, *arguments, shape=(20000,)).mean().item() == pytest.approx(mean, rel=0.03)


def test_means_of_functions():
    torch.manual_seed(0)
    for rate in (0.3, 8.0, 60.0):
        assert torch.poisson(torch.full((20000,), rate)).mean().item() == pytest.approx(rate, rel=0.03)

    for count, p in ((5.0, 0.3), (100.0, 0.7), (1000.0, 0.01)):
        drawn = torch.binomial(torch.full((20000,), count), torch.full((20000,), p))
        assert drawn.mean().item() == pytest.approx(count * p, rel=0.03) and drawn.max().item() <= count

    for shape in (0.2, 5.0):
        assert torch._standard_gamma(torch.full((20000,), shape)).mean().item() == pytest.approx(
            shape, rel=0.05
        )

    points = torch._sample_dirichlet(torch.tensor([1.0, 2.0, 5.0]).expand(5000, 3))
    assert points.sum(-1).tolist() == pytest.approx([1.0] * 5000, rel=1e-5)
    assert points.mean(0).tolist() == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.02)


def test_gamma_numbers_have_a_gradient():
    shape = torch.full((5000,), 3.0, dtype=torch.float64, requires_grad=True)
    torch._standard_gamma(shape).sum().backward()
    assert shape.grad.mean().item() == pytest.approx(1.0, rel=0.05)  # the mean equals the shape


def test_extreme_parameters():
    assert torch.binomial(torch.tensor([5.0, 5.0, 0.0]), torch.tensor([0.0, 1.0, 0.5])).tolist() == [0, 5, 0]
    assert torch.poisson(torch.tensor([0.0])).tolist() == [0]
    assert torch.isnan(torch.binomial(torch.tensor([5.0]), torch.tensor([float("nan")]))).all()
    assert torch.bernoulli(torch.zeros(3), 1.0).tolist() == [1, 1, 1]
    assert torch.zeros(2).bernoulli_(torch.tensor([0.0, 1.0])).tolist() == [0, 1]


def test_generators_are_independent_of_the_default_one():
    generators = [torch.Generator().manual_seed(7) for _ in range(2)]
    first, second = (torch.normal(torch.zeros(5), 2.0, generator=g) for g in generators)
    assert torch.equal(first, second)
    assert torch.equal(
        *(torch.poisson(torch.full((5,), 3.0), torch.Generator().manual_seed(1)) for _ in range(2))
    )


def test_integers_like_another_tensor():
    like = torch.randint_like(torch.zeros(50, dtype=torch.int32), 2, 5)
    assert like.dtype == torch.int32 and set(like.tolist()) == {2, 3, 4}
    assert set(torch.randint_like(torch.zeros(50), 2).tolist()) == {0.0, 1.0}
