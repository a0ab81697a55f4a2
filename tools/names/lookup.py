"""What a dotted name is in a library: found, refused with words when it is used, or absent."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

WORKS = "works"
REFUSES = "refuses with words"
ABSENT = "absent"


@dataclass(frozen=True)
class Found:
    """The object of a name. `status` is one of the constants above."""

    status: str
    value: Any = None


def look_up(name: str, root: str) -> Found:
    """Finds `name`, which begins with ``torch``, in the package `root`.

    Modules are imported where attributes are not there, as `import torch.a.b` does.
    """
    first, *rest = name.split(".")
    if first != "torch":
        raise ValueError(f"look_up: expected a name that begins with torch, got {name!r}")

    value: Any = importlib.import_module(root)
    for part in rest:
        try:
            value = _member(value, part)
        except NotImplementedError:
            return Found(REFUSES)
        except (AttributeError, ImportError):
            return Found(ABSENT)
    return Found(REFUSES if getattr(value, "__refuses__", False) is True else WORKS, value)


def _member(value: Any, name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # `from __future__ import annotations` leaves an object that a module of that name takes the place of.
        there = vars(value).get(name, annotations) if isinstance(value, ModuleType) else None
        if there is annotations:
            try:
                return importlib.import_module(f"{value.__name__}.{name}")
            except ModuleNotFoundError:
                pass
        return getattr(value, name)
