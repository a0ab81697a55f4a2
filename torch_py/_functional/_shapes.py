"""Broadcasting, and combinations of several tensors in one shape."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "meshgrid",
]


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


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of all tensors in the shape they broadcast to.

    Args:
        tensors: the tensors

    Example:
        >>> torch.broadcast_tensors(torch.tensor([1, 2]), torch.tensor([[3]]))
        (tensor([[1, 2]]), tensor([[3, 3]]))
    """
    given = one_sequence(tensors)
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


def _each_or_one(operator: Any, tensors: tuple[Any, ...]) -> Any:
    """A tensor for one tensor, a tuple for several tensors or a sequence of them."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return operator(tensors[0])
    return tuple(operator(list(one_sequence(tensors))))


def one_sequence(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


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
    return tuple(_torch.meshgrid(list(one_sequence(tensors)), indexing=indexing))


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
