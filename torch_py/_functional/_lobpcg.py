"""A few extreme eigenpairs of large symmetric matrices (Knyazev, Toward
the Optimal Preconditioned Eigensolver, 2001)."""

from __future__ import annotations

from typing import Any

from torch_py import linalg
from torch_py._C import _torch, finfo
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad

_METHODS = ("basic", "ortho")


def lobpcg(
    A: Any,
    k: int | None = None,
    B: Any = None,
    X: Any = None,
    n: int | None = None,
    iK: Any = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    **unused: Any,
) -> tuple[Tensor, Tensor]:
    """The `k` largest (smallest) eigenvalues and eigenvectors of A x = e B x.

    Eigenvalues are differentiable, vectors are not.
    """
    if method is not None and method not in _METHODS:
        raise ValueError(f"lobpcg: method must be one of {', '.join(_METHODS)}, got {method!r}")
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"lobpcg: A must be batches of square matrices, got shape {tuple(A.shape)}")
    size = A.shape[-1]
    pairs = k if k is not None else X.shape[-1] if X is not None else 1
    block = n if n is not None else X.shape[-1] if X is not None else pairs
    if 3 * block > size:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={size}) is smaller than 3 x "
            "the number of requested "
            f"eigenpairs (={block})"
        )
    limit = 1000 if niter is None or niter < 0 else niter
    tolerance = tol if tol is not None else _epsilon(A) ** 0.5
    if A.dim() > 2:
        return _of_batch(A, pairs, B, X, block, iK, limit, tolerance, largest is not False)
    with no_grad():
        start = _torch.randn([size, block], dtype=A.dtype, device=A.device) if X is None else X
        vectors = _iterate(A, B, start, iK, limit, tolerance, largest is not False)[..., :pairs]
    # The derivative of an eigenvalue is that of the quotient at a fixed vector.
    return (vectors.conj() * (A @ vectors)).sum(-2).real, vectors


def _of_batch(
    A: Any, pairs: int, B: Any, X: Any, block: int, iK: Any, limit: int, tolerance: float, largest: bool
) -> tuple[Tensor, Tensor]:
    shape = A.shape[:-2]

    def rows(tensor: Any) -> Any:
        return tensor.expand(*shape, *tensor.shape[-2:]).reshape(-1, *tensor.shape[-2:])

    members = [None if tensor is None else rows(tensor) for tensor in (A, B, X, iK)]
    found = []
    for index in range(members[0].shape[0]):
        own = [None if tensor is None else tensor[index] for tensor in members]
        found.append(lobpcg(own[0], pairs, own[1], own[2], block, own[3], limit, tolerance, largest))
    values, vectors = (_torch.stack([pair[place] for pair in found]) for place in (0, 1))
    return values.reshape(*shape, *values.shape[1:]), vectors.reshape(*shape, *vectors.shape[1:])


def _epsilon(A: Any) -> float:
    return float(finfo(A.dtype).eps)


def _iterate(A: Any, B: Any, X: Any, iK: Any, limit: int, tolerance: float, largest: bool) -> Any:
    """Rayleigh-Ritz in the span of vectors, (preconditioned) residuals and previous steps, until the
    residuals are small."""
    count = X.shape[-1]
    X, values = _ritz(A, B, X, count, largest)
    scale = linalg.vector_norm(A) + (0 if B is None else values.abs().max() * linalg.vector_norm(B))
    step = None

    for _ in range(limit):
        residual = A @ X - (X if B is None else B @ X) * values
        if bool((linalg.vector_norm(residual, dim=-2) <= tolerance * scale).all()):
            break

        search = residual if iK is None else iK @ residual
        parts = [X, search] if step is None else [X, search, step]
        following, values = _ritz(A, B, _torch.cat(parts, -1), count, largest)
        step = following - X @ (_adjoint(X) @ (following if B is None else B @ following))
        X = following

    return X


def _ritz(A: Any, B: Any, span: Any, count: int, largest: bool) -> tuple[Any, Any]:
    """The best `count` eigenpairs in a span, vectors orthonormal with respect to B."""
    basis = linalg.qr(span / linalg.vector_norm(span, dim=-2, keepdim=True).clamp_min(_epsilon(A))).Q
    if B is not None:
        factor = linalg.cholesky(_adjoint(basis) @ (B @ basis))
        basis = linalg.solve_triangular(_adjoint(factor), basis, upper=True, left=False)
    values, vectors = linalg.eigh(_adjoint(basis) @ (A @ basis))
    chosen = (
        list(range(values.shape[-1] - 1, values.shape[-1] - 1 - count, -1)) if largest else list(range(count))
    )
    return basis @ vectors[:, chosen], values[chosen]


def _adjoint(tensor: Any) -> Any:
    return tensor.transpose(-2, -1).conj() if tensor.is_complex() else tensor.transpose(-2, -1)
