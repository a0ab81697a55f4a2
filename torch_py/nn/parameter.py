"""Parameters and buffers: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.types import Device, _dtype


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Counts instances of Tensor subclasses that `Parameter(...)` marked as parameters."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or (
            isinstance(instance, Tensor) and vars(instance).get(cls._mark, False) is True
        )


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that belongs to its module: assigned as an attribute, it is in `parameters()` and in the state
    dict.

    Args:
        data: the tensor, whose memory is shared; default None, a tensor of no elements
        requires_grad: whether it is trained; default True

    Raises:
        TypeError: `data` is not a tensor

    Example:
        >>> nn.Parameter(torch.tensor([1.0, 2.0]))
        Parameter containing:
        tensor([1., 2.], requires_grad=True)
    """

    _mark = "_is_param"
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = _C._torch.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter: expected data to be a Tensor, got {type(data).__name__}")
        if type(data) in (Tensor, Parameter):
            return cast(Any, Tensor)._make_subclass(cls, data.detach(), requires_grad)

        marked: Any = data.detach().requires_grad_(requires_grad)
        if not isinstance(marked, type(data)):
            raise RuntimeError(
                f"Parameter: detach() of {type(data).__name__} gave a {type(marked).__name__}, expected the "
                "same type"
            )

        setattr(marked, cls._mark, True)
        return cast(Parameter, marked)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    _prints_as_plain_tensor = True


# The native module treats parameters as plain tensors on its fast paths.
_C._set_parameter_class(Parameter)


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    """Counts tensors that `Buffer(...)` marked as buffers."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and vars(instance).get("_is_buffer", False) is True


class Buffer(Tensor, metaclass=_BufferMeta):
    """Marks a tensor as a buffer: assigned as an attribute of a module, it moves with the module and is not
    trained.

    Args:
        data: the tensor, whose memory is shared; default None, a tensor of no elements
        persistent: whether it is in the state dict; default True

    Example:
        >>> layer = nn.Module()
        >>> layer.mean = nn.Buffer(torch.zeros(2))
        >>> [name for name, _ in layer.named_buffers()]
        ['mean']
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        marked: Any = (_C._torch.empty(0) if data is None else data).detach()
        marked.requires_grad_(data is not None and data.requires_grad)
        marked._is_buffer = True
        marked.persistent = persistent
        return marked


# Operations that a parameter or buffer without a shape supports; all others need its elements.
_ALLOWED_UNINITIALIZED = frozenset(
    {
        "data",
        "device",
        "dtype",
        "grad",
        "grad_fn",
        "is_leaf",
        "is_meta",
        "layout",
        "requires_grad",
        "to",
        "cpu",
        "cuda",
        "half",
        "float",
        "double",
        "bfloat16",
        "char",
        "short",
        "int",
        "long",
        "is_floating_point",
        "is_complex",
        "is_cuda",
        "is_sparse",
        "register_hook",
        "_make_subclass",
    }
)


# Operations on memory, which the native module answers without calling `__torch_function__`.
_REFUSED_UNINITIALIZED = (
    "data_ptr",
    "dim",
    "element_size",
    "is_shared",
    "requires_grad_",
    "type",
    "is_contiguous",
    "ndimension",
    "nelement",
    "numel",
    "storage",
    "storage_offset",
    "tolist",
    "untyped_storage",
)


def _refused(name: Any) -> ValueError:
    """Returns the error for an operation that needs elements."""
    return ValueError(
        f"Attempted to use an uninitialized parameter in {name}. This error happens when you are using a "
        "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When "
        "using LazyModules call `forward` with a dummy batch to initialize the parameters before calling "
        "torch functions"
    )


class UninitializedTensorMixin:
    """A tensor without a shape: `materialize` gives it memory, most other operations raise ValueError.

    Example:
        >>> isinstance(nn.UninitializedParameter(), nn.parameter.UninitializedTensorMixin)
        True
    """

    _becomes: type

    def materialize(
        self: Any, shape: Sequence[int], device: Device = None, dtype: _dtype | None = None
    ) -> None:
        """Makes this a parameter or buffer of `shape` with undefined values.

        Device and dtype stay the same unless given.
        """
        data = _C._torch.empty(shape, device=device or self.data.device, dtype=dtype or self.data.dtype)
        self.__class__ = self._becomes
        self.data = data

    @property
    def shape(self) -> NoReturn:
        """Raises RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> NoReturn:
        """Raises RuntimeError."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
            "parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)

    def __deepcopy__(self: Any, memo: dict[Any, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        # The getter or setter of a property has the property as its owner, with the name.
        owner = getattr(func, "__self__", None)
        if name in _ALLOWED_UNINITIALIZED or getattr(owner, "__name__", "") in _ALLOWED_UNINITIALIZED:
            return _C._disabled_torch_function_impl(func, types, args, kwargs or {})
        raise _refused(name or func)


def _refusal(name: str) -> Callable[..., NoReturn]:
    """Returns a method `name` that raises ValueError."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise _refused(name)

    return refuse


for _name in _REFUSED_UNINITIALIZED:
    setattr(UninitializedTensorMixin, _name, _refusal(_name))


def is_lazy(param: object) -> bool:
    """Returns whether `param` has no shape yet.

    Args:
        param: the object

    Example:
        >>> nn.parameter.is_lazy(nn.LazyLinear(2).weight)
        True
    """
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet, as lazy layers have until their first call.

    `materialize(shape)` makes it a `Parameter`; most other operations raise ValueError.

    Args:
        requires_grad: whether it is trained; default True
        device, dtype: those that it will have

    Example:
        >>> weight = nn.UninitializedParameter()
        >>> weight.materialize((2, 3))
        >>> weight.shape
        torch.Size([2, 3])
    """

    _becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Device = None, dtype: _dtype | None = None) -> Any:
        return cast(Any, Tensor)._make_subclass(
            cls, _C._torch.empty(0, device=device, dtype=dtype), requires_grad
        )


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet, as lazy layers have until their first call.

    `materialize(shape)` makes it a tensor; most other operations raise ValueError.

    Args:
        requires_grad: default False
        device, dtype: those that it will have
        persistent: whether it is in the state dict; default True

    Example:
        >>> mean = nn.UninitializedBuffer()
        >>> mean.materialize((3,))
        >>> mean.shape
        torch.Size([3])
    """

    _becomes = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        persistent: bool = True,
    ) -> Any:
        made = cast(Any, Tensor)._make_subclass(
            cls, _C._torch.empty(0, device=device, dtype=dtype), requires_grad
        )
        made.persistent = persistent
        made._is_buffer = True
        return made
