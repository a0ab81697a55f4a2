"""Distributions with parameters, for either library: `make(D, torch)` constructs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Make = Callable[[Any, Any], Any]
FLOAT = "float64"


def t(torch: Any, *values: Any) -> Any:
    return torch.tensor(values[0] if len(values) == 1 else list(values), dtype=getattr(torch, FLOAT))


def simple(name: str, *arguments: Any, **keywords: Any) -> Make:
    def make(D: Any, torch: Any) -> Any:
        return getattr(D, name)(
            *(t(torch, a) for a in arguments), **{key: t(torch, a) for key, a in keywords.items()}
        )

    return make


def _mixture(D: Any, torch: Any) -> Any:
    return D.MixtureSameFamily(
        D.Categorical(t(torch, [[0.2, 0.8], [0.5, 0.5]])),
        D.Normal(t(torch, [[0.0, 1.0], [2.0, 3.0]]), t(torch, 1.5)),
    )


def _vector_mixture(D: Any, torch: Any) -> Any:
    return D.MixtureSameFamily(
        D.Categorical(t(torch, [0.2, 0.8])),
        D.Independent(D.Normal(t(torch, [[0.0, 1.0], [2.0, 3.0]]), 1.0), 1),
    )


def _transformed(D: Any, torch: Any) -> Any:
    return D.TransformedDistribution(
        D.Normal(t(torch, [0.0, 1.0]), t(torch, 1.5)),
        [D.AffineTransform(t(torch, 1.0), t(torch, -2.0)), D.SigmoidTransform()],
    )


COVARIANCE = [[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 0.7]]
FACTOR = [[1.2, 0.0, 0.0], [0.3, 0.8, 0.0], [-0.1, 0.2, 0.6]]

CASES: dict[str, Make] = {
    "Bernoulli": simple("Bernoulli", [0.1, 0.5, 0.9]),
    "Bernoulli logits": simple("Bernoulli", logits=[[-2.0], [0.0], [3.0]]),
    "Beta": simple("Beta", [0.5, 2.0, 7.0], [0.7, 3.0, 1.0]),
    "Binomial": lambda D, torch: D.Binomial(5, t(torch, 0.1, 0.5, 0.9)),
    "Binomial counts": lambda D, torch: D.Binomial(
        t(torch, 3.0, 5.0, 0.0), logits=t(torch, -25.0, 0.5, 30.0)
    ),
    "Categorical": simple("Categorical", [[0.1, 0.2, 0.7], [0.0, 0.5, 0.5]]),
    "Categorical logits": simple("Categorical", logits=[1.0, -2.0, 0.5, 3.0]),
    "Cauchy": simple("Cauchy", [0.0, -2.0], [1.0, 3.0]),
    "Chi2": simple("Chi2", [0.5, 3.0, 8.0]),
    "ContinuousBernoulli": simple("ContinuousBernoulli", [0.1, 0.4995, 0.5, 0.8]),
    "Dirichlet": simple("Dirichlet", [[0.5, 1.0, 3.0], [2.0, 2.0, 2.0], [0.3, 0.4, 0.5]]),
    "Exponential": simple("Exponential", [0.3, 2.0]),
    "FisherSnedecor": simple("FisherSnedecor", [1.0, 3.0, 7.0], [1.5, 5.0, 9.0]),
    "Gamma": simple("Gamma", [0.5, 1.0, 6.0], [2.0, 0.5, 3.0]),
    "GeneralizedPareto": simple(
        "GeneralizedPareto", [0.0, 1.0, -1.0, 0.0], [1.0, 2.0, 0.5, 1.0], [-0.5, 0.0, 0.3, 1.2]
    ),
    "Geometric": simple("Geometric", [0.1, 0.6, 1.0]),
    "Geometric logits": simple("Geometric", logits=[-1.0, 2.0]),
    "Gumbel": simple("Gumbel", [0.0, -2.0], [1.0, 3.0]),
    "HalfCauchy": simple("HalfCauchy", [0.5, 3.0]),
    "HalfNormal": simple("HalfNormal", [0.5, 3.0]),
    "Independent": lambda D, torch: D.Independent(
        D.Laplace(t(torch, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), t(torch, 2.0)), 1
    ),
    "InverseGamma": simple("InverseGamma", [0.5, 1.5, 6.0], [2.0, 0.5, 3.0]),
    "Kumaraswamy": simple("Kumaraswamy", [0.5, 2.0, 3.0], [0.7, 3.0, 1.0]),
    "LKJCholesky": lambda D, torch: D.LKJCholesky(4, t(torch, [0.5, 1.0, 3.0])),
    "Laplace": simple("Laplace", [0.0, -2.0], [1.0, 3.0]),
    "LogNormal": simple("LogNormal", [0.0, -2.0], [1.0, 0.3]),
    "LogisticNormal": simple("LogisticNormal", [[0.0, -2.0], [1.0, 1.0]], [1.0, 0.3]),
    "LowRankMultivariateNormal": simple(
        "LowRankMultivariateNormal", [0.0, 1.0, 2.0], [[1.0, 0.5], [0.0, 2.0], [1.0, 1.0]], [1.0, 2.0, 0.5]
    ),
    "MixtureSameFamily": _mixture,
    "MixtureSameFamily vectors": _vector_mixture,
    "Multinomial": lambda D, torch: D.Multinomial(4, t(torch, [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])),
    "Multinomial logits": lambda D, torch: D.Multinomial(3, logits=t(torch, 0.1, -0.2, 0.7)),
    "MultivariateNormal covariance": lambda D, torch: D.MultivariateNormal(
        t(torch, [[0.0, 1.0, 2.0]] * 2), t(torch, COVARIANCE)
    ),
    "MultivariateNormal precision": lambda D, torch: D.MultivariateNormal(
        t(torch, 0.0, 1.0, 2.0), precision_matrix=t(torch, COVARIANCE)
    ),
    "MultivariateNormal factor": lambda D, torch: D.MultivariateNormal(
        t(torch, 0.0, 1.0, 2.0), scale_tril=t(torch, [FACTOR] * 2)
    ),
    "NegativeBinomial": simple("NegativeBinomial", [2.0, 3.5, 0.0], [0.1, 0.5, 0.9]),
    "NegativeBinomial logits": simple("NegativeBinomial", [2.0, 3.5], logits=[-1.0, 0.5]),
    "Normal": simple("Normal", [0.0, -2.0], [[1.0, 3.0], [0.1, 20.0]]),
    "OneHotCategorical": simple("OneHotCategorical", [[0.1, 0.2, 0.7], [0.0, 0.5, 0.5]]),
    "OneHotCategoricalStraightThrough": simple("OneHotCategoricalStraightThrough", logits=[0.1, 0.2, 0.7]),
    "Pareto": simple("Pareto", [1.0, 0.5, 2.0], [0.5, 1.5, 3.0]),
    "Poisson": simple("Poisson", [0.2, 3.0, 50.0]),
    "RelaxedBernoulli": lambda D, torch: D.RelaxedBernoulli(t(torch, 0.7), t(torch, 0.2, 0.8)),
    "RelaxedOneHotCategorical": lambda D, torch: D.RelaxedOneHotCategorical(
        t(torch, 0.7), logits=t(torch, 0.2, 0.8, -1.0)
    ),
    "StudentT": simple("StudentT", [0.8, 1.5, 5.0], [0.0, 1.0, 2.0], [1.0, 2.0, 3.0]),
    "TransformedDistribution": _transformed,
    "Uniform": simple("Uniform", [-1.0, 0.5], [2.0, 4.0]),
    "VonMises": simple("VonMises", [0.0, 2.0, -3.0], [0.3, 4.0, 60.0]),
    "Weibull": simple("Weibull", [1.0, 2.0], [0.7, 3.0]),
    "Wishart covariance": lambda D, torch: D.Wishart(t(torch, 5.0, 6.5), t(torch, COVARIANCE)),
    "Wishart precision": lambda D, torch: D.Wishart(t(torch, 5.0), precision_matrix=t(torch, COVARIANCE)),
    "Wishart factor": lambda D, torch: D.Wishart(t(torch, 5.0), scale_tril=t(torch, FACTOR)),
}
