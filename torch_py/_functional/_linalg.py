"""Products, norms and factorizations."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._functional._shapes import one_sequence
from torch_py._tensor import Tensor

__all__ = [
    "cdist",
    "chain_matmul",
    "einsum",
    "lobpcg",
    "lu",
    "norm",
    "pca_lowrank",
    "svd_lowrank",
    "tensordot",
]

_CDIST_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Any = None,
) -> Tensor:
    """The p-norm of the elements along `dim`, of all elements when None.

    `'fro'` and None mean 2; `'nuc'` sums the singular values.

    Args:
        input: a floating-point or complex tensor
        p: the power, 'fro' or 'nuc'; default 'fro'
        dim: a dimension or several; default None, all
        keepdim: whether the dimensions stay, with size 1; default False
        out: a tensor that receives the result; default None
        dtype: the dtype to compute in; default None

    Example:
        >>> torch.norm(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    tensor = input if dtype is None else input.to(dtype)

    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(
            f"only valid string values are 'fro' (corresponding to Frobenius norm) and 'nuc', got {p!r}"
        )

    given = {} if out is None else {"out": out}
    if p == "nuc":
        dims = () if dim is None else (dim,)
        return _torch.nuclear_norm(tensor, *dims, keepdim=keepdim, **given)

    order = 2.0 if p in ("fro", None) else p
    if dim is None and not keepdim and out is None:
        return _torch.norm(tensor, order)
    return _torch.norm(tensor, order, list(range(tensor.dim())) if dim is None else dim, keepdim, **given)


def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The p-norms of the differences of all rows of `x1` and `x2`: (..., P, M) and (..., R, M) give (..., P,
    R).

    Euclidean distances of more than 25 rows go through a product of matrices, which is faster and less exact
    for close rows.

    Args:
        x1: (..., P, M)
        x2: (..., R, M)
        p: the power of the norm; default 2.0
        compute_mode: 'use_mm_for_euclid_dist_if_necessary' (default), 'use_mm_for_euclid_dist' or
            'donot_use_mm_for_euclid_dist'

    Example:
        >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[5., 1.]])
    """
    if compute_mode not in _CDIST_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _torch.cdist(x1, x2, p, _CDIST_MODES[compute_mode])


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums products over the last `dims` dimensions of `a` and the first of `b`, or over given ones.

    Args:
        a, b: the tensors
        dims: how many dimensions, or a list with those of `a` and one with those of `b`; default 2
        out: a tensor that receives the result; default None

    Example:
        >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), dims=1).shape
        torch.Size([2, 4])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())

    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first = list(range(-dims, 0))
        second = list(range(dims))
    elif isinstance(dims, (tuple, list)):
        first, second = dims
    else:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing "
            f"two lists, but got dims={dims}"
        )

    return (
        _torch.tensordot(a, b, first, second)
        if out is None
        else _torch.tensordot(a, b, first, second, out=out)
    )


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of two-dimensional tensors in the order that takes the fewest multiplications.

    Args:
        matrices: the matrices
        out: a tensor that receives the result; default None

    Example:
        >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 1))
        tensor([[3.],
                [3.]])
    """
    if out is None:
        return _torch.chain_matmul(list(matrices))
    return _torch.chain_matmul(list(matrices), out=out)


def einsum(*args: Any) -> Tensor:
    """Sums of products written as subscripts: `einsum('bij,bjk->bik', a, b)`, or `einsum(a, [0, 1], b, [1,
    2], [0, 2])`.

    Letters name dimensions; `...` means dimensions that broadcast; a letter that is not in the output is
    summed. Without `->` the output has the letters that occur once, in alphabetical order. More than two
    operands are multiplied in the order that takes the fewest multiplications. Raises RuntimeError when
    equation and operands do not fit.

    Args:
        args: the subscripts and the tensors; or each tensor followed by a list of numbers, and the numbers of
            the output

    Example:
        >>> torch.einsum("ij,j->i", torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 1]))
        tensor([3, 7])
    """
    # Imported on first use: few programs need it.
    from torch_py._functional._einsum import contract, equation_of

    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        return contract(*equation_of(args))
    return contract(args[0], one_sequence(args[1:]))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> tuple[Tensor, ...]:
    """L and U of A = P L U packed in one matrix, and the pivots; `get_infos` adds the row of the first zero
    on the diagonal of U, counted from 1, or 0. A singular matrix is not an error.

    Args:
        A: (..., n, m)
        pivot: whether to exchange rows; must be True on the CPU; default True
        get_infos: whether to return a third tensor; default False
        out: tensors that receive the results; default None

    Example:
        >>> torch.lu(torch.tensor([[0.0, 1.0], [2.0, 3.0]]))[1]
        tensor([2, 2], dtype=torch.int32)
    """
    found = tuple(_C._ops._lu_with_info(A, pivot=pivot, check_errors=not get_infos))
    results = found if get_infos else found[:2]
    if out is None:
        return results
    if not isinstance(out, (tuple, list)) or len(out) != len(results):
        raise TypeError(f"lu(): expected out to be a tuple of {len(results)} tensors")
    return tuple(target.resize_(result.shape).copy_(result) for target, result in zip(out, results))


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S, V with A (or A - M) ~ U diag(S) V^H for `q` singular values, by random projections.

    Args:
        A: (..., n, m)
        q: how many singular values; default 6
        niter: the number of iterations; default 2
        M: a matrix to subtract from A; default None

    Example:
        >>> U, S, V = torch.svd_lowrank(torch.randn(10, 4), q=2)
        >>> U.shape, S.shape, V.shape
        (torch.Size([10, 2]), torch.Size([2]), torch.Size([4, 2]))
    """
    # Imported on first use: few programs need it.
    from torch_py._functional import _lowrank

    return _lowrank.svd_lowrank(A, q, niter, M)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """The `q` main components of the rows of `A`: U, S, V as of
    `svd_lowrank`, after subtraction of the mean row if `center`.

    Args:
        A: (..., n, m)
        q: how many components; default None, min(6, n, m)
        center: whether the mean row is subtracted; default True
        niter: the number of iterations; default 2

    Example:
        >>> U, S, V = torch.pca_lowrank(torch.randn(10, 4), q=2)
        >>> U.shape, S.shape, V.shape
        (torch.Size([10, 2]), torch.Size([2]), torch.Size([4, 2]))
    """
    # Imported on first use: few programs need it.
    from torch_py._functional import _lowrank

    return _lowrank.pca_lowrank(A, q, center, niter)


def lobpcg(A: Tensor, k: int | None = None, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """The `k` largest (`largest=False`: smallest) eigenvalues and eigenvectors of symmetric matrices, of A
    x = e B x where `B` is given.

    Args:
        A: (..., n, n), symmetric
        k: how many; default None, 1
        args, kwargs: `B`, the other matrix of the generalized problem; `X`, the first vectors; `n`, `iK`,
            `niter`, `tol`, `largest`, `method`, `tracker`, `ortho_iparams`, `ortho_fparams` and
            `ortho_bparams`, as in PyTorch

    Example:
        >>> A = torch.diag(torch.arange(1.0, 10.0))
        >>> torch.lobpcg(A, k=1)[0].round()
        tensor([9.])
    """
    # Imported on first use: few programs need it.
    from torch_py._functional import _lobpcg

    return _lobpcg.lobpcg(A, k, *args, **kwargs)
