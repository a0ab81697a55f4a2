"""The common interface of distributions: docstring examples, gradients of rsample, subclasses, validation."""

from __future__ import annotations

import doctest
import importlib
import inspect
import math
import pickle
import pkgutil

import numpy as np
import pytest

import torch_py as torch
from tests.torch_py.distributions.cases import CASES
from torch_py import distributions as D

MODULES = [D, *(importlib.import_module(f"{D.__name__}.{m.name}") for m in pkgutil.iter_modules(D.__path__))]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples(module):
    namespace = {**vars(D), "torch": torch, **vars(module)}
    attempted = 0
    for test in doctest.DocTestFinder(exclude_empty=True).find(
        module, module.__name__, module=module, extraglobs=namespace
    ):
        result = doctest.DocTestRunner(verbose=False).run(test)
        assert result.failed == 0, test.name
        attempted += result.attempted
    assert attempted or ">>>" not in inspect.getsource(module)


def test_every_public_class_is_documented():
    for name in D.__all__:
        value = getattr(D, name)
        if inspect.isclass(value):
            assert inspect.getdoc(value) and value.__doc__, name
            assert (
                issubclass(value, D.Transform)
                or ">>>" in value.__doc__
                or name in ("Distribution", "ExponentialFamily", "OneHotCategoricalStraightThrough")
            ), name


def test_modules_under_pytorchs_names():
    from torch_py.distributions.categorical import Categorical
    from torch_py.distributions.multivariate_normal import _batch_mahalanobis, _precision_to_scale_tril
    from torch_py.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
    from torch_py.distributions.relaxed_categorical import ExpRelaxedCategorical

    assert Categorical is D.Categorical and D.normal.Normal is D.Normal
    assert LogitRelaxedBernoulli and ExpRelaxedCategorical
    matrix = torch.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=torch.float64)
    root = _precision_to_scale_tril(matrix)
    np.testing.assert_allclose((root @ root.mT).numpy(), np.linalg.inv(matrix.numpy()), rtol=1e-12)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert float(_batch_mahalanobis(torch.linalg.cholesky(matrix), x)) == pytest.approx(
        float(x @ torch.linalg.inv(matrix) @ x)
    )
    peer = pytest.importorskip("torch")
    for name in (m.name for m in pkgutil.iter_modules(peer.distributions.__path__)):
        theirs = importlib.import_module(f"torch.distributions.{name}")
        ours = importlib.import_module(f"torch_py.distributions.{name}")
        assert set(theirs.__all__) <= set(dir(ours)), name


def parameter(value):
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


# Monotone families in one parameter: dx/dtheta = -(dF/dtheta) / density, however the sample is drawn.
IMPLICIT = {
    "Normal": (lambda a: D.Normal(a, 2.0 * a), 1.5),
    "Laplace": (lambda a: D.Laplace(a, a), 1.5),
    "Cauchy": (lambda a: D.Cauchy(a, a), 1.5),
    "Exponential": (lambda a: D.Exponential(a), 0.7),
    "Gamma small": (lambda a: D.Gamma(a, 1.3), 0.4),
    "Gamma": (lambda a: D.Gamma(a, a), 2.5),
    "Gamma large": (lambda a: D.Gamma(a, 1.0), 60.0),
    "Chi2": (lambda a: D.Chi2(a), 3.0),
    "Gumbel": (lambda a: D.Gumbel(a, a), 1.5),
    "HalfNormal": (lambda a: D.HalfNormal(a), 1.5),
    "HalfCauchy": (lambda a: D.HalfCauchy(a), 1.5),
    "InverseGamma": (lambda a: D.InverseGamma(a, 1.0), 1.5),
    "Kumaraswamy": (lambda a: D.Kumaraswamy(a, 2.0 * a), 1.5),
    "LogNormal": (lambda a: D.LogNormal(a, a), 0.5),
    "Pareto": (lambda a: D.Pareto(a, a), 1.5),
    "Uniform": (lambda a: D.Uniform(-a, 2.0 * a), 1.5),
    "Weibull": (lambda a: D.Weibull(a, a), 1.5),
    "ContinuousBernoulli": (lambda a: D.ContinuousBernoulli(a), 0.3),
    "GeneralizedPareto": (lambda a: D.GeneralizedPareto(a, a, a), 0.3),
}


@pytest.mark.parametrize("name", IMPLICIT)
def test_gradients_of_rsample_are_implicit_ones(name):
    make, value = IMPLICIT[name]
    for seed in range(5):
        a = parameter(value)
        torch.manual_seed(seed)
        x = make(a).rsample()
        (gradient,) = torch.autograd.grad(x, a)

        point = x.detach()
        h = 1e-5 * value
        above, below = (make(torch.tensor(value + step, dtype=torch.float64)).cdf(point) for step in (h, -h))
        slope = (above - below) / (2 * h)
        density = make(torch.tensor(value, dtype=torch.float64)).log_prob(point).exp()
        assert float(gradient) == pytest.approx(float(-slope / density), rel=2e-3, abs=1e-6)


# d E[g(x)] / d theta, which has a closed form, compared with the mean of gradients.
EXPECTED = {
    "Beta": (lambda a: D.Beta(a, 2.0).rsample((20000,)), lambda x: x, 1.5, lambda a: 2 / (a + 2) ** 2),
    "Dirichlet": (
        lambda a: D.Dirichlet(torch.stack([a, a * 0 + 1, a * 0 + 3])).rsample((20000,))[:, 0],
        lambda x: x,
        0.5,
        lambda a: 4 / (a + 4) ** 2,
    ),
    "StudentT": (lambda a: D.StudentT(a, 0.0, 1.0).rsample((40000,)), lambda x: x.abs().log(), 3.0, None),
    "FisherSnedecor": (lambda a: D.FisherSnedecor(5.0, a).rsample((20000,)), lambda x: x.log(), 7.0, None),
    "MultivariateNormal": (
        lambda a: D.MultivariateNormal(
            torch.zeros(2, dtype=torch.float64), a * torch.eye(2, dtype=torch.float64)
        ).rsample((20000,))[:, 0],
        lambda x: x * x,
        2.0,
        lambda a: 1.0,
    ),
    "LowRankMultivariateNormal": (
        lambda a: D.LowRankMultivariateNormal(
            torch.zeros(2, dtype=torch.float64),
            a * torch.ones((2, 1), dtype=torch.float64),
            torch.ones(2, dtype=torch.float64),
        ).rsample((20000,))[:, 0],
        lambda x: x * x,
        2.0,
        lambda a: 2 * a,
    ),
    "Wishart": (
        lambda a: D.Wishart(a, torch.eye(2, dtype=torch.float64)).rsample((4000,))[:, 0, 0],
        lambda x: x,
        5.0,
        lambda a: 1.0,
    ),
    "RelaxedBernoulli": (
        lambda a: D.RelaxedBernoulli(torch.tensor(1.0, dtype=torch.float64), a).rsample((20000,)),
        lambda x: torch.logit(x),
        0.3,
        lambda a: 1 / (a * (1 - a)),
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_means_of_gradients(name):
    draw, function, value, expected = EXPECTED[name]
    a = parameter(value)
    torch.manual_seed(0)
    (gradient,) = torch.autograd.grad(function(draw(a)).mean(), a)
    if expected is None:
        special = pytest.importorskip("scipy.special")
        trigamma = special.polygamma(1, value / 2)
        # E log|t| = (log df - digamma(df/2) + ...)/2; E log F = ... - digamma(df2/2) + log df2
        exact = {"StudentT": 0.5 / value - 0.25 * trigamma, "FisherSnedecor": 1 / value - 0.5 * trigamma}[
            name
        ]
    else:
        exact = expected(value)
    assert float(gradient) == pytest.approx(exact, rel=0.06, abs=0.004)


def test_straight_through():
    probs = parameter([0.2, 0.3, 0.5])
    sample = D.OneHotCategoricalStraightThrough(probs).rsample()
    assert sorted(sample.tolist()) == [0.0, 0.0, 1.0]
    (sample * torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)).sum().backward()
    np.testing.assert_allclose(probs.grad.numpy(), np.array([1.0, 2.0, 3.0]) - 2.3)


@pytest.mark.parametrize("name", CASES)
def test_samples_have_no_graph_and_rsamples_do(name):
    leaves = []

    class Recorder:
        float64 = torch.float64

        @staticmethod
        def tensor(data, dtype=None):
            leaves.append(torch.tensor(data, dtype=dtype, requires_grad=True))
            return leaves[-1]

    d = CASES[name](D, Recorder)
    assert not d.sample().requires_grad
    if d.has_rsample:
        d.rsample((2,)).sum().backward()
        assert any(leaf.grad is not None for leaf in leaves)


def test_expand_makes_views():
    loc = torch.zeros(3)
    wide = D.Normal(loc, 1.0).expand((5, 3))
    assert wide.loc.data_ptr() == loc.data_ptr() and wide.loc.stride() == (0, 1)


class Shifted(D.Normal):
    def __init__(self, loc, validate_args=None):
        super().__init__(loc, 1.0, validate_args=validate_args)


class Expandable(Shifted):
    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Expandable, _instance)
        return super().expand(batch_shape, _instance=new)


class Plain(D.Gamma):
    pass


def test_subclasses():
    with pytest.raises(NotImplementedError, match="Shifted of Normal that defines a custom __init__"):
        Shifted(0.0).expand((2,))
    wide = Expandable(0.0).expand((2,))
    assert type(wide) is Expandable and wide.batch_shape == (2,)
    assert type(Plain(1.0, 2.0).expand((2,))) is Plain
    assert D.kl_divergence(Shifted(0.0), D.Normal(1.0, 1.0)).item() == pytest.approx(0.5)


class Minimal(D.Distribution):
    """A distribution with the few methods that programs usually define."""

    arg_constraints = {"scale": D.constraints.positive}
    support = D.constraints.real
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        self.scale = scale
        super().__init__(scale.shape, validate_args=validate_args)

    def rsample(self, sample_shape=()):
        return self.scale * torch.randn(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -value / self.scale


def test_own_distributions():
    assert Minimal(torch.ones(3)).sample((2,)).shape == (2, 3)
    assert repr(Minimal(torch.ones(3))) == "Minimal(scale: torch.Size([3]))"
    with pytest.raises(ValueError, match=r"parameter scale .* constraint GreaterThan\(lower_bound=0.0\)"):
        Minimal(torch.zeros(3))
    with pytest.raises(ValueError, match=r"support \(Real\(\)\)"):
        Minimal(torch.ones(1)).log_prob(torch.tensor([math.nan]))
    assert D.Independent(Minimal(torch.ones(3)), 1).log_prob(torch.ones(3)).shape == ()
    d = D.TransformedDistribution(Minimal(torch.ones(3)), D.ExpTransform())
    assert d.rsample((4,)).shape == (4, 3)
    with pytest.raises(NotImplementedError, match="does not implement expand"):
        Minimal(torch.ones(3)).expand((2, 3))


def test_without_constraints_there_is_a_warning():
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        D.Distribution()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare = D.Distribution(validate_args=False)
        bare._validate_sample(torch.zeros(1))


def test_default_of_validation():
    assert D.Distribution._validate_args
    try:
        D.Distribution.set_default_validate_args(False)
        assert D.Normal(0.0, -1.0).scale.item() == -1.0
        with pytest.raises(ValueError):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="scale"):
        D.Normal(0.0, -1.0)


def test_sample_n_is_deprecated():
    with pytest.warns(FutureWarning, match="sample_n"):
        assert D.Normal(torch.zeros(2), 1.0).sample_n(3).shape == (3, 2)


@pytest.mark.parametrize("shape", [(), (3,), [3], torch.Size([2, 3])])
def test_sample_shapes(shape):
    for name in ("Normal", "Categorical", "Dirichlet", "MixtureSameFamily", "Multinomial"):
        d = CASES[name](D, torch)
        assert d.sample(shape).shape == tuple(shape) + d.batch_shape + d.event_shape


def test_singular_wishart_draws_are_drawn_again():
    torch.manual_seed(0)
    with pytest.warns(UserWarning, match="Low df"):
        d = D.Wishart(torch.tensor(1.001), torch.eye(2) * 1e-3)
    draws = [d._bartlett_sampling((4,)) for _ in range(2)]
    draws[0][1] = 0.0
    d._bartlett_sampling = lambda shape: draws.pop(0)
    second = draws[1].clone()
    with pytest.warns(UserWarning, match="Singular sample"):
        sample = d.rsample((4,), max_try_correction=1)
    np.testing.assert_array_equal(sample[1].numpy(), second[1].numpy())


def test_mixtures_of_components_with_different_supports():
    mix = D.MixtureSameFamily(
        D.Categorical(torch.ones(2)), D.Uniform(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 2.0]))
    )
    assert mix.log_prob(torch.tensor(0.5)).exp().item() == pytest.approx(0.75)
    assert mix.cdf(torch.tensor(0.5)).item() == pytest.approx(0.375)
    with pytest.raises(NotImplementedError):
        mix.rsample()


def test_mixture_chooses_by_weight():
    torch.manual_seed(0)
    mix = D.MixtureSameFamily(
        D.Categorical(torch.tensor([[0.2, 0.8], [1.0, 0.0]])),
        D.Normal(torch.tensor([-50.0, 50.0]), 1.0).expand((2, 2)),
    )
    positive = (mix.sample((5000,)) > 0).float().mean(0)
    assert positive.tolist() == pytest.approx([0.8, 0.0], abs=0.02)


def test_pickled_cached_values():
    d = D.Categorical(torch.ones(3))
    assert d.logits.shape == (3,)
    assert "logits" in vars(pickle.loads(pickle.dumps(d)))


def test_continuous_bernoulli_clamps_and_validates_values():
    d = D.ContinuousBernoulli(torch.tensor([0.0, 1.4]))
    assert torch.isfinite(d.logits).all()
    with pytest.raises(ValueError, match="support"):
        d.log_prob(torch.tensor(2.0))


def test_nothing_changes_its_arguments():
    probs, value = torch.tensor([0.0, 0.2, 0.8]), torch.tensor([0.0, 1.0, 3.0])
    before = probs.clone(), value.clone()

    for d in (
        D.Categorical(probs),
        D.Bernoulli(probs),
        D.Multinomial(4, probs),
        D.Binomial(4, probs),
        D.NegativeBinomial(4.0, probs),
    ):
        d.log_prob(value if d.event_shape else torch.tensor(1.0))
        d.sample()

    assert (probs == before[0]).all() and (value == before[1]).all()


@pytest.mark.parametrize("concentration", [1e-30, 1e-6, 1e7, 1e9, 1e30, math.inf, 0.0, -1.0, math.nan])
def test_von_mises_ends_for_any_concentration(concentration):
    torch.manual_seed(0)
    d = D.VonMises(torch.tensor(1.0), torch.tensor(concentration), validate_args=False)
    sample = d.sample((200,))
    assert bool(torch.isnan(sample).all()) == (not concentration > 0)
    if concentration >= 1e7:
        expected = concentration**-0.5 if concentration < 1e12 else 0.0
        assert float(sample.double().sub(1).std()) == pytest.approx(expected, rel=0.15, abs=1e-6)


def test_integer_counts_and_number_probabilities():
    assert D.Binomial(torch.tensor([3, 4]), 0.3).mean.tolist() == pytest.approx([0.9, 1.2])
    assert D.NegativeBinomial(torch.tensor([3, 4]), 0.5).mean.tolist() == pytest.approx([3.0, 4.0])


def test_batches_can_be_empty():
    for d in (
        D.Normal(torch.zeros(0), 1.0),
        D.Gamma(torch.ones(0), 1.0),
        D.Dirichlet(torch.ones(0, 3)),
        D.VonMises(torch.zeros(0), 1.0),
    ):
        assert d.sample((2,)).shape == (2, 0) + d.event_shape
        assert d.log_prob(d.sample()).shape == (0,)
    assert D.Categorical(torch.ones(0, 3)).sample((2,)).shape == (2, 0)


def test_log_prob_of_numbers_and_dtypes():
    for gamma in (D.Gamma(2.0, 3.0), D.Chi2(4.0)):
        assert gamma.log_prob(1.5) == gamma.log_prob(torch.tensor(1.5))
        with pytest.raises(ValueError, match="support"):
            gamma.log_prob(-1.0)

    wide = torch.tensor(1e30, dtype=torch.float64)
    assert D.HalfNormal(1.0).log_prob(wide).dtype == torch.float64
    assert D.HalfNormal(1.0).log_prob(wide) > -math.inf

    assert D.HalfCauchy(1.0, validate_args=False).log_prob(1.5) == D.HalfCauchy(1.0).log_prob(
        torch.tensor(1.5)
    )

    with pytest.raises(ValueError, match="must be a Tensor"):
        D.HalfCauchy(1.0).log_prob(1.5)
