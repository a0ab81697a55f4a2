"""`MaskedTensor`: a tensor with a mask that says which elements are valid."""

from __future__ import annotations

import warnings
from typing import Any, TypeGuard

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd import Function

__all__ = ["MaskedTensor", "is_masked_tensor"]


def is_masked_tensor(obj: Any, /) -> TypeGuard[MaskedTensor]:
    """Whether `obj` is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


class MaskedTensor(Tensor):
    """Elements, and a mask of the same shape that is True where they are valid.

    Operators act on valid elements and keep the mask; the elements elsewhere mean nothing, and are printed as
    ``--``. Reductions are those of `torch.masked`. Gradients are masked tensors, too. Operators of several
    masked tensors need equal masks.

    Args:
        data: the elements; they are copied. Any dtype but complex ones.
        mask: booleans in the shape of `data`.
        requires_grad: whether autograd records what is computed from the tensor.

    Raises:
        TypeError: unless both are tensors of such dtypes.
        ValueError: if their shapes differ.

    Example::

        >>> x = masked_tensor(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
        >>> x + 1
        MaskedTensor(
          [  2.0000,       --]
        )
    """

    _masked_data: Tensor
    _masked_mask: Tensor

    @staticmethod
    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
        _check(data, mask)
        if data.requires_grad:
            warnings.warn(
                "MaskedTensor: data requires grad, but the masked tensor is a leaf of its own; use "
                "as_masked_tensor to continue the graph",
                UserWarning,
                stacklevel=2,
            )
        return cls._from_parts(data.detach().clone(), mask.detach().clone(), requires_grad)

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        """Has nothing to do: `__new__` has set all attributes."""

    @classmethod
    def _from_parts(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
        """A masked tensor that shares the memory of its parts."""
        made: MaskedTensor = Tensor._make_wrapper_subclass(
            cls,
            data.shape,
            strides=data.stride(),
            dtype=data.dtype,
            device=data.device,
            requires_grad=requires_grad,
        )
        made._masked_data = data
        made._masked_mask = mask
        return made

    def get_data(self) -> Tensor:
        """All elements, as an ordinary tensor; those that are masked out mean nothing."""
        with DisableTorchFunctionSubclass():
            found: Tensor = _GetData.apply(self)
        return found

    def get_mask(self) -> Tensor:
        """The mask: True where elements are valid."""
        return self._masked_mask

    def to_tensor(self, value: Any) -> Tensor:
        """The elements as an ordinary tensor, with `value` in the place of those that are masked out."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    def is_sparse_coo(self) -> bool:
        """Whether the elements are in a sparse layout; they never are."""
        return False

    def is_sparse_csr(self) -> bool:
        """Whether the elements are in a compressed sparse layout; they never are."""
        return False

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        # Imported on first use: most programs do not print masked tensors.
        from torch_py.masked.maskedtensor._printing import text_of

        return text_of(self._masked_data, self._masked_mask)

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["_masked_data", "_masked_mask"], None

    @staticmethod
    def __tensor_unflatten__(inner: Any, context: Any, outer_size: Any, outer_stride: Any) -> MaskedTensor:
        return MaskedTensor._from_parts(inner["_masked_data"], inner["_masked_mask"])

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Imported on first use: it makes masked tensors.
        from torch_py.masked.maskedtensor import _reductions

        kwargs = kwargs or {}
        reduce = _reductions.find(func)
        if reduce is not None and args and isinstance(args[0], MaskedTensor):
            return reduce(*args, **kwargs)
        with DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Imported on first use: it makes masked tensors.
        from torch_py.masked.maskedtensor import _operators

        rule = _operators.rule_of(func)
        return NotImplemented if rule is None else rule(func, args, kwargs or {})


def _check(data: Any, mask: Any) -> None:
    for name, value in (("data", data), ("mask", mask)):
        if not isinstance(value, Tensor) or isinstance(value, MaskedTensor):
            raise TypeError(f"{name} must be a Tensor")
    if mask.dtype != _C.bool:
        raise TypeError("mask must have dtype bool.")
    if data.is_complex():
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")


class _GetData(Function):
    """The elements of a masked tensor. Their gradient has its mask."""

    @staticmethod
    def forward(ctx: Any, input: MaskedTensor) -> Tensor:
        ctx.mask = input._masked_mask
        return input._masked_data.view_as(input._masked_data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> MaskedTensor:
        return grad if isinstance(grad, MaskedTensor) else MaskedTensor._from_parts(grad, ctx.mask)


class _Attach(Function):
    """A result with its mask. The gradient of elements that are masked out is zero."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> MaskedTensor:
        return MaskedTensor._from_parts(data.view_as(data), mask)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad.to_tensor(0) if isinstance(grad, MaskedTensor) else grad, None
