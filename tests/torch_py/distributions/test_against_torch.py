"""Every distribution compared with PyTorch's: densities, moments, entropies, shapes, samples, errors."""

from __future__ import annotations

import inspect
import math
import pickle

import numpy as np
import pytest

import torch_py
import torch_py.distributions as ours
from tests.torch_py.distributions.cases import CASES

torch = pytest.importorskip("torch")
theirs = torch.distributions
RTOL = 1e-9
# PyTorch's own precision: it uses polynomials for Bessel functions, and log n! in float32. test_scipy.py
# compares with exact values.
PEER_RTOL = {"VonMises": 1e-4, "Multinomial": 1e-7, "Multinomial logits": 1e-7}
# PyTorch compares a float32 0 with the concentrations, which fails for float64.
PEER_FAILS = {("GeneralizedPareto", method) for method in ("log_prob", "cdf")}
# PyTorch's expanded copy lacks an attribute that entropy needs.
NO_ENTROPY_OF_COPIES = {"Multinomial", "Multinomial logits"}
# PyTorch returns NaN for all parameters, or for a concentration below 1, where the mode is 0.
PEER_NAN = {("Kumaraswamy", "mode"), ("Weibull", "mode")}


def array(value):
    return value.detach().numpy()


def pair(name):
    return CASES[name](ours, torch_py), CASES[name](theirs, torch)


def samples(peer, shape=(4,)):
    torch.manual_seed(3)
    value = peer.sample(shape)
    return torch_py.from_numpy(value.numpy().copy()), value


def without_peer(*keys):
    if keys in PEER_FAILS:
        with pytest.raises(RuntimeError, match="did not match"):
            peer = CASES[keys[0]](theirs, torch)
            getattr(peer, keys[1])(samples(peer)[1])
        return True
    return False


def agree(mine, other, rtol=RTOL, atol=1e-11):
    assert tuple(mine.shape) == tuple(other.shape)
    assert str(mine.dtype) == str(other.dtype)
    np.testing.assert_allclose(array(mine), array(other), rtol=rtol, atol=atol)


def same_outcome(mine, other, **tolerances):
    """Both give the same tensor or both say that they do not have it."""
    try:
        expected = other()
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            mine()
        return False
    agree(mine(), expected, **tolerances)
    return True


@pytest.mark.parametrize("name", CASES)
def test_log_prob(name):
    if without_peer(name, "log_prob"):
        return
    mine, peer = pair(name)
    value, peer_value = samples(peer)
    agree(mine.log_prob(value), peer.log_prob(peer_value), rtol=PEER_RTOL.get(name, RTOL))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["cdf", "icdf"])
def test_cdf_and_its_inverse(name, method):
    if without_peer(name, method):
        return
    mine, peer = pair(name)
    if method == "cdf":
        value, peer_value = samples(peer)
    else:
        grid = np.linspace(0.01, 0.99, 5).reshape((5,) + (1,) * len(peer.batch_shape))
        value = torch_py.from_numpy(grid)
        peer_value = torch.from_numpy(grid)
    same_outcome(lambda: getattr(mine, method)(value), lambda: getattr(peer, method)(peer_value))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("attribute", ["mean", "mode", "variance", "stddev"])
def test_moments(name, attribute):
    mine, peer = pair(name)
    if (name, attribute) in PEER_NAN:
        expected = array(peer.mode)
        np.testing.assert_allclose(array(mine.mode)[~np.isnan(expected)], expected[~np.isnan(expected)])
        assert np.isnan(expected).any()
        return
    same_outcome(
        lambda: getattr(mine, attribute), lambda: getattr(peer, attribute), rtol=PEER_RTOL.get(name, RTOL)
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["entropy", "perplexity"])
def test_entropy(name, method):
    mine, peer = pair(name)
    same_outcome(getattr(mine, method), getattr(peer, method), rtol=PEER_RTOL.get(name, RTOL))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("expand", [True, False])
def test_enumerate_support(name, expand):
    mine, peer = pair(name)
    assert mine.has_enumerate_support == peer.has_enumerate_support
    same_outcome(lambda: mine.enumerate_support(expand), lambda: peer.enumerate_support(expand))


@pytest.mark.parametrize("name", CASES)
def test_shapes_and_names(name):
    mine, peer = pair(name)
    assert tuple(mine.batch_shape) == tuple(peer.batch_shape)
    assert tuple(mine.event_shape) == tuple(peer.event_shape)

    assert mine.has_rsample == peer.has_rsample
    assert repr(mine) == repr(peer)
    assert repr(mine.support) == repr(peer.support)

    assert mine.support.event_dim == peer.support.event_dim
    assert mine.support.is_discrete == peer.support.is_discrete
    assert {k: repr(v) for k, v in mine.arg_constraints.items()} == {
        k: repr(v) for k, v in peer.arg_constraints.items()
    }
    assert repr(type(mine).support) == repr(type(peer).support) or isinstance(type(peer).support, property)


@pytest.mark.parametrize("name", CASES)
def test_expand(name):
    mine, peer = pair(name)
    shape = (2,) + tuple(peer.batch_shape)
    wide = mine.expand(shape)
    peer_wide = peer.expand(shape)
    assert tuple(wide.batch_shape) == shape

    assert repr(wide) == repr(peer_wide)
    value, peer_value = samples(peer_wide, (3,))
    if not without_peer(name, "log_prob"):
        agree(wide.log_prob(value), peer_wide.log_prob(peer_value), rtol=PEER_RTOL.get(name, RTOL))

    same_outcome(lambda: wide.mean, lambda: peer_wide.mean)
    if name in NO_ENTROPY_OF_COPIES:
        agree(wide.entropy(), peer.entropy().expand(shape), rtol=PEER_RTOL[name])
    else:
        same_outcome(wide.entropy, peer_wide.entropy, rtol=PEER_RTOL.get(name, RTOL))

    assert wide.sample((3,)).shape == value.shape


# PyTorch's Wishart considers every positive definite draw singular and draws again; the comparison uses the
# method below that. VonMises rejects in another order here. In PyTorch's LKJCholesky rows from the third on
# are too long; test_scipy.py tests the marginals.
@pytest.mark.parametrize("name", CASES)
def test_samples_of_a_seed(name):
    mine, peer = pair(name)
    draws = [
        lambda: (
            mine.sample((7,)),
            (peer._bartlett_sampling if name.startswith("Wishart") else peer.sample)((7,)),
        )
    ]

    if peer.has_rsample:
        draws.append(
            lambda: (
                mine.rsample((2, 3)),
                (peer._bartlett_sampling if name.startswith("Wishart") else peer.rsample)((2, 3)),
            )
        )

    for draw in draws:
        torch_py.manual_seed(5)
        torch.manual_seed(5)
        value, expected = draw()
        if name in ("VonMises", "LKJCholesky"):
            assert tuple(value.shape) == tuple(expected.shape)
        else:
            agree(value, expected, rtol=1e-6)

    if not peer.has_rsample:
        with pytest.raises(NotImplementedError):
            mine.rsample()


@pytest.mark.parametrize("name", CASES)
def test_pickle(name):
    mine, peer = pair(name)
    value, _ = samples(peer)
    before = array(mine.log_prob(value))
    copy = pickle.loads(pickle.dumps(mine))
    assert repr(copy) == repr(mine)
    np.testing.assert_array_equal(array(copy.log_prob(value)), before)
    assert copy.expand((2,) + tuple(mine.batch_shape)).batch_shape[0] == 2


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_log_prob(name):
    """By the parameters, through whatever way the class takes."""
    if without_peer(name, "log_prob"):
        return
    value, peer_value = samples(pair(name)[1])
    gradients = []
    for library, D, at in ((torch_py, ours, value), (torch, theirs, peer_value)):
        leaves = []

        class Recorder:
            float64 = library.float64

            @staticmethod
            def tensor(data, dtype=None, library=library, leaves=leaves):
                leaf = library.tensor(data, dtype=dtype, requires_grad=True)
                leaves.append(leaf)
                return leaf

        total = CASES[name](D, Recorder).log_prob(at).sum()
        total.backward()
        gradients.append([None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves])
    for mine, expected in zip(*gradients):
        if expected is None:
            assert mine is None or not mine.any()
        elif np.isfinite(expected).all():
            # PyTorch has values for the zeros above the diagonal, too.
            if name == "Wishart factor" and mine.ndim:
                mine, expected = np.tril(mine), np.tril(expected)
            np.testing.assert_allclose(mine, expected, rtol=PEER_RTOL.get(name, 1e-7), atol=1e-9)


def plain(signature):
    """Names, kinds and defaults of parameters; sizes compare as tuples."""
    result = []
    for parameter in signature.parameters.values():
        default = parameter.default
        result.append(
            (
                parameter.name,
                parameter.kind,
                tuple(default) if isinstance(default, (tuple, torch.Size)) else default,
            )
        )
    return result


CLASSES = [name for name in theirs.__all__ if inspect.isclass(getattr(theirs, name))]


@pytest.mark.parametrize("name", CLASSES)
def test_signatures(name):
    mine, peer = getattr(ours, name), getattr(theirs, name)
    wrong = []

    for attribute in dir(peer):
        expected = getattr(peer, attribute)
        if attribute.startswith("_") and attribute != "__init__" or not inspect.isfunction(expected):
            continue

        own = getattr(mine, attribute)
        if (
            plain(inspect.signature(own)) != plain(inspect.signature(expected))
            and attribute != "__init__"
            or (
                attribute == "__init__"
                and plain(inspect.signature(own)) != plain(inspect.signature(expected))
                and peer.__init__ is not object.__init__
            )
        ):
            wrong.append((attribute, str(inspect.signature(own)), str(inspect.signature(expected))))

    assert not wrong

    public = {attribute for attribute in dir(peer) if not attribute.startswith("_")}
    assert public <= set(dir(mine))

    bases = {base.__name__ for base in peer.__mro__ if base.__module__.startswith("torch.")}
    assert bases <= {base.__name__ for base in mine.__mro__}


def test_names():
    assert set(theirs.__all__) == set(ours.__all__)
    for module in ("constraints", "transforms", "utils", "kl"):
        assert set(getattr(theirs, module).__all__) == set(getattr(ours, module).__all__)


ERRORS = {
    "negative scale": lambda D, t: D.Normal(t.zeros(2), t.tensor([-1.0, 1.0])),
    "wrong type": lambda D, t: D.Normal("a", 1.0),
    "value is a number": lambda D, t: D.Normal(0.0, 1.0).log_prob(1.0),
    "value is nan": lambda D, t: D.Normal(0.0, 1.0).log_prob(t.tensor(float("nan"))),
    "value of another shape": lambda D, t: D.Normal(t.zeros(2), 1.0).log_prob(t.zeros(3)),
    "event of another shape": lambda D, t: D.Dirichlet(t.ones(3)).log_prob(t.ones(2) / 2),
    "shapes do not broadcast": lambda D, t: D.Normal(t.zeros(2), t.ones(3)),
    "both parameters": lambda D, t: D.Bernoulli(t.tensor(0.5), t.tensor(0.5)),
    "no parameter": lambda D, t: D.Bernoulli(),
    "no probabilities": lambda D, t: D.Categorical(),
    "scalar probabilities": lambda D, t: D.Categorical(t.tensor(0.5)),
    "scalar logits": lambda D, t: D.Categorical(logits=t.tensor(0.5)),
    "negative probabilities": lambda D, t: D.Categorical(t.tensor([0.5, -0.5, 2.0])),
    "value outside": lambda D, t: D.Bernoulli(t.tensor(0.5)).log_prob(t.tensor(0.5)),
    "trials of two counts, entropy": lambda D, t: D.Binomial(t.tensor([3, 4]), t.tensor(0.3)).entropy(),
    "trials of two counts, support": lambda D, t: D.Binomial(
        t.tensor([3, 4]), t.tensor(0.3)
    ).enumerate_support(),
    "binomial without": lambda D, t: D.Binomial(3),
    "negative binomial without": lambda D, t: D.NegativeBinomial(3.0),
    "multinomial with a tensor of counts": lambda D, t: D.Multinomial(t.tensor(3), t.tensor([0.3, 0.7])),
    "multinomial value": lambda D, t: D.Multinomial(3, t.tensor([0.3, 0.7])).log_prob(t.tensor([2.0, 2.0])),
    "no matrix": lambda D, t: D.MultivariateNormal(t.zeros(2)),
    "two matrices": lambda D, t: D.MultivariateNormal(t.zeros(2), t.eye(2), t.eye(2)),
    "scalar loc": lambda D, t: D.MultivariateNormal(t.tensor(0.0), t.eye(2)),
    "vector as covariance": lambda D, t: D.MultivariateNormal(t.zeros(2), t.ones(2)),
    "vector as precision": lambda D, t: D.MultivariateNormal(t.zeros(2), precision_matrix=t.ones(2)),
    "vector as factor": lambda D, t: D.MultivariateNormal(t.zeros(2), scale_tril=t.ones(2)),
    "not positive definite": lambda D, t: D.MultivariateNormal(t.zeros(2), -t.eye(2)),
    "not symmetric": lambda D, t: D.MultivariateNormal(t.zeros(2), t.tensor([[1.0, 0.5], [0.0, 1.0]])),
    "low rank, scalar": lambda D, t: D.LowRankMultivariateNormal(t.tensor(0.0), t.ones(2, 1), t.ones(2)),
    "low rank, vector": lambda D, t: D.LowRankMultivariateNormal(t.zeros(2), t.ones(2), t.ones(2)),
    "low rank, factor": lambda D, t: D.LowRankMultivariateNormal(t.zeros(2), t.ones(3, 1), t.ones(2)),
    "low rank, diagonal": lambda D, t: D.LowRankMultivariateNormal(t.zeros(2), t.ones(2, 1), t.ones(3)),
    "low rank, batches": lambda D, t: D.LowRankMultivariateNormal(t.zeros(3, 2), t.ones(4, 2, 1), t.ones(2)),
    "uniform backwards": lambda D, t: D.Uniform(2.0, 1.0),
    "uniform outside": lambda D, t: D.Uniform(0.0, 1.0).log_prob(t.tensor(2.0)),
    "geometric of 0": lambda D, t: D.Geometric(0.0),
    "scalar concentration": lambda D, t: D.Dirichlet(t.tensor(1.0)),
    "LKJ of 1": lambda D, t: D.LKJCholesky(1),
    "LKJ of a negative": lambda D, t: D.LKJCholesky(3, t.tensor([-1.0])),
    "Wishart without": lambda D, t: D.Wishart(t.tensor(3.0)),
    "Wishart with few": lambda D, t: D.Wishart(t.tensor(0.5), t.eye(2)),
    "Wishart of a vector": lambda D, t: D.Wishart(t.tensor(3.0), t.ones(2)),
    "too many dimensions": lambda D, t: D.Independent(D.Normal(0.0, 1.0), 1),
    "mixture of no Categorical": lambda D, t: D.MixtureSameFamily(
        D.Normal(0.0, 1.0), D.Normal(t.zeros(2), 1.0)
    ),
    "mixture of no distribution": lambda D, t: D.MixtureSameFamily(D.Categorical(t.ones(3)), 3),
    "mixture of two sizes": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t.ones(3)), D.Normal(t.zeros(2), 1.0)
    ),
    "mixture of two batches": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t.ones(4, 2)), D.Normal(t.zeros(3, 2), 1.0)
    ),
    "no transform": lambda D, t: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    "list of no transforms": lambda D, t: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    "transform of vectors": lambda D, t: D.TransformedDistribution(
        D.Normal(0.0, 1.0), [D.StickBreakingTransform()]
    ),
    "reshape of another": lambda D, t: D.TransformedDistribution(
        D.Dirichlet(t.ones(3)), [D.ReshapeTransform((2,), (2, 1))]
    ),
    "no enumeration": lambda D, t: D.Normal(0.0, 1.0).enumerate_support(),
    "no rsample": lambda D, t: D.Bernoulli(0.4).rsample(),
    "no cdf": lambda D, t: D.Bernoulli(0.4).cdf(t.tensor(1.0)),
    "no mode": lambda D, t: D.Distribution(validate_args=False).mode,
    "no mean": lambda D, t: D.Distribution(validate_args=False).mean,
    "no expand": lambda D, t: D.Distribution(validate_args=False).expand((3,)),
    "default that is not a bool": lambda D, t: D.Distribution.set_default_validate_args(3),
    "expand to another shape": lambda D, t: D.Normal(t.zeros(2), 1.0).expand((3,)),
    "continuous Bernoulli, asked": lambda D, t: D.ContinuousBernoulli(t.tensor(1.4), validate_args=True),
    "relaxed without": lambda D, t: D.RelaxedBernoulli(t.tensor(1.0)),
    "enumerate independent": lambda D, t: D.Independent(D.Bernoulli(t.ones(2) / 2), 1).enumerate_support(),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    with pytest.raises(Exception) as expected:
        ERRORS[name](theirs, torch)
    with pytest.raises(type(expected.value)) as error:
        ERRORS[name](ours, torch_py)
    assert type(error.value) is type(expected.value)
    # the same parameter and constraint are named
    for word in (
        "parameter scale",
        "probs",
        "loc",
        "covariance_matrix",
        "cov_factor",
        "support",
        "constraint",
        "found invalid values",
    ):
        if word in str(expected.value):
            assert word in str(error.value)


@pytest.mark.parametrize(
    "off",
    [
        lambda D, t: D.Normal(0.0, -1.0, validate_args=False),
        lambda D, t: D.ContinuousBernoulli(t.tensor(1.4)),
    ],
)
def test_validation_can_be_off(off):
    assert repr(off(ours, torch_py)) == repr(off(theirs, torch))


def test_values_outside_without_validation():
    for D, library in ((ours, torch_py), (theirs, torch)):
        assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(library.tensor(2.0)).item() == -math.inf
        assert D.HalfNormal(1.0, validate_args=False).log_prob(library.tensor(-1.0)).item() == -math.inf
    assert ours.HalfNormal(1.0, validate_args=False).cdf(torch_py.tensor(-1.0)).item() == 0.0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_dtypes(dtype):
    results = []
    for D, library in ((ours, torch_py), (theirs, torch)):
        one = library.ones(2, dtype=getattr(library, dtype))
        d = D.Normal(0 * one, 2 * one)
        results.append(
            [
                str(value.dtype)
                for value in (d.sample(), d.rsample(), d.log_prob(one), d.entropy(), d.variance)
            ]
        )
    assert results[0] == results[1]
