"""Probability distributions with batches, log densities, samples with and without gradients, and transforms
between distributions.

Each family of distributions has its own module here. PyTorch has one module per class; those exist as well,
under PyTorch's names (`torch_py.distributions.normal`), and contain the same classes.

>>> import torch_py.distributions as D
>>> D.Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
tensor(-0.9189)
"""

from __future__ import annotations

import sys as _sys
from types import ModuleType as _ModuleType

from torch_py.distributions import _kl_cross as _kl_cross
from torch_py.distributions import _kl_same as _kl_same
from torch_py.distributions import _multivariate_normal, _relaxed, constraints, kl, transforms, utils
from torch_py.distributions._bounded import Beta, ContinuousBernoulli, Dirichlet, Kumaraswamy, Uniform
from torch_py.distributions._categorical import (
    Categorical,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from torch_py.distributions._combinators import Independent, MixtureSameFamily, TransformedDistribution
from torch_py.distributions._counts import Bernoulli, Binomial, Geometric, NegativeBinomial, Poisson
from torch_py.distributions._derived import (
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    LogisticNormal,
    LogNormal,
    Pareto,
    Weibull,
)
from torch_py.distributions._matrices import LKJCholesky, Wishart
from torch_py.distributions._multinomial import Multinomial
from torch_py.distributions._multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from torch_py.distributions._positive import (
    Chi2,
    Exponential,
    FisherSnedecor,
    Gamma,
    GeneralizedPareto,
    VonMises,
)
from torch_py.distributions._real_line import Cauchy, Gumbel, Laplace, Normal, StudentT
from torch_py.distributions._relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from torch_py.distributions.constraint_registry import biject_to, transform_to
from torch_py.distributions.distribution import Distribution
from torch_py.distributions.exp_family import ExponentialFamily
from torch_py.distributions.kl import kl_divergence, register_kl
from torch_py.distributions.transforms import *

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
    *transforms.__all__,
]

# PyTorch's modules of single classes, with the members that each has in addition to the base class.
_CLASS_MODULES = {
    "bernoulli": (Bernoulli,),
    "beta": (Beta,),
    "binomial": (Binomial,),
    "categorical": (Categorical,),
    "cauchy": (Cauchy,),
    "chi2": (Chi2,),
    "continuous_bernoulli": (ContinuousBernoulli,),
    "dirichlet": (Dirichlet,),
    "exponential": (Exponential,),
    "fishersnedecor": (FisherSnedecor,),
    "gamma": (Gamma,),
    "generalized_pareto": (GeneralizedPareto,),
    "geometric": (Geometric,),
    "gumbel": (Gumbel,),
    "half_cauchy": (HalfCauchy,),
    "half_normal": (HalfNormal,),
    "independent": (Independent,),
    "inverse_gamma": (InverseGamma,),
    "kumaraswamy": (Kumaraswamy,),
    "laplace": (Laplace,),
    "lkj_cholesky": (LKJCholesky,),
    "log_normal": (LogNormal,),
    "logistic_normal": (LogisticNormal,),
    "lowrank_multivariate_normal": (
        LowRankMultivariateNormal,
        _multivariate_normal._batch_lowrank_logdet,
        _multivariate_normal._batch_lowrank_mahalanobis,
    ),
    "mixture_same_family": (MixtureSameFamily,),
    "multinomial": (Multinomial,),
    "multivariate_normal": (
        MultivariateNormal,
        _multivariate_normal._batch_mahalanobis,
        _multivariate_normal._batch_mv,
        _multivariate_normal._precision_to_scale_tril,
    ),
    "negative_binomial": (NegativeBinomial,),
    "normal": (Normal,),
    "one_hot_categorical": (OneHotCategorical, OneHotCategoricalStraightThrough),
    "pareto": (Pareto,),
    "poisson": (Poisson,),
    "relaxed_bernoulli": (RelaxedBernoulli, _relaxed.LogitRelaxedBernoulli),
    "relaxed_categorical": (RelaxedOneHotCategorical, _relaxed.ExpRelaxedCategorical),
    "studentT": (StudentT,),
    "transformed_distribution": (TransformedDistribution,),
    "uniform": (Uniform,),
    "von_mises": (VonMises,),
    "weibull": (Weibull,),
    "wishart": (Wishart,),
}


def _add_class_modules() -> None:
    for name, members in _CLASS_MODULES.items():
        module = _ModuleType(
            f"{__name__}.{name}", f"{members[0].__name__} under PyTorch's name of its module."
        )
        for member in (*members, Distribution):
            setattr(module, member.__name__, member)
        module.__dict__["__all__"] = [
            member.__name__ for member in members if not member.__name__.startswith("_")
        ]
        _sys.modules[module.__name__] = module
        globals()[name] = module


_add_class_modules()
