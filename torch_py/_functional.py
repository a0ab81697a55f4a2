"""Functions of the `torch` namespace that are composed of operators or need none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = [
    "broadcast_shapes", "broadcast_tensors", "einsum", "from_dlpack", "is_storage", "is_tensor", "meshgrid", "norm", "typename",
]  # fmt: skip

from_dlpack = _C.from_dlpack


def is_tensor(obj: object) -> bool:
    return isinstance(obj, Tensor)


def is_storage(obj: object) -> bool:
    return isinstance(obj, _C.UntypedStorage)


def typename(obj: Any) -> str:
    """The name of the type of `obj` with its module, `torch.FloatTensor` style for tensors."""
    if isinstance(obj, Tensor):
        return str(cast(Any, obj).type())
    kind = obj if isinstance(obj, type) else type(obj)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def broadcast_shapes(*shapes: Sequence[int] | int) -> Any:
    """The shape that tensors of these shapes broadcast to. Raises RuntimeError when they do not."""
    sizes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    result = [1] * max((len(size) for size in sizes), default=0)
    for size in sizes:
        for position in range(-len(size), 0):
            if size[position] == 1 or size[position] == result[position]:
                continue
            if size[position] < 0 or result[position] != 1:
                raise RuntimeError(f"broadcast_shapes: shapes {', '.join(map(str, sizes))} do not broadcast at dimension {position}")
            result[position] = size[position]
    return _C.Size(result)


def _one_sequence(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of all tensors in the shape they broadcast to."""
    given = _one_sequence(tensors)
    shape = broadcast_shapes(*(tensor.shape for tensor in given))
    return tuple(tensor.expand(shape) for tensor in given)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: for vectors (or scalars) of lengths n1, n2, ... as many tensors of shape (n1, n2, ...).

    `indexing='xy'` swaps the first two dimensions.
    """
    return tuple(_torch.meshgrid(list(_one_sequence(tensors)), indexing=indexing))


def norm(
    input: Tensor, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, out: Tensor | None = None, dtype: Any = None
) -> Tensor:
    """The p-norm of the elements along `dim`, of all elements when None. `'fro'` and None mean 2; `'nuc'` raises NotImplementedError."""
    if p == "nuc":
        raise NotImplementedError("norm: the nuclear norm needs singular values, which this build does not have")
    order = 2.0 if p in ("fro", None) else float(p)
    tensor = input if dtype is None else input.to(dtype)
    if dim is None and not keepdim:
        result = _torch.norm(tensor, order)
    else:
        result = _torch.norm(tensor, order, list(range(tensor.dim())) if dim is None else dim, keepdim)
    return result if out is None else out.copy_(result)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products written as subscripts: `einsum('bij,bjk->bik', a, b)`.

    Letters name dimensions; `...` stands for dimensions that broadcast; a letter that is not in the output is summed. Without `->` the
    output has the letters that occur once, in alphabetical order. Raises RuntimeError when equation and operands do not fit.
    """
    native = getattr(_torch, "einsum", None)
    tensors = _one_sequence(operands)
    if native is not None:
        return native(equation, tensors)
    from torch_py._einsum import contract

    return contract(equation, tensors)
