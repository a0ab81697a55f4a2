"""Distributions of covariance and correlation matrices: `Wishart` and `LKJCholesky`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._bounded import Beta
from torch_py.distributions._multivariate_normal import (
    _LEADING,
    _MATRICES,
    GaussianMatrices,
    _half_log_det_of_tril,
    one_matrix,
)
from torch_py.distributions._positive import Chi2
from torch_py.distributions.distribution import _NAN, Distribution
from torch_py.distributions.exp_family import ExponentialFamily
from torch_py.distributions.utils import _tiny, broadcast_all

_LOG_2 = math.log(2.0)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of mvlgamma with respect to x."""
    return torch.digamma(x.unsqueeze(-1) - 0.5 * torch.arange(p, dtype=x.dtype, device=x.device)).sum(-1)


class Wishart(GaussianMatrices, ExponentialFamily):
    """Positive definite (n, n) matrices, distributed like the sum of `df` outer products of normal vectors
    with the given covariance, where df > n - 1.

    Exactly one of covariance_matrix, precision_matrix and scale_tril must be given. Raises ValueError for
    df <= n - 1.

    Args:
        df: the degrees of freedom, greater than n - 1
        covariance_matrix: (..., n, n), the covariance; give exactly one of the three
        precision_matrix: (..., n, n), the inverse of the covariance
        scale_tril: (..., n, n), the lower Cholesky factor of the covariance
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Wishart(torch.tensor(3.0), covariance_matrix=torch.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = ("df", *_MATRICES)

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        if sum(matrix is not None for matrix in given.values()) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )

        name, matrix = one_matrix(**given)
        if matrix.dim() < 2:
            raise ValueError(f"{name} {_LEADING}; got shape {tuple(matrix.shape)}")
        size = matrix.shape[-1]
        df = torch.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        if (df <= size - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")

        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch_shape)
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))

        if (df < size).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < "
                "ndim.",
                stacklevel=2,
            )

        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        self._batch_dims = [-(x + 1) for x in range(len(batch_shape))]
        self._set_factor(name, matrix)
        self._set_chi2()

    def _set_chi2(self) -> None:
        """Prepares the distributions of the squared diagonal entries in Bartlett's decomposition."""
        less = torch.arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - less, validate_args=False)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._batch_dims = [-(x + 1) for x in range(len(new._batch_shape))]
        new._set_chi2()
        return new

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    @property
    def _df_matrix(self) -> Tensor:
        return self.df.reshape(self._batch_shape + (1, 1))

    @property
    def mean(self) -> Tensor:
        return self._df_matrix * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self._df_matrix - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, _NAN) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        return self._df_matrix * (covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        size = self._event_shape[-1]
        factor = self._dist_chi2.rsample(sample_shape).clamp(min=_tiny(self.df)).sqrt().diag_embed()
        rows, columns = torch.tril_indices(size, size, -1, device=factor.device)
        shape = Size(sample_shape) + self._batch_shape + (size * (size - 1) // 2,)
        factor[..., rows, columns] = torch.randn(shape, dtype=self.df.dtype, device=self.df.device)
        root = self._unbroadcasted_scale_tril @ factor
        return root @ root.mT

    def rsample(
        self, sample_shape: Sequence[int] = Size([]), max_try_correction: int | None = None
    ) -> Tensor:
        """Draws by Bartlett's decomposition.

        Values that are singular due to rounding are drawn again, up to `max_try_correction` (default 3)
        times.
        """
        sample = self._bartlett_sampling(sample_shape)
        singular = ~self.support.check(sample)
        if singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)

        for _ in range(3 if max_try_correction is None else max_try_correction):
            if not singular.any():
                break
            again = self._bartlett_sampling(sample_shape)
            sample = torch.where(singular[..., None, None], again, sample)
            singular = ~self.support.check(sample)

        return sample

    def _half_log_det_of_tril(self) -> Tensor:
        return _half_log_det_of_tril(self._unbroadcasted_scale_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        nu = self.df
        n = self._event_shape[-1]
        value = self._checked(value)

        half = torch.linalg.solve_triangular(
            self._unbroadcasted_scale_tril, torch.linalg.cholesky(value), upper=False
        )
        return (
            -nu * (0.5 * n * _LOG_2 + self._half_log_det_of_tril())
            - torch.mvlgamma(nu / 2, n)
            + (nu - n - 1) * _half_log_det_of_tril(torch.linalg.cholesky(value))
            - half.square().sum((-2, -1)) / 2
        )

    def entropy(self) -> Tensor:
        nu = self.df
        n = self._event_shape[-1]
        return (
            (n + 1) * (0.5 * n * _LOG_2 + self._half_log_det_of_tril())
            + torch.mvlgamma(nu / 2, n)
            - (nu - n - 1) / 2 * _mvdigamma(nu / 2, n)
            + nu * n / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        n = self._event_shape[-1]
        half_df = y + (n + 1) / 2
        return half_df * (n * _LOG_2 - torch.linalg.slogdet(-2 * x).logabsdet) + torch.mvlgamma(half_df, n)


class LKJCholesky(Distribution):
    """Cholesky factors L of (dim, dim) correlation matrices, with density proportional to det(L L^T) **
    (concentration - 1) of the matrix.

    Concentration 1 is the uniform distribution of correlation matrices. Draws are made row by row by the
    onion method (Lewandowski, Kurowicka and Joe 2009). Raises ValueError for `dim` below 2.

    Args:
        dim: the number of rows, at least 2
        concentration: the concentration, positive; default 1.0
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> LKJCholesky(2, 1.0).log_prob(torch.eye(2)).exp()
        tensor(0.5000)
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _parameters = ("concentration",)

    def __init__(
        self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")

        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, Size((dim, dim)), validate_args=validate_args)

        # The squared length of the k entries before the diagonal of row k is Beta(k/2, concentration + (dim -
        # 1 - k)/2). The first row has no such entries; its draw is not used.
        like = self.concentration
        half = 0.5 * torch.arange(dim, dtype=like.dtype, device=like.device).clamp(min=1)
        rest = (self.concentration + 0.5 * (dim - 1)).unsqueeze(-1) - half
        self._beta = Beta(half, rest, validate_args=False)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.dim = self.dim
        new._beta = self._beta.expand(Size(batch_shape) + (self.dim,))
        return new

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        with torch.no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            normal = torch.randn(shape, dtype=length.dtype, device=length.device).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            rows = length.sqrt() * direction
            left = (1 - rows.square().sum(-1)).clamp(min=_tiny(rows))
            return rows + left.sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        n = self.dim
        concentration = self.concentration
        diagonal = self._checked(value).diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, n + 1, dtype=concentration.dtype, device=concentration.device)
        powers = 2 * (concentration - 1).unsqueeze(-1) + n - order

        # The normalizer on page 1999 of the paper, in terms of mvlgamma.
        alpha = concentration + 0.5 * (n - 1)
        normalizer = (
            0.5 * (n - 1) * math.log(math.pi)
            + torch.mvlgamma(alpha - 0.5, n - 1)
            - torch.lgamma(alpha) * (n - 1)
        )

        return (powers * diagonal.log()).sum(-1) - normalizer
