"""The methods of Tensor that other modules compute, attached to the class when torch_py is imported.

`_tensor.py` is the module that nearly every other one imports. It imports none of them; what leads to them is
here, above them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from torch_py import _C, _functional, _tensor, _tensor_str, autograd
from torch_py._tensor import Tensor

Method = TypeVar("Method", bound=Callable[..., Any])

_ARRAY_API_VERSIONS = (None, "2021.12", "2022.12", "2023.12", "2024.12")


def _method(function: Method) -> Method:
    """Makes a function a method of Tensor, as if it were written in the class."""
    function.__qualname__ = f"Tensor.{function.__name__}"
    function.__module__ = _tensor.__name__
    setattr(Tensor, function.__name__, function)
    return function


# Gradients
# ------------------------------------------------------------


@_method
def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradient of this tensor to `.grad` of the leaves it was computed from, or only of `inputs`.

    `gradient` has the shape of this tensor and may be left out when it has one element. `create_graph` makes
    the gradients differentiable; `retain_graph` (default: `create_graph`) keeps what the graph has saved for
    another call.

    Args:
        gradient: the weight, of the shape of this tensor; default None, for one element
        retain_graph: whether the graph is kept for another pass; default None, as `create_graph`
        create_graph: whether the pass itself is recorded, for higher derivatives; default False
        inputs: the leaves to compute gradients of; default None, all

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x**2).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """
    autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


# Text and names
# ------------------------------------------------------------


@_method
def __repr__(self: Tensor) -> str:
    if level := _C._level_of(self):
        kind = "BatchedTensor" if _C._is_batch(self) else "DualTensor"
        return f"{kind}(level={level}, value={_C._inside(self)!r})"
    return _tensor_str.tensor_repr(self)


@_method
def __array_namespace__(self: Tensor, *, api_version: str | None = None) -> Any:
    """The functions of the Python array API standard for tensors.

    Raises ValueError for a version other than those from 2021.12 to 2024.12.
    """
    # Imported on first use: few programs ask for the array API.
    from torch_py import _array_api

    if api_version not in _ARRAY_API_VERSIONS:
        raise ValueError(
            "__array_namespace__(): unsupported version of the array API standard, "
            f"api_version={api_version!r}"
        )
    return _array_api


# Functions with arguments that the operator does not have
# ------------------------------------------------------------


@_method
def unique(
    self: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """As `torch.unique`.

    Args:
        sorted: has no effect: results are always in order; default True
        return_inverse: whether to return positions; default False
        return_counts: whether to return counts; default False
        dim: the dimension of slices; default None, single elements

    Example:
        >>> torch.tensor([3, 1, 3]).unique()
        tensor([1, 3])
    """
    return _functional.unique(self, sorted, return_inverse, return_counts, dim)


@_method
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """As `torch.unique_consecutive`.

    Args:
        return_inverse: whether to return positions; default False
        return_counts: whether to return counts; default False
        dim: the dimension of slices; default None, single elements

    Example:
        >>> torch.tensor([1, 1, 2, 1]).unique_consecutive()
        tensor([1, 2, 1])
    """
    return _functional.unique_consecutive(self, return_inverse, return_counts, dim)


@_method
def norm(
    self: Tensor, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """As `torch.norm`, whose orders include the names 'fro' and 'nuc'.

    Args:
        p: the power, 'fro' or 'nuc'; default 'fro'
        dim: a dimension or several; default None, all
        keepdim: whether the dimensions stay, with size 1; default False
        dtype: the dtype to compute in; default None

    Example:
        >>> torch.tensor([3.0, 4.0]).norm()
        tensor(5.)
    """
    return _functional.norm(self, p, dim, keepdim, dtype=dtype)


@_method
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """As `torch.lu`.

    Args:
        pivot: whether to exchange rows; default True
        get_infos: whether to return a third tensor; default False

    Example:
        >>> torch.eye(2).lu()[1]
        tensor([1, 2], dtype=torch.int32)
    """
    return _functional.lu(self, pivot, get_infos)


# Storages and pickles
# ------------------------------------------------------------


@_method
def storage(self: Tensor) -> Any:
    """The memory as a `torch.TypedStorage`, which is deprecated in favour of `untyped_storage()`.

    Example:
        >>> len(torch.ones(3).storage())
        3
    """
    # Imported on first use: programs rarely need typed storages.
    from torch_py import storage as storages

    warnings.warn(storages._DEPRECATED, UserWarning, stacklevel=2)
    return storages.storage_of(self)


@_method
def storage_type(self: Tensor) -> type:
    """The class of `storage()`, such as torch.FloatStorage.

    Example:
        >>> torch.ones(3).storage_type().__name__
        'FloatStorage'
    """
    # Imported on first use: programs rarely need typed storages.
    from torch_py import storage as storages

    return getattr(storages, storages.storage_of(self).pickle_storage_type())


@_method
def __reduce_ex__(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    if level := _C._level_of(self):
        raise RuntimeError(f"a tensor inside of a function transform, of level {level}, cannot be pickled")
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import reduce_tensor

    return reduce_tensor(self)


def _rebuild_from_type_v2(func: Any, new_type: type, args: tuple[Any, ...], state: Any) -> Any:
    """Rebuilds a tensor with attributes, or of a subclass. Pickles name it as torch._tensor's."""
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import rebuild_from_type

    return rebuild_from_type(func, new_type, args, state)


_rebuild_from_type_v2.__module__ = _tensor.__name__
_tensor._rebuild_from_type_v2 = _rebuild_from_type_v2  # type: ignore[attr-defined]
