"""Attributes at dotted paths below a module: read, written, copied from one module to another, deleted."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter


def get_attr(model: Any, path: str) -> Any:
    """The attribute at `path`. Raises AttributeError with the part that does not exist."""
    found = model
    for name in path.split(".") if path else ():
        found = getattr(found, name)
    return found


def has_attr(model: Any, path: str) -> bool:
    found = model
    for name in path.split("."):
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


def del_attr(model: Module, path: str) -> None:
    owner, _, name = path.rpartition(".")
    delattr(get_attr(model, owner), name)


def owner_of(module: Module, path: str) -> tuple[Module, str]:
    """The module that is to have the attribute at `path`, and its name there. Modules on the way that are
    missing are made."""
    *prefix, name = path.split(".")
    for step in prefix:
        child = getattr(module, step, None)
        if child is None:
            child = Module()
            setattr(module, step, child)
        module = child
    return module, name


def assign_attr(value: Any, module: Module, path: str) -> None:
    """Sets the attribute at `path`; tensors that are not parameters become buffers."""
    owner, name = owner_of(module, path)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        owner.register_buffer(name, value)
    else:
        setattr(owner, name, value)


def copy_attr(source: Module, target: Module, path: str) -> None:
    """Gives `target` the attribute that `source` has at `path`, unless it is there already.

    Raises AttributeError if a module on the way is missing in `source`.
    """
    *prefix, name = path.split(".")
    for step in prefix:
        next_source = getattr(source, step)
        next_target = getattr(target, step, None)
        if next_source is next_target:
            return
        if next_target is None:
            next_target = Module()
            setattr(target, step, next_target)
        source, target = next_source, next_target

    value = getattr(source, name)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        target.register_buffer(name, value, persistent=name not in source._non_persistent_buffers_set)
    else:
        setattr(target, name, value)
