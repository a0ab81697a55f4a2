"""Parametrizations for weight normalization, spectral normalization and orthogonal matrices."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from torch_py import linalg
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.utils import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _named_weight(module: Module, name: str) -> Tensor:
    """Returns the tensor `name` of a module. Raises ValueError if it has no such tensor."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


class _WeightNorm(Module):
    """Computes original0 · original1 / |original1|: lengths and directions of the slices along `dim`, or of
    the whole tensor for -1 (Salimans & Kingma 2016)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / _torch.norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return _torch.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Trains a weight as length and direction: g · v / |v|, with one g for each slice along `dim`, or one for
    all if `dim` is None.

    State dicts of the older `torch.nn.utils.weight_norm`, with keys NAME_g and NAME_v, can be loaded. Returns
    `module`; raises ValueError if it has no such tensor.

    Args:
        module: the module
        name: the tensor; default 'weight'
        dim: the dimension of slices with a length of their own; default 0

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 4))
        >>> layer.parametrizations.weight.original0.shape
        torch.Size([4, 1])
    """
    _named_weight(module, name)
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename_older_keys(state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        older = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in older):
            for position, key in enumerate(older):
                state_dict[f"{prefix}parametrizations.{name}.original{position}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename_older_keys)
    return module


class _SpectralNorm(Module):
    """Computes weight / σ, where σ is the largest singular value, estimated by power iteration (Miyato et al.
    2018), of the weight as a matrix whose rows are dimension `dim`."""

    _u: Tensor
    _v: Tensor
    # Iterations at the start, so that the first estimate of σ is good.
    _START = 15

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] "
                f"but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )

        self.dim = dim % weight.dim()
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.dim() > 1:
            matrix = self._as_matrix(weight)
            for buffer, size in zip(("_u", "_v"), matrix.shape):
                self.register_buffer(
                    buffer, F.normalize(matrix.new_empty(size).normal_(0, 1), dim=0, eps=eps)
                )
            self._iterate(matrix, self._START)

    def _as_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        """Improves the two singular vectors by `count` steps of power iteration."""
        with no_grad():
            for _ in range(count):
                self._u.copy_(F.normalize(_torch.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(_torch.mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        # Copies, because a second forward changes the buffers before the backward of the first.
        u = self._u.clone()
        v = self._v.clone()
        return weight / _torch.vdot(u, _torch.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight by its largest singular value, estimated with `n_power_iterations` steps in every
    forward in training.

    `dim` is the dimension of the outputs: by default 0, or 1 for transposed convolutions. Returns `module`;
    raises ValueError if it has no such tensor, and IndexError for a `dim` that the tensor does not have.

    Args:
        module: the module
        name: the tensor; default 'weight'
        n_power_iterations: the number of steps of the estimate; default 1
        eps: the least norm; default 1e-12
        dim: the dimension of the outputs; default None

    Example:
        >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3), n_power_iterations=50)
        >>> abs(torch.linalg.matrix_norm(layer.weight, 2) - 1) < 0.1
        tensor(True)
    """
    weight = _named_weight(module, name)
    rows = (1 if _is_transposed(module) else 0) if dim is None else dim
    return parametrize.register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, rows, eps)
    )


def _is_transposed(module: Module) -> bool:
    return bool(getattr(module, "transposed", False))


class _OrthogonalMap(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Matrices with orthonormal columns (or rows, if these are fewer): `base` times a map of a triangular
    matrix.

    The maps are exp(A) and the Cayley map (I - A/2)⁻¹(I + A/2) of the skew-Hermitian A = X - Xᴴ, and products
    of Householder reflections.
    """

    base: Tensor | None

    def __init__(
        self, weight: Tensor, orthogonal_map: _OrthogonalMap, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthogonalMap.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        tall = X.mT if wide else X
        householder = self.orthogonal_map is _OrthogonalMap.householder
        Q = _reflections(tall) if householder else self._from_skew(tall)
        base = getattr(self, "base", None)
        if base is not None:
            Q = base @ Q
        return Q.mT if wide else Q

    def _from_skew(self, tall: Tensor) -> Tensor:
        """Applies the exponential or the Cayley map to the skew-Hermitian matrix of the lower triangle."""
        rows = tall.size(-2)
        columns = tall.size(-1)
        lower = F.pad(tall.tril(), (0, rows - columns))
        A = lower - lower.mH

        if self.orthogonal_map is _OrthogonalMap.matrix_exp:
            Q = _torch.matrix_exp(A)
        else:
            identity = _torch.eye(rows, dtype=A.dtype, device=A.device)
            Q = _solve(identity - A / 2, identity + A / 2)

        return Q[..., :columns]

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                f"{Q.shape}."
            )

        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        if hasattr(self, "base"):
            self.base = _completed(tall)
            # All maps take minus the identity to the identity.
            identity = _torch.eye(*tall.shape[-2:], dtype=tall.dtype, device=tall.device)
            result = -identity.expand(tall.shape)
        elif self.orthogonal_map is _OrthogonalMap.householder:
            result = _reflection_vectors(tall)
        else:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )

        return result.mT if wide else result


def _solve(A: Tensor, B: Tensor) -> Tensor:
    return linalg.solve(A, B)  # type: ignore[attr-defined]


def _reflections(tall: Tensor) -> Tensor:
    """Returns the first columns of the product of the reflections along the
    columns below the diagonal, which holds signs."""
    vectors = tall.tril(-1)
    tau = 2.0 / (1.0 + (vectors * vectors).sum(dim=-2))
    product = linalg.householder_product(vectors, tau)  # type: ignore[attr-defined]
    return product * tall.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)


def _reflection_vectors(tall: Tensor) -> Tensor:
    """Returns the vectors that `_reflections` maps to orthonormal columns that span those of `tall`."""
    vectors, tau = _torch.geqrf(tall)
    diagonal = vectors.diagonal(dim1=-2, dim2=-1)
    diagonal.sign_()
    # Where tau is 0 LAPACK does not reflect, but the formula of `_reflections` does.
    diagonal[tau == 0] *= -1
    return vectors


def _completed(tall: Tensor) -> Tensor:
    """Returns a square matrix with orthonormal columns, the first of which
    span those of `tall` and have their directions."""
    missing = tall.size(-2) - tall.size(-1)
    more = tall.new_empty((*tall.shape[:-1], missing)).normal_()
    Q, R = linalg.qr(_torch.cat([tall, more], dim=-1))  # type: ignore[attr-defined]
    return Q * R.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keeps a matrix, or a batch of matrices, orthogonal (unitary if complex): columns or rows are
    orthonormal, whichever are fewer.

    Args:
        module: the module, which is returned
        name: the tensor; default 'weight'
        orthogonal_map: 'matrix_exp' (the default if square or complex), 'cayley' or 'householder' (the
            default otherwise; real only)
        use_trivialization: apply the map around a point that moves when the attribute is assigned
            (Lezcano-Casado 2019)

    Raises:
        ValueError: for a tensor that is missing or has fewer than two dimensions, and for an unknown map

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
        >>> torch.allclose(layer.weight @ layer.weight.t(), torch.eye(3), atol=1e-5)
        True
    """
    weight = _named_weight(module, name)
    if weight.dim() < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions."
        )

    if orthogonal_map is None:
        orthogonal_map = (
            "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
        )
    if orthogonal_map not in _OrthogonalMap.__members__:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )

    made = _Orthogonal(weight, _OrthogonalMap[orthogonal_map], use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
