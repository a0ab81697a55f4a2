"""Transforms of distributions: inverses, log determinants, shapes, caches, composition; the registries."""

from __future__ import annotations

import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import torch_py as torch
from torch_py import distributions as D
from torch_py.distributions import biject_to, constraints, transform_to, transforms

F64 = torch.float64


def values(*shape, positive=False, unit=False):
    torch.manual_seed(7)
    x = torch.randn(shape, dtype=F64)
    return torch.sigmoid(x) if unit else x.exp() if positive else x


def f(*numbers):
    return torch.tensor(numbers, dtype=F64)


# name -> transform, an input
BIJECTIONS = {
    "exp": (D.ExpTransform(), values(3, 2)),
    "sigmoid": (D.SigmoidTransform(), values(3, 2)),
    "softplus": (D.SoftplusTransform(), values(3, 2)),
    "tanh": (D.TanhTransform(), values(3, 2)),
    "power": (D.PowerTransform(f(2.0, -0.5)), values(3, 2, positive=True)),
    "affine": (D.AffineTransform(1.0, -2.0), values(3, 2)),
    "affine of vectors": (D.AffineTransform(f(1.0, 2.0), f(3.0, -2.0), event_dim=1), values(3, 2)),
    "affine of vectors, one scale": (
        D.AffineTransform(0.0, torch.tensor(3.0, dtype=F64), event_dim=1),
        values(3, 2),
    ),
    "affine of matrices": (D.AffineTransform(0.0, 2.0, event_dim=2), values(3, 2)),
    "identity": (D.identity_transform, values(3, 2)),
    "compose": (D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.TanhTransform()]), values(3, 2)),
    "inverse": (D.SigmoidTransform().inv, values(3, 2, unit=True)),
    "independent": (D.IndependentTransform(D.ExpTransform(), 1), values(3, 2)),
    "reshape": (D.ReshapeTransform((2, 3), (3, 2)), values(4, 2, 3)),
    "stick breaking": (D.StickBreakingTransform(), values(3, 4)),
    "correlations": (D.CorrCholeskyTransform(), 0.5 * values(3, 6)),
    "cat": (
        D.CatTransform([D.ExpTransform(), D.AffineTransform(0.0, 3.0)], dim=-1, lengths=[1, 2]),
        values(3, 3),
    ),
    "stack": (D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=0), values(2, 3)),
    "cdf": (transforms.CumulativeDistributionTransform(D.Normal(f(0.0), f(1.5))), values(3, 2)),
    "compose of vectors": (
        D.ComposeTransform([D.AffineTransform(0.0, 2.0), D.StickBreakingTransform()]),
        values(3, 4),
    ),
}
MANY_TO_ONE = {
    "abs": (D.AbsTransform(), values(3, 2)),
    "softmax": (D.SoftmaxTransform(), values(3, 4)),
    "lower cholesky": (D.LowerCholeskyTransform(), values(3, 4, 4)),
    "positive definite": (D.PositiveDefiniteTransform(), values(3, 4, 4)),
}
ALL = {**BIJECTIONS, **MANY_TO_ONE}


def close(one, other, rtol=1e-8, atol=1e-8):
    np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", BIJECTIONS)
def test_inverse(name):
    transform, x = BIJECTIONS[name]
    assert transform.bijective
    y = transform(x)
    assert transform.codomain.check(y).all() and transform.domain.check(x).all()
    close(transform.inv(y), x)
    assert tuple(transform.forward_shape(x.shape)) == tuple(y.shape)
    assert tuple(transform.inverse_shape(y.shape)) == tuple(x.shape)
    assert transform.inv.inv is transform or transform.inv.inv == transform


@pytest.mark.parametrize("name", MANY_TO_ONE)
def test_pseudo_inverse(name):
    """The transform maps the inverse of a value to that value."""
    transform, x = MANY_TO_ONE[name]
    assert not transform.bijective
    y = transform(x)
    assert transform.codomain.check(y).all()
    close(transform(transform.inv(y)), y)
    with pytest.raises(NotImplementedError):
        transform.log_abs_det_jacobian(x, y)


def free(name, y):
    """Coordinates of y in its manifold, as many as x has."""
    if "stick" in name or name == "compose of vectors":
        return y[..., :-1]
    if name == "correlations":
        return D.utils.tril_matrix_to_vec(y, -1)
    return y


@pytest.mark.parametrize("name", BIJECTIONS)
def test_log_abs_det_jacobian(name):
    transform, x = BIJECTIONS[name]
    event_dim = transform.domain.event_dim
    result = transform.log_abs_det_jacobian(x, transform(x))
    batch = x.shape[: x.dim() - event_dim]
    assert result.shape == batch
    # One Jacobian of the whole batch; its log determinant is the sum over the batch.
    leaf = x.detach().clone().requires_grad_()
    flat = free(name, transform(leaf)).reshape(-1)
    rows = [torch.autograd.grad(flat[i], leaf, retain_graph=True)[0].reshape(-1) for i in range(flat.numel())]
    sign_and_log = torch.linalg.slogdet(torch.stack(rows))
    close(result.sum(), sign_and_log.logabsdet)
    if name not in ("reshape", "cat", "stack") and not event_dim and name != "inverse":
        sign = torch.as_tensor(transform.sign, dtype=F64).expand(x.shape)
        slopes = torch.stack(rows).diagonal().reshape(x.shape)
        assert (slopes.sign() == sign).all()


@pytest.mark.parametrize("name", ALL)
def test_pickle_and_repr(name):
    transform, x = ALL[name]
    y = transform(x)
    copy = pickle.loads(pickle.dumps(transform))
    close(copy(x), y)
    close(copy.inv(y), transform.inv(y))
    assert repr(copy) == repr(transform)


@pytest.mark.parametrize("name", ALL)
def test_cache(name):
    transform, x = ALL[name]
    cached = transform.with_cache(1)
    assert cached is not transform and cached.with_cache(1) is cached
    y = cached(x)
    assert cached(x) is y or name in ("compose", "identity", "compose of vectors")
    assert cached.inv(y) is x or name in ("identity",)
    assert transform.with_cache(0) is transform or name == "inverse"
    other = x.clone()
    close(cached(other), y)


def test_the_inverse_is_kept_only_as_long_as_it_is_used():
    transform = D.ExpTransform()
    inverse = transform.inv
    assert transform.inv is inverse and inverse.inv is transform
    reference = weakref.ref(transform)
    del transform, inverse
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (D.ExpTransform(), D.ExpTransform(), True),
        (D.ExpTransform(), D.SigmoidTransform(), False),
        (D.ExpTransform().inv, D.ExpTransform().inv, True),
        (D.ExpTransform().inv, D.ExpTransform(), False),
        (D.AffineTransform(0.0, 1.0), D.AffineTransform(0, 1), True),
        (D.AffineTransform(0.0, f(1.0, 2.0)), D.AffineTransform(0.0, f(1.0, 2.0)), True),
        (D.AffineTransform(0.0, f(1.0, 2.0)), D.AffineTransform(0.0, f(1.0, 3.0)), False),
        (D.PowerTransform(f(2.0)), D.PowerTransform(2.0), True),
        (D.ComposeTransform([D.ExpTransform()]), D.ComposeTransform([D.ExpTransform()]), True),
        (D.ComposeTransform([D.ExpTransform()]), D.ExpTransform(), False),
        (D.CorrCholeskyTransform(), D.CorrCholeskyTransform(), False),
    ],
)
def test_equality(one, other, equal):
    assert (one == other) is equal
    assert (one != other) is not equal


def test_event_dims_of_compositions():
    compose = D.ComposeTransform(
        [D.ExpTransform(), D.StickBreakingTransform(), D.AffineTransform(0.0, 1.0, event_dim=2)]
    )
    assert compose.domain.event_dim == 2 and compose.codomain.event_dim == 2
    reshape = D.ComposeTransform([D.ReshapeTransform((6,), (2, 3)), D.ExpTransform()])
    assert reshape.domain.event_dim == 1 and reshape.codomain.event_dim == 2
    with pytest.raises(ValueError, match="domain.event_dim or .codomain.event_dim"):
        assert reshape.event_dim
    assert D.ExpTransform().event_dim == 0


def test_tails_of_the_sigmoid_stay_inside():
    y = D.SigmoidTransform()(torch.tensor([-1000.0, 1000.0]))
    assert (y > 0).all() and (y < 1).all()
    x = torch.tensor([-50.0, 50.0])
    assert torch.isfinite(D.TanhTransform().log_abs_det_jacobian(x, x.tanh())).all()


CONSTRAINTS = {
    "real": constraints.real,
    "positive": constraints.positive,
    "nonnegative": constraints.nonnegative,
    "greater than": constraints.greater_than(2.0),
    "greater than, tensor": constraints.greater_than(f(2.0, 3.0, -1.0)),
    "less than": constraints.less_than(-1.0),
    "unit interval": constraints.unit_interval,
    "interval": constraints.interval(-2.0, 3.0),
    "half open": constraints.half_open_interval(-2.0, 3.0),
    "simplex": constraints.simplex,
    "correlations": constraints.corr_cholesky,
    "real vector": constraints.real_vector,
    "independent": constraints.independent(constraints.positive, 1),
    "cat": constraints.cat([constraints.positive, constraints.unit_interval], dim=-1, lengths=[1, 2]),
    "stack": constraints.stack([constraints.positive, constraints.real, constraints.unit_interval], dim=-1),
}
ONLY_TRANSFORM_TO = {
    "lower cholesky": constraints.lower_cholesky,
    "positive definite": constraints.positive_definite,
    "positive semidefinite": constraints.positive_semidefinite,
}


@pytest.mark.parametrize("name", {**CONSTRAINTS, **ONLY_TRANSFORM_TO})
@pytest.mark.parametrize("registry", [biject_to, transform_to])
def test_registry(name, registry):
    constraint = {**CONSTRAINTS, **ONLY_TRANSFORM_TO}[name]
    if registry is biject_to and name in ONLY_TRANSFORM_TO:
        message = f"Cannot transform {type(constraint).__name__} constraints"
        with pytest.raises(NotImplementedError, match=message):
            biject_to(constraint)
        return
    transform = registry(constraint)
    x = values(5, 3, 3) if name in ONLY_TRANSFORM_TO else values(5, 3)
    y = transform(x)
    assert constraint.check(y).all()
    close(transform(transform.inv(y)), y)
    if registry is biject_to:
        assert transform.bijective
        close(transform.inv(y), x)
        # the slices of a stack are scalar events, though it counts the dimension of the stack as theirs
        events = 0 if name == "stack" else transform.domain.event_dim
        assert transform.log_abs_det_jacobian(x, y).shape == x.shape[: x.dim() - events]


def test_own_constraints_can_be_registered():
    class Even(constraints.Constraint):
        pass

    registry = D.constraint_registry.ConstraintRegistry()

    @registry.register(Even)
    def factory(constraint):
        return D.ExpTransform()

    assert registry(Even()) == D.ExpTransform()
    with pytest.raises(TypeError, match="3"):
        registry.register(3, factory)
    with pytest.raises(NotImplementedError, match="Even"):
        biject_to(Even())


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: D.Transform(cache_size=2), ValueError, "cache_size must be 0 or 1"),
        (lambda: D.Transform()(1.0), NotImplementedError, ""),
        (lambda: D.Transform().inv(1.0), NotImplementedError, ""),
        (lambda: D.Transform().log_abs_det_jacobian(1.0, 1.0), NotImplementedError, ""),
        (lambda: D.SoftmaxTransform().sign, NotImplementedError, ""),
        (lambda: D.ReshapeTransform((2, 3), (7,)), ValueError, "different numbers of elements"),
        (lambda: D.ReshapeTransform((2, 3), (6,)).forward_shape((4, 2, 2)), ValueError, "Shape mismatch"),
        (lambda: D.ReshapeTransform((2, 3), (6,)).forward_shape((3,)), ValueError, "Too few dimensions"),
        (lambda: D.ReshapeTransform((2, 3), (6,)).inverse_shape((5,)), ValueError, "Shape mismatch"),
        (
            lambda: D.CorrCholeskyTransform().forward_shape((4,)),
            ValueError,
            "not a flattened lower-diagonal number",
        ),
        (lambda: D.CorrCholeskyTransform().forward_shape(()), ValueError, "Too few dimensions"),
        (lambda: D.CorrCholeskyTransform().inverse_shape((3, 4)), ValueError, "not square"),
        (lambda: D.CorrCholeskyTransform().inverse_shape((4,)), ValueError, "Too few dimensions"),
        (lambda: D.CorrCholeskyTransform()(torch.zeros(4)), ValueError, "lower triangular part of a square"),
        (lambda: D.StickBreakingTransform().forward_shape(()), ValueError, "Too few dimensions"),
        (lambda: D.StickBreakingTransform().inverse_shape(()), ValueError, "Too few dimensions"),
        (lambda: D.SoftmaxTransform().inverse_shape(()), ValueError, "Too few dimensions"),
        (
            lambda: D.IndependentTransform(D.ExpTransform(), 2)(torch.zeros(3)),
            ValueError,
            "Too few dimensions",
        ),
        (lambda: D.CatTransform([1]), AssertionError, "tseq must be Transform"),
        (lambda: D.CatTransform([D.ExpTransform()], lengths=[1, 2]), AssertionError, "lengths"),
        (lambda: D.CatTransform([D.ExpTransform()])(torch.zeros(3)), AssertionError, "must equal length 1"),
        (lambda: D.CatTransform([D.ExpTransform()], dim=1)(torch.zeros(1)), AssertionError, "dim 1"),
        (lambda: D.StackTransform([3]), AssertionError, "tseq must be Transform"),
        (
            lambda: D.StackTransform([D.ExpTransform()])(torch.zeros(3)),
            AssertionError,
            r"must equal len\(transforms\) 1",
        ),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_transformed_distribution_of_a_falling_transform():
    """P(1 - U <= x) for the log normal variable U."""
    d = D.TransformedDistribution(D.LogNormal(0.0, 1.0), [D.AffineTransform(1.0, -1.0)])
    x = torch.tensor([-3.0, 0.0, 0.5])
    np.testing.assert_allclose(d.cdf(x).numpy(), 1 - D.LogNormal(0.0, 1.0).cdf(1 - x).numpy(), rtol=1e-5)
    np.testing.assert_allclose(d.icdf(d.cdf(x)).numpy(), x.numpy(), rtol=1e-4, atol=1e-5)


def test_transforms_widen_the_batch():
    d = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.AffineTransform(torch.zeros(3), torch.ones(3))])
    assert d.batch_shape == (3,) and len(set(d.sample().tolist())) == 3
    assert d.expand((2, 3)).sample().shape == (2, 3)
    vectors = D.TransformedDistribution(D.Normal(torch.zeros(4, 2), 1.0), [D.StickBreakingTransform()])
    assert (vectors.batch_shape, vectors.event_shape) == ((4,), (3,))
    assert vectors.log_prob(vectors.sample((5,))).shape == (5, 4)


def test_normal_by_its_own_cdf_is_uniform():
    normal = D.Normal(0.0, 2.0)
    uniform = D.TransformedDistribution(normal, [transforms.CumulativeDistributionTransform(normal)])
    np.testing.assert_allclose(uniform.log_prob(torch.tensor([0.1, 0.5, 0.9])).numpy(), 0.0, atol=1e-5)
    assert math.isclose(uniform.cdf(torch.tensor(0.3)).item(), 0.3, rel_tol=1e-5)
