"""The functions that `__torch_function__` can override, collected from their modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import BuiltinFunctionType, GetSetDescriptorType, ModuleType
from typing import Any

import torch_py
from torch_py import _C
from torch_py._tensor import Tensor

# These are not overridden: they are about objects and memory, or part of the machinery.
_IGNORED_METHODS = (
    "__class__",
    "__delattr__",
    "__dict__",
    "__dir__",
    "__doc__",
    "__getattribute__",
    "__init__",
    "__init_subclass__",
    "__new__",
    "__setattr__",
    "__sizeof__",
    "__str__",
    "__subclasshook__",
    "__torch_function__",
    "__weakref__",
    "_make_subclass",
    "as_subclass",
    "__reduce__",
    "__getstate__",
    "__hash__",
    "__module__",
)
_IGNORED_FUNCTIONS = (
    "as_tensor",
    "asarray",
    "can_cast",
    "compile",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "get_default_dtype",
    "get_num_threads",
    "get_rng_state",
    "initial_seed",
    "is_grad_enabled",
    "is_storage",
    "is_tensor",
    "load",
    "manual_seed",
    "promote_types",
    "save",
    "seed",
    "set_default_device",
    "set_default_dtype",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "tensor",
    "typename",
    "use_deterministic_algorithms",
)


def _modules() -> dict[str, ModuleType]:
    # Imported on first use: torch.nn is large.
    from torch_py import fft, linalg, nn, special

    return {
        "torch": torch_py,
        "torch.nn.functional": nn.functional,
        "torch.linalg": linalg,
        "torch.fft": fft,
        "torch.special": special,
    }


def _is_operator(value: Any) -> bool:
    return isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, (type(None), ModuleType))


def _is_function(value: Any) -> bool:
    """Whether a module may define the value; it imports what is from `typing`, of which some is callable."""
    is_callable = isinstance(value, Callable) and not isinstance(value, type)  # type: ignore[arg-type]
    return is_callable and getattr(value, "__module__", None) != "typing"


def _members() -> Iterator[tuple[str, Any]]:
    for name in dir(Tensor):
        if name in _IGNORED_METHODS or name.startswith("_backward"):
            continue
        value = getattr(Tensor, name)
        if isinstance(value, (GetSetDescriptorType, property)):
            yield f"{name}.__get__", value.__get__
        elif callable(value) and not isinstance(value, type):
            yield name, value


@cache
def overridable_functions() -> tuple[dict[Any, list[Any]], dict[Any, str]]:
    """The functions by module or class, and their names."""
    found: dict[Any, list[Any]] = {}
    names: dict[Any, str] = {}
    ignored = ignored_functions()

    for place, module in _modules().items():
        found[module] = [
            value
            for name, value in vars(module).items()
            if not name.startswith("_") and _is_operator(value) and value not in ignored
        ]

        for name, value in vars(module).items():
            if _is_function(value) and value not in names:
                names[value] = f"{place}.{name}"

    found[Tensor] = []
    for name, value in _members():
        found[Tensor].append(value)
        names.setdefault(value, f"torch.Tensor.{name}")

    return found, names


@cache
def ignored_functions() -> frozenset[Any]:
    methods = (
        getattr(Tensor, name)
        for name in _IGNORED_METHODS
        if name not in ("__dict__", "__doc__", "__module__") and hasattr(Tensor, name)
    )
    functions = (getattr(torch_py, name) for name in _IGNORED_FUNCTIONS if hasattr(torch_py, name))
    return frozenset((*methods, *functions, _C._disabled_torch_function_impl))
