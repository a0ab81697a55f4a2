"""Functions of the `torch` namespace that are written in Python over operators."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, cast

from torch_py import _C
from torch_py._C import _torch
from torch_py._pytorch_names.removed_functions import eig, lstsq, matrix_rank, solve, symeig
from torch_py._tensor import Tensor

__all__ = [
    "alpha_dropout_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "detach_",
    "dropout_",
    "eig",
    "einsum",
    "feature_alpha_dropout_",
    "feature_dropout_",
    "from_dlpack",
    "get_device",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_signed",
    "is_storage",
    "is_tensor",
    "lobpcg",
    "lstsq",
    "lu",
    "matrix_rank",
    "meshgrid",
    "nonzero",
    "norm",
    "numel",
    "pca_lowrank",
    "solve",
    "svd_lowrank",
    "symeig",
    "tensordot",
    "typename",
    "unique",
    "unique_consecutive",
    "unravel_index",
]

from_dlpack = _C.from_dlpack


def is_tensor(obj: object) -> bool:
    """Whether an object is a tensor.

    Args:
        obj: the object

    Example:
        >>> torch.is_tensor([1, 2]), torch.is_tensor(torch.ones(1))
        (False, True)
    """
    return isinstance(obj, Tensor)


def is_storage(obj: object) -> bool:
    """Whether an object is a storage, typed or untyped.

    Args:
        obj: the object

    Example:
        >>> torch.is_storage(torch.ones(1).untyped_storage())
        True
    """
    return isinstance(obj, _C.UntypedStorage) or hasattr(obj, "_untyped_storage")


def numel(input: Tensor) -> int:
    """The number of elements.

    Args:
        input: the tensor

    Example:
        >>> torch.numel(torch.ones(2, 3))
        6
    """
    return input.numel()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype of a tensor is floating point.

    Args:
        input: the tensor

    Example:
        >>> torch.is_floating_point(torch.ones(1))
        True
    """
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the dtype of a tensor is complex.

    Args:
        input: the tensor

    Example:
        >>> torch.is_complex(torch.tensor([1j]))
        True
    """
    return input.is_complex()


def is_signed(input: Tensor) -> bool:
    """Whether the dtype can represent negative numbers.

    Args:
        input: the tensor

    Example:
        >>> torch.is_signed(torch.ones(1, dtype=torch.uint8))
        False
    """
    return input.is_signed()


def is_conj(input: Tensor) -> bool:
    """Always False: conj() computes the conjugate at once.

    Args:
        input: the tensor

    Example:
        >>> torch.is_conj(torch.tensor([1j]).conj())
        False
    """
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """Always False: negation is computed at once.

    Args:
        input: the tensor

    Example:
        >>> torch.is_neg(-torch.ones(1))
        False
    """
    return input.is_neg()


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability of zero
        train: whether to do so

    Example:
        >>> torch.dropout_(torch.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    # Imported on first use: torch.nn is large.
    from torch_py.nn.functional._dropout import dropout

    return dropout(input, p, train, inplace=True)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability of zero for each channel
        train: whether to do so

    Example:
        >>> torch.feature_dropout_(torch.ones(1, 2), 0.5, False)
        tensor([[1., 1.]])
    """
    return input.copy_(_torch.feature_dropout(input, p, train)) if train else input


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability for each element of being replaced
        train: whether to do so

    Example:
        >>> torch.alpha_dropout_(torch.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    return input.copy_(_torch.alpha_dropout(input, p, train)) if train else input


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability for each channel of being replaced
        train: whether to do so

    Example:
        >>> torch.feature_alpha_dropout_(torch.ones(1, 2), 0.5, False)
        tensor([[1., 1.]])
    """
    return input.copy_(_torch.feature_alpha_dropout(input, p, train)) if train else input


def typename(obj: Any) -> str:
    """The name with its module of a type or function, else of the type of
    `obj`; `torch.FloatTensor` style for tensors.

    Args:
        obj: the object

    Example:
        >>> torch.typename(torch.ones(1))
        'torch.FloatTensor'
    """
    if isinstance(obj, Tensor):
        return str(cast(Any, obj).type())
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    return (
        named.__qualname__
        if named.__module__ in (None, "builtins")
        else f"{named.__module__}.{named.__qualname__}"
    )


def broadcast_shapes(*shapes: Sequence[int] | int) -> Any:
    """The shape that tensors of these shapes broadcast to. Raises RuntimeError if they do not.

    Args:
        shapes: shapes, or integers for shapes of one dimension

    Example:
        >>> torch.broadcast_shapes((2, 1), (3,))
        torch.Size([2, 3])
    """
    sizes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    result = [1] * max((len(size) for size in sizes), default=0)

    for index, size in enumerate(sizes):
        if any(length < 0 for length in size):
            raise ValueError(
                f"broadcast_shapes: Attempting to broadcast a dimension with negative length: {size}"
            )

        for position in range(-len(size), 0):
            if size[position] == 1 or size[position] == result[position]:
                continue
            if result[position] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {size[position]} at {position}! "
                    f"Mismatching argument at index {index} had {size}; but expected shape should be "
                    f"broadcastable to {result}"
                )
            result[position] = size[position]

    return _C.Size(result)


def _one_sequence(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of all tensors in the shape they broadcast to.

    Args:
        tensors: the tensors

    Example:
        >>> torch.broadcast_tensors(torch.tensor([1, 2]), torch.tensor([[3]]))
        (tensor([[1, 2]]), tensor([[3, 3]]))
    """
    given = _one_sequence(tensors)
    shape: Sequence[int] = ()
    for tensor in given:
        shape = _broadcast_pair(shape, tensor.shape)

    return tuple(tensor.expand(shape) for tensor in given)


def _broadcast_pair(a: Sequence[int], b: Sequence[int]) -> Sequence[int]:
    """The shape of two operands. Raises RuntimeError with the text that binary operators have."""
    shape = [1] * (max(len(a), len(b)) - len(a)) + list(a)

    for position in range(-len(b), 0):
        if b[position] == 1 or b[position] == shape[position]:
            continue
        if shape[position] != 1:
            raise RuntimeError(
                f"The size of tensor a ({shape[position]}) must match the size of tensor b "
                f"({b[position]}) at non-singleton dimension {position + len(shape)}"
            )
        shape[position] = b[position]

    return shape


def _each_or_one(operator: Any, tensors: tuple[Any, ...]) -> Any:
    """A tensor for one tensor, a tuple for several tensors or a sequence of them."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return operator(tensors[0])
    return tuple(operator(list(_one_sequence(tensors))))


def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with at least one dimension.

    Args:
        tensors: one tensor, several, or a sequence of them

    Example:
        >>> torch.atleast_1d(torch.tensor(1))
        tensor([1])
    """
    return _each_or_one(_torch.atleast_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least two dimensions: vectors become rows.

    Args:
        tensors: one tensor, several, or a sequence of them

    Example:
        >>> torch.atleast_2d(torch.tensor([1, 2]))
        tensor([[1, 2]])
    """
    return _each_or_one(_torch.atleast_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least three dimensions: matrices get a last one of size 1.

    Args:
        tensors: one tensor, several, or a sequence of them

    Example:
        >>> torch.atleast_3d(torch.tensor([1, 2])).shape
        torch.Size([1, 2, 1])
    """
    return _each_or_one(_torch.atleast_3d, tensors)


def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the given matrices (vectors are rows) along its diagonal and zeros elsewhere.

    Args:
        tensors: tensors of at most 2 dimensions

    Example:
        >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor([[3]]))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    return _torch.block_diag(list(tensors))


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element of each vector, a row each; of one vector the vector itself.

    Args:
        tensors: vectors

    Example:
        >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    return _torch.cartesian_prod(list(tensors))


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates of positions in a flattened array of `shape`, as one int64 tensor per dimension.

    Raises TypeError unless `indices` are integers, ValueError for a negative size.

    Args:
        indices: the positions, integers of any shape
        shape: the shape of the array

    Example:
        >>> torch.unravel_index(torch.tensor([0, 5]), (2, 3))
        (tensor([0, 1]), tensor([0, 2]))
    """
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == _C.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")

    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")

    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")

    coordinates: list[Tensor] = []
    rest = indices.long()
    for size in reversed(sizes):
        coordinates.append(rest % size)
        rest = rest.div(size, rounding_mode="floor") if size else rest

    return tuple(reversed(coordinates))


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The indices of elements that are not zero: a row each, or with
    `as_tuple` a vector for each dimension, to index with.

    Args:
        input: any shape
        out: a tensor that receives the result; default None
        as_tuple: whether to return a vector for each dimension; default False

    Example:
        >>> torch.nonzero(torch.tensor([[0, 5], [6, 0]]))
        tensor([[0, 1],
                [1, 0]])
    """
    if as_tuple:
        return tuple(cast(Any, _C)._ops.nonzero_numpy(input))
    return _torch.nonzero(input) if out is None else _torch.nonzero(input, out=out)


def detach_(input: Tensor) -> Tensor:
    """Detaches `input` itself from the graph that computed it.

    Args:
        input: the tensor, which is changed

    Example:
        >>> x = torch.ones(1, requires_grad=True) * 2
        >>> torch.detach_(x).requires_grad
        False
    """
    return input.detach_()


def is_inference(input: Tensor) -> bool:
    """Whether `input` was made in inference mode.

    Args:
        input: the tensor

    Example:
        >>> torch.is_inference(torch.ones(1))
        False
    """
    return cast(Any, input).is_inference()


def get_device(input: Tensor) -> int:
    """The index of the device, -1 on the CPU.

    Args:
        input: the tensor

    Example:
        >>> torch.get_device(torch.ones(1))
        -1
    """
    return input.get_device()


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of a grid: for vectors (or scalars) of lengths n1, n2, ... as many tensors of shape (n1,
    n2, ...).

    `indexing='xy'` swaps the first two dimensions; None means 'ij', with a warning.

    Args:
        tensors: vectors or 0-dimensional tensors, or a sequence of them
        indexing: 'ij', the order of matrices, or 'xy', that of plots; default None

    Example:
        >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")
        (tensor([[1, 1],
                [2, 2]]), tensor([[3, 4],
                [3, 4]]))
    """
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: say indexing='ij' or 'xy': 'ij' is taken, and will have to be given",
            stacklevel=2,
        )
        indexing = "ij"
    return tuple(_torch.meshgrid(list(_one_sequence(tensors)), indexing=indexing))


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


_CDIST_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


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
    return contract(args[0], _one_sequence(args[1:]))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or slices along `dim`, in order.

    `return_inverse` adds the position of each element among them, `return_counts` how often each occurs.

    Args:
        input: any shape
        sorted: has no effect: results are always in order; default True
        return_inverse: whether to return positions; default False
        return_counts: whether to return counts; default False
        dim: the dimension of slices; default None, single elements

    Example:
        >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        found = _C._torch._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = _C._ops.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _asked_for(found, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or slices along `dim`, that differ from the one before; otherwise as `unique`.

    Args:
        input: any shape
        return_inverse: whether to return positions; default False
        return_counts: whether to return counts; default False
        dim: the dimension of slices; default None, single elements

    Example:
        >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    return _asked_for(
        _torch.unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts
    )


def _asked_for(found: tuple[Tensor, Tensor, Tensor], inverse: bool, counts: bool) -> Any:
    values, indices, sizes = found
    results = (values, *([indices] if inverse else []), *([sizes] if counts else []))
    return values if len(results) == 1 else results
