"""KL divergences between distributions of different families: KL(p || q) is the cross entropy of p and q
minus the entropy of p, and infinite if q excludes values that p allows.

The cross entropy -E[log q(x)] needs only a few means under p, which the tables below give: E[x], Var[x],
E[log x] and E[exp(-t x)].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions._bounded import Beta, ContinuousBernoulli, Uniform
from torch_py.distributions._counts import Bernoulli, Binomial, Poisson
from torch_py.distributions._derived import Pareto
from torch_py.distributions._positive import Exponential, Gamma
from torch_py.distributions._real_line import Gumbel, Laplace, Normal
from torch_py.distributions.distribution import _INF
from torch_py.distributions.kl import register_kl
from torch_py.distributions.utils import euler_constant

Formula = Callable[..., Tensor]


def _mean_log_uniform(low: Tensor, high: Tensor) -> Tensor:
    """E[log x] for x uniform on [low, high)."""
    return (torch.xlogy(high, high) - torch.xlogy(low, low)) / (high - low) - 1


# E[log x]
_MEAN_LOG: dict[type, Formula] = {
    Beta: lambda p: p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -euler_constant - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _mean_log_uniform(p.low, p.high),
}
# E[exp(-t (x - m))]
_MEAN_EXP: dict[type, Formula] = {
    Exponential: lambda p, t, m: (t * m).exp() / (1 + t / p.rate),
    Gamma: lambda p, t, m: (t * m - p.concentration * (t / p.rate).log1p()).exp(),
    Normal: lambda p, t, m: (t * (m - p.loc) + 0.5 * (t * p.scale).pow(2)).exp(),
    Uniform: lambda p, t, m: ((-t * (p.low - m)).exp() - (-t * (p.high - m)).exp()) / (t * (p.high - p.low)),
}


def _to_beta(p: Any, q: Any) -> Tensor:
    a = q.concentration1
    b = q.concentration0
    log_x = _mean_log_uniform(p.low, p.high)
    log_rest = _mean_log_uniform(1 - p.high, 1 - p.low)
    return a.lgamma() + b.lgamma() - (a + b).lgamma() - (a - 1) * log_x - (b - 1) * log_rest


def _to_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return -p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()


def _to_gamma(p: Any, q: Any) -> Tensor:
    a = q.concentration
    return a.lgamma() - a * q.rate.log() + q.rate * p.mean - (a - 1) * _MEAN_LOG[_family(p, _MEAN_LOG)](p)


def _to_gumbel(p: Any, q: Any) -> Tensor:
    t = q.scale.reciprocal()
    return q.scale.log() + t * (p.mean - q.loc) + _MEAN_EXP[_family(p, _MEAN_EXP)](p, t, q.loc)


def _to_laplace(p: Any, q: Any) -> Tensor:
    # E|x - m| for a normal x, the mean of a folded normal variable.
    shift = p.loc - q.loc
    z = shift / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * z.pow(2))
    distance = near + shift * torch.erf(z / math.sqrt(2))
    return torch.log(2 * q.scale) + distance / q.scale


def _to_normal(p: Any, q: Any) -> Tensor:
    return (
        0.5 * math.log(2 * math.pi)
        + q.scale.log()
        + 0.5 * (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    )


def _to_pareto(p: Any, q: Any) -> Tensor:
    return -q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * _MEAN_LOG[_family(p, _MEAN_LOG)](p)


# -E[log q(x)]
_CROSS_ENTROPY: dict[type, Formula] = {
    Beta: _to_beta,
    ContinuousBernoulli: _to_continuous_bernoulli,
    Exponential: lambda p, q: q.rate * p.mean - q.rate.log(),
    Gamma: _to_gamma,
    Gumbel: _to_gumbel,
    Laplace: _to_laplace,
    Normal: _to_normal,
    Pareto: _to_pareto,
    Poisson: lambda p, q: q.rate - p.mean * q.rate.log(),  # for x = 0 and 1, where x! is 1
    Uniform: lambda p, q: (q.high - q.low).log(),
}
# The range of values, for families that do not cover all real numbers.
_RANGE: dict[type, Formula] = {
    Beta: lambda d: (0.0, 1.0),  # type: ignore[dict-item, return-value]
    ContinuousBernoulli: lambda d: (0.0, 1.0),  # type: ignore[dict-item, return-value]
    Exponential: lambda d: (0.0, _INF),  # type: ignore[dict-item, return-value]
    Gamma: lambda d: (0.0, _INF),  # type: ignore[dict-item, return-value]
    Pareto: lambda d: (d.scale, _INF),  # type: ignore[dict-item, return-value]
    Uniform: lambda d: (d.low, d.high),  # type: ignore[dict-item, return-value]
}
# The families q with a finite divergence from each p, at least for some parameters.
_FINITE: dict[type, tuple[type, ...]] = {
    Bernoulli: (Poisson,),
    Beta: (ContinuousBernoulli, Exponential, Gamma, Normal, Uniform),
    ContinuousBernoulli: (Exponential, Normal, Uniform),
    Exponential: (Gamma, Gumbel, Normal),
    Gamma: (Exponential, Gumbel, Normal),
    Gumbel: (Normal,),
    Laplace: (Normal,),
    Normal: (Gumbel, Laplace),
    Pareto: (Exponential, Gamma, Normal),
    Uniform: (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Normal, Pareto),
}
# The families q that always exclude some values of p.
_INFINITE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _family(p: Any, table: dict[type, Any]) -> type:
    return next(family for family in type(p).__mro__ if family in table)


def _excluded(p: Any, q: Any, family_p: type, family_q: type) -> Any:
    """Where p allows values that q excludes."""
    everywhere = -_INF, _INF
    low, high = _RANGE[family_p](p) if family_p in _RANGE else everywhere
    q_low, q_high = _RANGE[family_q](q) if family_q in _RANGE else everywhere
    return (low < q_low) | (high > q_high)


def _finite(family_p: type, family_q: type) -> Formula:
    def divergence(p: Any, q: Any) -> Tensor:
        result = _CROSS_ENTROPY[family_q](p, q) - p.entropy()
        excluded = _excluded(p, q, family_p, family_q)
        return result.masked_fill(excluded, _INF) if isinstance(excluded, Tensor) else result

    return divergence


def _infinite(p: Any, q: Any) -> Tensor:
    shape = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    return torch.full(shape, _INF, dtype=p.mean.dtype, device=p.mean.device)


for _p, _families in _FINITE.items():
    for _q in _families:
        register_kl(_p, _q)(_finite(_p, _q))
for _p, _families in _INFINITE.items():
    for _q in _families:
        register_kl(_p, _q)(_infinite)
