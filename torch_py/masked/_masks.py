"""Masks of arguments and results, and what takes the place of masked elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._exports import iinfo
from torch_py._tensor import Tensor

_torch = _C._torch

# Names of functions of torch.masked, with the start of each operation, which elements that are masked out
# take: it leaves the result unchanged.
_IDENTITIES = {
    "sum": 0,
    "cumsum": 0,
    "norm": 0,
    "prod": 1,
    "cumprod": 1,
    "amin": "highest",
    "argmin": "highest",
    "softmin": "highest",
    "amax": "lowest",
    "argmax": "lowest",
    "softmax": "lowest",
    "log_softmax": "lowest",
    "logsumexp": "lowest",
    "logaddexp": "lowest",
}
# Names of functions of torch.masked that count elements; they have no such element.
_COUNTING = ("mean", "var", "std")
# Names of functions of torch.masked that keep the shape.
_ELEMENTWISE = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize")


def data_and_mask(operation: str, input: Any, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """The elements of `input`, and its mask: that of a MaskedTensor, of the call, or what both let through.

    The mask has the shape of `input`. Raises TypeError unless both are tensors.
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"masked.{operation}(): expected a Tensor as input, but got {type(input).__name__}")
    if mask is not None and not isinstance(mask, Tensor):
        raise TypeError(f"masked.{operation}(): expected a Tensor as mask, but got {type(mask).__name__}")

    # Any subclass with these two methods is a masked tensor; the class itself builds on this module.
    if not hasattr(input, "get_mask"):
        return input, None if mask is None else _input_mask(input, mask=mask)

    own = input.get_mask()
    return input.get_data(), own if mask is None else _torch.logical_and(own, _input_mask(own, mask=mask))


def _canonical_dim(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """`dim` as a tuple of numbers from 0 to ndim - 1; None and () are all dimensions.

    Raises IndexError for a dimension out of range, and RuntimeError for one that is given twice.
    """
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(ndim))

    found: list[int] = []
    size = max(ndim, 1)
    for one in (dim,) if isinstance(dim, int) else dim:
        if not -size <= one < size:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {one})"
            )
        if one % size in found:
            raise RuntimeError(f"dim={one % size} appears multiple times in the list of dims")
        found.append(one % size)
    return tuple(found)


def _input_mask(input: Tensor, *args: Any, mask: Tensor | None = None, **kwargs: Any) -> Tensor:
    """The mask of a call as booleans with the shape of `input`.

    Raises ValueError without a mask, and IndexError if it has more dimensions than the input.
    """
    if mask is None:
        raise ValueError("_input_mask expected a mask")
    if mask.dim() > input.dim():
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
        )
    return mask.to(_C.bool).expand(input.shape)


def _output_mask(op: Any, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The mask of ``op(input, *args, **kwargs)``: an element of a reduction is valid if one that it consists
    of is; other operations keep the mask.

    Raises ValueError for a function that `torch.masked` does not have.
    """
    name = op.__name__
    mask = kwargs.get("mask")
    valid = _torch.ones(input.shape, dtype=_C.bool) if mask is None else _input_mask(input, mask=mask)

    if name in _ELEMENTWISE:
        return valid
    if name not in _IDENTITIES and name not in (*_COUNTING, "median"):
        raise ValueError(f"_output_mask expected masked operation (got callable {op.__module__}.{name})")

    dim = kwargs.get("dim", args[name == "norm"] if len(args) > (name == "norm") else None)
    return any_valid(valid, dim, kwargs.get("keepdim", False))


def any_valid(mask: Tensor, dim: int | Sequence[int] | None, keepdim: bool) -> Tensor:
    """Whether one of the elements along the dimensions is valid."""
    dims = _canonical_dim(dim, mask.dim())
    return _torch.any(mask, dims, keepdim) if mask.dim() else mask


def _reduction_identity(op_name: str, input: Tensor, *args: Any) -> Tensor | None:
    """The element that leaves the result of an operation as it is, as a tensor without dimensions; None for
    operations that count elements.

    For `norm`, the order is the first of `args`. Raises NotImplementedError if the dtype has no such element.
    """
    if op_name in _COUNTING:
        return None
    if op_name == "median":
        dtype = input.dtype if input.dtype.is_floating_point else _C.get_default_dtype()
        return _C.tensor(float("nan"), dtype=dtype, device=input.device)
    if op_name not in _IDENTITIES:
        raise NotImplementedError(f"identity of {op_name} on {input.dtype} input")

    found: Any = _IDENTITIES[op_name]
    if op_name == "norm" and args and args[0] == float("-inf"):
        found = "highest"
    if isinstance(found, str):
        found = _extreme(op_name, input.dtype, highest=found == "highest")
    return _C.tensor(found, dtype=input.dtype, device=input.device)


def _extreme(op_name: str, dtype: Any, highest: bool) -> float | int:
    if dtype.is_floating_point:
        return float("inf") if highest else float("-inf")
    if dtype == _C.bool or dtype.is_complex:
        raise NotImplementedError(f"identity of {op_name} on {dtype} input")
    limits = iinfo(dtype)
    return limits.max if highest else limits.min


def _where(mask: Tensor, input: Tensor, fill_value: Tensor) -> Tensor:
    """`input` with `fill_value` where `mask` is False."""
    return _torch.where(mask, input, fill_value)


def filled(operation: str, input: Tensor, mask: Tensor | None, *args: Any) -> Tensor:
    """`input` with what `operation` starts from in the place of masked elements."""
    if mask is None:
        return input
    identity = _reduction_identity(operation, input, *args)
    if identity is None:
        raise ValueError(f"identity of {operation}: operations that count elements do not have one")
    return _where(mask, input, identity)


def _combine_input_and_mask(op: Any, input: Any, mask: Tensor | None, *args: Any) -> Tensor:
    """`input` with its masked elements replaced by what `op`, a function of `torch.masked`, starts from."""
    data, valid = data_and_mask(op.__name__, input, mask)
    return filled(op.__name__, data, valid, *args)
