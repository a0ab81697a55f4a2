"""Changes of shape as modules."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module


class Flatten(Module):
    """Joins several dimensions into one; by default all but the first, the batch.

    Args:
        start_dim: the first dimension to join; default 1
        end_dim: the last one, included; default -1

    Shape:
        Input: (*, d_start, ..., d_end, *).
        Output: (*, d_start · ... · d_end, *).

    Example:
        >>> nn.Flatten()(torch.randn(8, 3, 4, 4)).shape
        torch.Size([8, 48])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits one dimension into several.

    Args:
        dim: the dimension to split
        unflattened_size: the sizes of the new dimensions; one may be -1, which is computed from the others

    Shape:
        Input: (*, d, *), where d is the product of `unflattened_size`.
        Output: (*, unflattened_size, *).

    Raises:
        TypeError: `dim` is not an integer, or `unflattened_size` is not a tuple or list of integers

    Example:
        >>> nn.Unflatten(1, (3, -1))(torch.randn(8, 12)).shape
        torch.Size([8, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: tuple[int, ...] | list[int]) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"Unflatten: expected dim to be an int, got {type(dim).__name__}")
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )

        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {position}"
                )

        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
