"""KL divergences of every registered pair, compared with PyTorch's formulas and with means over samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torch_py
import torch_py.distributions as ours
from tests.torch_py.distributions.cases import COVARIANCE, FACTOR, t
from torch_py.distributions import kl as kl_module

try:
    import torch as peer
except ImportError:
    peer = None
needs_peer = pytest.mark.skipif(peer is None, reason="PyTorch is not installed")

# Two members of each family; where their supports differ, the first lies within the second.
MEMBERS = {
    "Bernoulli": (
        lambda D, l: D.Bernoulli(t(l, 0.2, 0.0, 1.0)),
        lambda D, l: D.Bernoulli(t(l, 0.7, 0.4, 0.9)),
    ),
    "Beta": (
        lambda D, l: D.Beta(t(l, 1.5, 3.0, 2.0), t(l, 2.0, 1.2, 5.0)),
        lambda D, l: D.Beta(t(l, 1.1, 2.0, 4.0), t(l, 1.7, 2.0, 2.0)),
    ),
    "Binomial": (
        lambda D, l: D.Binomial(7, t(l, 0.2, 0.5, 0.9)),
        lambda D, l: D.Binomial(7, t(l, 0.4, 0.5, 0.3)),
    ),
    "Categorical": (
        lambda D, l: D.Categorical(t(l, [[0.2, 0.3, 0.5]] * 3)),
        lambda D, l: D.Categorical(logits=t(l, 0.1, 0.2, -0.4)),
    ),
    "Cauchy": (
        lambda D, l: D.Cauchy(t(l, 0.0, 1.0, 2.0), 1.5),
        lambda D, l: D.Cauchy(t(l, 0.5, -1.0, 2.0), t(l, 1.0, 2.0, 3.0)),
    ),
    "ContinuousBernoulli": (
        lambda D, l: D.ContinuousBernoulli(t(l, 0.2, 0.5, 0.9)),
        lambda D, l: D.ContinuousBernoulli(t(l, 0.6, 0.3, 0.4)),
    ),
    "Dirichlet": (
        lambda D, l: D.Dirichlet(t(l, [[0.5, 1.0, 3.0]] * 3)),
        lambda D, l: D.Dirichlet(t(l, 1.5, 2.0, 0.8)),
    ),
    "Exponential": (
        lambda D, l: D.Exponential(t(l, 0.5, 2.0, 5.0)),
        lambda D, l: D.Exponential(t(l, 1.5, 2.0, 0.7)),
    ),
    "Gamma": (
        lambda D, l: D.Gamma(t(l, 0.5, 2.0, 5.0), t(l, 1.0, 2.0, 3.0)),
        lambda D, l: D.Gamma(t(l, 1.5, 1.0, 2.5), 0.8),
    ),
    "Geometric": (
        lambda D, l: D.Geometric(t(l, 0.2, 0.5, 0.9)),
        lambda D, l: D.Geometric(t(l, 0.4, 0.5, 0.3)),
    ),
    "Gumbel": (
        lambda D, l: D.Gumbel(t(l, 0.0, 1.0, -1.0), t(l, 1.0, 2.0, 0.5)),
        lambda D, l: D.Gumbel(t(l, 0.3, 1.0, 1.0), 1.5),
    ),
    "HalfNormal": (
        lambda D, l: D.HalfNormal(t(l, 1.0, 2.0, 0.5)),
        lambda D, l: D.HalfNormal(t(l, 1.5, 1.0, 1.0)),
    ),
    "Independent": (
        lambda D, l: D.Independent(D.Normal(t(l, [[0.0, 1.0]] * 3), 1.0), 1),
        lambda D, l: D.Independent(D.Normal(t(l, 1.0, 1.0), 2.0), 1),
    ),
    "Laplace": (
        lambda D, l: D.Laplace(t(l, 0.0, 1.0, -1.0), t(l, 1.0, 2.0, 0.5)),
        lambda D, l: D.Laplace(t(l, 0.3, 1.0, 1.0), 1.5),
    ),
    "LowRankMultivariateNormal": (
        lambda D, l: D.LowRankMultivariateNormal(
            t(l, [[0.0, 1.0, 2.0]] * 3), t(l, [[1.0], [0.5], [-1.0]]), t(l, 1.0, 2.0, 0.7)
        ),
        lambda D, l: D.LowRankMultivariateNormal(
            t(l, 0.5, 1.0, 2.0), t(l, [[1.0, 0.0], [0.5, 1.0], [-1.0, 0.2]]), t(l, 2.0, 1.0, 0.7)
        ),
    ),
    "MultivariateNormal": (
        lambda D, l: D.MultivariateNormal(t(l, [[0.0, 1.0, 2.0]] * 3), t(l, COVARIANCE)),
        lambda D, l: D.MultivariateNormal(t(l, 1.0, 0.0, 1.5), scale_tril=t(l, FACTOR)),
    ),
    "Normal": (
        lambda D, l: D.Normal(t(l, 0.0, 1.0, -1.0), t(l, 1.0, 2.0, 0.5)),
        lambda D, l: D.Normal(t(l, 0.3, 1.0, 1.0), 1.5),
    ),
    "OneHotCategorical": (
        lambda D, l: D.OneHotCategorical(t(l, [[0.2, 0.3, 0.5]] * 3)),
        lambda D, l: D.OneHotCategorical(logits=t(l, 0.1, 0.2, -0.4)),
    ),
    "Pareto": (
        lambda D, l: D.Pareto(t(l, 1.0, 2.0, 1.5), t(l, 7.0, 5.0, 6.0)),
        lambda D, l: D.Pareto(t(l, 0.1, 0.2, 0.05), t(l, 0.8, 3.0, 1.0)),
    ),
    "Poisson": (lambda D, l: D.Poisson(t(l, 0.5, 2.0, 9.0)), lambda D, l: D.Poisson(t(l, 1.5, 2.0, 5.0))),
    "TransformedDistribution": (
        lambda D, l: D.LogNormal(t(l, 0.0, 1.0, -1.0), 0.5),
        lambda D, l: D.LogNormal(t(l, 0.5, 1.0, 0.0), 0.7),
    ),
    "Uniform": (
        lambda D, l: D.Uniform(t(l, 0.2, 0.3, 0.25), t(l, 0.5, 0.9, 0.7)),
        lambda D, l: D.Uniform(t(l, 0.0, -1.0, -2.0), t(l, 1.0, 2.0, 1.0)),
    ),
    "ExponentialFamily": (
        lambda D, l: D.Wishart(t(l, 5.0, 6.5, 4.0), t(l, COVARIANCE)),
        lambda D, l: D.Wishart(t(l, 4.5, 5.0, 6.0), scale_tril=t(l, FACTOR)),
    ),
}
PAIRS = sorted((p.__name__, q.__name__) for p, q in kl_module._KL_REGISTRY)


def divergence(p, q, D=ours, library=torch_py):
    return D.kl_divergence(MEMBERS[p][0](D, library), MEMBERS[q][1](D, library)).detach().numpy()


@needs_peer
def test_the_same_pairs_as_pytorch():
    assert PAIRS == sorted((p.__name__, q.__name__) for p, q in peer.distributions.kl._KL_REGISTRY)


# In PyTorch, a divergence by natural parameters sums batch dimensions as if they were event dimensions.
# There, a uniform distribution on (0, 1) excludes the continuous Bernoulli, although it contains it.
NOT_AS_PYTORCH = {("ExponentialFamily", "ExponentialFamily"), ("ContinuousBernoulli", "Uniform")}


@needs_peer
@pytest.mark.parametrize(("p", "q"), [pair for pair in PAIRS if pair not in NOT_AS_PYTORCH])
def test_as_pytorch(p, q):
    expected = divergence(p, q, peer.distributions, peer)
    value = divergence(p, q)
    assert value.shape == expected.shape == (3,)
    np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_by_sampling(p, q):
    one = MEMBERS[p][0](ours, torch_py)
    other = MEMBERS[q][1](ours, torch_py)
    other._validate_args = False
    if hasattr(other, "base_dist"):
        other.base_dist._validate_args = False

    value = divergence(p, q)
    if np.isinf(value).any():
        grid = (torch_py.arange(-2000, 2001, dtype=torch_py.float64) / 100).unsqueeze(-1)
        allowed = one.support.check(grid) & (grid > 0 if p in ("Gamma", "Exponential") else grid == grid)
        assert np.isinf(value).all() and (allowed & ~other.support.check(grid)).any(0).all()
        return

    torch_py.manual_seed(1)
    sample = one.sample((8000 if p == "ExponentialFamily" else 60000,))
    terms = (one.log_prob(sample) - other.log_prob(sample)).numpy()
    error = terms.std(0) / math.sqrt(terms.shape[0])
    assert (abs(terms.mean(0) - value) < 4.5 * error + 1e-9).all(), (terms.mean(0), value, error)


@pytest.mark.parametrize(
    "p",
    ["Bernoulli", "Beta", "ContinuousBernoulli", "Dirichlet", "Exponential", "Gamma", "Normal", "Poisson"],
)
def test_natural_parameters_give_the_same(p):
    from torch_py.distributions._kl_same import _exponential_family

    one = MEMBERS[p][0](ours, torch_py)
    other = MEMBERS[p][1](ours, torch_py)
    if p == "Bernoulli":  # whose natural parameters are infinite at 0 and 1
        one = ours.Bernoulli(t(torch_py, 0.2, 0.6, 0.9))
    np.testing.assert_allclose(
        _exponential_family(one, other).detach().numpy(),
        ours.kl_divergence(one, other).numpy(),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (ours.Uniform(-0.5, 0.5), ours.Beta(2.0, 2.0)),
        (ours.Uniform(-0.5, 0.5), ours.Gamma(2.0, 2.0)),
        (ours.Uniform(-0.5, 0.5), ours.Exponential(2.0)),
        (ours.Uniform(0.5, 1.5), ours.ContinuousBernoulli(0.3)),
        (ours.Uniform(0.5, 1.5), ours.Pareto(0.7, 1.0)),
        (ours.Uniform(0.5, 1.5), ours.Uniform(0.0, 1.0)),
        (ours.Beta(2.0, 2.0), ours.Uniform(0.0, 0.5)),
        (ours.ContinuousBernoulli(0.3), ours.Uniform(0.1, 1.5)),
        (ours.Pareto(1.0, 3.0), ours.Pareto(1.5, 3.0)),
        (ours.Pareto(1.0, 0.5), ours.Exponential(1.0)),
        (ours.Pareto(1.0, 1.5), ours.Normal(0.0, 1.0)),
        (ours.Bernoulli(0.5), ours.Bernoulli(0.0)),
        (ours.Categorical(torch_py.tensor([0.5, 0.5])), ours.Categorical(torch_py.tensor([0.0, 1.0]))),
        (ours.Binomial(3, torch_py.tensor(0.5)), ours.Binomial(2, torch_py.tensor(0.5))),
    ],
)
def test_infinite_where_q_excludes_what_p_allows(p, q):
    assert ours.kl_divergence(p, q).item() == math.inf


def test_gradients():
    loc = torch_py.tensor([0.5], dtype=torch_py.float64, requires_grad=True)
    ours.kl_divergence(ours.Normal(loc, 1.0), ours.Normal(0.0, 2.0)).sum().backward()
    assert loc.grad.item() == pytest.approx(0.5 / 4)


class Parent(ours.Normal):
    pass


class Child(Parent):
    def __init__(self, loc):
        super().__init__(loc, 1.0)


def test_the_closest_registration_is_used():
    saved = dict(kl_module._KL_REGISTRY)
    try:
        p, q = Child(0.0), Child(1.0)
        assert ours.kl_divergence(p, q).item() == pytest.approx(0.5)

        @ours.register_kl(Parent, Parent)
        def parents(p, q):
            return torch_py.tensor(42.0)

        assert ours.kl_divergence(p, q).item() == 42.0

        @ours.register_kl(Child, ours.Normal)
        def child_first(p, q):
            return torch_py.tensor(43.0)

        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Child, Child\)"):
            assert ours.kl_divergence(p, q).item() == 43.0
    finally:
        kl_module._KL_REGISTRY.clear()
        kl_module._KL_REGISTRY.update(saved)
        kl_module._KL_MEMOIZE.clear()


def test_errors():
    with pytest.raises(TypeError, match="type_q"):
        ours.register_kl(ours.Normal, 3)
    with pytest.raises(TypeError, match="type_p"):
        ours.register_kl("Normal", ours.Normal)

    with pytest.raises(NotImplementedError, match="HalfCauchy and q type Cauchy"):
        ours.kl_divergence(ours.HalfCauchy(1.0), ours.Cauchy(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="different exponential families"):
        ours.kl_divergence(ours.Normal(0.0, 1.0), ours.Bernoulli(0.5))
    with pytest.raises(NotImplementedError, match=r"q.total_count > p.total_count"):
        ours.kl_divergence(ours.Binomial(2, torch_py.tensor(0.5)), ours.Binomial(3, torch_py.tensor(0.5)))

    with pytest.raises(NotImplementedError, match="equal transforms"):
        ours.kl_divergence(ours.LogNormal(0.0, 1.0), ours.HalfNormal(1.0))
    with pytest.raises(NotImplementedError, match="reinterpreted_batch_ndims"):
        one = ours.Normal(torch_py.zeros(2, 2), 1.0)
        ours.kl_divergence(ours.Independent(one, 1), ours.Independent(one, 2))

    with pytest.raises(ValueError, match="event shapes"):
        ours.kl_divergence(
            ours.MultivariateNormal(torch_py.zeros(2), torch_py.eye(2)),
            ours.MultivariateNormal(torch_py.zeros(3), torch_py.eye(3)),
        )
