"""Parametrizations: attributes of a module that are computed from other tensors each time they are read.

A parametrized module has a class of its own, a subclass of its former class, with a property that reads
`parametrizations[name]()`. The tensors that are trained are `parametrizations.NAME.original`, or `original0`,
`original1`, ... if `right_inverse` returns several.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.modules.container import ModuleDict, ModuleList
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

# The number of open `cached()` blocks, and their results by (id of the module, name).
_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor | None] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Computes each parametrized tensor only once inside the block, when it is first read.

    Blocks may nest.

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(2, 2))
        >>> with nn.utils.parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    global _cache, _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _require_same_kind(new: object, old: Tensor, what: str) -> None:
    """Raises ValueError unless `new` is a tensor with the dtype and shape of `old`."""
    if not isinstance(new, Tensor):
        raise ValueError(f"{what} must return a tensor, got {type(new).__name__}")
    for quality in ("dtype", "shape"):
        if getattr(new, quality) != getattr(old, quality):
            raise ValueError(
                f"{what} may not change the {quality} of the tensor: got {getattr(new, quality)}, the "
                f"tensor has {getattr(old, quality)}. Pass unsafe=True to allow it"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied in order to `original` (or to `original0`, `original1`,
    ...).

    Args:
        modules: each maps a tensor to a tensor; the first may take several. An optional method
            `right_inverse` maps back
        original: the tensor to parametrize; the originals start as its image under the `right_inverse`s, last
            first
        unsafe: whether dtype and shape may change

    Raises:
        ValueError: if the modules do not fit the tensor

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> type(layer.parametrizations.weight).__name__
        'ParametrizationList'
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor | Parameter, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")

        super().__init__(modules)
        self.unsafe = unsafe

        initial = self._inverted(original, strict=False)
        self.is_tensor = isinstance(initial, Tensor)
        self.ntensors = 1 if self.is_tensor else len(initial)
        if self.is_tensor:
            self._keep("original", initial, original)
        else:
            for position, each in enumerate(initial):
                if not isinstance(each, Tensor):
                    raise ValueError(
                        "right_inverse must return a Tensor or a Sequence of tensors, "
                        f"got {type(each).__name__} at {position}"
                    )
                self._keep(f"original{position}", each, original)

        if not unsafe:
            with no_grad():
                _require_same_kind(self(), original, "A parametrization")

    def _inverted(self, value: Any, *, strict: bool) -> Any:
        """Passes `value` through the right inverses, last parametrization first.

        Returns a tensor or a sequence of them.

        A missing right inverse counts as the identity; with `strict` it raises RuntimeError, and errors of
        the modules are passed on.
        """
        result = value
        with no_grad():
            for module in reversed(self):
                inverse = getattr(module, "right_inverse", None)
                if inverse is not None:
                    with contextlib.nullcontext() if strict else contextlib.suppress(NotImplementedError):
                        result = inverse(result)
                elif strict:
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
        if not isinstance(result, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(result).__name__}"
            )
        if isinstance(result, Tensor) and isinstance(value, Tensor):
            if result.dtype != value.dtype and not self.unsafe:
                raise ValueError(
                    f"right_inverse may not change the dtype of the tensor: got {result.dtype}, the tensor "
                    f"has {value.dtype}"
                )

        return result

    def _keep(self, name: str, initial: Tensor, model: Tensor) -> None:
        """Registers one original as a parameter or buffer like `model`; as
        `model` itself if it can hold the values."""
        if not isinstance(model, Parameter):
            self.register_buffer(name, initial)
            return

        if name == "original" and initial.dtype == model.dtype:
            with no_grad():
                model.data = initial.data
            self.register_parameter(name, model)
        else:
            floating = initial.is_floating_point() or initial.is_complex()
            made = Parameter(initial.detach().clone(), model.requires_grad and floating)
            self.register_parameter(name, made)

    def originals(self) -> list[Tensor]:
        """Returns the tensors that the parametrizations are computed from."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{position}") for position in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the result is `value`, as far as the right inverses can.

        Records no gradients.

        Raises RuntimeError if a parametrization lacks a right inverse.
        """
        initial = self._inverted(value, strict=True)
        given = [initial] if isinstance(initial, Tensor) else list(initial)
        if len(given) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return as many tensors as when the parametrization was registered, "
                f"{self.ntensors}, got {len(given)}"
            )

        with no_grad():
            for position, (target, source) in enumerate(zip(self.originals(), given)):
                if not isinstance(source, Tensor):
                    raise ValueError(
                        f"'right_inverse' must return tensors, got {type(source).__name__} at {position}"
                    )
                if target.dtype != source.dtype:
                    raise ValueError(
                        f"Tensor {position} returned by right_inverse has dtype {source.dtype} while "
                        f"original{position} has dtype {target.dtype}"
                    )
                target.data = source.data

    def forward(self) -> Tensor:
        first, *others = self
        result: Tensor = first(*self.originals())
        for module in others:
            result = module(result)
        return result


def _read(module: Module, name: str) -> Tensor:
    """Returns the parametrized tensor, from the cache inside a `cached` block."""
    if not _cache_enabled:
        return module.parametrizations[name]()
    key = (id(module), name)
    if _cache.get(key) is None:
        _cache[key] = module.parametrizations[name]()
    return _cache[key]  # type: ignore[return-value]


def _property(name: str) -> property:
    """Returns the property of a parametrized attribute."""

    def get(self: Any) -> Tensor:
        return _read(self, name)

    def set(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)
        _cache.pop((id(self), name), None)

    return property(get, set)


def _refuse_pickle(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). Save state_dict() "
        "and load it into a module with the same parametrizations."
    )


def _deepcopied(self: Any, memo: dict[int, Any]) -> Any:
    """Copies the module.

    The class is made for one module, so the copy gets one of its own with the same properties.
    """
    if id(self) in memo:
        return memo[id(self)]
    replica = self.__new__(self.__class__)
    memo[id(self)] = replica
    replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    replica.__class__ = type(type(self).__name__, type(self).__bases__, dict(vars(type(self))))
    return replica


def _make_parametrized_class(module: Module) -> None:
    """Gives the module a class of its own, for properties."""
    own = type(module)
    module.__class__ = type(
        f"Parametrized{own.__name__}", (own,), {"__getstate__": _refuse_pickle, "__deepcopy__": _deepcopied}
    )
    module.parametrizations = ModuleDict()


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Returns whether `module` has parametrizations; with `tensor_name`, whether that tensor has.

    Args:
        module: the module
        tensor_name: the tensor; default None, any

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(2, 2))
        >>> nn.utils.parametrize.is_parametrized(layer, "bias")
        False
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Makes `module.tensor_name` the value of `parametrization(original)`.

    Later parametrizations are applied after earlier ones.

    Args:
        module: the module, which is returned
        tensor_name: a parameter or buffer of `module`
        parametrization: maps a tensor to a tensor. With a method `right_inverse(tensor)` the attribute can be
            assigned, and the first parametrization of a tensor keeps its value as far as the inverse allows.
            Later ones act on the result of the earlier ones
        unsafe: whether the parametrization may change dtype and shape

    Raises:
        ValueError: if `module` has no such tensor, or the parametrization does not fit it

    Example:
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).t()
        >>> layer = nn.Linear(2, 2)
        >>> layer = nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> torch.equal(layer.weight, layer.weight.t())
        True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        wrapped = ParametrizationList([parametrization], original, unsafe=unsafe)

        # The attribute becomes a property of the module's own class.
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _make_parametrized_class(module)
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = wrapped
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _append(module: Module, name: str, parametrization: Module, unsafe: bool) -> None:
    """Adds a parametrization to a tensor that has one already."""
    parametrizations = module.parametrizations[name]
    if not unsafe:
        with no_grad():
            before = getattr(module, name)
            _require_same_kind(parametrization(before), before, "A parametrization")
            if hasattr(parametrization, "right_inverse"):
                with contextlib.suppress(NotImplementedError):
                    _require_same_kind(parametrization.right_inverse(before), before, "right_inverse")
    parametrizations.unsafe = parametrizations.unsafe or unsafe
    parametrizations.append(parametrization)


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes the attribute a parameter or buffer again, with its present value, or with that of the original
    if `leave_parametrized` is False.

    Returns `module`. Raises ValueError if the tensor is not parametrized, or if there are several originals
    to leave.

    Args:
        module: the module
        tensor_name: the tensor
        leave_parametrized: whether the present value stays instead of the original; default True

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(2, 2))
        >>> layer = nn.utils.parametrize.remove_parametrizations(layer, "weight")
        >>> nn.utils.parametrize.is_parametrized(layer)
        False
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")

    parametrizations = module.parametrizations[tensor_name]
    original: Any = parametrizations.originals()[0]

    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name).detach().clone()
        if parametrizations.is_tensor and original.dtype == value.dtype:
            original.data = value  # the same object, which an optimizer may hold
        else:
            learns = any(isinstance(each, Parameter) for each in parametrizations.originals())
            grad = any(each.requires_grad for each in parametrizations.originals())
            original = Parameter(value, grad) if learns else value
    elif not parametrizations.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
            "terms of a sequence of tensors."
        )

    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)

    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]

    return module


def type_before_parametrizations(module: Module) -> type:
    """Returns the class of `module` without its parametrizations.

    Args:
        module: the module

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(2, 2))
        >>> nn.utils.parametrize.type_before_parametrizations(layer).__name__
        'Linear'
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Copies the parametrizations of `from_module`, of one tensor or of all, and their originals to
    `to_module`, and returns `to_module`.

    Raises ValueError if `from_module` is not parametrized.

    Args:
        from_module: the module with the parametrizations
        to_module: the module that gets them
        tensor_name: the tensor; default None, all

    Example:
        >>> source = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> layer = nn.utils.parametrize.transfer_parametrizations_and_params(source, nn.Linear(2, 2))
        >>> nn.utils.parametrize.is_parametrized(layer, "weight")
        True
    """
    if not is_parametrized(from_module, tensor_name):
        raise ValueError(f"Module {from_module} does not have a parametrization on {tensor_name}")

    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            value = getattr(from_module, name).detach().clone()
            if isinstance(source.originals()[0], Parameter):
                setattr(to_module, name, Parameter(value))
            else:
                to_module.register_buffer(name, value)

        for parametrization in source:
            register_parametrization(to_module, name, copy.deepcopy(parametrization), unsafe=source.unsafe)
        with no_grad():
            for target, value in zip(to_module.parametrizations[name].originals(), source.originals()):
                target.copy_(value)

    return to_module
