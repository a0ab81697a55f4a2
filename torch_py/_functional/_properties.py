"""Properties of tensors, such as whether the dtype is complex."""

from __future__ import annotations

from typing import Any, cast

from torch_py import _C
from torch_py._tensor import Tensor

__all__ = [
    "get_device",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_signed",
    "is_storage",
    "is_tensor",
    "numel",
    "typename",
]


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
