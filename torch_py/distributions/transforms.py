"""Invertible maps with a known log |det Jacobian|, the parts of a `TransformedDistribution`."""

from __future__ import annotations

from typing import Any

from torch_py import Tensor
from torch_py.distributions import constraints
from torch_py.distributions._elementwise_transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from torch_py.distributions._elementwise_transforms import _clipped_sigmoid as _clipped_sigmoid
from torch_py.distributions._transform import (
    ComposeTransform,
    IndependentTransform,
    Transform,
    identity_transform,
)
from torch_py.distributions._transform import _InverseTransform as _InverseTransform
from torch_py.distributions._vector_transforms import (
    CatTransform,
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)
from torch_py.distributions.distribution import Distribution

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class CumulativeDistributionTransform(Transform):
    """Maps the support of `distribution` to the unit interval: y = distribution.cdf(x).

    The inverse is its `icdf`.

    Args:
        distribution: the distribution
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> from torch_py.distributions import Exponential
        >>> CumulativeDistributionTransform(Exponential(1.0)).inv(torch.tensor(0.0))
        tensor(0.)
    """

    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _arguments(self) -> dict[str, Any]:
        return {"distribution": self.distribution}

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
