"""Names: of the variables of a graph, and of functions and types in the Python that it is printed as."""

from __future__ import annotations

import builtins
import keyword
import re
import types
import typing
from functools import cache
from typing import Any

import torch_py
from torch_py._tensor import Tensor

_ILLEGAL = re.compile(r"[^0-9a-zA-Z_]+")
_NUMBERED = re.compile(r"(.*)_(\d+)")
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")


def snake_case(name: str) -> str:
    """`BatchNorm2d` as `batch_norm2d`."""
    return _BOUNDARY.sub("_", name).lower()


def is_free(name: str, reserved: typing.Container[str]) -> bool:
    """Whether a variable of this name would hide nothing that printed code may need."""
    # Interactive sessions add `_` to the builtins.
    is_builtin = name != "_" and hasattr(builtins, name)
    return not (keyword.iskeyword(name) or is_builtin or name in reserved)


class Namespace:
    """Names that are unique, and valid as variables: what is taken gets a number at its end."""

    def __init__(self, reserved: typing.Container[str] = ()) -> None:
        self._reserved = reserved
        self._owners: dict[str, object] = {}  # the names in use
        self._by_object: dict[int, str] = {}
        self._last_number: dict[str, int] = {}

    def create_name(self, candidate: str, obj: object | None) -> str:
        """A new name like `candidate`. If `obj` has a name already, that name is returned.

        Characters that names cannot have become underscores; keywords and the names of builtins are numbered.
        """
        if obj is not None and id(obj) in self._by_object:
            return self._by_object[id(obj)]

        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"

        name = self._unused(candidate)
        self._owners[name] = obj
        if obj is not None:
            self._by_object[id(obj)] = name
        return name

    def _unused(self, candidate: str) -> str:
        if candidate not in self._owners and is_free(candidate, self._reserved):
            return candidate

        numbered = _NUMBERED.fullmatch(candidate)
        base = numbered.group(1) if numbered else candidate
        number = self._last_number.get(base, int(numbered.group(2)) if numbered else 0)
        while True:
            number += 1
            name = f"{base}_{number}"
            if name not in self._owners and is_free(name, self._reserved):
                self._last_number[base] = number
                return name

    def associate_name_with_obj(self, name: str, obj: object) -> None:
        """Gives `obj` a name that was created before. Raises AssertionError if another object has it."""
        if self._owners.setdefault(name, obj) not in (None, obj):
            raise AssertionError(f"the name {name!r} already belongs to another object")
        self._owners[name] = obj
        self._by_object[id(obj)] = name

    def rename(self, obj: object, name: str) -> None:
        """Gives `obj` a new name, that of no other."""
        self._by_object[id(obj)] = name
        self._owners[name] = obj


# Functions
# ------------------------------------------------------------


def is_lambda(function: Any) -> bool:
    return getattr(function, "__name__", None) == "<lambda>"


@cache
def _torch_names() -> dict[Any, str]:
    """The functions of torch, with the names that programs use."""
    # Imported on first use: it reads all modules of functions.
    from torch_py._overridable import overridable_functions

    return overridable_functions()[1]


def public_name(function: Any) -> str | None:
    """Where programs find a function of torch: `torch.nn.functional.linear`. None for all others."""
    if function is Tensor:
        return "torch.Tensor"
    if isinstance(function, types.ModuleType) or not callable(function):
        return None
    if type(function).__name__ in ("OpOverload", "OpOverloadPacket"):
        return str(function) if str(function).startswith("torch.") else f"torch.ops.{function}"
    try:
        name = _torch_names().get(function)
    except TypeError:  # cannot be hashed
        return None
    if name is not None:
        return name

    module = getattr(function, "__module__", None) or ""
    root, _, rest = module.partition(".")
    if root not in ("torch", "torch_py") or not hasattr(function, "__name__"):
        return None
    qualname = getattr(function, "__qualname__", function.__name__)
    return ".".join(("torch", *filter(None, (rest, qualname))))


def resolves(name: str, value: Any) -> bool:
    """Whether the dotted `name`, which starts with `torch`, is an expression that leads to `value`."""
    if any(map(keyword.iskeyword, name.split("."))):  # torch.ops.aten.random_.from
        return False
    found: Any = torch_py
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found is value or found == value


def qualified_name(function: Any) -> str:
    """The dotted name under which a function can be imported.

    Raises RuntimeError for lambdas and for functions without a module.
    """
    name = getattr(function, "__name__", None)
    if name is not None and getattr(builtins, name, None) is function:
        return name
    if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        owner = Tensor if getattr(Tensor, function.__name__, None) is function else function.__objclass__
        return f"{qualified_type_name(owner)}.{function.__name__}"
    if is_lambda(function):
        raise RuntimeError("Unable to represent lambda")

    public = public_name(function)
    if public is not None:
        return public
    if name is None:
        raise RuntimeError(f"cannot name {function!r}: it has no __name__")
    module = module_of(function)
    return f"{module}.{getattr(function, '__qualname__', name) if isinstance(function, type) else name}"


def module_of(function: Any) -> str:
    """The module of a function or class; for functions without one, a module of torch that has them."""
    module = getattr(function, "__module__", None)
    if module is None:
        name = function.__name__
        for place in (torch_py, torch_py.nn.functional):
            if getattr(place, name, None) is function:
                return place.__name__
        raise RuntimeError(f"cannot find module for {function!r}")
    return module


def qualified_type_name(kind: type) -> str:
    if kind is Tensor:
        return "torch.Tensor"
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return f"{public_module(kind.__module__)}.{kind.__qualname__}"


def public_module(module: str) -> str:
    """`torch_py.nn` as `torch.nn`, and other names as they are."""
    return "torch" + module.removeprefix("torch_py") if module.partition(".")[0] == "torch_py" else module


def type_repr(kind: Any) -> str:
    """A type as annotations write it: `int`, `torch.Tensor`, `typing.Optional[torch.Tensor]`."""
    if isinstance(kind, type) and not isinstance(kind, types.GenericAlias):
        return qualified_type_name(kind)
    if kind is ...:
        return "..."
    if isinstance(kind, types.FunctionType):
        return kind.__name__
    return repr(kind).replace("torch_py.", "torch.")
