"""Moves operators from the native namespaces of `torch_py._C` into public modules.

The generator decides which namespace an operator is in (`python_module:` of its entry); nothing here names an
operator.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any


def export_operators(namespace: object, target: dict[str, Any]) -> list[str]:
    """Puts every operator of `namespace` into `target` (a module's globals) unless the name is taken; returns
    the public names added.

    Names like `_pack_padded_sequence`, which PyTorch has too, are there without being public.
    """
    added = []
    for name in dir(namespace):
        if name.startswith("__") or name in target:
            continue
        target[name] = getattr(namespace, name)
        if not name.startswith("_"):
            added.append(name)
    return added


def find_operator(name: str, *namespaces: object) -> Callable[..., Any]:
    """The operator `name` of the first namespace that has it.

    An operator that this build does not have becomes a function raising NotImplementedError, so that what
    does not use it still imports.
    """
    for namespace in namespaces:
        operator = getattr(namespace, name, None)
        if operator is not None:
            return operator

    def missing(*arguments: object, **keywords: object) -> Any:
        raise NotImplementedError(f"operator '{name}' is not part of this build of torch_py")

    missing.__name__ = missing.__qualname__ = name
    return missing


def attribute_of(module: ModuleType, name: str) -> AttributeError:
    """The error for an attribute a lazily filled module does not have."""
    return AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
