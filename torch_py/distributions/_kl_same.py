"""KL divergences between distributions of the same family.

Each formula is the integral in closed form unless a comment says otherwise.
"""

from __future__ import annotations

from typing import Any

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions._bounded import Beta, ContinuousBernoulli, Dirichlet, Uniform
from torch_py.distributions._categorical import Categorical, OneHotCategorical
from torch_py.distributions._combinators import Independent, TransformedDistribution
from torch_py.distributions._counts import Bernoulli, Binomial, Geometric, Poisson
from torch_py.distributions._derived import HalfNormal, Pareto
from torch_py.distributions._multivariate_normal import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    _batch_lowrank_logdet,
    _half_log_det_of_tril,
)
from torch_py.distributions._positive import Exponential, Gamma
from torch_py.distributions._real_line import Cauchy, Gumbel, Laplace, Normal
from torch_py.distributions.distribution import _INF
from torch_py.distributions.exp_family import ExponentialFamily
from torch_py.distributions.kl import kl_divergence, register_kl
from torch_py.distributions.utils import _sum_rightmost, euler_constant
from torch_py.nn.functional import softplus


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    # p log(p/q) + (1 - p) log((1 - p)/(1 - q)), where 0 log 0 is 0, and infinite for values that q excludes.
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    success = success.masked_fill(q.probs == 0, _INF).masked_fill(p.probs == 0, 0)
    failure = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return success + failure.masked_fill(q.probs == 1, _INF).masked_fill(p.probs == 1, 0)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, _INF)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, _INF).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    own = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    return p.mean * (p.logits - q.logits) + own - q._cont_bern_log_norm() - torch.log1p(-q.probs)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    a = p.concentration
    b = q.concentration
    total = a.sum(-1)
    normalizers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return normalizers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    a = p.concentration
    b = q.concentration
    return (
        b * (p.rate / q.rate).log()
        + b.lgamma()
        - a.lgamma()
        + (a - b) * a.digamma()
        + (q.rate - p.rate) * (a / p.rate)
    )


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    shift = (q.loc - p.loc) / q.scale
    return (
        -ratio.log()
        - shift
        + ratio * euler_constant
        + (shift + (1 + ratio).lgamma()).exp()
        - (1 + euler_constant)
    )


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    # See Chyzak and Nielsen 2019.
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, _INF)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), _INF)


def _half_log_det(d: Any) -> Tensor:
    if isinstance(d, MultivariateNormal):
        return _half_log_det_of_tril(d._unbroadcasted_scale_tril)
    factor, diagonal = d._low_rank
    return 0.5 * _batch_lowrank_logdet(factor, diagonal, d._capacitance_tril)


def _root(d: Any) -> Tensor:
    """A matrix A with A A^T equal to the covariance."""
    if isinstance(d, MultivariateNormal):
        return d._unbroadcasted_scale_tril

    factor, diagonal = d._low_rank
    batch = torch.broadcast_shapes(factor.shape[:-2], diagonal.shape[:-1])
    roots = diagonal.sqrt().diag_embed()
    return torch.cat([factor.expand(batch + factor.shape[-2:]), roots.expand(batch + roots.shape[-2:])], -1)


def _trace(d: Any, columns: Tensor) -> Tensor:
    """tr(A^T covariance^-1 A) for `columns` A."""
    if isinstance(d, MultivariateNormal):
        half = torch.linalg.solve_triangular(d._unbroadcasted_scale_tril, columns, upper=False)
        return half.square().sum((-2, -1))

    factor, diagonal = d._low_rank
    scaled = columns / diagonal.unsqueeze(-1)
    half = torch.linalg.solve_triangular(d._capacitance_tril, factor.mT @ scaled, upper=False)
    return (columns * scaled).sum((-2, -1)) - half.square().sum((-2, -1))


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed: "
            f"{tuple(p.event_shape)} and {tuple(q.event_shape)}"
        )

    squares = _trace(q, (q.loc - p.loc).unsqueeze(-1))
    return _half_log_det(q) - _half_log_det(p) + 0.5 * (_trace(q, _root(p)) + squares - p.event_shape[0])


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Tensor:
    """The Bregman divergence of the log normalizer between the natural parameters of q and p."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using "
            f"Bregman divergences: {type(p).__name__} and {type(q).__name__}"
        )

    ours = [parameter.detach().requires_grad_() for parameter in p._natural_params]
    theirs = q._natural_params
    with torch.enable_grad():
        normalizer = p._log_normalizer(*ours)
        gradients = torch.autograd.grad(normalizer.sum(), ours, create_graph=True)

    result = q._log_normalizer(*theirs) - normalizer
    batch = result.dim()
    for own, their, gradient in zip(ours, theirs, gradients):
        term = (their - own) * gradient
        result = result - _sum_rightmost(term, term.dim() - batch)
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms:
        raise NotImplementedError(
            f"KL of transformed distributions needs equal transforms, but got {p.transforms} and "
            f"{q.transforms}"
        )
    if p.event_shape != q.event_shape:
        raise NotImplementedError(
            f"KL of transformed distributions needs equal event shapes, but got {p.event_shape} and "
            f"{q.event_shape}"
        )
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "KL of Independent distributions needs equal reinterpreted_batch_ndims, "
            f"but got {p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}"
        )
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
