"""The public names of PyTorch, from its modules."""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

# What programs do not import: tests of PyTorch, and packages that need others that are not installed.
_LEFT_OUT = ("torch.testing", "torch.utils.tensorboard", "torch.utils.hipify", "torch.utils.benchmark")


def public_names() -> Iterator[str]:
    """The dotted names of public modules and of what they define or list in `__all__`."""
    for module in _modules():
        yield module.__name__
        listed = getattr(module, "__all__", None)
        members = listed if listed is not None else [name for name in vars(module) if name[0] != "_"]
        for name in members:
            if listed is not None or _is_defined_in(module, vars(module)[name]):
                yield f"{module.__name__}.{name}"


def _modules() -> Iterator[ModuleType]:
    root = importlib.import_module("torch")
    yield root
    for found in pkgutil.walk_packages(root.__path__, "torch.", onerror=lambda name: None):
        if any(part.startswith("_") for part in found.name.split(".")) or found.name.startswith(_LEFT_OUT):
            continue
        # Some modules print, or need packages that are not installed.
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            yield importlib.import_module(found.name)


def _is_defined_in(module: ModuleType, value: Any) -> bool:
    """Whether a member belongs to the module, rather than being imported from another library."""
    if isinstance(value, ModuleType):
        return value.__name__.startswith("torch.")
    place = getattr(value, "__module__", None)
    return place is None or str(place).startswith("torch")
