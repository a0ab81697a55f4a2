"""Distributions compared with SciPy: densities, cdf and its inverse, moments, entropy, samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torch_py as torch
import torch_py.distributions as D

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")


def f(*values):
    return [torch.tensor(value, dtype=torch.float64) for value in values]


CONTINUOUS = {
    "beta": (D.Beta(*f(2.5, 0.7)), stats.beta(2.5, 0.7)),
    "cauchy": (D.Cauchy(*f(1.0, 2.0)), stats.cauchy(1.0, 2.0)),
    "chi2": (D.Chi2(*f(3.5)), stats.chi2(3.5)),
    "exponential": (D.Exponential(*f(2.5)), stats.expon(scale=1 / 2.5)),
    "F": (D.FisherSnedecor(*f(5.0, 9.0)), stats.f(5.0, 9.0)),
    "gamma": (D.Gamma(*f(0.6, 2.5)), stats.gamma(0.6, scale=1 / 2.5)),
    "gamma large": (D.Gamma(*f(60.0, 2.5)), stats.gamma(60.0, scale=1 / 2.5)),
    "generalized pareto": (D.GeneralizedPareto(*f(1.0, 2.0, 0.3)), stats.genpareto(0.3, 1.0, 2.0)),
    "generalized pareto bounded": (D.GeneralizedPareto(*f(1.0, 2.0, -0.4)), stats.genpareto(-0.4, 1.0, 2.0)),
    "generalized pareto exponential": (
        D.GeneralizedPareto(*f(1.0, 2.0, 0.0)),
        stats.genpareto(0.0, 1.0, 2.0),
    ),
    "gumbel": (D.Gumbel(*f(1.0, 2.0)), stats.gumbel_r(1.0, 2.0)),
    "half cauchy": (D.HalfCauchy(*f(2.0)), stats.halfcauchy(scale=2.0)),
    "half normal": (D.HalfNormal(*f(2.0)), stats.halfnorm(scale=2.0)),
    "inverse gamma": (D.InverseGamma(*f(4.5, 2.0)), stats.invgamma(4.5, scale=2.0)),
    "laplace": (D.Laplace(*f(1.0, 2.0)), stats.laplace(1.0, 2.0)),
    "log normal": (D.LogNormal(*f(0.5, 0.8)), stats.lognorm(0.8, scale=math.exp(0.5))),
    "normal": (D.Normal(*f(1.0, 2.0)), stats.norm(1.0, 2.0)),
    "pareto": (D.Pareto(*f(2.0, 4.5)), stats.pareto(4.5, scale=2.0)),
    "student": (D.StudentT(*f(5.5, 1.0, 2.0)), stats.t(5.5, 1.0, 2.0)),
    "uniform": (D.Uniform(*f(-1.0, 2.5)), stats.uniform(-1.0, 3.5)),
    "von mises": (D.VonMises(*f(0.7, 2.5)), stats.vonmises(2.5, 0.7)),
    "von mises broad": (D.VonMises(*f(0.0, 1e-3)), stats.vonmises(1e-3)),
    "von mises narrow": (D.VonMises(*f(0.0, 900.0)), stats.vonmises(900.0)),
    "weibull": (D.Weibull(*f(2.0, 1.7)), stats.weibull_min(1.7, scale=2.0)),
}
DISCRETE = {
    "bernoulli": (D.Bernoulli(*f(0.3)), stats.bernoulli(0.3)),
    "binomial": (D.Binomial(9, *f(0.3)), stats.binom(9, 0.3)),
    "geometric": (D.Geometric(*f(0.3)), stats.geom(0.3, loc=-1)),
    "negative binomial": (D.NegativeBinomial(*f(3.5, 0.4)), stats.nbinom(3.5, 0.6)),
    "poisson": (D.Poisson(*f(3.5)), stats.poisson(3.5)),
}
ALL = {**CONTINUOUS, **DISCRETE}
GRID = np.linspace(0.02, 0.98, 9)


def close(value, expected, rtol=1e-9):
    np.testing.assert_allclose(value.detach().numpy(), expected, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_log_prob(name):
    ours, reference = ALL[name]
    x = np.unique(reference.ppf(GRID)) if name in DISCRETE else reference.ppf(GRID)
    expected = reference.logpmf(x) if name in DISCRETE else reference.logpdf(x)
    close(ours.log_prob(torch.from_numpy(x)), expected, rtol=1e-8)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_cdf(name):
    ours, reference = CONTINUOUS[name]
    x = reference.ppf(GRID)
    try:
        value = ours.cdf(torch.from_numpy(x))
    except NotImplementedError:
        assert name in ("beta", "F", "student") or name.startswith("von mises")
        return
    close(value, reference.cdf(x), rtol=1e-8)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_icdf(name):
    ours, reference = CONTINUOUS[name]
    try:
        value = ours.icdf(torch.from_numpy(GRID.copy()))
    except NotImplementedError:
        assert name in ("beta", "F", "student", "chi2", "inverse gamma") or name.startswith(
            ("von mises", "gamma")
        )
        return
    close(value, reference.ppf(GRID), rtol=1e-8)


@pytest.mark.parametrize(
    "name", [name for name in ALL if not name.startswith("von mises") and "cauchy" not in name]
)
def test_mean_and_variance(name):
    ours, reference = ALL[name]
    close(ours.mean, reference.mean(), rtol=1e-8)
    close(ours.variance, reference.var(), rtol=1e-8)
    close(ours.stddev, reference.std(), rtol=1e-8)


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("von mises")])
def test_entropy(name):
    ours, reference = ALL[name]
    try:
        value = ours.entropy()
    except NotImplementedError:
        assert name in ("F", "negative binomial", "poisson")
        return
    close(value, reference.entropy(), rtol=1e-7)


# Not: those with an infinite density at an end, and the uniform one, where every value is a mode.
@pytest.mark.parametrize("name", [name for name in CONTINUOUS if name not in ("beta", "gamma", "uniform")])
def test_mode_has_the_highest_density(name):
    ours, reference = CONTINUOUS[name]
    around = torch.from_numpy(np.linspace(*reference.ppf([0.001, 0.999]), 201))
    assert (ours.log_prob(ours.mode) >= ours.log_prob(around) - 1e-6).all()


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_samples_of_continuous(name, dtype):
    ours, reference = CONTINUOUS[name]
    if dtype == "float32":
        ours = type(ours)(
            *(getattr(ours, key).float() for key in list(type(ours).__init__.__annotations__)[:-2])
        )
    torch.manual_seed(11)
    sample = ours.sample((4000,))
    assert str(sample.dtype) == f"torch.{dtype}"
    assert stats.kstest(sample.numpy(), reference.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_samples_of_discrete(name):
    ours, reference = DISCRETE[name]
    torch.manual_seed(12)
    sample = ours.sample((6000,)).numpy()
    limits = np.arange(0, 12)
    expected = np.append(reference.pmf(limits), 1 - reference.cdf(limits[-1])) * len(sample)
    observed = np.array([(sample == k).sum() for k in limits] + [(sample > limits[-1]).sum()])
    keep = expected > 5
    rest = (expected[~keep].sum(), observed[~keep].sum())
    expected, observed = np.append(expected[keep], rest[0] + 1e-9), np.append(observed[keep], rest[1])
    statistic = ((observed - expected) ** 2 / np.maximum(expected, 1)).sum()
    assert stats.chi2(keep.sum()).sf(statistic) > 1e-3


COV = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 0.7]])
MEAN = np.array([0.0, 1.0, -2.0])
X = np.array([[0.3, 0.2, -1.0], [1.0, 1.0, 1.0]])


@pytest.mark.parametrize("way", ["covariance_matrix", "precision_matrix", "scale_tril", "low rank"])
def test_multivariate_normal(way):
    loc = torch.from_numpy(MEAN.copy())
    covariance = COV
    if way == "low rank":
        factor, diagonal = np.array([[1.0, 0.2], [0.0, 1.0], [-0.5, 0.3]]), np.array([0.5, 1.0, 2.0])
        covariance = factor @ factor.T + np.diag(diagonal)
        ours = D.LowRankMultivariateNormal(loc, torch.from_numpy(factor), torch.from_numpy(diagonal))
    else:
        matrix = {
            "covariance_matrix": COV,
            "precision_matrix": np.linalg.inv(COV),
            "scale_tril": np.linalg.cholesky(COV),
        }[way]
        ours = D.MultivariateNormal(
            loc, **{way: torch.from_numpy((matrix + matrix.T) / 2 if way == "precision_matrix" else matrix)}
        )

    reference = stats.multivariate_normal(MEAN, covariance)
    close(ours.log_prob(torch.from_numpy(X.copy())), reference.logpdf(X))
    close(ours.entropy(), reference.entropy())
    close(ours.covariance_matrix, covariance)
    close(ours.precision_matrix, np.linalg.inv(covariance))
    close(ours.scale_tril, np.linalg.cholesky(covariance))
    close(ours.variance, np.diag(covariance))

    torch.manual_seed(4)
    sample = ours.sample((20000,)).numpy()
    np.testing.assert_allclose(np.cov(sample.T), covariance, atol=0.08)

    whitened = np.linalg.solve(np.linalg.cholesky(covariance), (sample - MEAN).T)
    for row in whitened:
        assert stats.kstest(row, stats.norm.cdf).pvalue > 1e-3


def test_batches_of_factors_and_values():
    """Batches of every combination of shapes give the results of single calls."""
    rng = np.random.default_rng(0)
    roots = np.tril(rng.normal(size=(3, 1, 2, 2))) + 2 * np.eye(2)
    locs, values = rng.normal(size=(4, 2)), rng.normal(size=(5, 3, 4, 2))
    ours = D.MultivariateNormal(torch.from_numpy(locs), scale_tril=torch.from_numpy(np.abs(roots)))
    roots = np.abs(roots)
    result = ours.log_prob(torch.from_numpy(values)).numpy()
    for s, i, j in np.ndindex(5, 3, 4):
        covariance = roots[i, 0] @ roots[i, 0].T
        assert result[s, i, j] == pytest.approx(
            stats.multivariate_normal(locs[j], covariance).logpdf(values[s, i, j])
        )


def test_dirichlet():
    alpha = np.array([0.5, 2.0, 3.0])
    ours = D.Dirichlet(torch.from_numpy(alpha.copy()))
    reference = stats.dirichlet(alpha)
    x = np.array([0.2, 0.3, 0.5])

    close(ours.log_prob(torch.from_numpy(x.copy())), reference.logpdf(x))
    close(ours.entropy(), reference.entropy())
    close(ours.mean, reference.mean())
    close(ours.variance, reference.var())

    torch.manual_seed(9)
    sample = ours.sample((5000,)).numpy()
    for k in range(3):
        assert stats.kstest(sample[:, k], stats.beta(alpha[k], alpha.sum() - alpha[k]).cdf).pvalue > 1e-3


def test_tiny_concentrations_choose_corners():
    torch.manual_seed(2)
    sample = D.Dirichlet(torch.full((2,), 1e-2)).sample((4000,))
    assert torch.isfinite(sample).all() and (sample > 0).all()
    assert float((sample[:, 0] > 0.5).float().mean()) == pytest.approx(0.5, abs=0.04)
    assert float(((sample[:, 0] > 0.01) & (sample[:, 0] < 0.99)).float().mean()) < 0.1


def test_multinomial():
    p = np.array([0.2, 0.3, 0.5])
    ours = D.Multinomial(6, torch.from_numpy(p.copy()))
    reference = stats.multinomial(6, p)
    x = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 6.0]])
    close(ours.log_prob(torch.from_numpy(x.copy())), reference.logpmf(x))
    close(ours.entropy(), reference.entropy())
    torch.manual_seed(3)
    sample = ours.sample((8000,))
    assert (sample.sum(-1) == 6).all()
    np.testing.assert_allclose(np.cov(sample.numpy().T), reference.cov(), atol=0.1)


def test_wishart():
    ours = D.Wishart(*f(5.0, COV))
    reference = stats.wishart(5.0, COV)
    x = reference.rvs(random_state=1)

    close(ours.log_prob(torch.from_numpy(x)), reference.logpdf(x))
    close(ours.entropy(), reference.entropy())
    close(ours.mean, reference.mean())
    close(ours.variance, reference.var())

    torch.manual_seed(3)
    sample = ours.sample((20000,)).numpy()
    np.testing.assert_allclose(sample.mean(0), reference.mean(), atol=0.15)
    assert stats.kstest(sample[:, 0, 0] / COV[0, 0], stats.chi2(5.0).cdf).pvalue > 1e-3

    assert (
        stats.kstest(
            1 / np.linalg.inv(sample)[:, 0, 0] * np.linalg.inv(COV)[0, 0], stats.chi2(3.0).cdf
        ).pvalue
        > 1e-3
    )


@pytest.mark.parametrize("concentration", [0.5, 1.0, 4.0])
def test_lkj(concentration):
    """Each correlation is beta distributed on (-1, 1); the density of 2 by 2 factors is that of one."""
    size = 4

    torch.manual_seed(3)
    ours = D.LKJCholesky(size, *f(concentration))
    factors = ours.sample((4000,))
    assert ours.support.check(factors).all()

    correlations = (factors @ factors.mT).numpy()
    marginal = stats.beta(concentration + size / 2 - 1, concentration + size / 2 - 1, loc=-1, scale=2)
    for i, j in ((1, 0), (3, 0), (3, 2)):
        assert stats.kstest(correlations[:, i, j], marginal.cdf).pvalue > 1e-3

    r = np.array([-0.7, 0.1, 0.9])
    pairs = np.stack([np.stack([np.ones(3), np.zeros(3)], -1), np.stack([r, np.sqrt(1 - r * r)], -1)], -2)
    expected = stats.beta(concentration, concentration, loc=-1, scale=2).logpdf(r)
    close(D.LKJCholesky(2, *f(concentration)).log_prob(torch.from_numpy(pairs)), expected)


def test_kumaraswamy_and_continuous_bernoulli_integrate():
    grid = torch.linspace(0, 1, 200001, dtype=torch.float64)[1:-1]
    for ours in (
        D.Kumaraswamy(*f(2.0, 3.0)),
        D.ContinuousBernoulli(*f(0.2)),
        D.ContinuousBernoulli(*f(0.5004)),
    ):
        density = ours.log_prob(grid).exp()

        step = float(grid[1] - grid[0])
        assert float(density.sum()) * step == pytest.approx(1, abs=2e-5)
        assert float((density * grid).sum()) * step == pytest.approx(float(ours.mean), abs=2e-5)
        assert float((density * (grid - ours.mean) ** 2).sum()) * step == pytest.approx(
            float(ours.variance), abs=2e-5
        )
        assert -float((density * density.log()).sum()) * step == pytest.approx(
            float(ours.entropy()), abs=2e-4
        )

        # Within `lims` the cdf is that of 0.5.
        if ours.mean != 0.5 and not getattr(ours, "probs", 0) == 0.5004:
            assert float(ours.cdf(grid[59999])) == pytest.approx(
                float(density[:60000].sum()) * step, abs=2e-5
            )

    mode = D.Kumaraswamy(*f(2.0, 3.0)).mode
    assert float(mode) == pytest.approx(
        float(grid[D.Kumaraswamy(*f(2.0, 3.0)).log_prob(grid).argmax()]), abs=1e-5
    )


def test_circular_variance():
    k = np.array([1e-3, 0.5, 5.0, 500.0])
    close(
        D.VonMises(torch.zeros(4, dtype=torch.float64), torch.from_numpy(k.copy())).variance,
        1 - special.ive(1, k) / special.ive(0, k),
    )


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_relaxed_bernoulli(temperature):
    ours = D.RelaxedBernoulli(*f(temperature, 0.3))
    torch.manual_seed(1)
    sample = ours.sample((4000,)).numpy()
    # the logit of a sample is logistic, shifted by the logit of 0.3 and divided by the temperature
    logit = math.log(0.3 / 0.7)
    assert (
        stats.kstest(special.logit(sample), stats.logistic(logit / temperature, 1 / temperature).cdf).pvalue
        > 1e-3
    )
    x = np.array([0.2, 0.6])
    expected = stats.logistic(logit / temperature, 1 / temperature).logpdf(special.logit(x)) - np.log(
        x * (1 - x)
    )
    close(ours.log_prob(torch.from_numpy(x)), expected)


def test_relaxed_one_hot_of_two_is_relaxed_bernoulli():
    p = torch.tensor([0.3, 0.7], dtype=torch.float64)
    x = torch.tensor([0.2, 0.8], dtype=torch.float64)
    two = D.RelaxedOneHotCategorical(*f(0.7), p)
    one = D.RelaxedBernoulli(*f(0.7), p[0])
    close(two.log_prob(x), one.log_prob(x[0]).numpy())
    torch.manual_seed(1)
    first = two.sample((3000,))[:, 0].numpy()
    second = one.sample((3000,)).numpy()
    assert stats.ks_2samp(first, second).pvalue > 1e-3
