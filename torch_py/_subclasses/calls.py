"""Calls of operators on the twins of fake tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._subclasses.devices import META, device_argument, is_factory
from torch_py._subclasses.errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
)
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor

# What asking a meta tensor or a fake one for its elements says.
_NO_ELEMENTS = (
    "Cannot copy out of meta tensor",
    "Tensor.item() cannot be called on meta tensors",
    "Cannot access data pointer of Tensor that doesn't have storage",
)


# Values of calls: tensors, lists of them, and others


def map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(item, function) for item in value)
    return value


def tensors_in(args: Any, kwargs: Any) -> list[Any]:
    found: list[Any] = []
    for value in (*args, *kwargs.values()):
        map_tensors(value, lambda tensor: found.append(tensor) or tensor)
    return found


def generator_in(args: Any, kwargs: Any) -> Any:
    """The generator of random numbers that a call is given; None without one."""
    given = (value for value in (*args, *kwargs.values()) if isinstance(value, _C.Generator))
    return next(given, None)


def memory_of(fake: Any) -> int:
    """The memory of a fake tensor, as a number."""
    return fake._twin.untyped_storage()._cdata  # type: ignore[no-any-return]


# The call on the meta device


@functools.cache
def takes_place(target: Any) -> bool:
    """Whether an operator takes a place in memory that is counted from the first element of the memory."""
    schema = getattr(target, "_schema", None)
    return schema is not None and any(argument.name == "storage_offset" for argument in schema.arguments)


def on_meta(func: Any, args: Any, kwargs: Any, twins: dict[int, Any]) -> tuple[Any, Any]:
    """The arguments with twins in the place of fake tensors, and the meta device in the place of others."""

    def twin(fake: Any) -> Tensor:
        twin = fake._twin
        twins[id(twin)] = fake
        # Derivatives that compute several gradients ask which of them are wanted.
        if twin.requires_grad is not fake.requires_grad and twin.is_leaf:
            twin.requires_grad_(fake.requires_grad)
        return twin

    args = [map_tensors(value, twin) for value in args]
    kwargs = {name: map_tensors(value, twin) for name, value in kwargs.items()}
    kwargs.pop("pin_memory", None)  # the meta device has no memory to pin

    asked = device_argument(func)
    if asked is not None:
        position, name = asked
        if 0 <= position < len(args):
            args[position] = args[position] and META
        elif kwargs.get(name) is not None or is_factory(func):
            kwargs[name] = META
    return args, kwargs


def run(func: Any, args: Any, kwargs: Any) -> Any:
    with unseen():
        try:
            return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            if func._is_declared_at_run_time and "from the 'Meta' backend" in str(error):
                raise UnsupportedOperatorException(func) from error
            if not _needs_elements(func, error):
                raise
            returns_tensors = any(value.type.startswith("Tensor") for value in func._schema.returns)
            kind = DynamicOutputShapeException if returns_tensors else DataDependentOutputException
            raise kind(func) from None


def _needs_elements(func: Any, error: Exception) -> bool:
    text = str(error)
    is_dynamic = func._structure == "dynamic" and "meta" in text
    return is_dynamic or asks_for_elements(error) or "from the 'Meta' backend" in text


def asks_for_elements(error: Exception) -> bool:
    """Whether code has failed because a tensor does not have the elements that it reads."""
    return str(error).startswith(_NO_ELEMENTS)
