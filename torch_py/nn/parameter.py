"""Tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any, cast

from torch_py import _C
from torch_py._tensor import Tensor


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """A subclass of Tensor that was marked by `Parameter(...)` counts as a parameter too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or (isinstance(instance, Tensor) and vars(instance).get(cls._mark, False) is True)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that its module trains: requires grad unless told otherwise, is in `module.parameters()` and in the state dict."""

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
            raise RuntimeError(f"Parameter: detach() of {type(data).__name__} gave a {type(marked).__name__}, expected the same type")
        setattr(marked, cls._mark, True)
        return marked

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    _prints_as_plain_tensor = True


# The native module treats parameters as plain tensors on its fast paths.
_C._set_parameter_class(Parameter)


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and vars(instance).get("_is_buffer", False) is True


class Buffer(Tensor, metaclass=_BufferMeta):
    """Marks a tensor so that assigning it to a module registers it as a buffer, in the state dict if `persistent`."""

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        marked: Any = (_C._torch.empty(0) if data is None else data).detach()
        marked.requires_grad_(data is not None and data.requires_grad)
        marked._is_buffer, marked.persistent = True, persistent
        return marked


class UninitializedParameter:
    """The parameter type of lazy modules, which this build does not have; here so that `isinstance` questions have an answer."""
