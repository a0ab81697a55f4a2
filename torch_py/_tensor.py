"""The class `torch.Tensor`, in Python over the native `_C.TensorBase`,
which has the operators and most properties."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from torch_py import _C
from torch_py._cuda_arrays import described as _described
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py._wrappers import is_wrapper, make_wrapper, parts_of


class Tensor(_C.TensorBase):
    """An array of one dtype on one device that can record how it was computed.

    Tensors are made by functions such as `torch.tensor`, `torch.zeros` and `torch.randn`. With
    `requires_grad`, autograd records what is computed from a tensor, and `backward` of a result computes
    gradients. Programs may subclass it; the results of operators on a subclass are of the subclass.

    Attributes:
        shape: the sizes of the dimensions, as a `torch.Size`
        dtype: the `torch.dtype` of the elements
        device: the `torch.device` of the memory
        requires_grad: whether autograd records operations on it
        grad: the gradient that `backward` computed; None before
        grad_fn: the node that computed it; None for a leaf
        is_leaf: whether it is not the result of a recorded operation

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> x.shape, x.dtype, x.device
        (torch.Size([2]), torch.float32, device(type='cpu'))
        >>> (x**2).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    __module__ = "torch_py"
    __array_priority__ = 1000  # NumPy's operators leave mixed expressions to the tensor
    __hash__ = _C.TensorBase.__hash__  # by identity, though == compares elements

    if TYPE_CHECKING:  # _tensor_methods.py attaches these

        def backward(
            self,
            gradient: Tensor | None = None,
            retain_graph: bool | None = None,
            create_graph: bool = False,
            inputs: Tensor | Sequence[Tensor] | None = None,
        ) -> None: ...
        def lu(self, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]: ...
        def norm(
            self, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
        ) -> Tensor: ...
        def storage(self) -> Any: ...
        def storage_type(self) -> type: ...
        def unique(
            self,
            sorted: bool = True,
            return_inverse: bool = False,
            return_counts: bool = False,
            dim: int | None = None,
        ) -> Any: ...
        def unique_consecutive(
            self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
        ) -> Any: ...

    @classmethod
    def __torch_function__(cls, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        """Computes as for plain tensors and returns results in the type
        of the subclass; subclasses override it."""
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            return _as_type(func(*args, **(kwargs or {})), cls)

    # Operator calls on instances of subclasses that define it go there, below autograd.
    __torch_dispatch__ = _C._disabled_torch_dispatch_impl

    def __format__(self, specification: str) -> str:
        if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
            return format(self.item(), specification)
        return object.__format__(self, specification)

    def __contains__(self, element: object) -> bool:
        """Whether an element equals `element`, a number or a tensor that broadcasts.

        Raises RuntimeError for anything else.
        """
        if not isinstance(element, (Tensor, int, float, complex)):
            raise RuntimeError(
                f"Tensor.__contains__: expected a tensor or a number, got {type(element).__name__}"
            )
        return bool((self == element).any().item())

    def __rdiv__(self, other: Tensor | complex) -> Tensor:
        """The division of Python 2; PyTorch has kept the name."""
        return cast(Tensor, other / self)

    def __reversed__(self) -> Tensor:
        return self if self.dim() == 0 else self.flip(0)

    def __copy__(self) -> Tensor:
        """A leaf of the same type and attributes that shares the memory."""
        with DisableTorchFunctionSubclass():
            if is_wrapper(self):
                result = make_wrapper(*parts_of(self))
            else:
                result = cast(Any, _C.TensorBase)._make_subclass(type(self), self.data, self.requires_grad)
        vars(result).update(vars(self))
        return result

    def __deepcopy__(self, memo: dict[Any, Any]) -> Tensor:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError(
                "Tensor.__deepcopy__: only graph leaves (tensors made by the user, not computed from others "
                "that require grad) can be "
                f"deep-copied, got a tensor with grad_fn={self.grad_fn}; copy .detach() instead"
            )

        with DisableTorchFunctionSubclass():
            if is_wrapper(self):
                result = make_wrapper(*parts_of(self))
            else:
                data = _copy_with_storage(self, memo)
                result = cast(Any, _C.TensorBase)._make_subclass(type(self), data, self.requires_grad)
            memo[id(self)] = result
            if self.grad is not None:
                result.grad = copy.deepcopy(self.grad, memo)

        vars(result).update(copy.deepcopy(vars(self), memo))
        return result

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def dense_dim(self) -> int:
        """The number of dense dimensions: all, since tensors are not sparse.

        Example:
            >>> torch.ones(2, 3).dense_dim()
            2
        """
        return self.dim()

    def sparse_dim(self) -> int:
        """The number of sparse dimensions: 0, since tensors are not sparse.

        Example:
            >>> torch.ones(2, 3).sparse_dim()
            0
        """
        return 0

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        """See :func:`torch.nonzero`.

        Args:
            as_tuple: whether to return a vector for each dimension; default False

        Example:
            >>> torch.tensor([0, 5]).nonzero()
            tensor([[1]])
        """
        return tuple(cast(Any, _C)._ops.nonzero_numpy(self)) if as_tuple else super().nonzero()

    def new(self, *arguments: Any, device: Any = None) -> Tensor:
        """A tensor of this dtype and device: uninitialized for sizes, copied from a sequence, or sharing the
        memory of a tensor or storage.

        `new_empty` and `new_tensor` are clearer.

        Args:
            arguments: sizes, a sequence, a tensor or a storage
            device: the device; default None, that of this tensor

        Example:
            >>> torch.ones(1, dtype=torch.int64).new([1, 2])
            tensor([1, 2])
        """
        first = arguments[0] if arguments else 0
        if isinstance(first, Tensor):
            if first.dtype != self.dtype or first.device != self.device:
                raise TypeError(
                    f"new(): expected a tensor of {self.dtype} on {self.device}, got {first.dtype} on "
                    f"{first.device}"
                )
            return first.detach()

        made: Any = cast(Any, self).new_empty
        if isinstance(first, _C.UntypedStorage):
            return made(0, device=device).set_(first)
        if isinstance(first, _C.Size) or (arguments and all(isinstance(size, int) for size in arguments)):
            return made(*arguments, device=device)

        if not arguments:
            return made(0, device=device)
        if not hasattr(first, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
        return cast(Any, self).new_tensor(first, device=device)

    def resize(self, *sizes: Any) -> Tensor:
        """Deprecated in favour of `reshape`: the elements in another shape.

        Args:
            sizes: the sizes

        Example:
            >>> torch.arange(4).resize(2, 2)
            tensor([[0, 1],
                    [2, 3]])
        """
        warnings.warn("non-inplace resize is deprecated", stacklevel=2)
        shape = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
        if math.prod(shape) != self.numel() or any(size < 0 for size in shape):
            raise RuntimeError(
                f"requested resize to {shape}, but the given tensor has a size of {tuple(self.shape)}: "
                "resize only changes the shape, "
                "while preserving the number of elements"
            )
        return self.contiguous().view(shape)

    def resize_as(self, tensor: Tensor) -> Tensor:
        """Deprecated: `resize` to the sizes of `tensor`.

        Args:
            tensor: the tensor that gives the sizes

        Example:
            >>> torch.arange(4).resize_as(torch.ones(2, 2))
            tensor([[0, 1],
                    [2, 3]])
        """
        return self.resize(tensor.shape)

    def apply_(self, callable: Any) -> Tensor:
        """Replaces each element by `callable(element)`, in Python: slow, and without gradients.

        Args:
            callable: a function of a number

        Example:
            >>> torch.tensor([1.0, 2.0]).apply_(lambda x: x + 1)
            tensor([2., 3.])
        """
        return self._assign_each("apply_", callable, ())

    def map_(self, tensor: Tensor, callable: Any) -> Tensor:
        """Replaces each element by `callable(element, element of tensor)`, in Python.

        `tensor` broadcasts to this one.

        Args:
            tensor: the other tensor
            callable: a function of two numbers

        Example:
            >>> torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), lambda x, y: x * y)
            tensor([3., 8.])
        """
        return self._assign_each("map_", callable, (tensor,))

    def map2_(self, x: Tensor, y: Tensor, callable: Any) -> Tensor:
        """As `map_`, with two more tensors.

        Args:
            x, y: the other tensors
            callable: a function of three numbers

        Example:
            >>> one = torch.ones(2)
            >>> torch.ones(2).map2_(one, one, lambda a, b, c: a + b + c)
            tensor([3., 3.])
        """
        return self._assign_each("map2_", callable, (x, y))

    def _assign_each(self, name: str, callable: Any, others: tuple[Tensor, ...]) -> Tensor:
        if self.requires_grad or any(other.requires_grad for other in others):
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
            )
        if any(other.dtype != self.dtype for other in others):
            raise TypeError(
                f"{name}() expected tensors of {self.dtype}, "
                f"got {', '.join(str(other.dtype) for other in others)}"
            )

        operands = [tensor.expand(self.shape).reshape(-1).tolist() for tensor in (self, *others)]
        values = cast(Any, self).new_tensor(
            [callable(*elements) for elements in zip(*operands)], dtype=self.dtype
        )
        return cast(Tensor, self.copy_(values.reshape(self.shape)))

    def dim_order(self) -> tuple[int, ...]:
        """The dimensions from the one that varies slowest in memory to the one that varies fastest.

        Example:
            >>> torch.ones(2, 3).t().dim_order()
            (1, 0)
        """
        return tuple(sorted(range(self.dim()), key=lambda dim: -self.stride(dim)))

    def is_shared(self) -> bool:
        """Whether other processes can map the memory of this tensor.

        Example:
            >>> torch.ones(1).is_shared()
            False
        """
        return bool(self.is_cuda or (not self.is_meta and cast(Any, self).untyped_storage().is_shared()))

    def share_memory_(self) -> Tensor:
        """Moves the storage to memory that other processes can map, for all tensors on it; it cannot be
        resized any more.

        Raises RuntimeError for meta tensors; the memory of a CUDA device can be shared as it is.

        Example:
            >>> torch.ones(1).share_memory_().is_shared()
            True
        """
        if self.is_meta:
            raise RuntimeError(
                "Tensor.share_memory_: only memory on the CPU can be shared, got a meta tensor"
            )
        if self.is_cuda:
            return self
        cast(Any, self).untyped_storage().share_memory_()
        return self

    def pin_memory(self, device: Any = None) -> Tensor:
        """Copies the tensor to pinned (page-locked) memory of the host, unless it is there already.

        From pinned memory, a copy to an accelerator with `non_blocking=True` goes on while the program
        continues.

        Args:
            device: deprecated and without effect; default None

        Raises:
            RuntimeError: there is no accelerator, or the tensor is on one

        Example:
            >>> batch = torch.ones(2, 3)
            >>> if torch.cuda.is_available():
            ...     batch = batch.pin_memory().to("cuda", non_blocking=True)
        """
        return cast(Tensor, cast(Any, _C)._pin_tensor(self))

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is pinned memory of the host.

        Args:
            device: has no effect; default None

        Example:
            >>> torch.ones(1).is_pinned()
            False
        """
        return bool(cast(Any, _C)._is_pinned_tensor(self))

    def record_stream(self, s: Any) -> None:
        """Tells the allocator that a stream uses this tensor.

        Once the program drops the tensor, its memory is given out again only after the work that the stream
        had at that time is done. The stream on which a tensor was made need not be recorded.

        Args:
            s: the `torch.cuda.Stream`

        Raises:
            NotImplementedError: the tensor is not on an accelerator

        Example:
            >>> if torch.cuda.is_available():
            ...     x = torch.ones(2, device="cuda")
            ...     side = torch.cuda.Stream()
            ...     with torch.cuda.stream(side):
            ...         y = x + 1
            ...     x.record_stream(side)
        """
        if not self.is_cuda:
            raise NotImplementedError(f"Tensor.record_stream: tensors on {self.device} have no streams")
        cast(Any, _C)._record_stream(cast(Any, self).untyped_storage(), s)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What other libraries need to use the memory of a CUDA tensor.

        Raises AttributeError for tensors elsewhere, and RuntimeError for tensors that require grad.
        """
        return _described(self)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """`to(device)` under the name of the array API standard.

        Raises ValueError for a `stream`: the current streams of the devices make the copy.

        Args:
            device: the device
            stream: must be None; default None

        Example:
            >>> torch.ones(1).to_device("cpu").device
            device(type='cpu')
        """
        if stream is not None:
            raise ValueError(f"to_device(): expected stream=None, got {stream!r}")
        return self.to(device)

    def get_device(self) -> int:
        """The index of the device, -1 on the CPU.

        Example:
            >>> torch.ones(1).get_device()
            -1
        """
        return -1 if self.device.index is None else int(self.device.index)

    def is_distributed(self) -> bool:
        """Always False: tensors are never spread over machines.

        Example:
            >>> torch.ones(1).is_distributed()
            False
        """
        return False


def _as_type(value: Any, cls: type) -> Any:
    """`value` with the tensors in it, also in tuples and lists, turned into `cls`."""
    if isinstance(value, Tensor):
        return value if isinstance(value, cls) or cls is Tensor else value.as_subclass(cls)
    if isinstance(value, _C.Size) or not isinstance(value, (tuple, list)):
        return value
    items = [_as_type(item, cls) for item in value]
    if isinstance(value, list):
        return items
    # Named tuples of operators take one sequence, those of the collections module take separate arguments.
    return (
        type(value)(*items) if hasattr(value, "_fields") and hasattr(value, "_make") else type(value)(items)
    )


def _copy_with_storage(tensor: Any, memo: dict[Any, Any]) -> Any:
    """A detached copy with the strides of `tensor`.

    Tensors that share a storage share the copy of it, if copied with one `memo`.
    """
    source = tensor.detach()
    if source.is_meta:
        return source.clone()

    storage = source.untyped_storage()
    key = ("storage", storage._address(), storage.nbytes())
    if storage.nbytes() == 0:
        return source.clone()

    if key not in memo:
        memo[key] = whole_storage(storage).clone()
    result: Any = _C._torch.empty(0, dtype=source.dtype, device=source.device)
    result.set_(
        memo[key].untyped_storage(), source.storage_offset(), tuple(source.shape), tuple(source.stride())
    )

    return result


def whole_storage(storage: Any) -> Any:
    """A uint8 tensor over all bytes of `storage`."""
    view: Any = _C._torch.empty(0, dtype=_C.uint8, device=storage.device)
    view.set_(storage, 0, (storage.nbytes(),), (1,))
    return view


__getattr__ = _lacking(__name__)
