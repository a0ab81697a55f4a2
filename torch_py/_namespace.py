"""What public modules take from elsewhere: operators of the native module, and names of private files."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def export_operators(namespace: object, target: dict[str, Any]) -> list[str]:
    """Puts every operator of `namespace` into `target` (a module's globals) unless the name is taken; returns
    the public names added.

    The generator decides which namespace an operator is in (`python_module:` of its entry).
    Names like `_pack_padded_sequence`, which PyTorch has too, are added without being public.
    """
    added = []
    for name in dir(namespace):
        if name.startswith("__") or name in target:
            continue
        target[name] = getattr(namespace, name)
        if not name.startswith("_"):
            added.append(name)
    return added


def adopt(package: dict[str, Any], *files: ModuleType) -> None:
    """Makes a package (its globals) the `__module__` of the functions and classes that it has from its files.

    That is where programs, pickles and messages look for them. Its price: inspect.getsource() looks for the
    text of a class in the package's own file and finds none; that of its methods it does find.
    """
    for file in files:
        for name, value in vars(file).items():
            if package.get(name) is value and getattr(value, "__module__", None) == file.__name__:
                value.__module__ = package["__name__"]
