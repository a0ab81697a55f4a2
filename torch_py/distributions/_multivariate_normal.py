"""Normal distributions of vectors, with a dense or a low-rank plus diagonal covariance matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions.distribution import Distribution
from torch_py.distributions.utils import _standard_normal, lazy_property

_MATRICES = ("covariance_matrix", "precision_matrix", "scale_tril")
_LEADING = "must be at least two-dimensional, with optional leading batch dimensions"


def _batch_mv(matrices: Tensor, vectors: Tensor) -> Tensor:
    """Returns the matrix-vector products of a batch."""
    return (matrices @ vectors.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """Returns x^T (L L^T)^-1 x for factors L (*B, n, n) and vectors x (*S, *B, n).

    Samples become columns, so that each factor is used in one solve.
    """
    extra = bx.dim() - bL.dim() + 1
    if extra <= 0:
        return torch.linalg.solve_triangular(bL, bx.unsqueeze(-1), upper=False).square().sum((-2, -1))

    columns = bx.reshape((-1,) + bx.shape[extra:]).movedim(0, -1)
    squares = torch.linalg.solve_triangular(bL, columns, upper=False).square().sum(-2).movedim(-1, 0)
    return squares.reshape(bx.shape[:extra] + squares.shape[1:])


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """Returns L with L L^T = P^-1.

    With rows and columns reversed, P = U U^T for an upper triangular U, and L = U^-T.
    """
    upper = torch.linalg.cholesky(P.flip((-2, -1))).flip((-2, -1))
    identity = torch.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return torch.linalg.solve_triangular(upper.mT, identity, upper=False)


def _half_log_det_of_tril(L: Tensor) -> Tensor:
    """Returns the sum of the logarithms of L's diagonal, half the log determinant of L L^T."""
    return L.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class GaussianMatrices(Distribution):
    """Base class of distributions that take one of covariance_matrix, precision_matrix and scale_tril.

    `_unbroadcasted_scale_tril` is the Cholesky factor of the covariance in the batch shape of that matrix.
    """

    _parameters: tuple[str, ...] = ()
    _unbroadcasted_scale_tril: Tensor

    def _set_factor(self, name: str, matrix: Tensor) -> None:
        """Computes the Cholesky factor of the covariance from the matrix that was given as `name`."""
        factors = {
            "scale_tril": lambda m: m,
            "covariance_matrix": torch.linalg.cholesky,
            "precision_matrix": _precision_to_scale_tril,
        }
        self._unbroadcasted_scale_tril = factors[name](matrix)

    def _broadcast(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        return self._broadcast(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return self._broadcast(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._broadcast(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._checked_copy(_instance)
        self._expand_parameters(new, Size(batch_shape))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return self._finish(new, batch_shape, self.event_shape)


def one_matrix(**matrices: Tensor | None) -> tuple[str, Tensor]:
    """Returns the name and value of the matrix that is not None. Raises ValueError unless exactly one is."""
    given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(given) != 1:
        raise ValueError(
            f"Exactly one of {' or '.join(matrices)} may be specified; got {[name for name, _ in given]}"
        )
    return given[0]


class MultivariateNormal(GaussianMatrices):
    """Normal vectors with mean `loc` (*, n).

    The covariance is given by exactly one of covariance_matrix, its inverse precision_matrix, or its Cholesky
    factor scale_tril (*, n, n), which is the fastest. Raises ValueError otherwise.

    Args:
        loc: (..., n), the mean
        covariance_matrix: (..., n, n), the covariance; give exactly one of the three
        precision_matrix: (..., n, n), the inverse of the covariance
        scale_tril: (..., n, n), the lower Cholesky factor of the covariance
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> d = MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 0.0], [0.0, 8.0]]))
        >>> d.precision_matrix.diagonal()
        tensor([0.5000, 0.1250])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _parameters = ("loc", *_MATRICES)

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")

        name, matrix = one_matrix(
            covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril
        )
        if matrix.dim() < 2:
            label = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{label} {_LEADING}; got shape {tuple(matrix.shape)}")

        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))

        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._set_factor(name, matrix)

    @property
    def mean(self) -> Tensor:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        squares = _batch_mahalanobis(self._unbroadcasted_scale_tril, self._checked(value) - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + squares) - _half_log_det_of_tril(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (constant + _half_log_det_of_tril(self._unbroadcasted_scale_tril)).expand(self._batch_shape)


def _capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """Returns the Cholesky factor of I + W^T D^-1 W, with which Woodbury's identity inverts W W^T + D."""
    scaled = W.mT / D.unsqueeze(-2)
    return torch.linalg.cholesky(scaled @ W + torch.eye(W.shape[-1], dtype=W.dtype, device=W.device))


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """Returns log det(W W^T + D), by the matrix determinant lemma."""
    return 2 * _half_log_det_of_tril(capacitance_tril) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """Returns x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    projected = _batch_mv(W.mT / D.unsqueeze(-2), x)
    return (x.square() / D).sum(-1) - _batch_mahalanobis(capacitance_tril, projected)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with mean `loc` (*, n) and covariance cov_factor cov_factor^T + diag(cov_diag).

    `cov_factor` has the shape (*, n, m). All operations cost O(n m^2), by Woodbury's identity and the matrix
    determinant lemma, except the properties that are n by n matrices.

    Args:
        loc: (..., n), the mean
        cov_factor: (..., n, m)
        cov_diag: (..., n), positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> d = LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2))
        >>> d.variance
        tensor([2., 1.])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _parameters = ("loc", "cov_factor", "cov_diag")

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")

        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(f"cov_factor {_LEADING}")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m, "
                f"but got {tuple(cov_factor.shape)}"
            )
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(
                f"cov_diag must be a batch of vectors with shape {event_shape}, "
                f"but got {tuple(cov_diag.shape)}"
            )

        try:
            batch_shape = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error

        self.loc = loc.expand(batch_shape + event_shape)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(batch_shape + event_shape)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return new

    @property
    def _low_rank(self) -> tuple[Tensor, Tensor]:
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag

    @property
    def mean(self) -> Tensor:
        return self.loc

    mode = mean

    @lazy_property
    def variance(self) -> Tensor:
        factor, diagonal = self._low_rank
        return (factor.pow(2).sum(-1) + diagonal).expand(self._batch_shape + self._event_shape)

    def _broadcast(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor, diagonal = self._low_rank
        return self._broadcast(factor @ factor.mT + torch.diag_embed(diagonal))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        # The matrix is scaled to a unit diagonal first, which is better conditioned.
        factor, diagonal = self._low_rank
        root = diagonal.sqrt().unsqueeze(-1)
        unit = factor / root
        identity = torch.eye(unit.shape[-2], dtype=unit.dtype, device=unit.device)
        return self._broadcast(root * torch.linalg.cholesky(unit @ unit.mT + identity))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        factor, diagonal = self._low_rank
        half = torch.linalg.solve_triangular(
            self._capacitance_tril, factor.mT / diagonal.unsqueeze(-2), upper=False
        )
        return self._broadcast(torch.diag_embed(diagonal.reciprocal()) - half.mT @ half)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        factor, diagonal = self._low_rank

        like_loc: dict[str, Any] = {"dtype": self.loc.dtype, "device": self.loc.device}
        factor_noise = _standard_normal(shape[:-1] + factor.shape[-1:], **like_loc)
        diagonal_noise = _standard_normal(shape, **like_loc)

        return self.loc + _batch_mv(factor, factor_noise) + diagonal.sqrt() * diagonal_noise

    def log_prob(self, value: Tensor) -> Tensor:
        difference = self._checked(value) - self.loc
        squares = _batch_lowrank_mahalanobis(*self._low_rank, difference, self._capacitance_tril)
        log_det = _batch_lowrank_logdet(*self._low_rank, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + squares)

    def entropy(self) -> Tensor:
        log_det = _batch_lowrank_logdet(*self._low_rank, self._capacitance_tril)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return entropy.expand(self._batch_shape)
